"""Indexes that cost every label and every import something must earn it."""

import pytest
from django.db import connection

# Tables that grow with the pool and with the labels.
GROWING = (
    "studies_query",
    "studies_document",
    "studies_pair",
    "studies_ranking",
    "studies_roundquery",
    "studies_action",
    "annotation_claim",
    "annotation_judgment",
    "annotation_roundassignment",
    "annotation_carriedlabel",
)
# Pairs of indexes of one table where the columns of the first begin the columns of the second.
REPEATED = """
SELECT short.indexrelid::regclass::text, long.indexrelid::regclass::text
FROM pg_index short JOIN pg_index long USING (indrelid)
WHERE indrelid = ANY(%s::regclass[]) AND short.indexrelid <> long.indexrelid
    AND NOT short.indisunique AND short.indpred IS NULL AND long.indpred IS NULL
    AND long.indkey::text || ' ' LIKE short.indkey::text || ' %%'
    AND short.indclass[0] = long.indclass[0]
"""


@pytest.mark.django_db
def test_no_index_of_a_growing_table_begins_another_one() -> None:
    with connection.cursor() as cursor:
        cursor.execute(REPEATED, [list(GROWING)])
        assert cursor.fetchall() == []
