"""For the test suite: the same database engine and middleware, quicker passwords."""

import tempfile
from pathlib import Path

from config.settings import base
from config.settings.base import *  # noqa: F403 - settings that stand on those of base
from config.settings.base import env

SECRET_KEY = "only-for-tests-" + "0" * 40
DEMO_ALLOWED = True
DEBUG = False
VAR_DIR = Path(tempfile.gettempdir()) / "dissensus-test"
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
MEDIA_ROOT = Path(tempfile.gettempdir()) / "dissensus-test-media"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
AXES_ENABLED = env.read_bool("DISSENSUS_TEST_AXES", False)

# A pool outlives the connection that a test closes, and then blocks dropping the test database.
# Between two tests with transactions of their own all tables are emptied, the log among them.
MAY_EMPTY_TABLES = "-c dissensus.may_empty_tables=on"
DATABASES = {
    _alias: _database
    | {
        "OPTIONS": {
            **{name: value for name, value in _database["OPTIONS"].items() if name != "pool"},
            "options": f"{_database['OPTIONS'].get('options', '')} {MAY_EMPTY_TABLES}".strip(),
        }
    }
    for _alias, _database in base.DATABASES.items()
}
