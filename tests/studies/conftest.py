"""A study that its admin fills by uploads."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from studies.models import Role, Study
from tests import factories as make
from tests.pages import log_in


@pytest.fixture
def storage(settings: Any, tmp_path: Path) -> None:
    """A media folder of the test's own."""
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def help_study(db: None) -> Study:
    return make.make_study("help")


@pytest.fixture
def admin(help_study: Study) -> Client:
    return log_in(make.make_member(help_study, "max", Role.ADMIN))
