"""What holds in every place. Values that differ by place come from `config.env` readers."""

from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _

from config import env

BASE_DIR = Path(__file__).resolve().parent.parent.parent
VAR_DIR = env.read_path("DISSENSUS_VAR_DIR", BASE_DIR / "var")

BASE_URL = env.read("BASE_URL", env.parse_base_url, env.parse_base_url("http://localhost:8000"))
ALLOWED_HOSTS = [BASE_URL.host]
CSRF_TRUSTED_ORIGINS = [BASE_URL.origin]
FORCE_SCRIPT_NAME = BASE_URL.path_prefix or None
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BASE_URL.is_secure
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = LANGUAGE_COOKIE_PATH = f"{BASE_URL.path_prefix}/"

INSTALLED_APPS = [
    "config",
    "studies",
    "annotation",
    "results",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "axes",
    "csp",
    "django_htmx",
    "template_partials",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "config.middleware.CompressMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.middleware.AccountLanguageMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.middleware.NoStoreMiddleware",
    "config.middleware.UnusableTextMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.navigation.navigation",
            ],
        },
    },
]

# One engine everywhere. The pool belongs to the process, so connections are never kept by age.
POOL_MAXIMUM = env.read_int("DISSENSUS_DATABASE_POOL", 8, minimum=1)
POOL = {"min_size": 0, "max_size": POOL_MAXIMUM, "timeout": 30}
# The statements of studies.rows.prepared_cursor are prepared once they have run so often.
PREPARE_THRESHOLD = 5
DATABASE_URL: dict[str, Any] = env.read("DATABASE_URL", env.parse_database_url, {})
EMBEDDED_POSTGRES_DIR = VAR_DIR / "postgres"
if DATABASE_URL:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            **DATABASE_URL,
            "OPTIONS": {
                **DATABASE_URL["OPTIONS"],
                "pool": POOL,
                "prepare_threshold": PREPARE_THRESHOLD,
            },
        }
    }
else:
    DATABASES = {
        "default": {
            "ENGINE": "config.database",
            "NAME": "dissensus",
            "OPTIONS": {"pool": POOL, "prepare_threshold": PREPARE_THRESHOLD},
        }
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# In each process. The parts of pages that are kept ({% cache %}) are small and named by what they
# say; they must not crowd out the large orders of queries.
LOCAL_CACHE = "django.core.cache.backends.locmem.LocMemCache"
CACHES = {
    "default": {"BACKEND": LOCAL_CACHE, "LOCATION": "default"},
    "template_fragments": {
        "BACKEND": LOCAL_CACHE,
        "LOCATION": "template_fragments",
        "OPTIONS": {"MAX_ENTRIES": 1000},
    },
}

CELERY_BROKER_URL = env.read_text("CELERY_BROKER_URL", "filesystem://localhost")
CELERY_BROKER_DIR = VAR_DIR / "broker"

AUTH_USER_MODEL = "studies.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "studies:index"
LOGOUT_REDIRECT_URL = "login"

# Throttling counts by account and address together, so that a stranger cannot lock a person out.
AXES_FAILURE_LIMIT = 8
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_COOLOFF_TIME = 0.25  # hours
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"
AXES_ENABLE_ACCESS_FAILURE_LOG = False
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False

SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "config.views.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
        "manifest-src": [SELF],
    },
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
DATA_UPLOAD_MAX_NUMBER_FILES = 1000
UPLOAD_LIMIT = env.read_int("DISSENSUS_UPLOAD_LIMIT_MB", 256, minimum=1) * 1024**2
FILE_UPLOAD_HANDLERS = [
    "studies.uploads.BoundedUploadHandler",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

# Images that a corpus names by their address are fetched by the worker. An address within the
# own network could be anybody's secret, so those are refused unless this says otherwise.
FETCH_PRIVATE_ADDRESSES = env.read_bool("DISSENSUS_FETCH_PRIVATE_ADDRESSES", False)
FETCH_LIMIT = env.read_int("DISSENSUS_FETCH_LIMIT", 5000)

LANGUAGE_CODE = "en"
LANGUAGES = [
    ("en", _("English")),
    ("zh-hant", _("Traditional Chinese")),
    ("id", _("Indonesian")),
]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "config.formats"
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = f"{BASE_URL.path_prefix}/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR_DIR / "static"
MEDIA_ROOT = env.read_path("DISSENSUS_MEDIA_DIR", VAR_DIR / "media")
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

DEMO_ALLOWED = False

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"format": "{levelname:<7} {name}: {message}", "style": "{"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "plain"},
    },
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "django.request": {"level": "ERROR"},
        # It warns of each failed login, with every name masked; studies.signals tells of a lock.
        "axes": {"level": "ERROR"},
    },
}
