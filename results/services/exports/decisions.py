"""Which queries may leave the study, and why the others may not."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from results.consensus import Consensus, Policy, decide_consensus
from results.selectors.labels import PairLabels

# Every code that a manifest may give for a query left out, with its sentence.
SENTENCES = {
    "not_planned": _("The query is in no main round."),
    "incomplete": _("Outcomes missing: %(missing)s of %(needed)s, on %(pairs)s."),
    "too_few_votes": _("Fewer votes than the study's minimum on %(pairs)s."),
    "tie": _("Tied votes on %(pairs)s."),
    "not_unanimous": _("Votes differ on %(pairs)s, and the study takes unanimous votes only."),
    "unsure_only": _("Nobody was sure on %(pairs)s."),
    "all_dropped": _("All of the query was dropped: %(pairs)s."),
}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a query is withheld: a code of `SENTENCES`, the number of pairs it holds for, and for
    an incomplete query how many outcomes are missing of how many."""

    code: str
    pairs: int
    missing: int | None = None
    needed: int | None = None

    @property
    def message(self) -> str:
        """In the language of who reads it; files are written in English."""
        pairs = ngettext("%(number)s pair", "%(number)s pairs", self.pairs)
        values = {"pairs": pairs % {"number": self.pairs}}
        return str(SENTENCES[self.code]) % (
            values | {"missing": self.missing, "needed": self.needed}
        )

    def as_json(self) -> dict[str, object]:
        numbers = {"missing": self.missing, "needed": self.needed}
        told = {key: value for key, value in numbers.items() if value is not None}
        return {"reason": self.code, "message": self.message, "pairs": self.pairs, **told}


@dataclass(frozen=True, slots=True)
class DecidedPair:
    """A pair with what its votes decided."""

    labels: PairLabels
    consensus: Consensus

    @property
    def is_dropped(self) -> bool:
        return self.consensus.reason == "dropped"

    @property
    def is_complete(self) -> bool:
        """Whether it waits for no outcome: it has those planned, or was dropped."""
        planned = self.labels.planned
        return self.is_dropped or (planned is not None and self.labels.outcomes >= planned)

    @property
    def is_decided(self) -> bool:
        """Whether it was dropped, or is complete and has a label."""
        return self.is_dropped or (self.is_complete and self.consensus.has_label)


@dataclass(frozen=True, slots=True)
class DecidedQuery:
    """A query with its pairs by document id; with reasons, it is withheld."""

    query_id: str
    pairs: tuple[DecidedPair, ...]
    reasons: tuple[Reason, ...]

    @property
    def is_withheld(self) -> bool:
        return bool(self.reasons)

    @property
    def message(self) -> str:
        return " ".join(reason.message for reason in self.reasons)

    def labelled(self) -> Iterator[tuple[PairLabels, int]]:
        """Pairs that have a label, with their grade."""
        for pair in self.pairs:
            if pair.consensus.grade is not None:
                yield pair.labels, pair.consensus.grade

    def rows(self) -> Iterator[tuple[str, str, int]]:
        """Query id, document id and grade of each pair that has a label."""
        return ((labels.query_id, labels.document_id, grade) for labels, grade in self.labelled())


def decide_queries(
    pairs: Iterable[PairLabels],
    *,
    minimum_votes: int,
    of_one_annotator: bool,
    policy: Policy = "plurality",
) -> Iterator[DecidedQuery]:
    """Decide query by query; `pairs` must come ordered by query."""
    for query_id, group in groupby(pairs, key=attrgetter("query_id")):
        of_query = tuple(group)
        if of_one_annotator:
            yield decide_annotator_query(query_id, of_query)
        else:
            yield decide_query(query_id, of_query, minimum_votes=minimum_votes, policy=policy)


def decide_query(
    query_id: str,
    pairs: Sequence[PairLabels],
    *,
    minimum_votes: int,
    policy: Policy = "plurality",
) -> DecidedQuery:
    """The consensus on a query. It is withheld unless every pair was dropped or has its planned
    outcomes and a label, and at least one has a label."""
    decided = tuple(
        DecidedPair(
            pair,
            decide_consensus(
                pair.grades,
                final=pair.final,
                minimum_votes=minimum_votes,
                policy=policy,
                unsure=pair.unsure,
            ),
        )
        for pair in pairs
    )
    return DecidedQuery(query_id, decided, tuple(_reasons(decided)))


def decide_annotator_query(query_id: str, pairs: Sequence[PairLabels]) -> DecidedQuery:
    """One annotator's labels of a query, which is withheld until each pair has an outcome.
    Pairs they were unsure of have no label and hold nothing up."""
    decided = tuple(
        DecidedPair(pair, decide_consensus(pair.grades, unsure=pair.unsure)) for pair in pairs
    )
    return DecidedQuery(query_id, decided, tuple(_annotator_reasons(pairs)))


def _annotator_reasons(pairs: Sequence[PairLabels]) -> Iterator[Reason]:
    missing = sum(not pair.outcomes for pair in pairs)
    if missing:
        yield Reason("incomplete", missing, missing=missing, needed=len(pairs))
    elif not any(pair.grades for pair in pairs):
        yield Reason("unsure_only", len(pairs))


def _reasons(pairs: Sequence[DecidedPair]) -> Iterator[Reason]:
    if any(pair.labels.planned is None for pair in pairs):
        yield Reason("not_planned", len(pairs))
        return
    incomplete = [pair for pair in pairs if not pair.is_complete]
    if incomplete:
        yield _incomplete(incomplete, pairs)
    # A tie on a pair that still waits for labels is no finding yet.
    found = Counter(pair.consensus.reason for pair in pairs if pair.is_complete)
    if found["too few votes"]:
        yield Reason("too_few_votes", found["too few votes"])
    if found["tie"]:
        yield Reason("tie", found["tie"])
    if found["not unanimous"]:
        yield Reason("not_unanimous", found["not unanimous"])
    if found["unsure only"]:
        yield Reason("unsure_only", found["unsure only"])
    if found["dropped"] == len(pairs):
        yield Reason("all_dropped", len(pairs))


def _incomplete(incomplete: Sequence[DecidedPair], pairs: Sequence[DecidedPair]) -> Reason:
    def planned(pair: DecidedPair) -> int:
        return pair.labels.planned or 0

    return Reason(
        "incomplete",
        len(incomplete),
        missing=sum(planned(pair) - pair.labels.outcomes for pair in incomplete),
        needed=sum(planned(pair) for pair in pairs if not pair.is_dropped),
    )
