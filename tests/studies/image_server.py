"""A web server on this machine that serves images, well and badly."""

import io
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from PIL import Image


def picture(kind: str = "PNG", size: int = 16) -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((size, size), 60).convert("RGB").save(buffer, kind)
    return buffer.getvalue()


Answer = Callable[[BaseHTTPRequestHandler], None]


def send(
    body: bytes,
    kind: str | None = "image/png",
    *,
    status: int = 200,
    length: int | None = None,
    **headers: str,
) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        if kind is not None:
            handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def redirect(target: str) -> Answer:
    return send(b"", None, status=302, Location=target)


def drip(handler: BaseHTTPRequestHandler) -> None:
    """Headers at once, then a byte now and then, for ever."""
    handler.send_response(200)
    handler.send_header("Content-Type", "image/png")
    handler.end_headers()
    while True:
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.05)


def flood(handler: BaseHTTPRequestHandler) -> None:
    """More bytes than any image may have, without saying how many."""
    handler.send_response(200)
    handler.send_header("Content-Type", "image/png")
    handler.end_headers()
    for _ in range(64):
        handler.wfile.write(b"x" * 1024**2)


@dataclass
class ImageServer:
    """`answers` are by path; `asked` are the paths that were asked for, in order."""

    port: int = 0
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"


@contextmanager
def serve_images() -> Iterator[ImageServer]:
    server = ImageServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked.append(self.path)
            try:
                server.answers.get(self.path, send(b"", None, status=404))(self)
            except OSError:
                return  # the other side had enough

        def log_message(self, *args: object) -> None:
            """Stay quiet."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    server.port = listening.server_address[1]
    thread = Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
