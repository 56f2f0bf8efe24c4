"""Exports follow final labels and the study's policy, and their manifests say so."""

from django.db.models import Count, Q

from results.models import FinalLabel
from studies.models import Study
from tests import factories as make
from tests.cast import Cast
from tests.results.exported import (
    UNSURE,
    describe_json,
    export_lines,
    judge,
    judge_all,
    withheld_reasons,
)


def test_a_final_label_settles_the_tie_that_withheld_the_query(cast: Cast) -> None:
    judge_all(cast, ana=[0, 1, 1], ben=[2, 1, 1])
    assert withheld_reasons(cast.study)["q1"] == "tie"
    make.make_final_label(cast.pairs[0], 2)
    assert export_lines(cast.study, "consensus-qrels") == [
        "q1 0 q1-d1 2",
        "q1 0 q1-d2 1",
        "q1 0 q1-d3 1",
    ]
    assert describe_json(cast.study, "consensus-qrels")["counts"]["final"] == 1


def test_a_final_label_that_ended_decides_nothing(cast: Cast) -> None:
    judge_all(cast, ana=[1, 1, 1], ben=[1, 1, 1])
    final = make.make_final_label(cast.pairs[0], 2)
    final.ended_at = final.decided_at
    final.save()
    assert export_lines(cast.study, "consensus-qrels")[0] == "q1 0 q1-d1 1"


def test_a_dropped_pair_has_no_line_and_is_counted_with_its_share(cast: Cast) -> None:
    judge_all(cast, ana=[0, 1, 1], ben=[2, 1, 1])
    make.make_final_label(cast.pairs[0], None)
    assert export_lines(cast.study, "consensus-qrels") == ["q1 0 q1-d2 1", "q1 0 q1-d3 1"]
    counts = describe_json(cast.study, "consensus-qrels")["counts"]
    assert (counts["dropped"], counts["dropped_share"]) == (1, 1 / 3)


def test_the_dropped_pairs_of_a_query_that_was_dropped_whole_are_counted(cast: Cast) -> None:
    judge_all(cast, ana=[1] * 6, ben=[1] * 6)
    for pair in cast.pairs[:3]:
        make.make_final_label(pair, None)
    told = describe_json(cast.study, "consensus-qrels")
    assert {query["query_id"]: query["reason"] for query in told["withheld"]}["q1"] == "all_dropped"
    assert (told["counts"]["dropped"], told["counts"]["dropped_share"]) == (3, 0.5)


def test_dropped_pairs_count_the_same_whatever_their_query_is_withheld_for(cast: Cast) -> None:
    judge_all(cast, ana=[1] * 3 + [0, 1, 1, 1], ben=[1] * 3 + [2, 1, 1])
    make.make_final_label(cast.pairs[4], None)
    make.make_final_label(cast.pairs[8], None)
    told = describe_json(cast.study, "consensus-qrels")
    assert [query["reason"] for query in told["withheld"]] == ["tie", "incomplete"]
    # Decided are q1 whole, two pairs of q2 (the other is tied), and the dropped one of q3.
    counts = told["counts"]
    assert (counts["dropped"], counts["pairs_decided"]) == (2, 6)
    assert counts["dropped_share"] == 2 / 6


def test_the_manifest_counts_what_the_database_holds(cast: Cast) -> None:
    judge_all(cast, ana=[0, 1, 2] * 3, ben=[2, 1, 0] * 3)
    for pair, grade in zip(cast.pairs[::2], [1, None, 2, 0, None], strict=True):
        make.make_final_label(pair, grade)
    make.make_final_label(cast.pairs[3], 1)
    make.make_final_label(cast.pairs[5], 1)
    counts = describe_json(cast.study, "consensus-qrels")["counts"]
    stored = FinalLabel.objects.filter(ended_at=None).aggregate(
        final=Count("pk", filter=Q(is_dropped=False)),
        dropped=Count("pk", filter=Q(is_dropped=True)),
    )
    assert {name: counts[name] for name in stored} == stored


def test_one_annotators_qrels_are_their_own_labels(cast: Cast) -> None:
    judge_all(cast, ana=[0, 1, 1], ben=[2, 1, 1])
    make.make_final_label(cast.pairs[0], 2)
    lines = export_lines(cast.study, "annotator-qrels", annotator="ana")
    assert lines[0] == "q1 0 q1-d1 0"


def test_the_rubric_version_of_a_final_label_is_told(cast: Cast) -> None:
    judge_all(cast, ana=[1, 1, 1], ben=[1, 1, 1])
    newer = make.make_rubric(cast.study)
    make.make_final_label(cast.pairs[0], 2, rubric_version=newer)
    assert describe_json(cast.study, "consensus-qrels")["rubric_versions"] == [1, 2]


def test_a_study_may_take_unanimous_votes_only(cast: Cast) -> None:
    Study.objects.update(consensus=Study.Consensus.UNANIMOUS)
    cast.study.refresh_from_db()
    cast.main.round_queries.update(annotators=3)
    judge_all(cast, ana=[1, 1, UNSURE], ben=[1, 1, 2])
    judge(cast.main, cast.pairs[:3], cast.uma, [2, 1, 2])
    told = describe_json(cast.study, "consensus-qrels")
    assert withheld_reasons(cast.study)["q1"] == "not_unanimous"
    assert told["consensus"] == "unanimous"
    assert "every vote" in told["consensus_rule"]
    make.make_final_label(cast.pairs[0], 1)
    assert len(export_lines(cast.study, "consensus-qrels")) == 3


def test_the_manifest_names_the_plain_policy(cast: Cast) -> None:
    told = describe_json(cast.study, "consensus-qrels")
    assert told["consensus"] == "plurality"
    assert "strictly the most votes" in told["consensus_rule"]
