"""The formats package must be usable without Django."""

import subprocess
import sys

IMPORT_ALL = """
import importlib, pkgutil, sys
import studies.formats
for module in pkgutil.iter_modules(studies.formats.__path__):
    importlib.import_module("studies.formats." + module.name)
print(len([name for name in sys.modules if name.startswith("studies.formats.")]))
print(sorted(name for name in sys.modules if name.split(".")[0] in ("django", "numpy")))
"""


def test_every_module_of_the_package_imports_without_django_or_numpy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, check=True
    )
    count, foreign = done.stdout.splitlines()
    assert int(count) >= 15
    assert foreign == "[]"
