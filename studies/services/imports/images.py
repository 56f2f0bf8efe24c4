"""Images: proved to be what they claim before they are stored under the hash of their bytes."""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path

from django.core.files import File
from django.core.files.storage import default_storage
from PIL import Image

LARGEST_BYTES = 20 * 1024**2
LARGEST_PIXELS = 50_000_000

_FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".gif": "GIF", ".webp": "WEBP"}


def image_fault(path: Path) -> str | None:
    """Why the file cannot be shown as the image its name claims, or None when it can.

    The image is decoded in full, so that one cut off half-way is found now and not by whoever
    judges it.
    """
    if path.stat().st_size > LARGEST_BYTES:
        return f"the image has more than {LARGEST_BYTES // 1024**2} MiB"
    try:
        with warnings.catch_warnings():
            # Pillow warns of a decompression bomb; the limit below is ours and is lower.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            return _decoding_fault(path)
    except Image.DecompressionBombError:
        return f"the image claims to have more than {LARGEST_PIXELS:,} pixels"
    except (OSError, SyntaxError, ValueError) as error:
        return f"the image cannot be read ({error})"


def _decoding_fault(path: Path) -> str | None:
    claimed = _FORMATS[path.suffix.lower()]
    with Image.open(path, formats=[claimed]) as image:
        width, height = image.size
        if width * height > LARGEST_PIXELS:
            return f"the image has {width} × {height} pixels, more than {LARGEST_PIXELS:,} in all"
        image.load()
    return None


def image_name(path: Path) -> str:
    """Where the image is stored: a name made of its bytes, which tells nothing of its id."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return f"documents/{digest[:2]}/{digest}{path.suffix.lower()}"


def store_image(path: Path) -> str:
    """Store the image unless its bytes are there already; returns its name in the storage.

    A file stored by an import that is then rolled back stays: it is found again by the next.
    """
    name = image_name(path)
    if not default_storage.exists(name):
        with path.open("rb") as stream:
            default_storage.save(name, File(stream))
    return name
