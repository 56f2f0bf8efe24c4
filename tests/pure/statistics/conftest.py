"""Figures of real data that the project does not carry."""

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def kozynear(shared_data: Path) -> dict[str, Any]:
    """Published and recomputed figures of kozynear, from its `expected.json`."""
    expected: dict[str, Any] = json.loads(
        (shared_data / "kozynear" / "expected.json").read_text(encoding="utf-8")
    )
    return expected
