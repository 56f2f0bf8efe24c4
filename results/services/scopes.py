"""Which labels a report speaks of."""

from dataclasses import dataclass

from studies.models import Round, Study

CURRENT = "current"


class UnknownScope(Exception):
    """The study has no such round or rubric version; the message names those it has."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The study's current labels, or those of one round, of one rubric version, or of both.

    Current are the labels of the main rounds, with a recheck label in the place of the one that
    it renews. A rubric version narrows these, or the round, to labels given under it.
    """

    round: str | None = None
    rubric: int | None = None

    @property
    def key(self) -> str:
        """The scope in one line, as reports are filed under; `parse` reads it back."""
        parts = []
        if self.rubric is not None:
            parts.append(f"rubric:{self.rubric}")
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
        number = before.strip().removeprefix("rubric:")
        scope = cls(round=name if found else None, rubric=int(number) if number else None)
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
    if scope.round is not None:
        named = tuple(round for round in rounds if round.name == scope.round)
        if not named:
            names = ", ".join(round.name for round in rounds) or "none yet"
            raise UnknownScope(f"{study.slug} has no round “{scope.round}”. Its rounds: {names}.")
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
