"""A third vote in a class with a hole: both readings side by side, and what runs score."""

import pytest

from results.services.agreement import compute_agreement
from results.services.reports import run_agreement
from results.services.scopes import Scope
from results.services.third_vote import show_third_votes
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in
from tests.results.labelled import label
from tests.results.silent import make_silent
from tests.results.taken import find_files


def test_labels_and_runs_are_told_under_either_reading(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:3], [0, 1, 2])
    label(cast.main, cast.ben, cast.pairs[:3], [1, 1, 0])
    documents = [pair.document.external_id for pair in cast.pairs[:3]]
    make.make_run(cast.study, "bm25", {"q1": documents[::-1]})
    (found,) = show_third_votes(cast.study, ["procedural"])
    assert (found["queries"], found["pairs"], found["splits"]) == (1, 3, 2)
    assert found["lower"] == {"0": 2, "1": 1}
    assert found["higher"] == {"1": 2, "2": 1}
    (run,) = found["runs"]
    # The only relevant document of the lower reading stands second, that of the higher first.
    assert (run["lower"]["mrr"], run["higher"]["mrr"]) == (0.5, 1.0)


def test_queries_that_wait_for_outcomes_are_not_scored(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:3], [0, 1, 2])
    label(cast.main, cast.ben, cast.pairs[:2], [1, 1])
    (found,) = show_third_votes(cast.study, ["procedural"])
    assert (found["queries"], found["pairs"], found["splits"]) == (0, 0, 0)


def test_a_vote_moves_only_what_the_rule_of_consensus_lets_one_vote_move(cast: Cast) -> None:
    """A tie goes either way; of a majority, and of five votes whose lowest is one behind, less."""
    voters = [cast.ana, cast.ben, cast.uma, cast.max, cast.lia]
    votes = {0: [0, 2], 1: [0, 2, 2], 2: [0, 1, 1, 2, 2]}
    for place, grades in votes.items():
        for voter, grade in zip(voters, grades, strict=False):
            label(cast.main, voter, [cast.pairs[place]], [grade])
    cast.study.depth = 3
    (found,) = show_third_votes(cast.study, ["procedural"])
    assert (found["pairs"], found["splits"], found["settled"], found["k"]) == (3, 3, 2, 3)
    assert (found["lower"], found["higher"]) == ({"0": 1, "1": 1, "2": 1}, {"2": 3})
    cast.study.minimum_votes = 4
    (found,) = show_third_votes(cast.study, ["procedural"])
    # The tie of two has three votes then, which are too few; 0, 2, 2 has four with a third 2 only.
    assert (found["settled"], found["lower"], found["higher"]) == (2, {"1": 1, "2": 1}, {"2": 2})
    cast.study.consensus = cast.study.Consensus.UNANIMOUS
    (found,) = show_third_votes(cast.study, ["procedural"])
    assert (found["splits"], found["settled"], found["lower"]) == (3, 0, {})


def test_final_label_is_moved_by_no_vote(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:3], [0, 1, 1])
    label(cast.main, cast.ben, cast.pairs[:3], [2, 1, 1])
    make.make_final_label(cast.pairs[0], 1)
    (found,) = show_third_votes(cast.study, ["procedural"])
    assert (found["splits"], found["lower"], found["higher"]) == (0, {"1": 3}, {"1": 3})


def test_dropped_pairs_are_told_beside_either_reading(cast: Cast) -> None:
    """The run returns the dropped document first: relevant or not, it moves what the run scores."""
    label(cast.main, cast.ana, cast.pairs[:3], [0, 1, 2])
    label(cast.main, cast.ben, cast.pairs[:3], [1, 1, 0])
    make.make_final_label(cast.pairs[1], None)
    documents = [cast.pairs[place].document.external_id for place in (1, 0, 2)]
    make.make_run(cast.study, "bm25", {"q1": documents})
    (found,) = show_third_votes(cast.study, ["procedural"])
    assert (found["pairs"], found["dropped"], found["dropped_share"]) == (2, 1, 1 / 3)
    (run,) = found["runs"]
    assert (run["lower"]["mrr"], run["higher"]["mrr"]) == (0.0, 0.5)
    assert (run["lower"]["worst"]["mrr"], run["lower"]["best"]["mrr"]) == (0.0, 1.0)
    assert (run["higher"]["worst"]["mrr"], run["higher"]["best"]["mrr"]) == (0.5, 1.0)


def test_page_shows_both_outcomes_of_the_hole(db: None) -> None:
    study = make_silent()
    report = run_agreement(study, scope=Scope())
    (vote,) = report.payload["third_vote"]
    assert (vote["class"], vote["splits"]) == ("procedural", 27)
    client = log_in(study.members.get(name="lia"))
    overview = client.get("/studies/silent/results/").content.decode()
    assert "What would a third annotator do?" in overview
    page = " ".join(
        client.get("/studies/silent/results/splits/third-vote/").content.decode().split()
    )
    assert "27 of 27 splits among 76 pairs of 19 fully judged queries would be settled." in page
    assert "0 pairs dropped (0.0% of those decided)." in page
    for path, tables in (("splits/third-vote/", 1), ("splits/", 7), ("", 6)):
        found = find_files(client.get(f"/studies/silent/results/{path}"))
        assert len(found) >= tables
        assert [name for name, files in found.items() if not files] == []


@pytest.mark.parametrize("scope", [Scope(round="main"), Scope(query_class="procedural")])
def test_other_scopes_speak_of_no_vote(db: None, scope: Scope) -> None:
    assert compute_agreement(make_silent(), scope=scope, resamples=10)["third_vote"] == []
