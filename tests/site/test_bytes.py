"""What goes over the wire: a first page, later pairs, and what is never compressed."""

import gzip
import re

from django.http.response import HttpResponseBase

from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms
from tests.results.labelled import label_cast

JUDGE = "/studies/alpha/judge/"
FIRST_PAGE = 100_000
LATER_PAIR = 6_000
GZIP = {"accept-encoding": "gzip"}


def body_of(response: HttpResponseBase) -> bytes:
    return b"".join(response) if response.streaming else response.content


def count_bytes(response: HttpResponseBase) -> int:
    """Head and body as they are sent."""
    head = sum(len(f"{name}: {value}\r\n".encode()) for name, value in response.headers.items())
    return head + len(body_of(response))


def read(response: HttpResponseBase) -> str:
    assert response.headers["Content-Encoding"] == "gzip"
    return gzip.decompress(body_of(response)).decode()


def test_the_first_page_of_judging_with_all_it_loads_is_small(cast: Cast) -> None:
    client = log_in(cast.ana)
    response = client.get(JUDGE, headers=GZIP)
    total = count_bytes(response)
    assets = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', read(response)))
    assert any(path.endswith("htmx-2.min.js") for path in assets)
    for path in assets:
        asset = client.get(path, headers=GZIP)
        assert asset.status_code == 200
        total += count_bytes(asset)
    assert total < FIRST_PAGE


def test_a_later_pair_beside_its_document_is_smaller_still(cast: Cast) -> None:
    client = log_in(cast.ana)
    form = read_forms(client.get(JUDGE))["judgment-form"]
    answer = {"grade": "1", "decided_by": "answerability"}
    headers = GZIP | {"hx-request": "true"}
    response = post_form(client, form, JUDGE, headers=headers, **answer)
    assert 'id="judgment-form"' in read(response)
    assert count_bytes(response) < LATER_PAIR


def test_pages_are_compressed_for_who_takes_it_and_only_then(cast: Cast) -> None:
    client = log_in(cast.lia)
    assert "Content-Encoding" not in client.get("/").headers
    response = client.get("/", headers=GZIP)
    assert "Accept-Encoding" in response.headers["Vary"]
    assert read(response) != ""


def test_downloads_are_streamed_as_they_are(cast: Cast) -> None:
    label_cast(cast)
    make.make_judgment(cast.main, cast.pairs[0], cast.uma, 1, note="a long note " * 100)
    response = log_in(cast.lia).get("/studies/alpha/results/exports/judgments/", headers=GZIP)
    assert "Content-Encoding" not in response.headers
    assert b"a long note" in body_of(response)
