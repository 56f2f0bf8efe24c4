"""The account of a revision, on a study made to known figures and on small ones."""

import json
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import CarriedLabel, Judgment
from results.models import FinalLabel
from results.revision_markdown import render_account
from results.services.revision import account_for_revision
from results.services.scopes import Comparison
from studies.models import Pair, Round, RubricVersion
from studies.services.rubrics import publish_rubric
from tests import factories as make
from tests.cast import Cast
from tests.results.revised import RUBRIC, Revised, make_revised

pytestmark = pytest.mark.django_db


@pytest.fixture
def revised(db: None) -> Revised:
    return make_revised()


def account(revised: Revised, **options: Any) -> dict[str, Any]:
    return account_for_revision(revised.study, Comparison.of_versions(1, 2), **options)


def settle(pair: Pair, version: RubricVersion, grade: int | None) -> FinalLabel:
    return FinalLabel.objects.create(
        pair=pair,
        grade=grade,
        is_dropped=grade is None,
        decided_by=version.dimensions.first(),
        reason="Settled.",
        rubric_version=version,
    )


def find_class(side: dict[str, Any], name: str) -> dict[str, Any]:
    return next(row for row in side["classes"] if row["class"] == name)


def test_agreement_of_the_constructed_study_is_as_published(revised: Revised) -> None:
    found = account(revised)
    before, after = found["before"], found["after"]
    assert (before["pairs"], after["pairs"]) == (200, 200)
    assert before["observed"] == pytest.approx(0.845)
    assert after["observed"] == pytest.approx(0.960)
    assert round(before["kappa"], 2) == 0.61
    assert round(after["kappa"], 2) == 0.89
    assert round(before["expected"], 1) == round(after["expected"], 1) == 0.6
    assert not found["expected_moved"]
    assert found["warnings"] == []


def test_splits_of_the_constructed_study_lie_in_one_class(revised: Revised) -> None:
    before = account(revised)["before"]
    procedural = find_class(before, "procedural")
    assert (procedural["pairs"], procedural["splits"]) == (76, 27)
    assert procedural["rate"] == pytest.approx(27 / 76)
    assert (procedural["rest_pairs"], procedural["rest_splits"]) == (124, 4)
    assert before["splits"] == 31


def test_transitions_of_the_constructed_study_tell_what_was_lost(revised: Revised) -> None:
    found = account(revised)
    assert [2, 1, 24] in found["transitions"]
    assert [2, 0, 7] in found["transitions"]
    assert found["lost_relevant"] == {
        "pairs": 31,
        "scored": 31,
        "to": [[0, 7], [1, 24]],
        "without_label": {},
    }
    assert sum(count for *_, count in found["label_transitions"]) == 400


def test_a_shift_of_the_label_mix_is_flagged(revised: Revised) -> None:
    """Everybody calling everything irrelevant agrees better, and chance alone would too."""
    Judgment.objects.filter(round=revised.recheck, grade=1).update(grade=0)
    found = account(revised)
    assert found["expected_moved"]
    assert any("label mix shifted" in sentence for sentence in found["warnings"])


def test_pairs_labelled_under_one_version_only_are_told_and_left_out(revised: Revised) -> None:
    left = [pair.pk for pair in revised.pairs[:10]]
    Judgment.objects.filter(round=revised.recheck, pair__in=left).delete()
    found = account(revised)
    assert found["pairs_compared"] == found["before"]["pairs"] == found["after"]["pairs"] == 190
    assert (found["pairs_only_before"], found["pairs_only_after"]) == (10, 0)
    assert any("10 pairs have labels only on one side (rubric 1)" in w for w in found["warnings"])


def test_labels_carried_forward_count_under_both_versions(revised: Revised) -> None:
    """The others are not judged again but carried: the account has all pairs on both sides."""
    others = Judgment.objects.filter(pair__query__query_class__name="factual")
    others.filter(round=revised.recheck).delete()
    assert account(revised)["pairs_compared"] == 76
    CarriedLabel.objects.bulk_create(
        CarriedLabel(judgment=judgment, rubric_version=revised.second)
        for judgment in others.filter(round=revised.main)
    )
    found = account(revised)
    assert found["pairs_compared"] == 200
    assert (found["before"]["carried"], found["after"]["carried"]) == (0, 248)
    assert find_class(found["after"], "factual")["splits"] == 4


def test_a_final_label_of_a_version_decides_the_pair_under_it(revised: Revised) -> None:
    """A tie settled under rubric 1 is a loss if rubric 2 makes it partial, and not after."""
    split = revised.pairs[31]
    assert account(revised)["lost_relevant"]["pairs"] == 31
    settle(split, revised.first, 2)
    assert account(revised)["lost_relevant"]["pairs"] == 32


def test_dropped_and_newly_tied_pairs_are_lost_and_told_apart(revised: Revised) -> None:
    settle(revised.pairs[0], revised.second, None)
    Judgment.objects.filter(
        round=revised.recheck, pair=revised.pairs[1], annotator=revised.annotators[0]
    ).update(grade=2)
    lost = account(revised)["lost_relevant"]
    assert lost["pairs"] == 31
    assert lost["without_label"] == {"dropped": 1, "tie": 1}


def test_an_earlier_final_label_holds_where_labels_were_carried(revised: Revised) -> None:
    pair = revised.pairs[0]
    settle(pair, revised.first, 1)
    judged = Judgment.objects.filter(round=revised.recheck, pair=pair)
    assert [1, 1, 5] in account(revised)["transitions"]
    judged.delete()
    CarriedLabel.objects.bulk_create(
        CarriedLabel(judgment=judgment, rubric_version=revised.second)
        for judgment in Judgment.objects.filter(pair=pair)
    )
    found = account(revised)
    assert [1, 1, 5] in found["transitions"]
    assert [2, 1, 23] in found["transitions"]


def test_an_overruled_final_label_does_not_come_back_under_a_third_version(
    revised: Revised,
) -> None:
    """One pair was judged again under rubric 2, another one's decision of rubric 2 was reopened."""
    judged, reopened = revised.pairs[0], revised.pairs[1]
    settle(judged, revised.first, 0)
    end(settle(reopened, revised.first, 0))
    third = publish_rubric(study=revised.study, rubric=replace(RUBRIC, note="Once more."))
    CarriedLabel.objects.bulk_create(
        CarriedLabel(judgment=judgment, rubric_version=third)
        for judgment in Judgment.objects.filter(round=revised.recheck)
    )
    end(settle(reopened, revised.second, 2))
    found = account_for_revision(revised.study, Comparison.of_versions(2, 3))
    assert found["lost_relevant"]["pairs"] == 0
    assert [[before, after] for before, after, _ in found["transitions"]] == [[0, 0], [1, 1]]


def end(final: FinalLabel) -> None:
    FinalLabel.objects.filter(pk=final.pk).update(ended_at=timezone.now())


def test_runs_are_measured_under_both_label_sets(revised: Revised) -> None:
    """Procedural queries come first: 0 to 14 had both documents relevant, 15 had the first."""
    make_ranking(revised, "finder")
    found = account(revised)
    run = found["runs"][0]
    assert run["run"] == "finder"
    assert run["success_at_k"] == {"before": 16 / found["queries_scored"], "after": 0.0}
    assert run["mrr"]["before"] == pytest.approx(16 / found["queries_scored"])
    assert run["ndcg"]["before"] > run["ndcg"]["after"] > 0
    assert found["before"]["runs"][0]["success_at_k"] == run["success_at_k"]["before"]


def test_lost_hits_within_their_bound_raise_no_warning(revised: Revised) -> None:
    make_ranking(revised, "finder")
    found = account(revised)
    assert found["runs"][0]["queries_lost"] == 16
    assert found["runs"][0]["bound"] == 31
    assert found["runs"][0]["within_bound"]
    assert found["warnings"] == []


def test_more_lost_hits_than_lost_pairs_say_that_something_else_changed(
    revised: Revised,
) -> None:
    """Relevant documents that were not labelled again at all: no demotion explains the fall."""
    make_ranking(revised, "finder")
    first_of_query = [pair.pk for pair in revised.pairs[:32:2]]
    rest = [pair.pk for pair in revised.pairs[1:32:2]]
    Judgment.objects.filter(round=revised.recheck, pair__in=first_of_query).delete()
    Judgment.objects.filter(pair__in=rest).update(grade=0)
    run = account(revised)["runs"][0]
    assert (run["queries_lost"], run["bound"]) == (16, 0)
    assert not run["within_bound"]
    assert "something other than the relabelling" in account(revised)["warnings"][0]


def test_pairs_of_queries_that_are_not_scored_do_not_widen_the_bound(revised: Revised) -> None:
    """Both pairs of a query are dropped: it has no score to lose, and its pairs allow no loss."""
    make_ranking(revised, "finder")
    for pair in revised.pairs[:2]:
        settle(pair, revised.second, None)
    found = account(revised)
    assert (found["lost_relevant"]["pairs"], found["lost_relevant"]["scored"]) == (31, 29)
    assert (found["runs"][0]["queries_lost"], found["runs"][0]["bound"]) == (15, 29)
    assert (found["queries_scored"], found["queries_only_before"]) == (84, 1)
    assert [sentence for sentence in found["warnings"] if "1 query is scored no longer" in sentence]


@pytest.mark.parametrize(
    ("dropped", "share", "warning"),
    [(8, 0.042, None), (12, 0.062, "warning"), (60, 0.3125, "alarm")],
)
def test_what_was_dropped_is_told_beside_the_scores(
    revised: Revised, dropped: int, share: float, warning: str | None
) -> None:
    """Of 200 pairs 8 are tied under rubric 2, so that 192 are decided."""
    make_ranking(revised, "finder")
    for pair in revised.pairs[100 : 100 + dropped]:
        settle(pair, revised.second, None)
    found = account(revised)
    before, after = found["before"], found["after"]
    assert (before["dropped"], before["dropped_share"], before["dropped_warning"]) == (0, 0, None)
    assert (after["dropped"], after["dropped_warning"]) == (dropped, warning)
    assert after["dropped_share"] == pytest.approx(share, abs=0.001)
    assert found["queries_only_before"] == dropped // 2
    said = [one for one in found["warnings"] if f"{dropped} pairs (" in one]
    assert len(said) == (warning is not None)
    assert ("Read the scores by their bounds" in " ".join(said)) == (warning == "alarm")
    text = render_account(found)
    # Whole queries were dropped: the scores leave them out, their bounds do not.
    scored, bounded = found["queries_scored"], found["queries_bounded"]
    assert bounded == scored + dropped // 2
    hits = before["runs"][0]["success_at_k"] * scored
    assert before["runs"][0]["worst"]["success_at_k"] == pytest.approx(hits / bounded)
    run = after["runs"][0]
    assert (run["worst"]["success_at_k"], run["success_at_k"]) == (0, 0)
    assert run["best"]["success_at_k"] == pytest.approx(dropped / 2 / bounded)
    assert f"| finder | recall@2 | {hits / bounded:.3f} … {hits / bounded:.3f} | 0.000 … " in text
    assert f"{dropped} pairs ({100 * share:.0f}" in text
    assert f"{dropped // 2} only before" in text


def test_the_bound_is_not_claimed_below_the_pool(revised: Revised) -> None:
    make_ranking(revised, "finder")
    found = account(revised, k=50)
    assert not found["bound_checked"]
    assert any("deeper than the pool" in sentence for sentence in found["warnings"])


def test_three_annotators_have_a_pooled_kappa(revised: Revised) -> None:
    cho = make.make_member(revised.study, "cho", with_account=False)
    for round in (revised.main, revised.recheck):
        for pair in revised.pairs[:20]:
            make.make_judgment(round, pair, cho, 0)
    before = account(revised)["before"]
    assert before["comparisons"] == 240
    assert before["observed"] == pytest.approx(169 / 240)
    assert before["kappa"] is not None


def test_machines_and_other_rounds_stay_outside(revised: Revised) -> None:
    machine = make.make_member(revised.study, "model", with_account=False, is_machine=True)
    relabel = make.make_round(
        revised.study, "again", kind=Round.Kind.RELABEL, rubric_version=revised.second
    )
    before = account(revised)
    make.make_judgment(revised.main, revised.pairs[0], machine, 0)
    make.make_judgment(relabel, revised.pairs[0], revised.annotators[0], 0)
    assert account(revised) == before


def test_nothing_to_compare_is_an_outcome_with_a_reason(cast: Cast) -> None:
    make.make_rubric(cast.study)
    found = account_for_revision(cast.study, Comparison.of_versions(1, 2))
    assert found["pairs_compared"] == 0
    assert found["before"]["kappa"] is None
    assert "nothing shared" in found["before"]["kappa_reason"]
    assert found["transitions"] == []


def make_ranking(revised: Revised, name: str) -> None:
    """Both documents of each query, the first one first."""
    make.make_run(
        revised.study,
        name,
        {
            query.external_id: [f"{query.external_id}-a", f"{query.external_id}-b"]
            for query in revised.study.queries.all()
        },
    )


def run_command(*arguments: str) -> str:
    out = StringIO()
    call_command("revision", *arguments, stdout=out)
    return out.getvalue()


def test_command_prints_the_account(revised: Revised) -> None:
    found = json.loads(run_command("revised", "--from", "1", "--to", "2"))
    assert found | {"computed_at": ""} == json.loads(
        json.dumps(account(revised) | {"computed_at": ""})
    )


def test_command_compares_rounds_too(revised: Revised) -> None:
    found = json.loads(run_command("revised", "--from-round", "main", "--to-round", "recheck"))
    of_versions = account(revised)
    assert (found["compares"], found["from"], found["to"]) == ("rounds", "main", "recheck")
    for side in ("before", "after"):
        assert found[side]["observed"] == of_versions[side]["observed"]
    assert found["transitions"] == of_versions["transitions"]
    text = run_command("revised", "--from-round", "main", "--to-round", "recheck", "--format", "md")
    assert "round “main” → round “recheck”" in text


def test_rounds_with_different_queries_are_compared_pair_by_pair(revised: Revised) -> None:
    """The later round has only the last queries: each pair meets itself, not its neighbour."""
    left = [pair.pk for pair in revised.pairs[:76]]
    Judgment.objects.filter(round=revised.recheck, pair__in=left).delete()
    kept = revised.recheck.round_queries.model.objects.filter(
        round=revised.main, query__external_id__startswith="factual"
    )
    revised.recheck.round_queries.model.objects.bulk_create(
        type(one)(round=revised.recheck, query=one.query, annotators=2) for one in kept
    )
    found = account_for_revision(revised.study, Comparison.of_rounds("main", "recheck"))
    assert (found["pairs_compared"], found["pairs_only_before"]) == (124, 76)
    assert find_class(found["after"], "factual")["splits"] == 4
    assert find_class(found["after"], "procedural")["pairs"] == 0


def test_a_version_is_not_compared_with_a_round(revised: Revised) -> None:
    with pytest.raises(CommandError, match="two versions") as refused:
        run_command("revised", "--from", "1", "--to-round", "recheck")
    assert refused.value.returncode == 2


def test_command_writes_markdown_with_its_numbers(revised: Revised) -> None:
    make_ranking(revised, "a|b")
    text = run_command("revised", "--from", "1", "--to", "2", "--format", "md")
    assert text.startswith("# Revision: Study revised, rubric 1 → rubric 2")
    assert "| procedural | 76 | 27 | 35.5% | 76 | 4 | 5.3% |" in text
    assert "| — the rest | 124 | 4 | 3.2% | 124 | 4 | 3.2% |" in text
    assert "| 2 relevant | 1 partial | 24 |" in text
    assert "a\\|b" in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("revised", "--from", "1", "--to", "7"), "no rubric version 7. Its versions: 1, 2"),
        (("revised", "--from", "1", "--to", "1"), "two different versions"),
        (("nowhere", "--from", "1", "--to", "2"), "no study 'nowhere'"),
    ],
)
def test_command_refuses_with_a_reason(
    revised: Revised, arguments: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(CommandError, match=reason):
        run_command(*arguments)
