"""A live study grows: a further run, further queries, a deeper pool, by page and by command."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.models import Claim, Judgment
from results.services.reports import run_agreement
from studies.models import Member, Pair, Ranking, Role, Study
from tests import factories as make
from tests.pages import log_in, post_form, read_forms
from tests.studies.study_folders import RUN_A, corpus, help_study, write_folder
from tests.studies.uploads import confirm, upload, upload_and_read, uploads

# By hand, at depth 2: for q1, a has d1, d2 and, below the depth, d5; b has d2, d4. So the pool is
# d1 (first in a), d2 (first in b), d4. The new run c has d6 first, then d1, then d7 below depth:
# d6 is new and comes after d1 and d2, which are first in runs of earlier names.
RUN_DEEP = f"{RUN_A}q1 Q0 d5 3 1.0 a\n"
NEW_RUN = "q1 Q0 d6 1 5.0 c\nq1 Q0 d1 2 4.0 c\nq1 Q0 d7 3 3.0 c\nq2 Q0 d3 1 9.0 c\n"
NEW_CORPUS = corpus("d5", "d6", "d7")
SETTINGS = "study: help\ndepth: 2\nannotators_per_query: 1\n"
Grow = Callable[..., None]


@pytest.fixture
def study(transactional_db: None, settings: Any, tmp_path: Path) -> Study:
    """A study at depth 2, wholly judged by ana, with its numbers computed."""
    settings.MEDIA_ROOT = tmp_path / "media"
    folder = help_study(tmp_path / "help", study_yaml=SETTINGS, runs__a_run=RUN_DEEP)
    call_command("import_study", folder)
    study = Study.objects.get(slug="help")
    make.make_member(study, "max", Role.ADMIN)
    judge_all(make.make_member(study, "ana", Role.ANNOTATOR))
    run_agreement(study)
    return study


@pytest.fixture(params=["page", "command"])
def grow(request: pytest.FixtureRequest, study: Study, tmp_path: Path) -> Grow:
    """Adds files to the study, over the page or by the command."""

    def by_page(*, depth: int | None = None, run: str = "", **files: str) -> None:
        client = log_in(Member.objects.get(study=study, name="max"))
        named = {name.replace("_", "."): text for name, text in files.items()}
        fields: dict[str, Any] = uploads(study_files=named)
        if run:
            fields["runs"] = upload("c.run", run)
        if depth:
            fields["depth"] = depth
        draft = upload_and_read(client, study, **fields)
        assert draft.state == "read", draft.report
        assert confirm(client, draft).state == "imported"

    def by_command(*, depth: int | None = None, run: str = "", **files: str) -> None:
        named = {name.replace("_", "."): text for name, text in files.items()}
        named["study.yaml"] = SETTINGS.replace("depth: 2", f"depth: {depth or 2}")
        if "corpus.jsonl" in named:
            named["corpus.jsonl"] = corpus("d1", "d2", "d3", "d4") + named["corpus.jsonl"]
        write_folder(tmp_path / "help", named | ({"runs/c.run": run} if run else {}))
        call_command("import_study", tmp_path / "help")

    return by_page if request.param == "page" else by_command


def judge_all(annotator: Member) -> list[str]:
    """Judge whatever is offered; returns the document ids in the order they were offered."""
    client = log_in(annotator)
    url = f"/studies/{annotator.study.slug}/judge/"
    before = set(Judgment.objects.values_list("pk", flat=True))
    while form := read_form(client, url):
        response = post_form(client, form, url, grade="1", decided_by=form.choices["decided_by"][0])
        assert response.status_code == 302
    labels = Judgment.objects.exclude(pk__in=before).order_by("pk")
    return list(labels.values_list("pair__document__external_id", flat=True))


def read_form(client: Client, url: str) -> Any:
    return read_forms(client.get(url)).get("judgment-form")


def ranks(study: Study) -> dict[str, int]:
    pairs = Pair.objects.filter(study=study)
    return dict(pairs.values_list("document__external_id", "pool_rank"))


def test_the_study_starts_at_its_depth(study: Study) -> None:
    assert ranks(study) == {"d1": 1, "d2": 2, "d4": 3, "d3": 1}
    assert Claim.objects.filter(state="finished").count() == 2


def test_a_further_run_adds_and_offers_only_its_new_pairs(study: Study, grow: Grow) -> None:
    before = ranks(study)
    labels = dict(Judgment.objects.values_list("pk", "grade"))
    grow(run=NEW_RUN, corpus_jsonl=NEW_CORPUS)
    assert ranks(study) == before | {"d6": 3}
    ranking = Ranking.objects.get(run__name="c", query__external_id="q1")
    assert ranking.document_ids == ["d6", "d1", "d7"]
    assert judge_all(Member.objects.get(name="ana")) == ["d6"]
    assert dict(Judgment.objects.filter(pk__in=labels).values_list("pk", "grade")) == labels


def test_the_query_that_grew_is_open_again_for_who_had_finished_it_and_for_nobody_else(
    study: Study, grow: Grow
) -> None:
    grow(run=NEW_RUN, corpus_jsonl=NEW_CORPUS)
    states = dict(Claim.objects.values_list("round_query__query__external_id", "state"))
    assert states == {"q1": "held", "q2": "finished"}
    assert judge_all(make.make_member(study, "ben", Role.ANNOTATOR)) == []
    assert judge_all(Member.objects.get(name="ana")) == ["d6"]
    assert set(Claim.objects.values_list("state", flat=True)) == {"finished"}


def test_a_deeper_pool_takes_up_what_the_runs_rank_next(study: Study, grow: Grow) -> None:
    before = ranks(study)
    grow(depth=3, corpus_jsonl=NEW_CORPUS)
    study.refresh_from_db()
    assert study.depth == 3
    assert ranks(study) == before | {"d5": 4}
    assert judge_all(Member.objects.get(name="ana")) == ["d5"]


def test_further_queries_join_the_open_round_over_the_whole_pool(study: Study, grow: Grow) -> None:
    queries = (
        "q1\thow do I reset it?\tprocedural\nq2\twhat does it cost?\tfactual\n"
        "q3\twho pays?\tfactual\n"
    )
    grow(queries_tsv=queries, run="q3 Q0 d6 1 1.0 c\n", corpus_jsonl=NEW_CORPUS)
    assert study.rounds.get().round_queries.count() == 3
    assert judge_all(make.make_member(study, "ben", Role.ANNOTATOR)) == ["d6"]


def test_results_say_that_the_pool_has_grown(study: Study, grow: Grow) -> None:
    lead = log_in(make.make_member(study, "lia", Role.LEAD))
    assert "joined the pool" not in lead.get("/studies/help/results/").content.decode()
    grow(run=NEW_RUN, corpus_jsonl=NEW_CORPUS)
    page = lead.get("/studies/help/results/").content.decode()
    assert "1 pair has joined the pool since." in page
    assert 'class="report-status stale"' in page
    run_agreement(study)
    assert "joined the pool" not in lead.get("/studies/help/results/").content.decode()


def test_growth_of_what_nobody_here_had_finished_is_told(study: Study) -> None:
    Member.objects.filter(name="ana").update(roles=[])
    admin = log_in(Member.objects.get(study=study, name="max"))
    fields = {"study_files": {"corpus.jsonl": NEW_CORPUS}, "runs": {"c.run": NEW_RUN}}
    draft = confirm(admin, upload_and_read(admin, study, **uploads(**fields)))
    assert any("by who does not annotate here: 1;" in text for _, _, text in draft.report["notes"])
    assert not draft.report["has_reopened"]
    assert set(Claim.objects.values_list("state", flat=True)) == {"finished"}


def test_the_same_growth_twice_changes_nothing(study: Study) -> None:
    admin = log_in(Member.objects.get(study=study, name="max"))
    fields = {"study_files": {"corpus.jsonl": NEW_CORPUS}, "runs": {"c.run": NEW_RUN}}
    confirm(admin, upload_and_read(admin, study, **uploads(**fields)))
    judge_all(Member.objects.get(name="ana"))
    draft = upload_and_read(admin, study, **uploads(**fields))
    assert draft.report["new"] == 0
    assert set(Claim.objects.values_list("state", flat=True)) == {"finished"}


def test_a_closed_round_takes_no_further_query_and_opens_no_claim(study: Study) -> None:
    study.rounds.update(closed_at="2026-01-01T00:00:00Z")
    admin = log_in(Member.objects.get(study=study, name="max"))
    fields = {"study_files": {"corpus.jsonl": NEW_CORPUS}, "runs": {"c.run": NEW_RUN}}
    draft = confirm(admin, upload_and_read(admin, study, **uploads(**fields)))
    assert any("is closed" in text for _, _, text in draft.report["notes"])
    assert set(Claim.objects.values_list("state", flat=True)) == {"finished"}
    assert judge_all(Member.objects.get(name="ana")) == []
