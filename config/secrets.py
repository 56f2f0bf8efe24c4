"""Secrets that an installation makes for itself."""

import os
import secrets
from pathlib import Path


def keep_secret(path: Path) -> str:
    """Return the secret kept at `path`, made at random the first time.

    The folder is made for its owner alone. Two processes that start together agree on one
    secret, because the file is created exclusively and the loser reads the winner's.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    if not path.exists():
        draft.write_text(secrets.token_urlsafe(48))
        draft.chmod(0o600)
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()
