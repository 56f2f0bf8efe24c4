"""Images that a corpus names by their address, fetched by the worker and bounded in every way.

The addresses are written by whoever made the corpus. Each is resolved here, every address of it
is checked, and the connection is made to the address that was checked: a name that resolves
otherwise a moment later, or a redirect, leads nowhere else.
"""

from __future__ import annotations

import hashlib
import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from django.conf import settings

from studies.formats.documents import IMAGE_ENDINGS
from studies.formats.records import DocumentRecord
from studies.models import DocumentText
from studies.services.imports.images import LARGEST_BYTES, image_fault
from studies.services.imports.report import Progress, no_progress

SECONDS = 20.0
"""How long one image may take, redirects included."""

REDIRECTS = 3
CHUNK = 64 * 1024
PORTS = {"http": 80, "https": 443}
HEADERS = {"Accept": "image/*", "User-Agent": "dissensus"}
IS_REDIRECT = frozenset({301, 302, 303, 307, 308})
ENDINGS = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
}
UNNAMED_TYPES = frozenset({"", "application/octet-stream", "binary/octet-stream"})


class FetchRefused(Exception):
    """The image cannot be had, for a reason that a person can act on."""


@dataclass
class FetchedImages:
    """Images by their addresses, kept as files in `folder`; each is fetched once.

    `known` are names in the storage of images that the study has already, by document id and
    address: they are frozen and never fetched again.
    """

    folder: Path
    progress: Progress = no_progress
    known: dict[tuple[str, str], str] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    fetched: int = 0

    def learn_known(self, slug: str) -> None:
        """Look up which images the study of this name has."""
        rows = (
            DocumentText.objects.filter(document__study__slug=slug, document__format="image")
            .exclude(image="")
            .exclude(document__url="")
        )
        for doc_id, url, image in rows.values_list(
            "document__external_id", "document__url", "image"
        ):
            self.known[doc_id, url] = image

    def is_named_by(self, record: DocumentRecord) -> bool:
        """Whether the document's image is to be had at its address."""
        return record.format == "image" and bool(record.url) and not record.text

    def get(self, url: str) -> Path:
        """The image's file. Raises FetchRefused, the same each time."""
        if url in self.faults:
            raise FetchRefused(self.faults[url])
        stem = self.folder / hashlib.sha256(url.encode()).hexdigest()
        found = next((path for path in map(stem.with_suffix, IMAGE_ENDINGS) if path.exists()), None)
        if found is not None:
            return found
        try:
            return self._fetch(url, stem)
        except FetchRefused as refusal:
            self.faults[url] = str(refusal)
            raise

    def _fetch(self, url: str, stem: Path) -> Path:
        if self.fetched >= settings.FETCH_LIMIT:
            raise FetchRefused(f"more than {settings.FETCH_LIMIT:,} images would be fetched")
        self.fetched += 1
        self.progress(self.fetched, 0, "fetching images")
        body, ending = fetch_image(url)
        path = stem.with_suffix(ending)
        path.write_bytes(body)
        if fault := image_fault(path):
            path.unlink()
            raise FetchRefused(fault)
        return path


def fetch_image(url: str) -> tuple[bytes, str]:
    """The bytes at an address and the ending of the kind of image they are said to be.

    Raises FetchRefused for what is not there, too large, too slow, no image, or at an address
    of the own network.
    """
    with _Clock(SECONDS) as clock:
        try:
            for _hop in range(REDIRECTS + 1):
                answer = _ask(url, clock)
                if isinstance(answer, str):
                    url = answer
                    continue
                return answer
        except TimeoutError:
            raise FetchRefused(f"it takes longer than {SECONDS:.0f} seconds") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            if clock.is_over:
                raise FetchRefused(f"it takes longer than {SECONDS:.0f} seconds") from None
            raise FetchRefused(f"it cannot be fetched ({error})") from None
    raise FetchRefused(f"it is redirected more than {REDIRECTS} times")


class _Clock:
    """Cuts the connection when the time is up, however slowly the other side goes on."""

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        self.socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> _Clock:
        self._timer.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._timer.cancel()

    def _cut(self) -> None:
        self.is_over = True
        if self.socket is not None:
            try:
                self.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                return


def _ask(url: str, clock: _Clock) -> tuple[bytes, str] | str:
    """One request: the image, or the address it is redirected to."""
    parts = check_url(url)
    with _connected(parts, clock) as link:
        link.request("GET", _target(parts), headers=HEADERS)
        response = link.getresponse()
        if response.status in IS_REDIRECT:
            return urljoin(url, response.headers.get("Location", ""))
        if response.status != http.client.OK:
            raise FetchRefused(f"the server answers {response.status}")
        return _read(response, clock), _claimed_ending(response, parts.path)


def check_url(url: str) -> SplitResult:
    """The parts of a web address. Raises FetchRefused for any other kind of address."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise FetchRefused(f"the address cannot be read ({error})") from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise FetchRefused("only addresses that begin with http:// or https:// are fetched")
    if parts.username or parts.password:
        raise FetchRefused("an address with a name or password in it is not fetched")
    return parts


def _target(parts: SplitResult) -> str:
    """What the request asks for; what is no plain sign is escaped."""
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/?%:@!$&'()*+,;=~-._")
    return f"{path}?{query}" if query else path


@contextmanager
def _connected(parts: SplitResult, clock: _Clock) -> Iterator[http.client.HTTPConnection]:
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    raw = socket.create_connection((resolve(host, port), port), timeout=SECONDS)
    clock.socket = raw
    link = http.client.HTTPConnection(host, port, timeout=SECONDS)
    try:
        if parts.scheme == "https":
            raw = ssl.create_default_context().wrap_socket(raw, server_hostname=host)
            clock.socket = raw
            link.default_port = PORTS["https"]
        link.sock = raw
        yield link
    finally:
        clock.socket = None
        link.close()
        raw.close()


def resolve(host: str, port: int) -> str:
    """An address of the host, all of whose addresses are public or allowed by the settings.

    Raises FetchRefused where one is not: a name must not lead into the own network by turns.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FetchRefused(f"the host {host} is not known ({error})") from None
    addresses = [str(entry[4][0]) for entry in found]
    if not settings.FETCH_PRIVATE_ADDRESSES and not all(map(is_public, addresses)):
        raise FetchRefused(f"the host {host} is in a private network, which is not fetched from")
    return addresses[0]


def is_public(address: str) -> bool:
    """Whether an address belongs to the open internet, also where it wraps one of IPv4."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        wrapped = found.ipv4_mapped or found.sixtofour
        if wrapped is not None:
            found = wrapped
        elif found in TRANSLATED:
            found = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
    return found.is_global and not found.is_multicast


TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
"""IPv6 addresses that a translating router turns into the IPv4 address at their end."""


def _read(response: http.client.HTTPResponse, clock: _Clock) -> bytes:
    body = bytearray()
    while chunk := response.read1(CHUNK):
        body += chunk
        if len(body) > LARGEST_BYTES:
            raise FetchRefused(f"the image has more than {LARGEST_BYTES // 1024**2} MiB")
    if clock.is_over:
        raise TimeoutError
    if response.length:
        raise FetchRefused("the connection ended before the image did")
    return bytes(body)


def _claimed_ending(response: http.client.HTTPResponse, path: str) -> str:
    """The kind of image the server says it is; its address tells where the server does not."""
    kind = response.headers.get_content_type() if "Content-Type" in response.headers else ""
    if kind in ENDINGS:
        return ENDINGS[kind]
    if kind in UNNAMED_TYPES:
        ending = next((end for end in IMAGE_ENDINGS if path.lower().endswith(end)), None)
        if ending is not None:
            return ending
    raise FetchRefused(
        f"the server says that it is {kind or 'of no kind'}, not an image shown here"
    )
