"""The tables of a page, and the CSV files that they can be taken along as."""

import csv
import io
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import html5lib
from django.http import HttpResponse
from django.test import Client

FRAMES = {"section", "article", "details", "div"}
"""A table's file stands in the frame around it, which holds nothing else of the page."""
WIDE = {"results", "two", "heats", "with-aside", "beside-scales"}


def find_files(page: HttpResponse) -> dict[str, list[str]]:
    """The addresses of CSV files beside each table of data, by what the table is called; what
    people would judge (`loads`) and the scales of κ and α are no data."""
    root = html5lib.parse(page.content.decode(), namespaceHTMLElements=False)
    return {name_table(line[-1]): list_files(line) for line in walk_tables([root])}


def walk_tables(line: list[Element]) -> Iterator[list[Element]]:
    """Every table with the elements that it stands in, from the root on."""
    element = line[-1]
    if element.tag == "aside" or "loads" in element.get("class", ""):
        return
    if element.tag == "table":
        yield line
    for child in element:
        yield from walk_tables([*line, child])


def name_table(table: Element) -> str:
    named = table.find("caption")
    return " ".join("".join((table if named is None else named).itertext()).split())


def list_files(line: list[Element]) -> list[str]:
    """What the smallest frame with a file offers, if it is the table's own."""
    for element in reversed(line[:-1]):
        links = [link.get("href", "") for link in element.iter("a")]
        files = [address for address in links if ".csv" in address]
        if files:
            classes = set(element.get("class", "").split())
            return files if element.tag in FRAMES and not classes & WIDE else []
    return []


def read_csv(client: Client, address: str) -> list[dict[str, str]]:
    response = client.get(address)
    assert response.status_code == 200, address
    text = b"".join(response).decode()  # type: ignore[call-overload]  # it streams
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert all(None not in row and None not in row.values() for row in rows)
    return rows
