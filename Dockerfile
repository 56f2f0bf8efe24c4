FROM python:3.12-slim

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=config.settings.prod \
    DISSENSUS_VAR_DIR=/var/lib/dissensus \
    DISSENSUS_MEDIA_DIR=/var/lib/dissensus/media

RUN useradd --system --user-group --no-create-home --shell /usr/sbin/nologin dissensus \
    && mkdir -p /var/lib/dissensus/media \
    && chown -R dissensus:dissensus /var/lib/dissensus

WORKDIR /app
COPY requirements.lock .
RUN pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock

COPY . .
USER dissensus

# Static files need settings, not secrets: these values end with the command.
RUN DISSENSUS_SECRET_KEY=only-while-the-image-is-built-0123456789-abcdefghij \
    DATABASE_URL=postgresql://nobody@localhost/nowhere \
    CELERY_BROKER_URL=redis://localhost/0 \
    BASE_URL=http://localhost:8000 \
    python manage.py collectstatic --noinput --verbosity 0

EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s CMD ["python", "-m", "config.healthcheck", "--port", "8000"]
CMD ["python", "manage.py", "serve", "--web-only", "--host", "0.0.0.0", "--port", "8000"]
