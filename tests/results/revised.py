"""A study labelled under two rubric versions, made to the figures of a published account.

The figures (200 pairs; 76 procedural with 27 splits before, 124 others with 4; observed 0.845 and
kappa 0.61, then 0.960 and 0.89; 31 pairs no longer relevant: 24 partial, 7 irrelevant) are those
of the first of the four documents that the product answers to.
"""

from dataclasses import dataclass, replace

from annotation.models import Judgment
from studies.formats.records import DimensionSpec, GradeSpec, RubricFile
from studies.models import (
    Document,
    Member,
    Pair,
    Query,
    Role,
    Round,
    RoundQuery,
    RubricVersion,
    Study,
)
from studies.services.rubrics import publish_rubric
from tests import factories as make

# Partial does not count as relevant here.
RUBRIC = RubricFile(
    grades=[
        GradeSpec(0, "irrelevant", "", relevant=False),
        GradeSpec(1, "partial", "", relevant=False),
        GradeSpec(2, "relevant", "", relevant=True),
    ],
    dimensions=[DimensionSpec("answerability", "Can it be answered from this alone?")],
    edge_cases=[],
)
PROCEDURAL, OTHERS = 76, 124

# Grades of the two annotators before and after, and of how many pairs.
Blocks = list[tuple[tuple[int, int], tuple[int, int], int]]
PROCEDURAL_BLOCKS: Blocks = [
    ((2, 2), (1, 1), 24),  # lost relevant, to partial
    ((2, 2), (0, 0), 7),  # lost relevant, to irrelevant
    ((2, 0), (1, 1), 15),
    ((2, 0), (0, 0), 8),
    ((2, 0), (1, 0), 4),
    ((0, 0), (0, 0), 18),
]
OTHER_BLOCKS: Blocks = [
    ((2, 0), (1, 0), 4),
    ((1, 1), (1, 1), 4),
    ((0, 0), (0, 0), 116),
]


@dataclass(frozen=True)
class Revised:
    study: Study
    first: RubricVersion
    second: RubricVersion
    main: Round
    recheck: Round
    pairs: list[Pair]
    annotators: tuple[Member, Member]


def make_revised(slug: str = "revised") -> Revised:
    """All pairs labelled under rubric 1 in the main round and under rubric 2 in a recheck."""
    study = make.make_study(slug, depth=2)
    first = publish_rubric(study=study, rubric=RUBRIC)
    main = make.make_round(study, rubric_version=first)
    pairs = add_queries(study, "procedural", PROCEDURAL) + add_queries(study, "factual", OTHERS)
    second = publish_rubric(study=study, rubric=replace(RUBRIC, note="Steps, in order."))
    recheck = make.make_round(
        study, "recheck", kind=Round.Kind.RECHECK, rubric_version=second, position=1
    )
    annotators = (
        make.make_member(study, f"{slug}-ana", Role.ANNOTATOR),
        make.make_member(study, f"{slug}-ben", Role.ANNOTATOR),
    )
    before, after = spread_blocks()
    label(main, pairs, annotators, before)
    label(recheck, pairs, annotators, after)
    return Revised(study, first, second, main, recheck, pairs, annotators)


def add_queries(study: Study, query_class: str, pairs: int) -> list[Pair]:
    """Queries with two pairs each, in the study's main round."""
    found = make.make_query_class(study, query_class)
    queries = Query.objects.bulk_create(
        Query(study=study, external_id=f"{query_class}-{number:03}", query_class=found)
        for number in range(pairs // 2)
    )
    documents = Document.objects.bulk_create(
        Document(study=study, external_id=f"{query.external_id}-{place}")
        for query in queries
        for place in "ab"
    )
    RoundQuery.objects.bulk_create(
        RoundQuery(round=study.rounds.get(), query=query, annotators=2) for query in queries
    )
    return Pair.objects.bulk_create(
        Pair(study=study, query=queries[place // 2], document=document, pool_rank=place % 2 + 1)
        for place, document in enumerate(documents)
    )


def spread_blocks() -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    blocks = [*PROCEDURAL_BLOCKS, *OTHER_BLOCKS]
    before = [labels for labels, _, count in blocks for _ in range(count)]
    after = [labels for _, labels, count in blocks for _ in range(count)]
    return before, after


def label(
    round: Round,
    pairs: list[Pair],
    annotators: tuple[Member, Member],
    labels: list[tuple[int, int]],
) -> None:
    answerability = round.rubric_version.dimensions.get(name="answerability")
    Judgment.objects.bulk_create(
        Judgment(
            round=round,
            pair=pair,
            annotator=annotator,
            rubric_version=round.rubric_version,
            grade=grade,
            decided_by=answerability,
        )
        for pair, grades in zip(pairs, labels, strict=True)
        for annotator, grade in zip(annotators, grades, strict=True)
    )
