"""The database keeps what was published or logged, whatever the code above it does."""

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from results.models import FinalLabel
from studies.models import (
    Action,
    Clause,
    Dimension,
    EdgeCase,
    Grade,
    Pair,
    Ranking,
    RubricVersion,
    Study,
)
from studies.services.log import record_action
from tests import factories as make
from tests.cast import Cast


def test_log_refuses_update_and_delete(cast: Cast) -> None:
    record_action(cast.study, "study.looked-at")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Action.objects.update(name="something.else")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Action.objects.all().delete()


@pytest.mark.parametrize(
    "table",
    [
        *(model._meta.db_table for model in (Action, RubricVersion, Grade, Dimension, Clause)),
        *(model._meta.db_table for model in (EdgeCase, Clause.classes.through, FinalLabel)),
        Study._meta.db_table,  # and with it all that refers to it
    ],
)
@pytest.mark.django_db
def test_what_is_never_changed_is_not_emptied_either(table: str) -> None:
    with connection.cursor() as cursor:
        # Tests may, for they clear the tables between them; nothing else asks for it.
        cursor.execute("SET LOCAL dissensus.may_empty_tables = 'off'")
        with pytest.raises(DatabaseError, match="never emptied"), transaction.atomic():
            cursor.execute(f"TRUNCATE {table} CASCADE")
        cursor.execute("SET LOCAL dissensus.may_empty_tables = 'on'")
        cursor.execute(f"TRUNCATE {table} CASCADE")


@pytest.mark.parametrize("part", [Grade, Clause])
def test_published_rubric_refuses_change_of_its_parts(cast: Cast, part: type) -> None:
    with pytest.raises(DatabaseError, match="published"), transaction.atomic():
        part.objects.update(name="renamed")
    with pytest.raises(DatabaseError, match="published"), transaction.atomic():
        part.objects.first().delete()


def test_published_rubric_refuses_new_parts_and_new_note(cast: Cast) -> None:
    with pytest.raises(DatabaseError, match="published"), transaction.atomic():
        Grade.objects.create(rubric_version=cast.rubric, value=9, name="more", is_relevant=True)
    with pytest.raises(DatabaseError, match="published"), transaction.atomic():
        RubricVersion.objects.filter(pk=cast.rubric.pk).update(note="changed")


def test_draft_can_change(cast: Cast) -> None:
    draft = make.make_rubric(cast.study, publish=False)
    Grade.objects.filter(rubric_version=draft, value=1).update(name="partly")
    assert draft.grades.get(value=1).name == "partly"


def test_label_off_the_scale_is_refused_by_the_database(cast: Cast) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 7)
    with pytest.raises(IntegrityError, match="judgment_grade_on_scale"):
        transaction.get_connection().check_constraints()


def test_slot_beyond_the_planned_annotators_is_refused_by_the_database(cast: Cast) -> None:
    round_query = cast.main.round_queries.first()
    with pytest.raises(IntegrityError, match="slot 3"), transaction.atomic():
        make.make_claim(round_query, cast.ana, slot=3)


def test_a_pair_is_of_the_study_that_its_query_is_of(cast: Cast) -> None:
    own, foreign = cast.pairs[0], make.make_query(make.make_study(), "foreign")
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    with pytest.raises(IntegrityError, match="pair_query_of_study"), transaction.atomic():
        Pair.objects.filter(pk=own.pk).update(query=foreign)


@pytest.mark.parametrize(
    ("documents", "scores"),
    [(["d1", "d1"], [2, 1]), (["d1", None], [2, 1]), (["d1"], [None]), (["d1"], [2, 1]), ([], [])],
)
def test_a_ranking_holds_each_document_once_with_a_score(
    cast: Cast, documents: list[str | None], scores: list[float | None]
) -> None:
    run, query = make.make_run(cast.study, "a", {}), cast.pairs[0].query
    with pytest.raises(IntegrityError, match="ranking_"), transaction.atomic():
        Ranking.objects.create(run=run, query=query, document_ids=documents, scores=scores)
