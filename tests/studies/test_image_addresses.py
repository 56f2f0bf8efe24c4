"""Images that a corpus names by their address: fetched by the worker, within bounds."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage

from results.services.imports import import_folder
from studies.models import Document, DocumentText, Role, Study
from studies.services.imports import ImportRefused, fetching
from studies.services.imports.fetching import FetchRefused, fetch_image, is_public
from tests import factories as make
from tests.pages import log_in
from tests.studies.image_server import (
    Answer,
    ImageServer,
    drip,
    flood,
    picture,
    redirect,
    send,
    serve_images,
)
from tests.studies.study_folders import write_folder
from tests.studies.uploads import confirm, list_reasons, upload, upload_and_read

RUN = "q1 Q0 d1 1 2.0 a\n"


@pytest.fixture(autouse=True)
def places(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.FETCH_PRIVATE_ADDRESSES = True


@pytest.fixture
def server() -> Iterator[ImageServer]:
    with serve_images() as running:
        yield running


def image_study(folder: Path, *urls: str) -> Path:
    """A study whose documents d1, d2, … are the images at these addresses."""
    lines = [
        json.dumps({"_id": f"d{number}", "format": "image", "url": url})
        for number, url in enumerate(urls, start=1)
    ]
    files = {
        "study.yaml": "study: pictures\n",
        "queries.tsv": "q1\tteal?\n",
        "corpus.jsonl": "\n".join(lines),
        "runs/a.run": RUN,
    }
    return write_folder(folder, files)


@pytest.mark.django_db
def test_an_image_is_fetched_and_stored_under_the_hash_of_its_bytes(
    server: ImageServer, tmp_path: Path
) -> None:
    server.answers["/a.png"] = send(picture())
    import_folder(image_study(tmp_path / "study", server.url("/a.png")))
    stored = DocumentText.objects.get().image.name
    assert stored.startswith("documents/")
    assert "d1" not in stored
    with default_storage.open(stored) as image:
        assert image.read()[:4] == b"\x89PNG"


@pytest.mark.django_db
def test_imported_again_it_is_not_fetched_again_even_if_it_is_gone(
    server: ImageServer, tmp_path: Path
) -> None:
    server.answers["/a.png"] = send(picture())
    folder = image_study(tmp_path / "study", server.url("/a.png"))
    import_folder(folder)
    server.answers.clear()
    report = import_folder(folder)
    assert report.new == 0
    assert server.asked == ["/a.png"]


@pytest.mark.django_db
def test_an_address_that_two_documents_share_is_asked_once(
    server: ImageServer, tmp_path: Path
) -> None:
    server.answers["/a.png"] = send(picture())
    url = server.url("/a.png")
    import_folder(image_study(tmp_path / "study", url, url))
    assert server.asked == ["/a.png"]
    assert DocumentText.objects.values("image").distinct().count() == 1


@pytest.mark.django_db
def test_an_image_that_cannot_be_had_is_refused_by_line_and_nothing_is_written(
    server: ImageServer, tmp_path: Path
) -> None:
    server.answers["/a.png"] = send(picture())
    folder = image_study(tmp_path / "study", server.url("/a.png"), server.url("/gone.png"))
    with pytest.raises(ImportRefused) as refusal:
        import_folder(folder)
    (problem,) = refusal.value.report.refusals
    assert str(problem) == (
        f"corpus.jsonl:2: the image of d2 at {server.url('/gone.png')}: the server answers 404"
    )
    assert not Study.objects.exists()
    assert not default_storage.exists("documents")


@pytest.mark.django_db
def test_no_more_images_are_fetched_than_the_setting_allows(
    server: ImageServer, tmp_path: Path, settings: Any
) -> None:
    settings.FETCH_LIMIT = 2
    for name in "abc":
        server.answers[f"/{name}.png"] = send(picture())
    folder = image_study(tmp_path / "study", *(server.url(f"/{name}.png") for name in "abc"))
    with pytest.raises(ImportRefused) as refusal:
        import_folder(folder)
    assert "more than 2 images" in str(refusal.value.report.refusals[0])
    assert server.asked == ["/a.png", "/b.png"]


@pytest.mark.django_db
def test_on_the_page_what_the_report_saw_is_what_is_imported(server: ImageServer) -> None:
    server.answers["/a.png"] = send(picture())
    study = make.make_study("pictures")
    admin = log_in(make.make_member(study, "max", Role.ADMIN))
    line = json.dumps({"_id": "d1", "format": "image", "url": server.url("/a.png")})
    draft = upload_and_read(admin, study, study_files=upload("corpus.jsonl", line))
    assert draft.state == "read"
    server.answers["/a.png"] = send(picture())  # other noise: another image
    assert confirm(admin, draft).state == "imported"
    assert server.asked == ["/a.png"]
    assert Document.objects.get().body.image


@pytest.mark.django_db
def test_on_the_page_a_private_address_is_refused(server: ImageServer, settings: Any) -> None:
    settings.FETCH_PRIVATE_ADDRESSES = False
    study = make.make_study("pictures")
    admin = log_in(make.make_member(study, "max", Role.ADMIN))
    line = json.dumps({"_id": "d1", "format": "image", "url": server.url("/a.png")})
    draft = upload_and_read(admin, study, study_files=upload("corpus.jsonl", line))
    assert "in a private network" in list_reasons(draft)[0]
    assert server.asked == []


BAD_ANSWERS: dict[str, tuple[Answer, str]] = {
    "text": (send(b"hello", "text/html"), "not an image shown here"),
    "a vector image": (send(b"<svg/>", "image/svg+xml"), "not an image shown here"),
    "an error": (send(b"", status=500), "the server answers 500"),
    "no answer at all": (lambda handler: None, "it cannot be fetched"),
    "a flood": (flood, "more than 20 MiB"),
    "half of what was said": (send(picture()[:50], length=900), "ended before"),
    "a redirect to a file": (redirect("file:///etc/passwd"), "only addresses that begin"),
    "a redirect to a script": (redirect("javascript:alert(1)"), "only addresses that begin"),
    "a redirect to itself": (redirect("/bad.png"), "redirected more than 3 times"),
    "a redirect with a password": (redirect("http://a:b@127.0.0.1/"), "name or password"),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_a_bad_answer_is_refused_with_its_reason(server: ImageServer, name: str) -> None:
    server.answers["/bad.png"], reason = BAD_ANSWERS[name]
    with pytest.raises(FetchRefused, match=reason):
        fetch_image(server.url("/bad.png"))


def test_an_answer_that_never_ends_is_cut_off(
    server: ImageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "SECONDS", 0.3)
    server.answers["/slow.png"] = drip
    with pytest.raises(FetchRefused, match="it takes longer than"):
        fetch_image(server.url("/slow.png"))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "kind", "reason"),
    [
        (picture("JPEG"), "image/png", "cannot be read"),
        (picture()[:300], "image/png", "cannot be read"),
        (b"not an image", "image/webp", "cannot be read"),
    ],
)
def test_an_image_that_is_not_what_the_server_says_is_refused(
    server: ImageServer, tmp_path: Path, body: bytes, kind: str, reason: str
) -> None:
    server.answers["/a"] = send(body, kind)
    with pytest.raises(ImportRefused) as refusal:
        import_folder(image_study(tmp_path / "study", server.url("/a")))
    assert reason in str(refusal.value.report.refusals[0])


def test_a_redirect_is_followed_and_its_ending_tells_the_kind(server: ImageServer) -> None:
    body = picture("JPEG")
    server.answers["/old"] = redirect("/new%20one.jpg?size=2")
    server.answers["/new%20one.jpg?size=2"] = send(body, "application/octet-stream")
    assert fetch_image(server.url("/old")) == (body, ".jpg")


def test_signs_outside_of_ascii_are_escaped(server: ImageServer) -> None:
    server.answers["/%E5%9C%96.png"] = send(picture())
    assert fetch_image(server.url("/圖.png"))[1] == ".png"


def test_a_redirect_into_the_own_network_is_refused(
    server: ImageServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.FETCH_PRIVATE_ADDRESSES = False
    monkeypatch.setattr(fetching, "is_public", lambda address: address == "127.0.0.1")
    server.answers["/a.png"] = redirect(f"http://127.0.0.2:{server.port}/secret")
    with pytest.raises(FetchRefused, match="private network"):
        fetch_image(server.url("/a.png"))
    assert server.asked == ["/a.png"]


def test_a_name_that_also_leads_into_the_own_network_is_refused(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.FETCH_PRIVATE_ADDRESSES = False

    def resolve(*args: object, **kwargs: object) -> list[Any]:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80))
            for address in ("93.184.216.34", "10.0.0.7")
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with pytest.raises(FetchRefused, match="private network"):
        fetch_image("http://images.example/a.png")


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1%eth0",
        "fd00::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "2002:7f00:1::",
    ],
)
def test_addresses_of_the_own_network_are_known(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"])
def test_addresses_of_the_open_internet_are_known(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://2130706433/",
        "http://0x7f.1/",
        "http://localhost/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
    ],
)
def test_other_spellings_of_the_own_machine_are_refused(url: str, settings: Any) -> None:
    settings.FETCH_PRIVATE_ADDRESSES = False
    with pytest.raises(FetchRefused, match=r"private network|not known"):
        fetch_image(url)


@pytest.mark.parametrize(
    "url",
    ["ftp://a.example/x.png", "file:///x.png", "data:image/png;base64,", "/x.png", "http://a:b:c/"],
)
def test_other_kinds_of_addresses_are_refused(url: str) -> None:
    with pytest.raises(FetchRefused):
        fetch_image(url)
