"""The catalogues of Traditional Chinese and Indonesian, and pages that speak them."""

import re
from collections import Counter
from gettext import GNUTranslations
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from studies.models import User
from tests.cast import Cast
from tests.pages import log_in
from tests.site.catalogues import Message, read_catalogue

LOCALE = Path(__file__).resolve().parent.parent.parent / "locale"
CATALOGUES = {"zh-hant": "zh_Hant", "id": "id"}
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%[sd]|%%|\{\w*(?:[!:][^{}]*)?\}")
ENOUGH = 0.95
TAG = re.compile(r"</?\w+[^>]*>")

each_language = pytest.mark.parametrize("locale", CATALOGUES.values())


def catalogue(locale: str, suffix: str) -> Path:
    return LOCALE / locale / "LC_MESSAGES" / f"django.{suffix}"


def translated(locale: str) -> list[Message]:
    messages = read_catalogue(catalogue(locale, "po"))
    return [message for message in messages if message.is_translated]


def say(language: str, msgid: str) -> str:
    """What the source of the language's catalogue says for a text, which must be translated."""
    if language == "en":
        return msgid
    found = [message for message in translated(CATALOGUES[language]) if message.msgid == msgid]
    return found[0].msgstr[0]


def find(pattern: re.Pattern[str], text: str) -> Counter[str]:
    return Counter(pattern.findall(text))


@each_language
def test_no_translation_is_a_guess_from_a_similar_text(locale: str) -> None:
    messages = read_catalogue(catalogue(locale, "po"))
    assert [message.msgid for message in messages if "fuzzy" in message.flags] == []


@each_language
def test_nearly_every_text_is_translated(locale: str) -> None:
    """A text that came late shows in English for a while; that must not stop other work."""
    messages = read_catalogue(catalogue(locale, "po"))
    assert len(translated(locale)) >= ENOUGH * len(messages)


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
        # Gettext offers no list of its messages.
        compiled = GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    source = {}
    for message in translated(locale):
        msgid = f"{message.msgctxt}\x04{message.msgid}" if message.msgctxt else message.msgid
        source[(msgid, 0) if message.msgid_plural else msgid] = message.msgstr[0]
    header = compiled.pop("")
    assert "nplurals=1" in header
    assert compiled == source


@pytest.mark.parametrize("language", ["en", *CATALOGUES])
def test_a_page_speaks_the_language_that_the_browser_asks_for(
    client: Client, db: None, language: str
) -> None:
    page = client.get(reverse("login"), headers={"accept-language": f"{language},de;q=0.5"})
    assert f'<html lang="{language}"' in page.content.decode()
    assert say(language, "User name") in page.content.decode()


@pytest.mark.parametrize("asked", ["zh-TW", "zh-Hant-TW", "zh-HK"])
def test_browsers_of_taiwan_and_hong_kong_get_traditional_chinese(
    client: Client, db: None, asked: str
) -> None:
    page = client.get(reverse("login"), headers={"accept-language": f"{asked},en;q=0.8"})
    assert '<html lang="zh-hant"' in page.content.decode()


def test_a_language_that_is_not_spoken_gets_english(client: Client, db: None) -> None:
    page = client.get(reverse("login"), headers={"accept-language": "de"})
    assert '<html lang="en"' in page.content.decode()


@pytest.mark.parametrize("language", CATALOGUES)
def test_the_language_of_the_account_wins_over_the_browsers(cast: Cast, language: str) -> None:
    User.objects.filter(pk=cast.ana.user_id).update(language=language)
    address = reverse("studies:study", args=[cast.study.slug])
    page = log_in(cast.ana).get(address, headers={"accept-language": "en"})
    assert f'<html lang="{language}"' in page.content.decode()
    assert say(language, "My labels") in page.content.decode()
