"""A calibration round that two annotators have judged whole, and split on."""

from studies.models import Pair, Round, RoundQuery
from tests import factories as make
from tests.cast import Cast

ROUNDS = "/studies/alpha/results/rounds/"
COMPARISON = "/studies/alpha/results/comparison/"


def add_calibration(cast: Cast, name: str = "calibration", queries: int = 2) -> Round:
    """An open round with the first queries of the cast, for everybody; nobody has judged."""
    round = make.make_round(
        cast.study, name, kind=Round.Kind.CALIBRATION, rubric_version=cast.rubric, position=1
    )
    keys = dict.fromkeys(pair.query_id for pair in cast.pairs)
    RoundQuery.objects.bulk_create(
        RoundQuery(round=round, query_id=key, annotators=None) for key in list(keys)[:queries]
    )
    return round


def judge_calibration(cast: Cast, round: Round) -> list[Pair]:
    """ana and ben split on the first three pairs: same reading, two readings, two dimensions.
    They agree on the rest; returns the split pairs."""
    queries = set(round.round_queries.values_list("query", flat=True))
    pairs = [pair for pair in cast.pairs if pair.query_id in queries]
    cited = [
        ({}, {}),
        ({"clause": "procedural"}, {}),
        ({"decided_by": "recency"}, {"decided_by": "authority"}),
    ]
    for place, pair in enumerate(pairs):
        mine, theirs = cited[place] if place < 3 else ({}, {})
        make.make_judgment(round, pair, cast.ana, 2, note=f"ana says {place}", **mine)
        make.make_judgment(round, pair, cast.ben, 0 if place < 3 else 2, **theirs)
    return pairs[:3]
