"""Values for property tests: any ids, names and texts that a format can carry, odd ones first."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

quick = settings(max_examples=30)

ODD_PIECES = (
    '"', "'", ",", "\t", "\n", "\r", "\r\n", "\u2028", "\u0085", "\f", "\ufeff", "=1+1", "-", "@",
    "עברית", "文档", "👩‍👩‍👧", "e\u0301", " ", "  ", "#", ": ", "- ", "|", "{}", "null", "no", "01",
)  # fmt: skip
ODD_IDS = (
    '"',
    "'",
    ",",
    "=1+1",
    "-1",
    "@a",
    "#1",
    "null",
    "no",
    "01",
    "עברית",
    "文档",
    "👩‍👩‍👧",
    "|",
)
grades = st.integers(-32767, 32767)
pieces = st.sampled_from(ODD_PIECES) | st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=5
)
texts = st.lists(pieces, max_size=4).map("".join)
solid_texts = st.builds(str.__add__, texts, st.sampled_from(["x", "文", "'", "-"]))
words = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp"), exclude_characters="\ufeff"),
    min_size=1,
    max_size=6,
)
ids = st.sampled_from(ODD_IDS) | words
names = ids | st.builds("{} {}".format, ids, ids)
maybe_names = st.none() | names
moments = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))
scalars = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | texts
numbers = st.floats(allow_nan=False, allow_infinity=False)
json_values = (
    scalars | numbers | st.lists(scalars, max_size=2) | st.dictionaries(texts, scalars, max_size=2)
)


def distinct(records: SearchStrategy[Any], key: Callable[[Any], Any]) -> SearchStrategy[list[Any]]:
    return st.lists(records, max_size=3, unique_by=key)


def pair_of(record: Any) -> tuple[str, str]:
    return record.query_id, record.doc_id


def unlined(records: Iterable[Any]) -> list[Any]:
    return [
        record._replace(line=0) if isinstance(record, tuple) else replace(record, line=0)
        for record in records
    ]


def metadata(*reserved: str) -> SearchStrategy[dict[str, object]]:
    keys = texts.filter(lambda key: key not in reserved)
    return st.dictionaries(keys, json_values, max_size=2)
