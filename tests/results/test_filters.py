"""Results narrowed by the address: rounds, rubric version, class, annotators, control pairs."""

import pytest
from django.test import Client

from config.celery import app
from results.models import AgreementReport
from results.services import reports
from results.services.agreement import compute_agreement
from results.services.reports import run_agreement
from results.services.scopes import Scope, UnknownScope
from studies.models import ControlPair, Job, Round
from studies.services.jobs import run_job
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms
from tests.results.labelled import label, label_cast

URL = "/studies/alpha/results/"


@pytest.fixture(autouse=True, scope="module")
def as_in_a_worker() -> None:
    """Find the kinds of jobs the way a worker finds them when it starts."""
    app.loader.import_default_modules()


@pytest.fixture
def lead(cast: Cast) -> Client:
    return log_in(cast.lia)


def add_zoe(cast: Cast) -> None:
    zoe = make.make_member(cast.study, "zoe", with_account=False)
    label(cast.main, zoe, cast.pairs, [2] * 9)


@pytest.mark.parametrize(
    "scope",
    [
        Scope(query_class="any & all", annotators=("a b", "c=d")),
        Scope(round="a b", further_rounds=("c", "d&e"), with_controls=True),
        Scope(round="filter:x", rubric=3, query_class="rubric:1 round:y"),
    ],
)
def test_key_of_a_filtered_scope_can_be_read_back(scope: Scope) -> None:
    assert Scope.parse(scope.key) == scope


def test_annotators_narrow_the_labels_and_leave_nobody_else_in(cast: Cast) -> None:
    label_cast(cast)
    add_zoe(cast)
    report = compute_agreement(cast.study, scope=Scope(annotators=("ana", "zoe")))
    assert [(row["a"], row["b"]) for row in report["cohen_kappa"]] == [("ana", "zoe")]
    assert [row["name"] for row in report["annotators"]] == ["ana", "zoe"]
    assert report["judgments"] == 18
    # How far judging is does not hang on whose labels are looked at.
    assert report["queries_fully_judged"] == 3


def test_class_narrows_the_numbers_and_is_still_held_against_the_rest(cast: Cast) -> None:
    label_cast(cast)
    report = compute_agreement(cast.study, scope=Scope(query_class="procedural"))
    assert (report["queries"], report["pairs"], report["judgments"]) == (1, 3, 6)
    assert report["raw_agreement"]["comparisons"] == 3
    (row,) = report["classes"]
    assert (row["class"], row["splits"], row["rest_splits"], row["rest_pairs"]) == (
        "procedural", 2, 0, 6,
    )  # fmt: skip
    assert row["verdict"] == report["study_verdict"]


def test_several_rounds_count_together_and_the_later_label_stands(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:2], [0, 1])
    later = make.make_round(cast.study, "calibration", kind=Round.Kind.CALIBRATION, position=5)
    label(later, cast.ana, cast.pairs[1:3], [2, 2])
    scope = Scope(round="calibration", further_rounds=("main",))
    assert compute_agreement(cast.study, scope=scope)["labels"] == {"0": 1, "1": 0, "2": 2}


def test_control_pairs_come_in_when_asked_for(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    ControlPair.objects.create(pair=cast.pairs[0], grade=0, decided_by="recency")
    run_agreement(cast.study, scope=Scope(with_controls=True))
    assert "2 of 9 pairs split" in " ".join(lead.get(f"{URL}?controls=1").content.decode().split())
    pairs = lead.get(f"{URL}splits/pairs/?controls=1").content.decode()
    assert "2 split pairs, side by side" in " ".join(pairs.split())
    assert "1 split pair, side by side" in " ".join(
        lead.get(f"{URL}splits/pairs/").content.decode().split()
    )


def test_filtered_page_asks_a_worker_and_then_shows_its_own_numbers(
    cast: Cast, lead: Client
) -> None:
    label_cast(cast)
    add_zoe(cast)
    run_agreement(cast.study, scope=Scope())
    url = f"{URL}?annotator=ana&annotator=ben"
    response = lead.get(url)
    assert "No numbers yet" in response.content.decode()
    again = post_form(lead, read_forms(response)["refresh-form"], url, annotator=["ana", "ben"])
    assert again.url == url
    job = Job.objects.get()
    assert "on their way" in lead.get(url).content.decode()
    run_job(job.pk)
    page = " ".join(lead.get(url).content.decode().split())
    assert "Computed from 18 judgments" in page
    assert "labels of ana, ben" in page
    assert "Computed from 27 judgments" in lead.get(URL).content.decode()


def test_filter_form_offers_what_the_study_has(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    form = read_forms(lead.get(f"{URL}?class=factual&annotator=ben"))["scope-form"]
    assert form.method == "get"
    assert form.choices["annotator"] == ["ana", "ben"]
    assert form.fields["annotator"] == "ben"
    assert form.choices["round"] == ["main"]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("class=nope", 404),
        ("annotator=nope", 404),
        ("round=main&round=nope", 404),
        ("controls=maybe", 400),
        ("rubric=999999999999", 404),
        ("annotator=" + "a" * 3000, 400),
    ],
)
@pytest.mark.parametrize("page", ["", "agreement/", "splits/"])
def test_bad_filter_is_refused(
    cast: Cast, lead: Client, page: str, query: str, status: int
) -> None:
    assert lead.get(f"{URL}{page}?{query}").status_code == status


def test_unknown_filter_is_told_to_who_computes(cast: Cast) -> None:
    with pytest.raises(UnknownScope, match="no annotator “zed”"):
        compute_agreement(cast.study, scope=Scope(annotators=("ana", "zed")))


def test_old_filtered_reports_make_room_for_new_ones(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    label_cast(cast)
    monkeypatch.setattr(reports, "KEPT_FILTERED", 1)
    run_agreement(cast.study, scope=Scope())
    for name in ("procedural", "factual"):
        run_agreement(cast.study, scope=Scope(query_class=name))
    kept = AgreementReport.objects.order_by("scope").values_list("scope", flat=True)
    assert list(kept) == ["current", "filter:class=factual"]
