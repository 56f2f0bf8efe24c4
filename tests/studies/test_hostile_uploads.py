"""Uploads made to harm, and files that are merely broken: refused by name, nothing written."""

import gzip
import io
import stat
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

from results.services import import_drafts as worker
from studies.formats.archives import Bounds
from studies.models import Document, Pair, Query, Role, Run
from tests import factories as make
from tests.pages import log_in
from tests.studies.uploads import list_reasons, upload, upload_and_read, zipped

MIB = 1024**2
QUERY = "q1\twhat?\n"


def picture(kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((64, 64), 60).convert("RGB").save(buffer, kind)
    return buffer.getvalue()


def claiming(width: int, height: int) -> bytes:
    """A picture of a few bytes whose header claims this size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = {b"IHDR": header, b"IDAT": zlib.compress(bytes(99)), b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks.items()
    )


def encrypted(archive: bytes) -> bytes:
    """The same archive with every entry marked as encrypted."""
    raw = bytearray(archive)
    raw[6] |= 1
    at = raw.rindex(b"PK\x01\x02")
    raw[at + 8] |= 1
    return bytes(raw)


def with_lying_size(archive: bytes, size: int) -> bytes:
    """The same archive, whose list of contents says that its last entry is this large."""
    raw = bytearray(archive)
    at = raw.rindex(b"PK\x01\x02")
    raw[at + 24 : at + 28] = struct.pack("<I", size)
    return bytes(raw)


def twice(name: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, QUERY)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr(name, QUERY)
    return buffer.getvalue()


def many(count: int) -> bytes:
    return zipped({f"documents/d{number}.txt": "x" for number in range(count)})


def damaged(archive: bytes) -> bytes:
    raw = bytearray(archive)
    raw[len("queries.tsv") + 30 + 2] ^= 0xFF
    return bytes(raw)


GOOD = zipped({"queries.tsv": QUERY})
LINK = stat.S_IFLNK | 0o777
ARCHIVES: dict[str, tuple[bytes, str]] = {
    "a path out of the folder": (zipped({"../queries.tsv": QUERY}), "lead out of its folder"),
    "a path out of a folder within": (zipped({"runs/../../a": "x"}), "lead out of its folder"),
    "an absolute path": (zipped({"/etc/passwd": "x"}), "relative"),
    "a Windows path": (zipped({"..\\queries.tsv": QUERY}), "relative"),
    "a drive": (zipped({"C:/queries.tsv": QUERY}), "relative"),
    "a control character": (zipped({"queries\x07.tsv": QUERY}), "relative"),
    "an empty part": (zipped({"runs//a.run": "x"}), "lead out of its folder"),
    "a name too long": (zipped({f"runs/{'x' * 300}": "x"}), "longer than 255 bytes"),
    "a link": (zipped({"queries.tsv": "/etc/passwd"}, mode=LINK), "no links"),
    "a link among runs": (zipped({"runs/a": "../../secret"}, mode=LINK), "no links"),
    "a device": (zipped({"queries.tsv": ""}, mode=stat.S_IFCHR | 0o666), "nothing special"),
    "a password": (encrypted(GOOD), "encrypted"),
    "an archive within": (zipped({"more.zip": GOOD}), "archive within the archive"),
    "a tar within": (zipped({"runs/more.tar.gz": b"x"}), "archive within the archive"),
    "the same name twice": (twice("queries.tsv"), "twice"),
    "a bomb": (zipped({"queries.tsv": b"\0" * (5 * MIB)}), "larger than allowed"),
    "a bomb in parts": (
        zipped({f"documents/{number}.txt": b"x" * (3 * MIB) for number in range(3)}),
        "larger than allowed",
    ),
    "a bomb that lies": (
        with_lying_size(zipped({"queries.tsv": b"\0" * (5 * MIB)}), 10),
        "queries.tsv",
    ),
    "a bomb within a bomb": (
        zipped({"corpus.jsonl.gz": gzip.compress(b"\0" * (5 * MIB))}),
        "larger than allowed",
    ),
    "too many files": (many(60), "more than 50 files"),
    "no archive": (b"this is no archive", "no zip archive"),
    "an empty file": (b"", "no zip archive"),
    "an archive cut off": (GOOD[:-30], "no zip archive"),
    "a damaged entry": (damaged(GOOD), "cannot be unpacked"),
    "a list of contents that is not there": (
        b"PK\x05\x06" + b"\0" * 6 + b"\xff\xff" + b"\xff\xff\xff\x7f" + b"\0" * 6,
        "more than 50 files",
    ),
}


@pytest.fixture(autouse=True)
def small_bounds(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    monkeypatch.setattr(worker, "find_bounds", lambda: Bounds(50, 4 * MIB, 8 * MIB))


def refuse_upload(*files: SimpleUploadedFile, field: str = "study_files") -> list[str]:
    """Upload as an admin; returns why it was refused, having seen that nothing was written."""
    study = make.make_study("help")
    client = log_in(make.make_member(study, "max", Role.ADMIN))
    draft = upload_and_read(client, study, **{field: list(files)})
    assert draft.state == "refused"
    url = f"/studies/help/import/{draft.public_id}/"
    assert client.get(url).status_code == 200
    assert client.post(f"{url}confirm/").status_code == 409
    for model in (Query, Document, Pair, Run):
        assert not model.objects.exists()
    assert not study.rounds.exists()
    return list_reasons(draft)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ARCHIVES)
def test_a_hostile_archive_is_refused_by_name(name: str, tmp_path: Path) -> None:
    content, reason = ARCHIVES[name]
    before = set(tmp_path.parent.iterdir())
    reasons = refuse_upload(upload("study.zip", content))
    assert any(reason in text for text in reasons), reasons
    assert set(tmp_path.parent.iterdir()) == before


MALFORMED: dict[str, tuple[str, str, bytes]] = {
    # what is wrong -> (field, file, content)
    "a name of nothing": ("study_files", "notes.docx", b"x"),
    "a hidden file": ("study_files", ".htaccess", b"x"),
    "a program": ("study_files", "queries.tsv.exe", b"MZ"),
    "a rubric under another name": ("study_files", "rubric.yml", b"dimensions: {}"),
    "queries in Latin-1": ("study_files", "queries.tsv", "q1\tcafé\n".encode("latin-1")),
    "queries in UTF-16": ("study_files", "queries.tsv", "q1\twhat?\n".encode("utf-16")),
    "queries with a NUL": ("study_files", "queries.tsv", b"q1\twh\0at?\n"),
    "queries without a text": ("study_files", "queries.tsv", b"q1\n"),
    "a query twice": ("study_files", "queries.tsv", b"q1\ta\nq1\tb\n"),
    "queries that are an image": ("study_files", "queries.csv", picture()),
    "JSON cut off": ("study_files", "queries.json", b'{"queries": [{"id": "q1"'),
    "JSON nested too deep": ("study_files", "queries.json", b"[" * 100_000),
    "a corpus line that is no object": ("study_files", "corpus.jsonl", b'["d1"]\n'),
    "a corpus without ids": ("study_files", "corpus.csv", b"title,text\na,b\n"),
    "a corpus that is no gzip": ("study_files", "corpus.jsonl.gz", b"{}"),
    "a corpus cut off": ("study_files", "corpus.jsonl.gz", gzip.compress(b"x" * 9000)[:-12]),
    "a run with five fields": ("runs", "a.run", b"q1 Q0 d1 1 3.0\n"),
    "a run with words for scores": ("runs", "a.run", b"q1 Q0 d1 1 high a\n"),
    "a run of unknown queries": ("runs", "a.run", b"q1 Q0 d1 1 3.0 a\n"),
    "a run with a nameless name": ("runs", " .run", b"q1 Q0 d1 1 3.0 a\n"),
    "a pool that is a list": ("study_files", "pool.json", b"[1, 2]"),
    "controls without grades": ("study_files", "controls.csv", b"query_id,doc_id\nq1,d1\n"),
    "YAML that runs code": (
        "study_files",
        "rubric.yaml",
        b"!!python/object/apply:os.system ['true']",
    ),
    "YAML that multiplies": (
        "study_files",
        "study.yaml",
        b"a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a]\nstudy: *b\n",
    ),
    "a key unknown": ("study_files", "study.yaml", b"study: help\nadmin: eve\n"),
    "an image that is text": ("study_files", "d1.png", b"<script>alert(1)</script>"),
    "an image of another kind": ("study_files", "d1.png", picture("JPEG")),
    "an image cut off": ("study_files", "d1.png", picture()[:900]),
    "a state that is a list": ("study_files", "state.json", b"[]"),
    "labels without columns": ("judgments", "labels.csv", b"a,b\n1,2\n"),
    "labels of unknown pairs": ("judgments", "labels.qrels", b"q1 0 d1 1\n"),
    "labels in the wrong order": ("judgments", "labels.qrels", b"1 d1 0\n"),
}


@pytest.mark.django_db
@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_is_refused_by_name(name: str) -> None:
    field, file, content = MALFORMED[name]
    reasons = refuse_upload(SimpleUploadedFile(file, content), field=field)
    assert any(file.strip() in text for text in reasons), reasons


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("d1.png", claiming(100_000, 100_000), "claims to have more than 50,000,000 pixels"),
        ("d1.png", claiming(10_000, 10_000), "has 10000 × 10000 pixels"),
        ("queries.json", b'{"q1": ' + b"9" * 6000 + b"}", "more digits than can be read"),
        ("corpus.jsonl", b'{"_id": "d1", "n": ' + b"9" * 6000 + b"}", "more digits than can be"),
    ],
)
def test_a_small_file_that_asks_for_too_much_is_refused_in_own_words(
    file: str, content: bytes, reason: str
) -> None:
    assert any(reason in text for text in refuse_upload(upload(file, content)))


@pytest.mark.django_db
def test_two_files_of_one_name_are_refused() -> None:
    reasons = refuse_upload(upload("queries.tsv", QUERY), upload("queries.tsv", QUERY))
    assert reasons == ["queries.tsv: two files of this name were uploaded"]


@pytest.mark.django_db
def test_a_file_beside_an_archive_that_holds_it_too_is_refused() -> None:
    reasons = refuse_upload(upload("queries.tsv", QUERY), upload("study.zip", GOOD))
    assert any("beside the archive" in text for text in reasons)


@pytest.mark.django_db
def test_the_name_of_an_upload_never_becomes_a_path() -> None:
    study = make.make_study("help")
    client = log_in(make.make_member(study, "max", Role.ADMIN))
    evil = upload("queries.tsv", QUERY)
    evil._name = "../../queries.tsv"  # as a client that is no browser could send it
    draft = upload_and_read(client, study, study_files=evil)
    stored = draft.files[0]["stored"]
    assert stored.startswith(f"imports/{draft.public_id}/")
    assert not default_storage.exists("queries.tsv")


@pytest.mark.django_db
def test_what_macos_adds_and_what_is_no_file_of_a_study_is_passed_over() -> None:
    study = make.make_study("help")
    client = log_in(make.make_member(study, "max", Role.ADMIN))
    archive = zipped(
        {
            "help/queries.tsv": QUERY,
            "help/README.md": "hello",
            "help/.DS_Store": "x",
            "__MACOSX/help/._queries.tsv": "x",
        }
    )
    draft = upload_and_read(client, study, study_files=upload("help.zip", archive))
    assert draft.state == "read"
    assert [one["file"] for one in draft.report["files"]] == ["queries.tsv"]
    assert "help.zip/help/README.md" in {file for file, _, _ in draft.report["notes"]}
