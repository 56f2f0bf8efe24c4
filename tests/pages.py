"""Reading pages as a browser would: forms with their fields, headings, links."""

from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

from django.http import HttpResponse
from django.test import Client

from studies.models import Member, User


@dataclass
class Form:
    """A form as found in a page: where it goes and what a browser would send untouched."""

    action: str
    method: str
    fields: dict[str, str]
    choices: dict[str, list[str]]
    buttons: dict[str, str]


class FormReader(HTMLParser):
    """Collects the forms of a page. Radios and checkboxes are sent only where checked."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: dict[str, Form] = {}
        self.form: Form | None = None
        self.textarea: str = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "form":
            key = found.get("id") or found.get("action", "")
            self.form = Form(found.get("action", ""), found.get("method", "get"), {}, {}, {})
            self.forms[key] = self.form
        elif self.form and tag == "input" and found.get("name"):
            self.read_input(self.form, found)
        elif self.form and tag == "button" and found.get("name"):
            self.form.buttons[found["name"]] = found.get("value", "")
        elif self.form and tag == "textarea":
            self.textarea = found.get("name", "")
            self.form.fields[self.textarea] = ""

    @staticmethod
    def read_input(form: Form, found: dict[str, str]) -> None:
        name, value = found["name"], found.get("value", "")
        if found.get("type") in {"radio", "checkbox"}:
            form.choices.setdefault(name, []).append(value)
            if "checked" in found:
                form.fields[name] = value
        else:
            form.fields[name] = value

    def handle_data(self, data: str) -> None:
        if self.textarea and self.form:
            self.form.fields[self.textarea] += data.strip("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None
        elif tag == "textarea":
            self.textarea = ""


def read_forms(response: HttpResponse) -> dict[str, Form]:
    reader = FormReader()
    reader.feed(response.content.decode())
    return reader.forms


def log_in(who: Member | User) -> Client:
    """A client of its own, logged in as the person."""
    client = Client()
    client.force_login(who.user if isinstance(who, Member) else who)
    return client


def post_form(client: Client, form: Form, url: str, **changes: Any) -> HttpResponse:
    """Send a form as a browser would, with some fields filled in."""
    headers = changes.pop("headers", None)
    return client.post(form.action or url, form.fields | changes, headers=headers)
