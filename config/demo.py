"""The demo study: loaded from the files in `studies/demo`, with logins made for this
installation."""

import json
import secrets
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import transaction

from annotation.services.imports import JudgmentOptions, import_judgments
from results.services.releases import request_release
from studies.models import Member, Study
from studies.services.imports import import_study, read_study
from studies.services.people import set_password

DEMO_FOLDER = settings.BASE_DIR / "studies" / "demo" / "study"
DEMO_SLUG = "demo"


def is_demo_loaded() -> bool:
    return Study.objects.filter(slug=DEMO_SLUG).exists()


@transaction.atomic
def load_demo(say: Callable[[str], object] = lambda text: None) -> Study:
    """Import the demo study with the labels of its simulated annotators, all or nothing;
    what is there already stays as it is."""
    say("Loading the demo study …")
    import_study(read_study(DEMO_FOLDER))
    study = Study.objects.get(slug=DEMO_SLUG)
    for path in sorted((DEMO_FOLDER / "judgments").glob("*.csv")):
        import_judgments(study=study, path=path, options=JudgmentOptions(annotator=path.stem))
    request_release(study)
    return study


def keep_logins(study: Study) -> dict[str, str]:
    """Give the demo's people random passwords once, and return name -> password.

    The passwords are kept, each with the hash it got, in a file for the owner alone, so that
    they can be shown again. An account whose password has been changed since, or came from
    elsewhere, is left out.
    """
    path = logins_path()
    kept: dict[str, list[str]] = json.loads(path.read_text()) if path.exists() else {}
    logins = {}
    for member in list_people(study):
        account = member.user
        if account is not None and not account.has_usable_password():
            password = secrets.token_urlsafe(12)
            account = set_password(name=account.username, password=password)
            kept[member.name] = [password, account.password]
        password, hashed = kept.get(member.name, ["", ""])
        if account is not None and hashed == account.password:
            logins[member.name] = password
    write_private(path, json.dumps(kept, indent=2))
    return logins


def list_people(study: Study) -> list[Member]:
    """The demo's members with an account, annotators first."""
    members = study.members.filter(user__isnull=False).select_related("user")
    return sorted(members, key=lambda member: (member.roles, member.name))


def logins_path() -> Path:
    """Beside the secret key, out of the folders that the embedded PostgreSQL opens."""
    return Path(settings.VAR_DIR) / "private" / "demo-logins.json"


def write_private(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(text)
