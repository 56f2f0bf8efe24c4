"""Exports in constant memory and from one moment, while labels arrive."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from psycopg import ServerCursor

from annotation.models import Judgment
from results.selectors import labels, records
from results.services.exports import KINDS, ExportRefused, stream_export, write_export
from studies.models import Action
from studies.services.log import record_action
from tests.cast import Cast, make_cast
from tests.results.exported import export_bytes, export_lines, judge_all

STREAMED = [kind for kind in KINDS if kind != "agreement-report"]


@pytest.fixture
def few_rows_at_once(monkeypatch) -> None:
    monkeypatch.setattr(labels, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr("results.services.exports.kinds.encode.__kwdefaults__", {"chunk_size": 1})


def elsewhere(work: Callable[[], object]) -> None:
    """Do it in another thread, thus over another connection, and wait for it."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


@pytest.mark.django_db(transaction=True)
def test_an_export_is_of_one_moment_while_labels_arrive(few_rows_at_once):
    cast = make_cast()
    judge_all(cast, ana=[1] * 9, ben=[1] * 6)
    stream = stream_export(cast.study, "consensus-qrels")
    first = next(stream)
    elsewhere(lambda: judge_all_of_the_last_query(cast))
    lines = (first + b"".join(stream)).decode().splitlines()
    assert len(lines) == 6
    assert stream.manifest.counts["judgments"] == 15
    assert [query.query_id for query in stream.manifest.withheld] == ["q3"]
    assert len(export_lines(cast.study, "consensus-qrels")) == 9


def judge_all_of_the_last_query(cast: Cast) -> None:
    Judgment.objects.bulk_create(
        Judgment(
            round=cast.main,
            pair=pair,
            annotator=cast.ben,
            rubric_version=cast.rubric,
            grade=1,
            source="import",
        )
        for pair in cast.pairs[6:]
    )


@pytest.mark.django_db(transaction=True)
def test_nothing_can_be_written_in_the_snapshot():
    cast = make_cast()
    with pytest.raises(Exception, match="read-only transaction"), labels.read_snapshot():
        cast.study.save()


@pytest.mark.django_db(transaction=True)
def test_a_stream_closed_early_ends_its_transaction_and_is_not_logged(few_rows_at_once):
    cast = make_cast()
    judge_all(cast, ana=[1] * 9, ben=[1] * 9)
    record_action(cast.study, "round.opened")
    for kind in STREAMED:
        stream = stream_export(cast.study, kind, **options_for(kind))
        next(stream)
        assert connection.in_atomic_block
        stream.close()
        assert not connection.in_atomic_block
    assert list(Action.objects.values_list("name", flat=True)) == ["round.opened"]


def options_for(kind: str) -> dict[str, str]:
    return {"annotator": "ana"} if KINDS[kind].needs_annotator else {}


@pytest.mark.django_db(transaction=True)
def test_a_refusal_amid_the_stream_ends_its_transaction():
    cast = make_cast()
    judge_all(cast, ana=[1] * 9, ben=[1] * 9)
    cast.study.documents.filter(external_id="q2-d2").update(external_id="a b")
    with pytest.raises(ExportRefused, match="white space"):
        export_bytes(cast.study, "consensus-qrels")
    assert not connection.in_atomic_block


def test_lines_leave_before_all_rows_are_read(cast: Cast, few_rows_at_once, monkeypatch):
    judge_all(cast, ana=[1] * 9, ben=[1] * 9)
    read: list[str] = []
    stream_rows = labels.stream_rows

    def watched(sql, parameters):
        for row in stream_rows(sql, parameters):
            read.append(row[0])
            yield row

    monkeypatch.setattr(labels, "stream_rows", watched)
    stream = stream_export(cast.study, "consensus-qrels")
    assert next(stream) == b"q1 0 q1-d1 1\n"
    assert read == ["q1", "q1", "q1", "q2"]
    stream.close()


def test_judgments_are_fetched_some_at_a_time(cast: Cast, few_rows_at_once, monkeypatch):
    judge_all(cast, ana=[1] * 9, ben=[1] * 9)
    fetched: list[int] = []
    fetchmany = ServerCursor.fetchmany

    def watched(self, size):
        fetched.append(size)
        return fetchmany(self, size)

    monkeypatch.setattr(ServerCursor, "fetchmany", watched)
    monkeypatch.setattr(records, "NARROW_ROWS", 2)
    stream = stream_export(cast.study, "judgments")
    assert next(stream).startswith(b"query_id,")
    assert next(stream).startswith(b"q1,q1-d1,")
    assert fetched == [2]
    assert len(list(stream)) == 17
    assert fetched == [2] * 10


@pytest.mark.parametrize("kind", STREAMED)
def test_the_number_of_database_queries_does_not_grow(db, kind):
    counts = []
    for size in (2, 6):
        with transaction.atomic():
            cast = make_cast(queries=size, pairs_per_query=size)
            judge_all(cast, ana=[1, 0] * (size * size // 2), ben=[1, 0] * (size * size // 2))
            record_action(cast.study, "round.opened")
            with CaptureQueriesContext(connection) as captured:
                assert export_bytes(cast.study, kind, **options_for(kind))
            counts.append(len(captured))
            transaction.set_rollback(True)
    assert counts[0] == counts[1]


def test_writing_a_file_reads_in_constant_chunks(cast: Cast, few_rows_at_once, tmp_path):
    judge_all(cast, ana=[1] * 9, ben=[1] * 9)
    write_export(cast.study, "beir", tmp_path / "b.zip")
    write_export(cast.study, "beir", tmp_path / "folder")
    assert len((tmp_path / "folder" / "qrels" / "test.tsv").read_text().splitlines()) == 10
