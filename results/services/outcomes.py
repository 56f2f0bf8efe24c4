"""Outcomes of pairs, made anew from the labels that have changed."""

from django.db import connection, transaction

from results.selectors.labels import select_current_labels
from studies.models import Study

# One study at a time is brought up to date by one reader: an older count never replaces a newer.
LOCK_SPACE = 7206
LOCK = "SELECT pg_advisory_xact_lock(%(space)s, %(study)s)"

TAKE_CHANGES = """
WITH taken AS (DELETE FROM results_changedpair WHERE study_id = %(study)s RETURNING pair_id)
SELECT coalesce(array_agg(DISTINCT pair_id), '{}') FROM taken
"""

# `top` holds the votes of the two grades that have most.
COUNT_AGAIN = f"""
WITH {select_current_labels("AND j.pair_id = ANY (%(pairs)s)")},
scale AS (
    SELECT value, dense_rank() OVER (ORDER BY value) AS place
    FROM (
        SELECT DISTINCT g.value FROM studies_grade g
        JOIN studies_rubricversion v ON v.id = g.rubric_version_id
        WHERE v.study_id = %(study)s
    ) grades
),
tally AS (
    SELECT pair_id, grade, count(*) AS votes FROM current_labels GROUP BY pair_id, grade
),
counted AS (
    SELECT changed.pair_id, coalesce(sum(votes), 0) AS outcomes,
        coalesce(sum(votes) FILTER (WHERE grade IS NOT NULL), 0) AS votes,
        count(grade) AS grades,
        (array_agg(votes ORDER BY votes DESC) FILTER (WHERE grade IS NOT NULL))[1:2] AS top,
        min(grade) AS lowest, max(grade) AS highest
    FROM unnest(%(pairs)s::bigint[]) AS changed (pair_id)
    LEFT JOIN tally USING (pair_id)
    GROUP BY changed.pair_id
)
INSERT INTO results_pairoutcome (pair_id, study_id, kind, distance, votes, outcomes)
SELECT o.pair_id, %(study)s,
    CASE WHEN o.outcomes = 0 THEN 'none' WHEN o.votes = 0 THEN 'unsure'
        WHEN o.grades = 1 THEN 'agreed'
        WHEN o.top[1] = o.top[2] THEN 'tie' ELSE 'split' END,
    coalesce(high.place - low.place, 0), o.votes, o.outcomes
FROM counted o
LEFT JOIN scale low ON low.value = o.lowest
LEFT JOIN scale high ON high.value = o.highest
ON CONFLICT (pair_id) DO UPDATE SET kind = EXCLUDED.kind, distance = EXCLUDED.distance,
    votes = EXCLUDED.votes, outcomes = EXCLUDED.outcomes
"""  # noqa: S608 - put together from constants


def update_outcomes(study: Study) -> int:
    """Count the pairs again whose labels have changed; returns their number.

    Called before the outcomes of a study are read. Without changes it is one look at an index.
    """
    values = {"study": study.pk, "space": LOCK_SPACE, "annotator": None}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM results_changedpair WHERE study_id = %(study)s)", values
        )
        if not cursor.fetchone()[0]:
            return 0
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(LOCK, values)
        cursor.execute(TAKE_CHANGES, values)
        pairs = cursor.fetchone()[0]
        if pairs:
            cursor.execute(COUNT_AGAIN, values | {"pairs": pairs})
    return len(pairs)
