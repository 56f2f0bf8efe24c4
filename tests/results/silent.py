"""A study with a hole, made to published figures, for tests of the diagnosis and of its pages.

The figures (27 of 76 procedural pairs split, all one way, 4 of 124 elsewhere) are those of the
first of the four documents that the product answers to.
"""

from studies.models import Pair, Study
from tests import factories as make
from tests.results.labelled import label

PAIRS_PER_QUERY = 4


def make_silent(slug: str = "silent") -> Study:
    """Annotators ana and ben; ana is a grade higher wherever they differ. lia leads."""
    study = make.make_study(slug)
    for name in ("procedural", "factual", "policy"):
        make.make_query_class(study, name)
    make.make_round(
        study,
        rubric_version=make.make_rubric(
            study, clauses={"answerability": {"procedural": ("procedural",)}}
        ),
    )
    for name in ("ana", "ben"):
        make.make_member(study, name, with_account=False)
    make.make_member(study, "lia", make.Role.LEAD)
    add_class(study, "procedural", 76, 27)
    add_class(study, "factual", 64, 2)
    add_class(study, "policy", 60, 2)
    return study


def add_class(study: Study, name: str, pairs: int, splits: int) -> list[Pair]:
    """Queries of four pairs; the splits are dealt out to one query after the other."""
    queries = [make.make_query(study, query_class=name) for _ in range(pairs // PAIRS_PER_QUERY)]
    made = [make.make_pair(query) for _ in range(PAIRS_PER_QUERY) for query in queries]
    ana, ben = study.members.filter(name__in=("ana", "ben")).order_by("name")
    grades = [place % 2 for place in range(pairs)]
    higher = [grade + (place < splits) for place, grade in enumerate(grades)]
    label(study.rounds.get(), ana, made, higher)
    label(study.rounds.get(), ben, made, grades)
    return made
