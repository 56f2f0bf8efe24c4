"""For one machine: `make run`. Needs nothing set, and invents a secret key that it keeps."""

from config.secrets import keep_secret
from config.settings.base import *  # noqa: F403 - settings that stand on those of base
from config.settings.base import ALLOWED_HOSTS, VAR_DIR, env

DEMO_ALLOWED = True
DEBUG = env.read_bool("DISSENSUS_DEBUG", False)
# The embedded PostgreSQL opens the folders above its data for reading, so the key lives in a
# folder of its own beside it that only its owner can enter.
SECRET_KEY = keep_secret(VAR_DIR / "private" / "secret-key")
ALLOWED_HOSTS = [*ALLOWED_HOSTS, "localhost", "127.0.0.1", "[::1]"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
