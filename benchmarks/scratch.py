"""A study of a million judgments, made by SQL inside the database that the benchmarks use."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection, transaction
from django.utils import timezone

from studies.models import Dimension, Grade, Member, QueryClass, Round, RubricVersion, Study

CLASSES = ("procedural", "factual", "policy", "definition")
GRADES = ("irrelevant", "related", "partial", "answers")
DIMENSIONS = ("answerability", "recency", "authority")
ANNOTATORS = ("ana", "ben", "cho", "dee")

QUERIES = """
INSERT INTO studies_query (study_id, external_id, public_id, text, context, metadata,
    query_class_id)
SELECT %(study)s, 'q' || n, gen_random_uuid(), 'query ' || n, '', '{}',
    (%(classes)s::bigint[])[1 + n %% %(class_count)s]
FROM generate_series(1, %(queries)s) n
"""
ROUND_QUERIES = """
INSERT INTO studies_roundquery (round_id, query_id, annotators)
SELECT %(round)s, id, 2 FROM studies_query WHERE study_id = %(study)s
"""
DOCUMENTS = """
INSERT INTO studies_document (study_id, external_id, title, format, superseded_by, url, metadata)
SELECT %(study)s, 'd' || n, 'document ' || n, 'text', '', '', '{}'
FROM generate_series(1, %(depth)s) n
"""
TEXTS = """
INSERT INTO studies_documenttext (document_id, text, image)
SELECT id, repeat('a word or two, ', 66), '' FROM studies_document WHERE study_id = %(study)s
"""
PAIRS = """
INSERT INTO studies_pair (study_id, query_id, document_id, public_id, pool_rank, added_at)
SELECT %(study)s, q.id, d.id, gen_random_uuid(),
    row_number() OVER (PARTITION BY q.id ORDER BY d.id), now()
FROM studies_query q, studies_document d
WHERE q.study_id = %(study)s AND d.study_id = %(study)s
"""
# Two annotators for each query, every two of them in turn; one label in seven differs from what
# the pair suggests.
JUDGMENTS = """
INSERT INTO annotation_judgment (public_id, round_id, pair_id, annotator_id, rubric_version_id,
    grade, is_unsure, decided_by_id, note, source, is_surplus, active_seconds, judged_at,
    recorded_at)
SELECT gen_random_uuid(), %(round)s, p.id,
    (%(annotators)s::bigint[])[1 + (p.query_id + place * (1 + p.query_id / %(annotator_count)s
        %% (%(annotator_count)s - 1))) %% %(annotator_count)s],
    %(rubric)s,
    CASE WHEN hashint8(p.id * 2 + place) %% 50 = 0 THEN NULL
         WHEN hashint8(p.id * 2 + place) %% 7 = 0 THEN (p.id + place) %% 4
         ELSE p.id %% 4 END,
    hashint8(p.id * 2 + place) %% 50 = 0,
    (%(dimensions)s::bigint[])[1 + p.id %% %(dimension_count)s],
    'a note of the usual length, which no statistic ever reads', 'app', false, 12.5, now(), now()
FROM studies_pair p, generate_series(0, 1) place
WHERE p.study_id = %(study)s
"""
LABEL_CHANGES = """
INSERT INTO annotation_labelchanges (round_id, annotator_id, count)
SELECT round_id, annotator_id, count(*) FROM annotation_judgment WHERE round_id = %(round)s
GROUP BY 1, 2
"""


@dataclass(frozen=True)
class ScratchStudy:
    study: Study
    judgments: int


def make_scratch_study(
    *, queries: int = 10_000, depth: int = 50, annotators: Sequence[str] = ANNOTATORS
) -> ScratchStudy:
    """A study with `queries` x `depth` pairs and two labels for each."""
    study = Study.objects.create(slug=f"scratch-{queries}-{depth}", title="Scratch")
    rubric = make_rubric(study)
    classes = [QueryClass.objects.create(study=study, name=name).pk for name in CLASSES]
    members = [Member.objects.create(study=study, name=name).pk for name in annotators]
    main = Round.objects.create(study=study, name="main", rubric_version=rubric)
    parameters = {
        "study": study.pk,
        "round": main.pk,
        "rubric": rubric.pk,
        "queries": queries,
        "depth": depth,
        "classes": classes,
        "class_count": len(classes),
        "annotators": members,
        "annotator_count": len(members),
        "dimensions": list(rubric.dimensions.values_list("pk", flat=True)),
        "dimension_count": len(DIMENSIONS),
    }
    with transaction.atomic(), connection.cursor() as cursor:
        # What is written here is right by construction; checking it row by row takes minutes.
        cursor.execute("SET LOCAL session_replication_role = replica")
        for statement in (QUERIES, ROUND_QUERIES, DOCUMENTS, PAIRS, JUDGMENTS, LABEL_CHANGES):
            cursor.execute(statement, parameters)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return ScratchStudy(study=study, judgments=queries * depth * 2)


def make_unjudged_study(slug: str, *, queries: int, depth: int) -> Study:
    """A study of `queries` x `depth` pairs, each document with a text of 1 kB, none judged."""
    study = Study.objects.create(slug=slug, title="Scratch", annotators_per_query=2)
    main = Round.objects.create(study=study, name="main", rubric_version=make_rubric(study))
    cls = QueryClass.objects.create(study=study, name=CLASSES[0])
    parameters = {
        "study": study.pk,
        "round": main.pk,
        "queries": queries,
        "depth": depth,
        "classes": [cls.pk],
        "class_count": 1,
    }
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in (QUERIES, ROUND_QUERIES, DOCUMENTS, TEXTS, PAIRS):
            cursor.execute(statement, parameters)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return study


def make_rubric(study: Study) -> RubricVersion:
    rubric = RubricVersion.objects.create(study=study, number=1)
    for value, name in enumerate(GRADES):
        Grade.objects.create(rubric_version=rubric, value=value, name=name, is_relevant=value >= 1)
    for position, name in enumerate(DIMENSIONS):
        Dimension.objects.create(rubric_version=rubric, name=name, test=name, position=position)
    rubric.published_at = timezone.now()
    rubric.save()
    return rubric
