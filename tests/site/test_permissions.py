"""Who may open what: the whole site as a table.

A line gives an address of the cast's study and the people it answers; everybody else gets 404,
and who is not logged in is sent to the login. A test fails when an address of the site is not in
the table, so that none is forgotten.
"""

import re
from collections.abc import Iterator

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in

ANNOTATORS = {"ana", "ben", "uma"}
IN_CHARGE = {"max", "lia", "uma"}
MEMBERS = {"ana", "ben", "ada", "max", "lia", "uma"}
EVERYBODY = MEMBERS | {"sid", "sue"}
LABEL = "{label}"
PAIR = "{pair}"
JOB = "{job}"
DRAFT = "{draft}"

ADMINS = {"max", "uma"}
ADJUDICATORS = {"ada", "uma"}

# name of the URL -> (path, method, who is let in)
MATRIX = {
    "studies:index": ("/", "get", EVERYBODY),
    "studies:me": ("/me/", "get", EVERYBODY),
    "studies:name": ("/me/name/", "post", EVERYBODY),
    "studies:language": ("/me/language/", "post", EVERYBODY),
    "studies:password": ("/me/password/", "post", EVERYBODY),
    "studies:end-others": ("/me/sessions/end/", "post", EVERYBODY),
    "studies:end-session": (f"/me/sessions/{PAIR}/end/", "post", set()),
    "studies:new": ("/studies/new/", "get", {"sue"}),
    "studies:settings": ("/studies/alpha/settings/", "get", ADMINS),
    "studies:import": ("/studies/alpha/import/", "get", ADMINS),
    "studies:import-draft": (f"/studies/alpha/import/{DRAFT}/", "get", ADMINS),
    "studies:import-confirm": (f"/studies/alpha/import/{DRAFT}/confirm/", "post", ADMINS),
    "studies:import-retry": (f"/studies/alpha/import/{DRAFT}/retry/", "post", ADMINS),
    "studies:import-discard": (f"/studies/alpha/import/{DRAFT}/discard/", "post", ADMINS),
    "studies:classes": ("/studies/alpha/classes/", "get", ADMINS),
    "studies:new-class": ("/studies/alpha/classes/new/", "post", ADMINS),
    "studies:weigh-class": ("/studies/alpha/classes/weigh/", "post", ADMINS),
    "studies:assign": ("/studies/alpha/classes/assign/", "post", ADMINS),
    "studies:class-rules": ("/studies/alpha/classes/rules/", "get", ADMINS),
    "studies:people": ("/studies/alpha/people/", "get", ADMINS),
    "studies:invite": ("/studies/alpha/people/invite/", "post", ADMINS),
    "studies:roles": ("/studies/alpha/people/roles/", "post", ADMINS),
    "studies:activity": ("/studies/alpha/people/activity/", "post", ADMINS),
    "studies:link": ("/studies/alpha/people/link/", "post", ADMINS),
    "studies:revoke": (f"/studies/alpha/people/invitations/{PAIR}/revoke/", "post", set()),
    "studies:study": ("/studies/alpha/", "get", MEMBERS),
    "rubric:page": ("/studies/alpha/rubric/", "get", MEMBERS),
    "rubric:version": ("/studies/alpha/rubric/1/", "get", MEMBERS),
    "rubric:download": ("/studies/alpha/rubric/1/rubric.yaml", "get", MEMBERS),
    "rubric:diff": ("/studies/alpha/rubric/diff/?from=1&to=1", "get", MEMBERS),
    "rubric:draft": ("/studies/alpha/rubric/draft/", "get", {"max", "uma"}),
    "rubric:start": ("/studies/alpha/rubric/start/", "post", {"max", "uma"}),
    "rubric:upload": ("/studies/alpha/rubric/upload/", "post", {"max", "uma"}),
    "rubric:publish": ("/studies/alpha/rubric/publish/", "post", {"max", "uma"}),
    "rubric:discard": ("/studies/alpha/rubric/discard/", "post", {"max", "uma"}),
    "recheck:page": ("/studies/alpha/rubric/recheck/", "get", {"max", "uma"}),
    "recheck:open": ("/studies/alpha/rubric/recheck/open/", "post", {"max", "uma"}),
    "recheck:carry": ("/studies/alpha/rubric/recheck/carry/", "post", {"max", "uma"}),
    "rubric:switch": ("/studies/alpha/rubric/switch/", "post", {"max", "uma"}),
    "annotation:judge": ("/studies/alpha/judge/", "get", ANNOTATORS),
    "annotation:undo": ("/studies/alpha/judge/undo/", "post", ANNOTATORS),
    "annotation:confirm-rubric": ("/studies/alpha/judge/rubric/", "post", ANNOTATORS),
    "annotation:report-problem": ("/studies/alpha/judge/report/", "post", ANNOTATORS),
    "annotation:labels": ("/studies/alpha/labels/", "get", ANNOTATORS),
    "annotation:revise": (f"/studies/alpha/labels/{LABEL}/", "get", {"ana"}),
    "annotation:progress": ("/studies/alpha/progress/", "get", IN_CHARGE),
    "annotation:release": ("/studies/alpha/progress/release/", "post", ADMINS),
    "annotation:requeue": ("/studies/alpha/progress/requeue/", "get", ADMINS),
    "annotation:plan": ("/studies/alpha/plan/", "get", ADMINS),
    "annotation:image": (f"/studies/alpha/judge/images/{PAIR}/", "get", set()),
    "results:overview": ("/studies/alpha/results/", "get", IN_CHARGE),
    "results:agreement": ("/studies/alpha/results/agreement/", "get", IN_CHARGE),
    "results:splits": ("/studies/alpha/results/splits/", "get", IN_CHARGE),
    "results:pairs": ("/studies/alpha/results/splits/pairs/", "get", IN_CHARGE),
    "results:pairs-csv": ("/studies/alpha/results/splits/pairs.csv", "get", IN_CHARGE),
    "results:target": ("/studies/alpha/results/agreement/target/", "post", ADMINS),
    "results:queries": ("/studies/alpha/results/queries/", "get", IN_CHARGE),
    "results:people": ("/studies/alpha/results/people/", "get", IN_CHARGE),
    "results:third-vote": ("/studies/alpha/results/splits/third-vote/", "get", IN_CHARGE),
    "results:table": ("/studies/alpha/results/tables/kappas.csv", "get", IN_CHARGE),
    "results:picture": ("/studies/alpha/results/pictures/classes.svg", "get", IN_CHARGE),
    "results:refresh": ("/studies/alpha/results/refresh/", "post", IN_CHARGE),
    "results:job": (f"/studies/alpha/results/jobs/{JOB}/", "get", IN_CHARGE),
    "results:rounds": ("/studies/alpha/results/rounds/", "get", IN_CHARGE),
    "results:calibrate": ("/studies/alpha/results/rounds/calibrate/", "post", ADMINS),
    "results:open-main": ("/studies/alpha/results/rounds/main/", "post", ADMINS),
    "results:decline-clause": ("/studies/alpha/rubric/clauses/1/decline/", "get", set()),
    "results:shortfall": ("/studies/alpha/results/withheld/", "get", set()),
    "results:set-opening": ("/studies/alpha/results/rounds/opening/", "post", set()),
    "results:relabel": ("/studies/alpha/results/rounds/relabel/", "post", ADMINS),
    "results:compute-rounds": ("/studies/alpha/results/rounds/compute/", "post", IN_CHARGE),
    # The cast has no calibration round, and no round is named.
    "results:close-round": ("/studies/alpha/results/rounds/close/", "post", set()),
    "results:comparison": ("/studies/alpha/results/comparison/", "get", set()),
    "results:open-comparison": ("/studies/alpha/results/comparison/open/", "post", set()),
    "results:comparison-names": ("/studies/alpha/results/comparison/names/", "post", set()),
    "results:calibration-notes": ("/studies/alpha/results/comparison/notes.md", "get", set()),
    "results:calibration-note": (f"/studies/alpha/results/comparison/{PAIR}/", "post", set()),
    "results:revision": ("/studies/alpha/results/revision/", "get", IN_CHARGE),
    "results:compute-revision": ("/studies/alpha/results/revision/compute/", "post", IN_CHARGE),
    "results:revision-markdown": ("/studies/alpha/results/revision/account.md", "get", IN_CHARGE),
    "results:revision-json": ("/studies/alpha/results/revision/account.json", "get", IN_CHARGE),
    "results:final-labels": ("/studies/alpha/results/final-labels/", "get", IN_CHARGE),
    "results:reopen": ("/studies/alpha/results/final-labels/reopen/", "post", ADMINS),
    "results:final-label": (f"/studies/alpha/results/final-labels/{PAIR}/", "get", IN_CHARGE),
    "results:names": (f"/studies/alpha/results/final-labels/{PAIR}/names/", "post", ADMINS),
    "results:adjudicate": ("/studies/alpha/adjudicate/", "get", ADJUDICATORS),
    "results:later": ("/studies/alpha/adjudicate/later/", "post", ADJUDICATORS),
    # The pair is not contested; uma, who still judges, is told that she has to wait.
    "results:case": (f"/studies/alpha/adjudicate/{PAIR}/", "get", {"uma"}),
    "results:case-image": (f"/studies/alpha/adjudicate/images/{PAIR}/", "get", set()),
    "results:systems": ("/studies/alpha/results/systems/", "get", IN_CHARGE),
    "results:gate": ("/studies/alpha/results/gate/", "get", IN_CHARGE),
    "results:compute-gate": ("/studies/alpha/results/gate/compute/", "post", IN_CHARGE),
    "results:pass-gate": ("/studies/alpha/results/gate/pass/", "post", {"lia", "uma"}),
    "results:override-gate": ("/studies/alpha/results/gate/override/", "post", IN_CHARGE),
    "results:exports": ("/studies/alpha/results/exports/", "get", IN_CHARGE),
    "results:count-exports": ("/studies/alpha/results/exports/count/", "post", IN_CHARGE),
    "results:export": ("/studies/alpha/results/exports/judgments/", "get", IN_CHARGE),
    "results:manifest": (
        "/studies/alpha/results/exports/judgments/manifest/",
        "get",
        IN_CHARGE,
    ),
}
# Addresses outside of any study, open to who is not logged in.
PUBLIC = {"login", "logout", "set_language", "healthz", "studies:join"}
# Addresses of a person, whatever study they are in.
PERSONAL = {"studies:index"} | {name for name, line in MATRIX.items() if line[0].startswith("/me/")}


def list_names(resolver: URLResolver | None = None, namespace: str = "") -> Iterator[str]:
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{pattern.namespace}:" if pattern.namespace else namespace
            yield from list_names(pattern, inner)
        elif isinstance(pattern, URLPattern):
            yield f"{namespace}{pattern.name}"


def test_every_address_is_in_the_table() -> None:
    assert set(list_names()) == set(MATRIX) | PUBLIC


@pytest.mark.parametrize("name", MATRIX)
@pytest.mark.parametrize("person", sorted(EVERYBODY))
def test_only_those_named_are_let_in(cast: Cast, name: str, person: str) -> None:
    path, method, allowed = MATRIX[name]
    label = make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1)
    job = make.make_job(cast.study)
    url = path.format(
        label=label.public_id,
        pair=cast.pairs[0].public_id,
        job=job.public_id,
        draft=make.make_draft(cast.study).public_id,
    )
    response = getattr(log_in(cast.user(person)), method)(url)
    if response.streaming:
        b"".join(response)  # a download holds its transaction until it is read
    if person in allowed:
        assert response.status_code in {200, 302, 409, 422}
    else:
        assert response.status_code == 404


@pytest.mark.parametrize("name", MATRIX)
def test_who_is_not_logged_in_is_sent_to_the_login(cast: Cast, name: str) -> None:
    path, method, _ = MATRIX[name]
    label = make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1)
    job = make.make_job(cast.study)
    url = path.format(
        label=label.public_id,
        pair=cast.pairs[0].public_id,
        job=job.public_id,
        draft=make.make_draft(cast.study).public_id,
    )
    response = getattr(Client(), method)(url)
    assert response.status_code == 302
    assert response.url.startswith("/login/")


@pytest.mark.parametrize("name", sorted(set(MATRIX) - PERSONAL))
def test_inactive_member_is_a_stranger(cast: Cast, name: str) -> None:
    path, method, _ = MATRIX[name]
    cast.uma.is_active = False
    cast.uma.save()
    job = make.make_job(cast.study)
    url = path.format(
        label=job.public_id,
        pair=cast.pairs[0].public_id,
        job=job.public_id,
        draft=make.make_draft(cast.study).public_id,
    )
    assert getattr(log_in(cast.uma), method)(url).status_code == 404


@pytest.mark.parametrize(
    ("person", "room"),
    [("ana", "judge/"), ("ada", "adjudicate/"), ("lia", "results/"), ("max", "results/")],
)
def test_the_ways_in_offer_each_role_its_room(cast: Cast, person: str, room: str) -> None:
    client = log_in(cast.user(person))
    for page in ("/", "/studies/alpha/"):
        body = client.get(page).content.decode().split("<main", 1)[1]
        assert f'href="/studies/alpha/{room}"' in body


def test_unknown_study_and_unknown_address_look_the_same(cast: Cast) -> None:
    client = log_in(cast.sid)
    foreign = client.get("/studies/alpha/")
    missing = client.get("/studies/no-such-study/")
    assert foreign.status_code == missing.status_code == 404
    assert without_tokens(foreign) == without_tokens(missing)


def without_tokens(response: HttpResponse) -> str:
    """The page without its CSRF tokens, which differ each time, and without its own address."""
    page = re.sub(r"[A-Za-z0-9]{64}", "", response.content.decode())
    return page.replace("no-such-study", "alpha")
