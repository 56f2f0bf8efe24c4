"""Documents: keys, metadata, folders of texts and of images."""

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from studies.formats.documents import (
    read_corpus_csv,
    read_corpus_jsonl,
    read_document_folder,
    read_image_folder,
)
from studies.formats.problems import Problems
from studies.formats.records import DocumentRecord

from .reading import good, notes, read, reasons

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 16


def test_known_metadata_is_parsed_and_the_rest_kept() -> None:
    line = (
        '{"doc_id": "d1", "title": "T", "text": "x", "effective_date": "2024-05-01", '
        '"superseded_by": "d2", "url": "https://example.org/", "format": "markdown", "brand": 7}'
    )
    assert good(read_corpus_jsonl, line) == [
        DocumentRecord(
            "d1", "T", "x", "markdown", {"brand": 7}, date(2024, 5, 1), "d2",
            "https://example.org/", 1,
        )
    ]  # fmt: skip


def test_metadata_may_also_be_an_object_of_its_own() -> None:
    line = '{"_id": "d1", "metadata": {"format": "html", "a": 1}}'
    (record,) = good(read_corpus_jsonl, line)
    assert (record.format, record.metadata, record.text) == ("html", {"a": 1}, None)


def test_an_empty_text_and_an_unknown_one_stay_apart_in_json() -> None:
    records = good(read_corpus_jsonl, '{"_id": "a", "text": ""}\n{"_id": "b", "text": null}\n')
    assert [record.text for record in records] == ["", None]


def test_a_csv_corpus_takes_documents_longer_than_the_csv_module_allows() -> None:
    text = "long " * 60_000
    (record,) = good(read_corpus_csv, f'doc_id,title,text,brand\nd1,T,"{text}",b\n')
    assert record.text == text
    assert record.metadata == {"brand": "b"}


def test_an_empty_text_cell_is_a_text_that_is_not_known() -> None:
    assert good(read_corpus_csv, "doc_id,title,text\nd1,T,\n")[0].text is None


def test_the_same_document_twice_is_noted_and_read_once() -> None:
    line = '{"_id": "d1", "text": "t"}\n'
    records, problems = read(read_corpus_jsonl, line + line)
    assert len(records) == 1
    assert notes(problems) == ["file:2: the document d1 is the same as in line 1"]


def test_a_corpus_is_streamed() -> None:
    class Endless:
        def __init__(self) -> None:
            self.lines = self.make()

        def make(self) -> Iterator[bytes]:
            number = 0
            while True:
                number += 1
                yield b'{"_id": "d%d"}\n' % number

        def readline(self, limit: int) -> bytes:
            return next(self.lines)

    # A source without an end.
    documents = read_corpus_jsonl(Endless(), file="f", problems=Problems())  # type: ignore[arg-type]
    assert [next(documents).doc_id for _ in range(3)] == ["d1", "d2", "d3"]


def test_a_folder_gives_one_document_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "b.md").write_bytes(b"\xef\xbb\xbf# Title\r\ntext\r\n")
    (folder / "v1.2.html").write_text("<p>x</p>")
    (folder / "文档.txt").write_text("plain")
    (folder / "x.docx").write_text("no")
    problems = Problems()
    records = list(read_document_folder(folder, problems=problems))
    assert not problems
    assert [(r.doc_id, r.format, r.text) for r in records] == [
        ("b", "markdown", "# Title\r\ntext\r\n"),
        ("v1.2", "html", "<p>x</p>"),
        ("文档", "text", "plain"),
    ]
    assert notes(problems) == [
        "documents/x.docx: passed over; documents here end in .txt .md .html"
    ]


def test_a_folder_refuses_bad_ids_bad_text_and_two_files_for_one_id(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a b.txt").write_text("x")
    (folder / "c.html").write_text("x")
    (folder / "c.md").write_text("x")
    (folder / "d.txt").write_bytes(b"ok\nf\xfcr")
    problems = Problems()
    assert [r.doc_id for r in read_document_folder(folder, problems=problems)] == ["c"]
    assert [reason.split(" (")[0] for reason in reasons(problems)] == [
        "documents/a b.txt: the id holds white space",
        "documents/c.md: documents/c.html has the same document id",
        "documents/d.txt:2: not UTF-8: byte 2 is 0xFC",
    ]


def test_a_file_name_that_is_not_utf_8_is_refused_and_can_be_shown(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / os.fsdecode(b"f\xfcr.txt")).write_text("x")
    problems = Problems()
    assert list(read_document_folder(folder, problems=problems)) == []
    assert reasons(problems) == ["documents/f\ufffdr.txt: the id holds a lone surrogate (U+DCFC)"]


def test_images_must_be_what_their_ending_says(tmp_path: Path) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "a.png").write_bytes(PNG)
    (folder / "b.webp").write_bytes(b"RIFF\x10\0\0\0WEBPVP8 ")
    (folder / "c.gif").write_bytes(b"<script>alert(1)</script>")
    (folder / "d.webp").write_bytes(b"RIFF\x10\0\0\0WAVEfmt ")
    problems = Problems()
    found = list(read_image_folder(folder, problems=problems))
    assert [(r.doc_id, r.format, r.text, p.name) for r, p in found] == [
        ("a", "image", None, "a.png"),
        ("b", "image", None, "b.webp"),
    ]
    assert reasons(problems) == [
        "images/c.gif: the file is not a gif image",
        "images/d.webp: the file is not a webp image",
    ]
