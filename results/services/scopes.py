"""Which labels a report speaks of."""

from dataclasses import dataclass, replace
from urllib.parse import parse_qs, urlencode

from studies.models import Member, Round, Study

CURRENT = "current"


class UnknownScope(Exception):
    """The study has no such round or rubric version; the message names those it has."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The study's current labels, or those of some rounds, of one rubric version, or of both.

    Current are the labels of the main rounds, with a recheck label in the place of the one that
    it renews. A rubric version narrows these, or the rounds, to labels given under it. Of several
    rounds the one that comes last in the study's order gives the label of an annotator on a pair.

    `query_class` and `annotators` (in the order of their names) narrow further; `with_controls`
    takes control pairs in, which stay outside otherwise.
    """

    round: str | None = None
    rubric: int | None = None
    further_rounds: tuple[str, ...] = ()
    query_class: str | None = None
    annotators: tuple[str, ...] = ()
    with_controls: bool = False

    @property
    def rounds(self) -> tuple[str, ...]:
        return () if self.round is None else (self.round, *self.further_rounds)

    @property
    def is_current(self) -> bool:
        """Whether it is the current labels, with or without control pairs."""
        return replace(self, with_controls=False) == Scope()

    @property
    def unfiltered(self) -> "Scope":
        """The same rounds and version, without class and annotators."""
        return replace(self, query_class=None, annotators=())

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The scope as names and values of an address or of a form."""
        named = [("round", name) for name in self.rounds[:1]]
        if self.rubric is not None:
            named.append(("rubric", str(self.rubric)))
        return named + self._filters

    @property
    def _filters(self) -> list[tuple[str, str]]:
        return [
            *(("round", name) for name in self.further_rounds),
            *([("class", self.query_class)] if self.query_class is not None else []),
            *(("annotator", name) for name in self.annotators),
            *([("controls", "1")] if self.with_controls else []),
        ]

    @property
    def key(self) -> str:
        """The scope in one line, as reports are filed under; `parse` reads it back."""
        parts = []
        if self.rubric is not None:
            parts.append(f"rubric:{self.rubric}")
        if self._filters:
            parts.append(f"filter:{urlencode(self._filters)}")
        if self.round is not None:
            # Last, because a round's name may hold blanks.
            parts.append(f"round:{self.round}")
        return " ".join(parts) or CURRENT

    @classmethod
    def parse(cls, key: str) -> "Scope":
        """The scope of a key. Raises ValueError for anything that `key` does not write."""
        if key == CURRENT:
            return cls()
        before, found, name = key.partition("round:")
        number, is_narrowed, written = before.partition("filter:")
        filters = parse_qs(written.strip(), strict_parsing=True) if is_narrowed else {}
        version = number.strip().removeprefix("rubric:")
        scope = cls(
            round=name if found else None,
            rubric=int(version) if version else None,
            further_rounds=tuple(filters.get("round", ())),
            query_class=filters.get("class", [None])[0],
            annotators=tuple(filters.get("annotator", ())),
            with_controls="controls" in filters,
        )
        if scope.key != key:
            raise ValueError(f"not a scope: {key!r}")
        return scope


@dataclass(frozen=True, slots=True)
class ScopeRounds:
    """The rounds of a scope: `labels` from which labels are read, in the order in which later
    ones take the place of earlier ones, and `plan` which say how many annotators a query has.

    `is_whole_pool` is false where only the queries of the rounds are spoken of.
    """

    labels: tuple[Round, ...]
    plan: tuple[Round, ...]
    is_whole_pool: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two rubric versions, or two rounds: what was before, and what came after."""

    before: Scope
    after: Scope

    @classmethod
    def of_versions(cls, before: int, after: int) -> "Comparison":
        return cls(Scope(rubric=before), Scope(rubric=after))

    @classmethod
    def of_rounds(cls, before: str, after: str) -> "Comparison":
        return cls(Scope(round=before), Scope(round=after))

    @property
    def fields(self) -> dict[str, str | int]:
        """The comparison as the fields of an address or a form."""
        sides = {"from": self.before, "to": self.after}
        versions = {name: side.rubric for name, side in sides.items() if side.rubric is not None}
        rounds = {f"{name}_round": side.round for name, side in sides.items() if side.round}
        return {**versions, **rounds}


def find_rounds(study: Study, scope: Scope) -> ScopeRounds:
    """Look the scope's rounds up. Raises UnknownScope where the study does not have them."""
    rounds = list(study.rounds.select_related("rubric_version").order_by("position", "pk"))
    _check_rubric(study, scope)
    _check_filters(study, scope)
    if scope.round is not None:
        named = tuple(round for round in rounds if round.name in scope.rounds)
        for name in set(scope.rounds) - {round.name for round in named}:
            names = ", ".join(round.name for round in rounds) or "none yet"
            raise UnknownScope(f"{study.slug} has no round “{name}”. Its rounds: {names}.")
        return ScopeRounds(labels=named, plan=named, is_whole_pool=False)
    main = tuple(round for round in rounds if round.kind == Round.Kind.MAIN)
    recheck = tuple(round for round in rounds if round.kind == Round.Kind.RECHECK)
    return ScopeRounds(labels=main + recheck, plan=main, is_whole_pool=True)


def _check_rubric(study: Study, scope: Scope) -> None:
    if scope.rubric is None:
        return
    numbers = list(study.rubric_versions.values_list("number", flat=True))
    if scope.rubric not in numbers:
        known = ", ".join(map(str, numbers)) or "none yet"
        raise UnknownScope(
            f"{study.slug} has no rubric version {scope.rubric}. Its versions: {known}."
        )


def _check_filters(study: Study, scope: Scope) -> None:
    name = scope.query_class
    if name is not None and not study.query_classes.filter(name=name).exists():
        raise UnknownScope(f"{study.slug} has no query class “{name}”.")
    if scope.annotators:
        members = Member.objects.filter(study=study, name__in=scope.annotators)
        unknown = set(scope.annotators) - set(members.values_list("name", flat=True))
        if unknown:
            raise UnknownScope(f"{study.slug} has no annotator “{min(unknown)}”.")
