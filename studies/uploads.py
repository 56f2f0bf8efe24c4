"""Files on their way in: bounded, and told about rather than cut off."""

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest


class BoundedUploadHandler(FileUploadHandler):
    """Keeps no file of a request that is larger than `UPLOAD_LIMIT`.

    What is still to come is read and thrown away, so that the browser gets an answer and no
    broken connection. The view asks `is_too_large` and says what the limit is.
    """

    def handle_raw_input(
        self,
        input_data: Any,
        META: Any,  # noqa: N803 - Django's name
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> None:
        self.is_refused = content_length > settings.UPLOAD_LIMIT

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        if self.is_refused:
            raise StopUpload(connection_reset=False)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


def is_too_large(request: HttpRequest) -> bool:
    """Whether the files of this request were refused for their size."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    return length.isdecimal() and int(length) > settings.UPLOAD_LIMIT
