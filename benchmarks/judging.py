"""The judging loop at 1, 8 and 32 clients, beside a bare Django step on the same server.

Both loops run against one granian process and one PostgreSQL, one after the other, with the same
clients: each is an annotator of its own, posts a label and gets the next pair in the answer.
"""

import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from importlib import import_module
from urllib.parse import urlencode

from benchmarks.measuring import Measurement

PORT = 8977
CLIENTS = (1, 8, 32)
LABELS_PER_CLIENT = {1: 200, 8: 60, 32: 20}
CSRF = "a" * 32
TOKEN = re.compile(r'name="token" value="([^"]+)"')
KEY = re.compile(r'name="key" value="([^"]+)"')
ITEM = re.compile(r'name="item" value="(\d+)"')


@dataclass(frozen=True)
class Loop:
    """How one kind of judging step is driven: its address and the next form from an answer."""

    name: str
    path: str
    read_form: Callable[[str], dict[str, str]]


def read_judging_form(page: str) -> dict[str, str]:
    token, key = TOKEN.search(page), KEY.search(page)
    assert token, page[:500]
    assert key, page[:500]
    return {"token": token[1], "key": key[1], "grade": "1", "decided_by": "recency", "note": ""}


def read_bare_form(page: str) -> dict[str, str]:
    item = ITEM.search(page)
    assert item, page[:500]
    return {"item": item[1], "grade": "1"}


LOOPS = (
    Loop("bare Django step", "/bare/", read_bare_form),
    Loop("the judging screen", "/studies/judging/judge/", read_judging_form),
)


def measure() -> Iterator[Measurement]:
    from benchmarks.bare.views import make_tables

    sessions = make_annotators(max(CLIENTS))
    make_tables(items=20_000)
    with serving():
        for clients in CLIENTS:
            for loop in LOOPS:
                labels = LABELS_PER_CLIENT[clients]
                seconds = run_loop(loop, sessions[:clients], labels)
                rate = clients * labels / seconds
                size = f"{clients} clients, {rate:,.0f} a second"
                yield Measurement(f"judging: {loop.name}", size, seconds / (clients * labels))


def make_annotators(count: int) -> list[str]:
    """A study of 100,000 pairs with `count` annotators; returns a session key for each."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

    from benchmarks.scratch import make_unjudged_study
    from studies.models import Member, Role, User

    study = make_unjudged_study("judging", queries=10_000, depth=10)
    store = import_module(settings.SESSION_ENGINE).SessionStore
    keys = []
    for number in range(count):
        user = User.objects.create(username=f"client{number}")
        Member.objects.create(study=study, user=user, name=user.username, roles=[Role.ANNOTATOR])
        session = store()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.save()
        keys.append(session.session_key)
    return keys


@contextmanager
def serving() -> Iterator[None]:
    """The product's web server, as `manage.py serve` runs it, on the benchmarks' database."""
    from django.db import connection

    from config.processes import web_process

    name = str(connection.settings_dict["NAME"])
    connection.close()
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "benchmarks.bare.settings",
        "DISSENSUS_BENCHMARK_DATABASE": name,
    }
    command = web_process(host="127.0.0.1", port=PORT, processes=1).command
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        wait_for_server()
        yield
    finally:
        server.terminate()
        server.wait()


def wait_for_server() -> None:
    for _ in range(200):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{PORT}/login/").close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
        else:
            return
    sys.exit("The server for the judging benchmark did not start.")


def run_loop(loop: Loop, sessions: list[str], labels: int) -> float:
    """Seconds in which all clients have posted their labels. The clients live in a process of
    their own, so that they do not share an interpreter with this one."""
    with ProcessPoolExecutor(max_workers=1) as other:
        return other.submit(drive, loop.path, loop.read_form, sessions, labels).result()


def drive(
    path: str, read_form: Callable[[str], dict[str, str]], sessions: list[str], labels: int
) -> float:
    clients = [Client(path, read_form, session) for session in sessions]
    with ThreadPoolExecutor(max_workers=len(clients)) as pool:
        list(pool.map(Client.open, clients))
        start = time.perf_counter()
        list(pool.map(lambda client: client.judge(labels), clients))
        return time.perf_counter() - start


class Client:
    """One annotator with a kept connection."""

    def __init__(self, path: str, read_form: Callable[[str], dict[str, str]], session: str) -> None:
        self.path = path
        self.read_form = read_form
        self.connection = HTTPConnection("127.0.0.1", PORT)
        self.headers = {
            "Cookie": f"sessionid={session}; csrftoken={CSRF}",
            "X-CSRFToken": CSRF,
            "Content-Type": "application/x-www-form-urlencoded",
        }
        self.form: dict[str, str] = {}

    def open(self) -> None:
        self.form = self.read_form(self.request("GET", None))

    def judge(self, labels: int) -> None:
        self.headers["HX-Request"] = "true"
        for _ in range(labels):
            self.form = self.read_form(self.request("POST", urlencode(self.form)))

    def request(self, method: str, body: str | None) -> str:
        self.connection.request(method, self.path, body, self.headers)
        response = self.connection.getresponse()
        page = response.read().decode()
        assert response.status == 200, (response.status, page[:500])
        return page
