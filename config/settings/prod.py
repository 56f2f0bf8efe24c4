"""For a server. Refuses to start without a secret key, a database, a broker and its address."""

from config.settings.base import *  # noqa: F403 - settings that stand on those of base
from config.settings.base import env

DEBUG = False
SECRET_KEY = env.read_secret("DISSENSUS_SECRET_KEY")
env.read("DATABASE_URL", env.parse_database_url)
env.read_text("CELERY_BROKER_URL")
BASE_URL = env.read("BASE_URL", env.parse_base_url)

STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# The proxy in front ends TLS and says so; docs/deployment.md tells which headers it must set.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = BASE_URL.is_secure
# The path that is matched begins with the path prefix, if there is one.
SECURE_REDIRECT_EXEMPT = [r"(^|/)healthz$"]
SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365 if BASE_URL.is_secure else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = BASE_URL.is_secure
