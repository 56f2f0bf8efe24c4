"""Images of documents: served to who is to judge them, and to nobody else."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from annotation.models import Claim
from studies.models import DocumentText, Pair
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms
from tests.studies.image_server import picture

JUDGE = "/studies/alpha/judge/"


@pytest.fixture
def pictures(cast: Cast, settings: Any, tmp_path: Path) -> Cast:
    settings.MEDIA_ROOT = tmp_path / "media"
    for text in DocumentText.objects.select_related("document"):
        text.image.save("secret-external-id.png", ContentFile(picture()))
        text.document.format = "image"
        text.document.save()
    return cast


def find_image(client: Client) -> str:
    """The address of the image on the judging screen."""
    page = client.get(JUDGE).content.decode()
    return next(part for part in page.split('"') if part.startswith(f"{JUDGE}images/"))


def test_who_holds_the_pair_gets_the_image_and_no_id_of_it(pictures: Cast) -> None:
    client = log_in(pictures.ana)
    response = client.get(find_image(client))
    assert b"".join(response)[:4] == b"\x89PNG"
    assert response.headers["Content-Type"] == "image/png"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "secret" not in str(response.headers)


def test_who_does_not_hold_it_gets_nothing(pictures: Cast) -> None:
    url = find_image(log_in(pictures.ana))
    for person in (pictures.max, pictures.lia, pictures.ada, pictures.sid):
        assert log_in(person).get(url).status_code == 404
    held = Claim.objects.get(annotator=pictures.ana).round_query.query_id
    for pair in Pair.objects.exclude(query=held):
        other = f"{JUDGE}images/{pair.public_id}/"
        assert log_in(pictures.ana).get(other).status_code == 404


def test_the_storage_serves_nothing_by_itself(pictures: Cast) -> None:
    client = log_in(pictures.ana)
    image = DocumentText.objects.first().image
    for path in (f"/{image.name}", f"/media/{image.name}", f"/static/{image.name}"):
        assert client.get(path).status_code == 404


def test_an_image_lost_in_the_storage_can_be_reported(pictures: Cast) -> None:
    client = log_in(pictures.ana)
    url = find_image(client)
    for text in DocumentText.objects.all():
        text.image.storage.delete(text.image.name)
    assert client.get(url).status_code == 404
    page = client.get(JUDGE)
    assert "The image cannot be loaded." in page.content.decode()
    form = read_forms(page)["/studies/alpha/judge/report/"]
    assert post_form(client, form, JUDGE, kind="missing").status_code == 302
