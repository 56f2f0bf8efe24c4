"""Images of documents, served to who may see them and to nobody else."""

import logging
import mimetypes
import uuid

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from annotation.access import get_annotator, get_held_pair
from studies.models import Document

logger = logging.getLogger(__name__)

SHOWN_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})


@require_safe
@login_required
def image(request: HttpRequest, slug: str, pair_id: uuid.UUID) -> HttpResponseBase:
    return send_image(get_held_pair(get_annotator(request, slug), pair_id).document)


def send_image(document: Document) -> FileResponse:
    """The image of a document. Raises Http404 where it has none that is shown."""
    body = getattr(document, "body", None)
    if body is None or not body.image:
        raise Http404("This document has no image.")
    content_type = mimetypes.guess_type(body.image.name)[0]
    if content_type not in SHOWN_TYPES:
        raise Http404("This file is no image that is shown.")
    try:
        stream = body.image.open()
    except FileNotFoundError as error:
        logger.exception("The image %s is missing in the storage.", body.image.name)
        raise Http404("The image is missing in the storage.") from error
    response = FileResponse(stream, content_type=content_type)
    # The stored name may carry the document's id, so the answer names none.
    response["Content-Disposition"] = "inline"
    response["Cache-Control"] = "private, max-age=3600"
    return response
