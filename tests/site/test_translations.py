"""The catalogues of Traditional Chinese and Indonesian."""

import re
from collections import Counter
from gettext import GNUTranslations
from pathlib import Path

import pytest

from tests.site.catalogues import Message, read_catalogue

LOCALE = Path(__file__).resolve().parent.parent.parent / "locale"
CATALOGUES = {"zh-hant": "zh_Hant", "id": "id"}
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%[sd]|%%|\{\w*(?:[!:][^{}]*)?\}")
TAG = re.compile(r"</?\w+[^>]*>")

each_language = pytest.mark.parametrize("locale", CATALOGUES.values())


def catalogue(locale: str, suffix: str) -> Path:
    return LOCALE / locale / "LC_MESSAGES" / f"django.{suffix}"


def translated(locale: str) -> list[Message]:
    messages = read_catalogue(catalogue(locale, "po"))
    return [message for message in messages if message.is_translated]


def find(pattern: re.Pattern[str], text: str) -> Counter[str]:
    return Counter(pattern.findall(text))


@each_language
def test_no_translation_is_a_guess_from_a_similar_text(locale: str) -> None:
    messages = read_catalogue(catalogue(locale, "po"))
    assert [message.msgid for message in messages if "fuzzy" in message.flags] == []


@each_language
def test_a_translation_fills_in_what_its_source_fills_in(locale: str) -> None:
    """A plural text may leave out the number where the singular one does ("one pair")."""
    for message in translated(locale):
        for text in message.msgstr:
            wanted = find(PLACEHOLDER, message.msgid_plural or message.msgid)
            assert find(PLACEHOLDER, text) == wanted, message.msgid


@each_language
def test_a_translation_keeps_the_tags_of_its_source(locale: str) -> None:
    for message in translated(locale):
        for text in message.msgstr:
            assert find(TAG, text) == find(TAG, message.msgid_plural or message.msgid), text


@each_language
def test_a_translation_keeps_the_line_ends_and_spaces_around_its_source(locale: str) -> None:
    def edges(text: str) -> tuple[bool, bool]:
        return text.startswith("\n"), text.endswith("\n")

    for message in translated(locale):
        for text in message.msgstr:
            assert edges(text) == edges(message.msgid), message.msgid


@each_language
def test_every_plural_has_the_forms_that_the_language_has(locale: str) -> None:
    for message in read_catalogue(catalogue(locale, "po")):
        assert len(message.msgstr) == 1, f"both languages have one form: {message.msgid}"


@each_language
def test_the_compiled_catalogue_says_what_its_source_says(locale: str) -> None:
    with catalogue(locale, "mo").open("rb") as file:
        compiled = GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    source = {}
    for message in translated(locale):
        msgid = f"{message.msgctxt}\x04{message.msgid}" if message.msgctxt else message.msgid
        source[(msgid, 0) if message.msgid_plural else msgid] = message.msgstr[0]
    header = compiled.pop("")
    assert "nplurals=1" in header
    assert compiled == source
