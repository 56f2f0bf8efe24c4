"""A fresh study's page says what is missing to be judged, from what is there."""

import re

from django.utils import timezone

from studies.models import Member, Role
from studies.services.rubrics import publish_rubric, starter_rubric
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in

HEADING = "What this study still lacks"


def read_steps(admin: Member) -> list[str]:
    """The words of each step on the study's page; [] where there is no list."""
    page = log_in(admin).get(f"/studies/{admin.study.slug}/").content.decode()
    if HEADING not in page:
        return []
    steps = page.split("<ol>")[1].split("</ol>")[0].split("<li")[1:]
    return [re.sub(r"(<?[^<]*?>|\s)+", " ", step) for step in steps]


def is_done(step: str) -> bool:
    return " done " in step


def test_fresh_study_lists_in_order_what_is_missing_and_ticks_what_is_there(db: None) -> None:
    study = make.make_study("fresh", annotators_per_query=2)
    admin = make.make_member(study, "boss", Role.ADMIN)
    steps = read_steps(admin)
    order = ["Import queries", "Publish a rubric", "Invite people", "Open a round"]
    assert all(start in step for start, step in zip(order, steps, strict=True))
    assert not any(map(is_done, steps))

    query = make.make_query(study, "q1")
    first = read_steps(admin)[0]
    assert "documents" in first.split("Missing:")[1]
    assert "queries" not in first.split("Missing:")[1]
    make.make_pair(query)
    publish_rubric(study=study, rubric=starter_rubric())
    make.make_member(study, "one", Role.ANNOTATOR)
    steps = read_steps(admin)
    assert [is_done(step) for step in steps] == [True, True, False, False]
    assert "is the starter as it comes" in steps[1]
    assert "1 annotator can log in; each query is planned for 2." in steps[2]

    make.make_member(study, "two", Role.ANNOTATOR)
    round = make.make_round(study)
    assert [is_done(step) for step in read_steps(admin)] == [True, True, True, False]
    make.RoundQuery.objects.create(round=round, query=query, annotators=2)
    assert read_steps(admin) == []


def test_imported_names_need_nobody_who_logs_in(db: None) -> None:
    study = make.make_study("labels")
    admin = make.make_member(study, "boss", Role.ADMIN)
    make.make_member(study, "elsewhere", with_account=False)
    assert is_done(read_steps(admin)[2])


def test_only_admins_are_told_what_is_missing(cast: Cast) -> None:
    cast.study.annotators_per_query = 9
    cast.study.save()
    assert read_steps(cast.max)
    assert "9" in read_steps(cast.max)[2]
    assert not read_steps(cast.lia)
    assert not read_steps(cast.ana)


def test_a_study_whose_rounds_are_over_lacks_nobody(cast: Cast) -> None:
    cast.study.annotators_per_query = 9
    cast.study.save()
    cast.main.closed_at = timezone.now()
    cast.main.save()
    assert not read_steps(cast.max)


def test_who_creates_no_studies_is_told_how_one_is_made(cast: Cast) -> None:
    told = "the superusers of this site create studies"
    assert told in log_in(cast.ana).get("/").content.decode()
    assert told not in log_in(cast.sue).get("/").content.decode()
