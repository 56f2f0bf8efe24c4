"""The statements behind every label, as SQL.

They run for each pair of each annotator, some over a whole round; written out they take one
round trip each and no time to build (see docs/performance.md). What each returns is said by the
function that runs it. All take the round, the annotator and the present time as parameters.
"""

from annotation.models import Claim, Judgment
from studies.models import Action, Document, Pair, Query, Quota, Round, RoundQuery
from studies.rows import Columns, build_insert

CLAIM = Columns(Claim)
ROUND = Columns(Round)
ROUND_QUERY = Columns(RoundQuery)
PAIR = Columns(Pair)
QUERY_NAME = Columns(Query, "id", "external_id")
DOCUMENT_NAME = Columns(Document, "id", "external_id")
QUOTA_ROW = Columns(Quota)

# Changes when a query joins or leaves the round, or its number of annotators changes.
PLAN_STAMP = """
SELECT count(*) || ':' || coalesce(sum(hashint8extended(id, coalesce(annotators, 0))), 0)
FROM studies_roundquery WHERE round_id = %(round)s
"""

PAIRS_OF_ROUND_QUERIES = """
SELECT rq.id, count(*)
FROM studies_roundquery rq JOIN studies_pair p ON p.query_id = rq.query_id
WHERE rq.round_id = %(round)s GROUP BY rq.id
"""

# The same in a round that gives single pairs to single people: those of the annotator.
ASSIGNED_PAIRS_OF_ROUND_QUERIES = """
SELECT rq.id, count(*)
FROM annotation_roundassignment a
JOIN studies_pair p ON p.id = a.pair_id
JOIN studies_roundquery rq ON rq.round_id = a.round_id AND rq.query_id = p.query_id
WHERE a.round_id = %(round)s AND a.annotator_id = %(annotator)s GROUP BY rq.id
"""

# The queries of the round that the annotator cannot take: they have had them, or others have all
# places. A hold of their own that has run out can be taken again like any other place. These are
# fewer than the others until a round is nearly done.
TAKEN_QUERIES = """
SELECT coalesce(array_agg(rq.id), '{}')
FROM (
    SELECT c.round_query_id AS id,
        count(*) FILTER (
            WHERE c.state = 'finished' OR c.state = 'held' AND c.expires_at > %(now)s
        ) AS places,
        bool_or(
            c.annotator_id = %(annotator)s AND c.state <> 'lapsed'
            AND NOT (c.state = 'held' AND c.expires_at <= %(now)s)
        ) AS is_own
    FROM annotation_claim c JOIN studies_roundquery mine ON mine.id = c.round_query_id
    WHERE mine.round_id = %(round)s GROUP BY c.round_query_id
) claimed
JOIN studies_roundquery rq ON rq.id = claimed.id
WHERE claimed.is_own OR claimed.places >= rq.annotators
"""

# Calibration comes before anything else, other rounds by their position, held queries by age.
DESK = f"""
SELECT {ROUND.of("r")}, c.id, c.open_pairs, rq.query_id,
    p.id, q.external_id, d.external_id,
    (
        SELECT count(*) FROM annotation_judgment own JOIN studies_round o ON o.id = own.round_id
        WHERE own.annotator_id = %(annotator)s AND own.source = 'app' AND o.closed_at IS NULL
    ),
    (SELECT t.rubric_version_id FROM annotation_rubrictold t WHERE t.annotator_id = %(annotator)s)
FROM studies_round r
LEFT JOIN (annotation_claim c JOIN studies_roundquery rq ON rq.id = c.round_query_id)
    ON rq.round_id = r.id AND c.annotator_id = %(annotator)s
    AND c.state = 'held' AND c.expires_at > %(now)s
LEFT JOIN (
    studies_pair p JOIN studies_query q ON q.id = p.query_id
    JOIN studies_document d ON d.id = p.document_id
) ON p.query_id = rq.query_id AND NOT EXISTS (
    SELECT FROM annotation_judgment j
    WHERE j.round_id = r.id AND j.pair_id = p.id AND j.annotator_id = %(annotator)s
)
WHERE r.study_id = %(study)s AND r.closed_at IS NULL AND r.opens_at <= %(now)s
ORDER BY r.kind <> 'calibration', r.position, r.id, c.id
"""

# The round is locked against being closed, then the query's row in it against everybody else: in
# this order, as by who closes a round (see studies.services.rounds).
LOCKED = (ROUND_QUERY, ROUND, PAIR, QUERY_NAME, DOCUMENT_NAME)
LOCK_PAIR = f"""
SELECT {ROUND_QUERY.of("rq")}, {ROUND.of("r")}, {PAIR.of("p")}, {QUERY_NAME.of("q")},
    {DOCUMENT_NAME.of("d")}
FROM studies_roundquery rq
JOIN studies_round r ON r.id = rq.round_id
JOIN studies_pair p ON p.query_id = rq.query_id
JOIN studies_query q ON q.id = p.query_id
JOIN studies_document d ON d.id = p.document_id
WHERE rq.round_id = %(round)s AND p.public_id = %(pair)s AND r.study_id = %(study)s
FOR SHARE OF r FOR UPDATE OF rq
"""

# A statement of its own, after the lock: only then does it see what others did before.
STANDING = f"""
SELECT
    EXISTS (SELECT FROM studies_action WHERE key = %(key)s),
    (
        SELECT j.id FROM annotation_judgment j
        WHERE j.round_id = %(round)s AND j.pair_id = %(pair)s AND j.annotator_id = %(annotator)s
    ),
    {CLAIM.of("c")}
FROM (SELECT) AS one
LEFT JOIN annotation_claim c
    ON c.round_query_id = %(round_query)s AND c.annotator_id = %(annotator)s
"""

# Passing over what others have locked, or waiting for it. The round is locked first, as by who
# writes a label in it: whoever closes it or puts it off at this moment is waited for, and seen.
LOCK_ROUND_QUERY = f"""
SELECT {ROUND_QUERY.of("rq")}, {ROUND.of("r")}, {QUERY_NAME.of("q")}
FROM studies_roundquery rq
JOIN studies_round r ON r.id = rq.round_id
JOIN studies_query q ON q.id = rq.query_id
WHERE rq.id = %(round_query)s
FOR SHARE OF r FOR UPDATE OF rq
"""
LOCK_FREE_ROUND_QUERY = f"{LOCK_ROUND_QUERY.rstrip()} SKIP LOCKED"

# Frees the places that were held without a label for too long, and tells those of others that
# stay taken. The labels stay.
LAPSE_AND_LIST_SLOTS_OF_OTHERS = """
WITH lapsed AS (
    UPDATE annotation_claim SET state = 'lapsed', slot = NULL
    WHERE round_query_id = %(round_query)s AND state = 'held' AND expires_at <= %(now)s
    RETURNING id
)
SELECT coalesce(array_agg(slot), '{}') FROM annotation_claim
WHERE round_query_id = %(round_query)s AND slot IS NOT NULL AND annotator_id <> %(annotator)s
    AND id NOT IN (SELECT id FROM lapsed)
"""

# A row that has never been changed has no `xmax`: it is new.
TAKE_PLACE = f"""
INSERT INTO annotation_claim AS c
    (round_query_id, annotator_id, state, slot, claimed_at, expires_at, open_pairs)
VALUES (
    %(round_query)s, %(annotator)s, 'held', %(slot)s, %(now)s, %(expires_at)s,
    coalesce(%(open_pairs)s::integer, 0)
)
ON CONFLICT (round_query_id, annotator_id) DO UPDATE
SET state = 'held', slot = excluded.slot, expires_at = excluded.expires_at,
    open_pairs = coalesce(%(open_pairs)s::integer, c.open_pairs)
RETURNING c.xmax = 0, {CLAIM.of("c")}
"""

# A hold that lasts longer keeps its time. `labelled` is a pair whose label the same statement
# brings, which it does not see yet; 0 where there is none.
SETTLE_CLAIM = """
UPDATE annotation_claim
SET expires_at = greatest(expires_at, %(expires_at)s), state = CASE WHEN EXISTS (
    SELECT FROM studies_pair p
    WHERE p.query_id = %(query)s AND p.id <> %(labelled)s AND NOT EXISTS (
        SELECT FROM annotation_judgment j
        WHERE j.round_id = %(round)s AND j.pair_id = p.id AND j.annotator_id = %(annotator)s
    )
) THEN 'held' ELSE 'finished' END
WHERE id = %(claim)s RETURNING state
"""

# The same in a round that gives single pairs to single people. Who was given none of the query has
# nothing to finish: such a claim lapses.
SETTLE_ASSIGNED_CLAIM = """
UPDATE annotation_claim c SET expires_at = %(expires_at)s, state = settled.state,
    slot = CASE WHEN settled.state <> 'lapsed' THEN c.slot END
FROM (
    SELECT CASE
        WHEN count(*) = 0 THEN 'lapsed'
        WHEN count(*) FILTER (WHERE j.id IS NULL AND p.id <> %(labelled)s) > 0 THEN 'held'
        ELSE 'finished'
    END AS state
    FROM annotation_roundassignment a
    JOIN studies_pair p ON p.id = a.pair_id
    LEFT JOIN annotation_judgment j ON j.round_id = a.round_id AND j.pair_id = a.pair_id
        AND j.annotator_id = a.annotator_id
    WHERE a.round_id = %(round)s AND a.annotator_id = %(annotator)s AND p.query_id = %(query)s
) settled
WHERE c.id = %(claim)s RETURNING c.state
"""

# Whether a member `m` is one of "all annotators" of an open round `r`: that of a closed one keeps
# how many they were.
IS_OF_TEAM = """
    r.closed_at IS NULL AND m.is_active AND 'annotator' = ANY (m.roles)
"""

QUOTA = f"""
SELECT {QUOTA_ROW.of("own")} FROM studies_quota own
WHERE own.round_id = %(round)s AND own.member_id = %(annotator)s
"""
LOCK_QUOTA = f"{QUOTA.rstrip()} FOR UPDATE"

# WITH queries on quotas (see annotation.services.quotas): each quota of the rounds with how many
# split queries its member may still take, and the members who are below theirs.
QUOTAS = """
allowances AS (
    SELECT q.round_id, q.member_id, q.is_fixed,
        m.is_active AND 'annotator' = ANY (m.roles) AS annotates,
        q.queries - shared.queries - taken.queries AS left_to_take
    FROM studies_quota q
    JOIN studies_member m ON m.id = q.member_id
    CROSS JOIN LATERAL (
        SELECT count(*) AS queries FROM studies_roundquery
        WHERE round_id = q.round_id AND annotators IS NULL
    ) shared
    CROSS JOIN LATERAL (
        SELECT count(*) AS queries
        FROM annotation_claim c JOIN studies_roundquery rq ON rq.id = c.round_query_id
        WHERE rq.round_id = q.round_id AND rq.annotators IS NOT NULL
            AND c.annotator_id = q.member_id
            AND (c.state = 'finished' OR c.state = 'held' AND c.expires_at > %(now)s)
    ) taken
    WHERE q.round_id = ANY (%(rounds)s)
), below AS (
    SELECT round_id, member_id FROM allowances WHERE annotates AND left_to_take > 0
)
"""

# Whether nobody else who is below their quota could take a split query `rq`, so that it falls to
# the member of the quota `own`: they have it, or have had it.
IS_LEFT_OVER = """
    NOT own.is_fixed AND NOT EXISTS (
        SELECT FROM below b
        WHERE b.round_id = own.round_id AND b.member_id <> own.member_id AND NOT EXISTS (
            SELECT FROM annotation_claim c
            WHERE c.round_query_id = rq.id AND c.annotator_id = b.member_id
                AND (
                    c.state IN ('finished', 'released')
                    OR c.state = 'held' AND c.expires_at > %(now)s
                )
        )
    )
"""

LEFT_OVER = f"""
WITH {QUOTAS}
SELECT coalesce(array_agg(rq.id), '{{}}')
FROM allowances own JOIN studies_roundquery rq ON rq.round_id = own.round_id
WHERE own.member_id = %(annotator)s AND rq.id = ANY (%(keys)s) AND {IS_LEFT_OVER}
"""

COUNT_LABEL_CHANGES = """
INSERT INTO annotation_labelchanges (round_id, annotator_id, count)
VALUES (%(round)s, %(annotator)s, %(changes)s)
ON CONFLICT (round_id, annotator_id)
DO UPDATE SET count = annotation_labelchanges.count + excluded.count
"""


def record_label(settle_claim: str) -> str:
    """A label, its event, and the claim settled by it, in one round trip.

    Returns the label's key and the claim's state. Counts the change, unless the claim is finished:
    that may change further labels, and all are counted together then, in one order.
    """
    return f"""
WITH label AS ({build_insert(Judgment)} RETURNING id), event AS ({build_insert(Action)}),
settled AS ({settle_claim}),
counted AS (
    INSERT INTO annotation_labelchanges (round_id, annotator_id, count)
    SELECT %(round)s, %(annotator)s, 1
    WHERE NOT EXISTS (SELECT FROM settled WHERE state = 'finished')
    ON CONFLICT (round_id, annotator_id)
    DO UPDATE SET count = annotation_labelchanges.count + excluded.count
)
SELECT label.id, settled.state FROM label LEFT JOIN settled ON true
"""


RECORD_LABEL = record_label(SETTLE_CLAIM)
RECORD_ASSIGNED_LABEL = record_label(SETTLE_ASSIGNED_CLAIM)

# Which labels of a query count once an annotator has finished it in a place of their own: all of
# theirs, and when every place is finished none of those whose claims have no place.
RECOUNT_SURPLUS = """
UPDATE annotation_judgment j SET is_surplus = NOT j.is_surplus
FROM studies_pair p
WHERE p.id = j.pair_id AND p.query_id = %(query)s AND j.round_id = %(round)s AND (
    j.is_surplus AND j.annotator_id = %(annotator)s
    OR NOT j.is_surplus AND EXISTS (
        SELECT FROM annotation_claim c
        WHERE c.round_query_id = %(round_query)s AND c.annotator_id = j.annotator_id
            AND c.slot IS NULL
    ) AND %(places)s::integer <= (
        SELECT count(*) FROM annotation_claim c
        WHERE c.round_query_id = %(round_query)s AND c.state = 'finished'
    )
)
RETURNING j.annotator_id
"""

# Everything that a judge may know of a pair, and nothing else.
BLIND_ITEM = """
SELECT p.public_id, q.text, q.context, cls.name, cls.title, d.title, d.format, body.text,
    body.image, d.effective_date, d.superseded_by <> ''
FROM studies_pair p
JOIN studies_query q ON q.id = p.query_id
LEFT JOIN studies_queryclass cls ON cls.id = q.query_class_id
JOIN studies_document d ON d.id = p.document_id
LEFT JOIN studies_documenttext body ON body.document_id = d.id
WHERE p.id = %(pair)s
"""
