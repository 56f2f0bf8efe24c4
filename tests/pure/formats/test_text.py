"""Encodings, line ends, compression and ids."""

import gzip
from pathlib import Path

import pytest

from studies.formats import text
from studies.formats.problems import FormatError, Problems
from studies.formats.text import check_id, decoded_lines, open_source

from .reading import good, notes, read, reasons


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (b"a\nb\n", ["a", "b"]),
        (b"a\r\nb", ["a", "b"]),
        (b"\xef\xbb\xbfa\nb", ["a", "b"]),
        (b"\xef\xbb\xbf", [""]),
        (b"a\rb\n", ["a\rb"]),
        (b"a\r", ["a\r"]),
        ("a\u2028b\u0085c\fd\u000be\n".encode(), ["a\u2028b\u0085c\fd\u000be"]),
        (b"\n\na", ["", "", "a"]),
        (b"", []),
    ],
)
def test_lines_end_in_lf_or_crlf_and_nowhere_else(raw: bytes, lines: list[str]) -> None:
    assert [line for _, line in good(decoded_lines, raw)] == lines


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("a\nb".encode("utf-16"), "file:1: the file is UTF-16 or UTF-32; save it as UTF-8"),
        ("a\nb".encode("utf-32"), "file:1: the file is UTF-16 or UTF-32; save it as UTF-8"),
        (gzip.compress(b"a", mtime=0), "file:1: the file is compressed; its name must end in .gz"),
        (b"a\nf\xfcr\n", "file:2: not UTF-8: byte 2 is 0xFC (another encoding, such as Latin-1? "
         "save the file as UTF-8)"),
        (b"a\n\n\xed\xa0\x80", "file:3: not UTF-8: byte 1 begins a lone surrogate"),
        (b"ab\0", "file:1: character 3 is NUL (U+0000)"),
    ],
)  # fmt: skip
def test_other_encodings_are_refused_by_line(raw: bytes, reason: str) -> None:
    _, problems = read(decoded_lines, raw)
    assert reasons(problems) == [reason]


def test_good_lines_around_a_bad_one_are_kept() -> None:
    lines, problems = read(decoded_lines, b"a\n\xff\nc\n")
    assert lines == [(1, "a"), (3, "c")]
    assert problems.count == 1


def test_a_line_that_is_too_long_is_refused_and_the_next_one_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text.lines_with_ends, "__kwdefaults__", {"limit": 8})
    lines, problems = read(decoded_lines, b"12345678\n" + b"x" * 30 + b"\nlast")
    assert lines == [(1, "12345678"), (3, "last")]
    assert reasons(problems) == ["file:2: the line is longer than 8 bytes"]


def test_blank_lines_are_noted_amid_the_content_only() -> None:
    lines, problems = read(text.content_lines, "a\n\n \nb\n\n\n")
    assert [line for _, line in lines] == ["a", "b"]
    assert notes(problems) == ["file:2: blank line passed over"]


def lines_of(path: Path, max_bytes: int = 10**6) -> tuple[list[str], Problems]:
    problems = Problems()
    with open_source(path, max_bytes=max_bytes) as stream:
        lines = decoded_lines(stream, file=path.name, problems=problems)
        return [line for _, line in lines], problems


def test_a_gz_file_reads_like_a_plain_one(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"one\ntwo\n", mtime=0))
    assert lines_of(tmp_path / "a.gz")[0] == ["one", "two"]


def test_a_gz_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress("".join(f"line {i * 7919}\n" for i in range(5000)).encode())
    (tmp_path / "a.gz").write_bytes(whole[: len(whole) // 2])
    _, problems = lines_of(tmp_path / "a.gz")
    assert [p.reason for p in problems.items] == ["the compressed file is cut off"]


@pytest.mark.parametrize(
    "raw", [b"no gzip at all", gzip.compress(b"abc", mtime=0)[:10] + b"\xff" * 40]
)
def test_a_damaged_gz_file_is_refused(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "a.gz").write_bytes(raw)
    _, problems = lines_of(tmp_path / "a.gz")
    assert problems.items[0].reason.startswith("the compressed file is damaged")


def test_a_gz_file_that_grows_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"0" * 3_000_000, mtime=0))
    _, problems = lines_of(tmp_path / "bomb.gz", max_bytes=1_000_000)
    assert "more than 1,000,000 bytes when decompressed" in problems.items[0].reason


@pytest.mark.parametrize(
    "value",
    ["d1", "文档1", "<dbpedia:Mangú>", "a/b#c%20", "😀", "é", "e\u0301", '"q', "=1", "x" * 512],
)
def test_unicode_ids_are_allowed(value: str) -> None:
    assert check_id(value) is None


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("", "the id is empty"),
        ("x" * 513, "the id has 513 characters, more than 512"),
        ("a b", "the id holds white space (U+0020 SPACE)"),
        ("a\u00a0b", "the id holds white space (U+00A0 NO-BREAK SPACE)"),
        ("a\u3000", "the id holds white space (U+3000 IDEOGRAPHIC SPACE)"),
        ("a\u2028", "the id holds white space (U+2028 LINE SEPARATOR)"),
        ("a\x85", "the id holds white space (U+0085)"),
        ("a\x1c", "the id holds white space (U+001C)"),
        ("a\x00", "the id holds a control character (U+0000)"),
        ("a\x7f", "the id holds a control character (U+007F)"),
        ("a\x9f", "the id holds a control character (U+009F)"),
        ("\ud800", "the id holds a lone surrogate (U+D800)"),
        ("\ufeffq1", "the id holds a byte order mark (U+FEFF ZERO WIDTH NO-BREAK SPACE)"),
    ],
)
def test_ids_that_files_cannot_carry_are_refused_by_code(value: str, reason: str) -> None:
    assert check_id(value) == reason


def test_no_character_that_splits_a_line_is_allowed_in_an_id() -> None:
    let_through = [chr(c) for c in range(0x3100) if check_id(f"a{chr(c)}b") is None]
    assert all(len(f"a{c}b".split()) == 1 for c in let_through)


def test_problems_count_exactly_and_keep_the_first() -> None:
    problems = Problems(kept=2)
    for line in range(1, 6):
        problems.add("f.tsv", line, "wrong")
    problems.note("f.tsv", None, "told")
    assert (problems.count, len(problems.items), bool(problems)) == (5, 2, True)
    assert problems.refuse == problems.items
    with pytest.raises(FormatError, match=r"f\.tsv:1: wrong\nf\.tsv:2: wrong\nand 3 more"):
        problems.raise_if_any()


def test_notes_alone_refuse_nothing() -> None:
    problems = Problems()
    problems.note("f.tsv", None, "told")
    problems.raise_if_any()
    assert str(problems.notes[0]) == "f.tsv: told"
