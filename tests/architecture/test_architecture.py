"""The borders between rooms, kept by tests where import-linter cannot see them."""

import re
import subprocess
import sys
from io import StringIO
from itertools import pairwise

import pytest
from django.core.management import call_command

from tests.conftest import ROOT

PURE = [
    "annotation.shuffle",
    "results.consensus",
    "results.asked_labels",
    "results.gate",
    "results.gate_facts",
    "results.inspection",
    "results.statistics.report",
    "studies.formats",
]
HEAVY = {"numpy", "scipy", "sklearn", "krippendorff"}


def modules_loaded_by(statement: str) -> set[str]:
    """Top-level packages in sys.modules after running the statement in a fresh process."""
    code = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("module", PURE)
def test_pure_module_loads_no_django(module: str) -> None:
    assert "django" not in modules_loaded_by(f"import {module}")


def test_web_process_loads_no_numpy() -> None:
    loaded = modules_loaded_by(
        "from config.wsgi import application\n"
        "from django.urls import get_resolver\n"
        "get_resolver().url_patterns"
    )
    assert not loaded & HEAVY


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    call_command("makemigrations", "--check", "--dry-run", stdout=StringIO())


def test_every_exemption_says_why() -> None:
    """A line that a checker is told to pass over gives the reason, there or right above."""
    bare = re.compile(r"# (type: ignore\[[^\]]*\]|noqa(: [A-Z0-9, ]+)?)\s*$")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for room in ("annotation", "benchmarks", "config", "results", "studies", "tests")
        for path in (ROOT / room).rglob("*.py")
        for number, (above, line) in enumerate(pairwise(["", *path.read_text().split("\n")]), 1)
        if bare.search(line) and not above.lstrip().startswith("# ")
    ]
    assert found == []
