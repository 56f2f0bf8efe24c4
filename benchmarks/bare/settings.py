"""The product's settings on the benchmarks' database, with the bare step added."""

import os

from config.settings.base import *  # noqa: F403 - settings that stand on those of base
from config.settings.base import DATABASES
from config.settings.test import SECRET_KEY as SECRET_KEY

ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "benchmarks.bare.urls"
WHITENOISE_USE_FINDERS = True
DATABASES["default"]["NAME"] = os.environ["DISSENSUS_BENCHMARK_DATABASE"]
