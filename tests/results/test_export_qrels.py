"""Qrels, ground truth and their manifests, against the database."""

import json

import pytest

from annotation.models import Judgment
from results.services.exports import ExportRefused, describe_export, stream_export, write_export
from studies.models import Action, Member, Role
from studies.services.rounds import close_round
from tests import factories as make
from tests.cast import Cast
from tests.results.exported import (
    UNSURE,
    describe_json,
    export_bytes,
    export_lines,
    judge,
    judge_all,
    read_manifest,
    sha256,
    withheld_reasons,
)

ALL_ONE = [1] * 9


def test_qrels_hold_one_line_per_pair_of_fully_judged_queries(cast: Cast):
    judge_all(cast, ana=[2, 1, 0, 0, 0, 0], ben=[2, 1, 0, 0, 0, 1])
    assert export_bytes(cast.study, "consensus-qrels") == (
        b"q1 0 q1-d1 2\nq1 0 q1-d2 1\nq1 0 q1-d3 0\n"
    )
    assert withheld_reasons(cast.study) == {"q2": "tie", "q3": "incomplete"}


def test_lines_are_ordered_by_code_point_of_both_ids(cast: Cast):
    for query_id in ["Q10", "q2x", "Zed", "ä1"]:
        query = make.make_query(cast.study, query_id)
        for doc_id in ["nike", "Nike", "10", "9"]:
            document = make.make_document(cast.study, f"{query_id}/{doc_id}")
            pair = make.make_pair(query, document)
            judge(cast.main, [pair], cast.ana, [1])
            judge(cast.main, [pair], cast.ben, [1])
    ids = [
        (line.split()[0], line.split()[2]) for line in export_lines(cast.study, "consensus-qrels")
    ]
    assert len(ids) == 16
    assert ids == sorted(ids)


def test_surplus_labels_are_outside(cast: Cast):
    judge_all(cast, ana=[1, 1, 1], ben=[1, 1, 1])
    judge(cast.main, cast.pairs[:3], cast.uma, [0, 0, 0], is_surplus=True)
    assert describe_json(cast.study, "consensus-qrels")["counts"]["judgments"] == 6
    judge(cast.main, cast.pairs[3:6], cast.uma, [0, 0, 0], is_surplus=True)
    judge(cast.main, cast.pairs[3:6], cast.ana, [0, 0, 0])
    assert withheld_reasons(cast.study)["q2"] == "incomplete"


def test_a_machine_fills_no_slot_and_has_no_vote(cast: Cast):
    machine = make.make_member(cast.study, "judge-llm", with_account=False, is_machine=True)
    judge_all(cast, ana=[1, 1, 1], ben=[UNSURE, 1, 1])
    judge(cast.main, cast.pairs[:6], machine, [0] * 6)
    assert export_lines(cast.study, "consensus-qrels")[0] == "q1 0 q1-d1 1"
    assert withheld_reasons(cast.study) == {"q2": "incomplete", "q3": "incomplete"}


def test_a_machines_own_qrels_can_be_had(cast: Cast):
    machine = make.make_member(cast.study, "judge-llm", with_account=False, is_machine=True)
    judge(cast.main, cast.pairs[:3], machine, [0, 1, 2])
    lines = export_lines(cast.study, "annotator-qrels", annotator="judge-llm")
    assert lines == ["q1 0 q1-d1 0", "q1 0 q1-d2 1", "q1 0 q1-d3 2"]


def test_calibration_and_relabel_rounds_are_outside(cast: Cast):
    for kind in ("calibration", "relabel"):
        apart = make.make_round(cast.study, kind, kind=kind, rubric_version=cast.rubric)
        judge(apart, cast.pairs[:3], cast.ana, [0, 0, 0])
        judge(apart, cast.pairs[:3], cast.ben, [0, 0, 0])
    assert export_lines(cast.study, "consensus-qrels") == []
    assert describe_json(cast.study, "consensus-qrels")["counts"]["judgments"] == 0


def test_a_recheck_takes_the_place_of_the_label_it_renews(cast: Cast):
    judge_all(cast, ana=[0, 0, 0], ben=[1, 1, 0])
    newer = make.make_rubric(cast.study)
    recheck = make.make_round(
        cast.study, "recheck-1", kind="recheck", rubric_version=newer, position=1
    )
    judge(recheck, cast.pairs[:2], cast.ana, [1, 1])
    assert export_lines(cast.study, "consensus-qrels") == [
        "q1 0 q1-d1 1",
        "q1 0 q1-d2 1",
        "q1 0 q1-d3 0",
    ]
    told = describe_json(cast.study, "consensus-qrels")
    assert told["counts"]["judgments"] == 6
    assert told["rubric_versions"] == [1, 2]


def test_of_two_rechecks_the_later_round_holds(cast: Cast):
    judge_all(cast, ana=[0, 0, 0], ben=[2, 0, 0])
    # The one that stands later was made first.
    for position, grade in ((2, 2), (1, 1)):
        recheck = make.make_round(
            cast.study, f"recheck-{position}", kind="recheck", position=position
        )
        judge(recheck, cast.pairs[:1], cast.ana, [grade])
    assert export_lines(cast.study, "consensus-qrels")[0] == "q1 0 q1-d1 2"


def test_all_annotators_means_everybody_who_annotates_now(cast: Cast):
    cast.main.round_queries.update(annotators=None)
    judge_all(cast, ana=[1, 1, 1], ben=[1, 1, 1])
    told = describe_json(cast.study, "consensus-qrels")["withheld"][0]
    assert told["message"] == "Outcomes missing: 3 of 9, on 3 pairs."
    cast.uma.is_active = False
    cast.uma.save()
    assert len(export_lines(cast.study, "consensus-qrels")) == 3


def test_all_annotators_of_a_closed_round_are_those_of_then(cast: Cast):
    cast.main.round_queries.update(annotators=None)
    judge_all(cast, ana=[1, 1, 1], ben=[1, 1, 1])
    judge(cast.main, cast.pairs[:1], cast.uma, [1])
    Member.objects.filter(pk=cast.uma.pk).update(is_active=False)
    close_round(round=cast.main, user=None)
    Member.objects.filter(pk=cast.uma.pk).update(is_active=True)
    Member.objects.filter(pk=cast.lia.pk).update(roles=["lead", "annotator"])
    assert len(export_lines(cast.study, "consensus-qrels")) == 3


def test_control_pairs_outside_of_the_pool_never_appear(cast: Cast):
    query = cast.pairs[0].query
    control = make.make_pair(query, make.make_document(cast.study, "control"), pool_rank=None)
    judge_all(cast, ana=[1, 1, 1], ben=[1, 1, 1])
    judge(cast.main, [control], cast.ana, [1])
    assert len(export_lines(cast.study, "consensus-qrels")) == 3
    assert describe_json(cast.study, "consensus-qrels")["counts"]["pairs"] == 9


def test_the_minimum_of_votes_is_the_studys(cast: Cast):
    judge_all(cast, ana=[1, 1, 1], ben=[1, UNSURE, 1])
    assert len(export_lines(cast.study, "consensus-qrels")) == 3
    cast.study.minimum_votes = 2
    cast.study.save()
    assert withheld_reasons(cast.study)["q1"] == "too_few_votes"


def test_manifest_counts_are_those_of_the_database(cast: Cast):
    judge_all(cast, ana=[1, 0, 1, 1, UNSURE, 2], ben=[1, 0, UNSURE, 1, 1, 2])
    judge(cast.main, cast.pairs[3:4], cast.uma, [0])
    told = describe_json(cast.study, "consensus-qrels")
    assert told["counts"] == {
        "queries": cast.study.queries.count(),
        "queries_exported": 2,
        "pairs": cast.study.pairs.count(),
        "pairs_exported": 6,
        "judgments": Judgment.objects.count(),
        "unsure": Judgment.objects.filter(is_unsure=True).count(),
        "unanimous": 3,
        "majority": 1,
        "single_vote": 2,
        "final": 0,
        "pairs_decided": 6,
        "dropped": 0,
        "dropped_share": 0.0,
    }
    assert [query["query_id"] for query in told["withheld"]] == ["q3"]


def test_the_manifest_names_what_the_labels_rest_on(cast: Cast, tmp_path):
    judge_all(cast, ana=ALL_ONE, ben=ALL_ONE)
    path = tmp_path / "out.qrels"
    write_export(cast.study, "consensus-qrels", path)
    told = read_manifest(path)
    assert told["study"] == "alpha"
    assert told["kind"] == "consensus-qrels"
    assert told["created_at"].endswith("+00:00")
    assert told["rubric_versions"] == [1]
    assert told["minimum_votes"] == 1
    assert "strictly the most votes" in told["consensus_rule"]
    assert told["open_holes"] is None
    assert told["open_holes_reason"].startswith("no numbers")
    assert told["gate_state"] == "red"
    assert (told["gate_passed"], told["gate_override"]) == (None, None)
    assert (told["dropped_pairs"], told["dropped_share_of_pool"]) == (0, 0.0)
    assert told["sha256"] == sha256(path)
    assert told["bytes"] == path.stat().st_size
    assert told["lines"] == told["counts"]["pairs_exported"] == 9


def test_the_description_counts_what_the_export_holds(cast: Cast):
    judge_all(cast, ana=[1, 1, 1, 0], ben=[1, 1, 0, 0])
    described = describe_export(cast.study, "consensus-qrels")
    stream = stream_export(cast.study, "consensus-qrels")
    assert list(stream) == []
    assert stream.manifest.counts == described.counts
    assert stream.manifest.withheld == described.withheld
    assert described.sha256 is None
    assert stream.manifest.lines == 0


def test_ground_truth_has_the_rows_of_the_consensus_qrels(cast: Cast):
    judge_all(cast, ana=[2, 1, 0, 0, 0, 0], ben=[2, 1, 0, 0, 0, 0])
    header, *rows = export_lines(cast.study, "ground-truth")
    assert header == "query_id,doc_id,relevance"
    qrels = [line.split() for line in export_lines(cast.study, "consensus-qrels")]
    assert [row.split(",") for row in rows] == [[q, d, grade] for q, _, d, grade in qrels]


def test_ids_that_look_like_formulas_stay_as_they_are(cast: Cast):
    query = make.make_query(cast.study, "=q")
    pair = make.make_pair(query, make.make_document(cast.study, "+d"))
    judge(cast.main, [pair], cast.ana, [1])
    judge(cast.main, [pair], cast.ben, [1])
    assert export_lines(cast.study, "ground-truth")[1:] == ["=q,+d,1"]


def test_one_annotators_qrels_hold_the_queries_they_are_done_with(cast: Cast):
    judge_all(cast, ana=[1, UNSURE, 2, 0, 0, 0, 1], ben=[0, 0, 0])
    lines = export_lines(cast.study, "annotator-qrels", annotator="ana")
    assert lines == ["q1 0 q1-d1 1", "q1 0 q1-d3 2", "q2 0 q2-d1 0", "q2 0 q2-d2 0", "q2 0 q2-d3 0"]
    told = describe_json(cast.study, "annotator-qrels", annotator="ana")
    assert told["annotator"] == "ana"
    assert told["counts"] == {
        "queries": 3,
        "queries_exported": 2,
        "pairs": 9,
        "pairs_exported": 5,
        "judgments": 7,
        "unsure": 1,
    }
    assert [query["query_id"] for query in told["withheld"]] == ["q3"]


def test_an_unknown_annotator_is_refused_by_name(cast: Cast):
    judge_all(cast, ana=[1], ben=[1])
    with pytest.raises(ExportRefused, match=r"no annotator named 'zoe'.*ana, ben"):
        describe_export(cast.study, "annotator-qrels", annotator="zoe")


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("nonsense", {}, "There is no export 'nonsense'"),
        ("annotator-qrels", {}, "needs the name of an annotator"),
        ("consensus-qrels", {"annotator": "ana"}, "takes no annotator"),
        ("consensus-qrels", {"with_texts": True}, "no variant with texts"),
    ],
)
def test_what_does_not_fit_together_is_refused(cast: Cast, kind, options, message):
    with pytest.raises(ExportRefused, match=message):
        stream_export(cast.study, kind, **options)


def test_another_studys_labels_stay_out(cast: Cast):
    other = make.make_round(cast.other_study)
    query = make.make_query(cast.other_study, "q1", annotators=1)
    judge(other, [make.make_pair(query)], make.make_member(cast.other_study, "zed"), [1])
    assert describe_json(cast.study, "consensus-qrels")["counts"]["judgments"] == 0
    assert len(export_lines(cast.other_study, "consensus-qrels")) == 1


def test_an_export_is_logged_with_its_checksum_and_counts(cast: Cast, tmp_path):
    judge_all(cast, ana=ALL_ONE, ben=ALL_ONE)
    write_export(cast.study, "consensus-qrels", tmp_path / "a.qrels", user=cast.user("lia"))
    action = Action.objects.get(name="export.made")
    assert action.user == cast.user("lia")
    assert action.data["kind"] == "consensus-qrels"
    assert action.data["sha256"] == sha256(tmp_path / "a.qrels")
    assert action.data["counts"]["pairs_exported"] == 9
    list(stream_export(cast.study, "ground-truth"))
    assert Action.objects.filter(name="export.made").count() == 2


def test_describing_is_not_logged(cast: Cast):
    describe_export(cast.study, "consensus-qrels")
    assert not Action.objects.filter(name="export.made").exists()


def test_the_same_labels_give_the_same_bytes(cast: Cast):
    judge_all(cast, ana=ALL_ONE, ben=ALL_ONE)
    for kind in ("consensus-qrels", "beir"):
        assert export_bytes(cast.study, kind) == export_bytes(cast.study, kind)


def test_the_manifest_is_json_without_numbers_that_json_lacks(cast: Cast):
    text = json.dumps(describe_json(cast.study, "consensus-qrels"), allow_nan=False)
    assert json.loads(text)["counts"]["dropped_share"] is None


def test_a_role_is_no_condition_of_a_vote(cast: Cast):
    identity = make.make_member(cast.study, "imported", with_account=False)
    assert Role.ANNOTATOR not in identity.roles
    judge(cast.main, cast.pairs[:3], cast.ana, [1, 1, 1])
    judge(cast.main, cast.pairs[:3], identity, [1, 1, 1], source="import", decided_by=None)
    assert len(export_lines(cast.study, "consensus-qrels")) == 3


def test_a_query_for_all_waits_for_every_imported_annotator(cast: Cast) -> None:
    cast.study.members.update(roles=[])
    cast.main.round_queries.update(annotators=None)
    for name, count in (("eva", 9), ("kim", 4)):
        identity = make.make_member(cast.study, name, with_account=False)
        judge(cast.main, cast.pairs[:count], identity, [1] * count)
    assert withheld_reasons(cast.study) == {"q2": "incomplete", "q3": "incomplete"}
