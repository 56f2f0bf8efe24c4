"""The pure modules load nothing of Django, and the consensus rule nothing of numpy."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((ROOT / "results" / "statistics").rglob("*.py"))
]


def loaded_by(modules: list[str], names: list[str]) -> list[str]:
    """Which of the packages `names` a fresh interpreter has loaded after these imports."""
    script = (
        f"import importlib, sys\n"
        f"for module in {modules!r}:\n"
        f"    importlib.import_module(module)\n"
        f"print(*[name for name in {names!r} if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_the_statistics_load_no_django() -> None:
    assert {"results.statistics.report", "results.statistics.diagnosis.verdict"} <= set(MODULES)
    assert loaded_by(MODULES, ["numpy", "django", "celery", "psycopg"]) == ["numpy"]


@pytest.mark.parametrize("name", ["django", "numpy", "scipy", "sklearn"])
def test_the_consensus_rule_loads_only_the_standard_library(name: str) -> None:
    assert loaded_by(["results.consensus"], [name, "results.consensus"]) == ["results.consensus"]
