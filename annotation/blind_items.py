"""The only place where a pair becomes what its judges see of it."""

from django.urls import reverse
from django.utils.safestring import SafeString

from annotation import statements
from annotation.contexts import BlindItem
from annotation.rendering import render_document
from studies.models import Study
from studies.rows import prepared_cursor


def read_blind_item(study: Study, pair_id: int) -> BlindItem:
    """Everything a judge may know of the study's pair with this key, and nothing else."""
    with prepared_cursor() as cursor:
        cursor.execute(statements.BLIND_ITEM, {"pair": pair_id})
        (
            public_id,
            query,
            query_context,
            class_name,
            class_title,
            document_title,
            document_format,
            text,
            image,
            effective_date,
            is_superseded,
        ) = cursor.fetchone()
    text = text or ""
    return BlindItem(
        pair_id=str(public_id),
        query=query,
        query_context=query_context,
        query_class=class_title or class_name or "",
        class_name=class_name or "",
        document_title=document_title,
        document_format=document_format,
        body=render_document(text, document_format) if text else SafeString(""),
        image_url=reverse("annotation:image", args=[study.slug, public_id]) if image else "",
        is_missing=not text.strip() and not image,
        effective_date=effective_date,
        is_superseded=is_superseded,
    )
