"""The diagnosis as frozen records, JSON-ready by `to_json`. `docs/diagnosis.md` lists the keys."""

from dataclasses import dataclass, replace
from typing import Any

from results.statistics.diagnosis.citation import Citation
from results.statistics.diagnosis.concentration import Concentration
from results.statistics.diagnosis.direction import Direction
from results.statistics.diagnosis.leniency import Leniency
from results.statistics.diagnosis.sentences import (
    Sentence,
    say_all_leniency,
    say_leniency,
    say_study,
)
from results.statistics.diagnosis.verdict import VERDICTS, Need, Verdict, decide_study
from results.statistics.splits import SplitRate

Json = dict[str, Any]


@dataclass(frozen=True)
class ClassDiagnosis:
    """One named class: its evidence, its verdict, and what to do.

    `p_adjusted` is Holm's over all classes. `apart_p` is the p of "direction or citation sets it
    apart", adjusted over the concentrated classes, `None` for a class that is not concentrated.
    `grades` are the splits by lowest and highest grade (values of the scale).
    """

    name: str
    inside: SplitRate
    rest: SplitRate
    concentration: Concentration
    p_adjusted: float | None
    fisher_p: float | None
    directions: tuple[Direction, ...]
    citation: Citation
    grades: tuple[tuple[int, int, int], ...]
    apart_p: float | None
    need: Need
    verdict: Verdict
    sentences: tuple[Sentence, ...]

    @property
    def advice(self) -> str:
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def is_undecided(self) -> bool:
        """It splits more than the rest, and too little is known to say what that is."""
        return self.verdict == "too_little_data" and self.apart_p is not None


@dataclass(frozen=True)
class Diagnosis:
    """Where people split, and what it means. `annotators` are the names behind the codes."""

    annotators: tuple[str, ...]
    classes: tuple[ClassDiagnosis, ...]
    leniency: tuple[Leniency, ...]
    decided_by: dict[str, int]
    decided_by_on_splits: tuple[tuple[str, str, int], ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict on the study."""
        undecided = any(row.is_undecided for row in self.classes)
        return decide_study([row.verdict for row in self.classes], undecided=undecided)

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """The verdict on the study, then what else is to be known of it.

        Leniency comes first where no class asks for more.
        """
        undecided = [row.name for row in self.classes if row.is_undecided]
        told = {
            verdict: [row.name for row in self.classes if row.verdict == verdict]
            for verdict in VERDICTS
        }
        said = say_study(
            self.verdict,
            told[self.verdict],
            undecided,
            [name for name in told["too_little_data"] if name not in undecided],
        )
        lenient = [row for row in self.leniency if row.lenient is not None]
        if lenient and self.verdict not in ("hole", "slips") and not undecided:
            said.insert(0, say_all_leniency(self.annotators, lenient))
        return (*said, *(say_leniency(self.annotators, row) for row in lenient))

    @property
    def holes(self) -> tuple[str, ...]:
        """Names of the classes with a hole."""
        return tuple(row.name for row in self.classes if row.verdict == "hole")

    @property
    def advice(self) -> str:
        return " ".join(sentence.text for sentence in self.sentences)

    def of_class(self, name: str) -> "Diagnosis":
        """The same told of one class only, which keeps what it was held against.

        Raises `ValueError` for a class that the diagnosis does not have.
        """
        classes = tuple(row for row in self.classes if row.name == name)
        if not classes:
            raise ValueError(f"no class {name!r} in this diagnosis")
        return replace(self, classes=classes)

    def to_json(self) -> Json:
        """The diagnosis made of dict, list, str, int, float and None; floats are finite."""
        return {
            "classes": [_describe_class(row, self.annotators) for row in self.classes],
            "leniency": [_describe_leniency(row, self.annotators) for row in self.leniency],
            "study_verdict": self.verdict,
            "study_advice": self.advice,
            "study_sentences": [sentence.to_json() for sentence in self.sentences],
            "decided_by": self.decided_by,
            "decided_by_on_splits": [list(row) for row in self.decided_by_on_splits],
        }


def _describe_class(row: ClassDiagnosis, names: tuple[str, ...]) -> Json:
    between_two = [found for found in row.directions if found.b is not None]
    against_all = [found for found in row.directions if found.b is None]
    return {
        "class": row.name,
        "queries": row.concentration.queries,
        "pairs": row.inside.pairs,
        "splits": row.inside.splits,
        "rate": row.inside.value,
        "rest_pairs": row.rest.pairs,
        "rest_splits": row.rest.splits,
        "rest_rate": row.rest.value,
        "ratio": row.concentration.ratio,
        "p_value": row.concentration.p_value,
        "p_adjusted": row.p_adjusted,
        "fisher_p": row.fisher_p,
        "direction": [_describe_direction(found, names) for found in between_two],
        "direction_against_others": [_describe_direction(found, names) for found in against_all],
        "citation": _describe_citation(row.citation),
        "grades": [{"low": low, "high": high, "splits": n} for low, high, n in row.grades],
        "apart_p": row.apart_p,
        "verdict": row.verdict,
        "advice": row.advice,
        "sentences": [sentence.to_json() for sentence in row.sentences],
        "more_pairs": row.need.pairs,
        "more_queries": row.need.queries,
        "more_rest_pairs": row.need.rest_pairs,
    }


def _describe_direction(found: Direction, names: tuple[str, ...]) -> Json:
    return {
        "a": names[found.a],
        "b": None if found.b is None else names[found.b],
        "a_higher": found.a_higher,
        "b_higher": found.b_higher,
        "rest_a_higher": found.rest_a_higher,
        "rest_b_higher": found.rest_b_higher,
        "queries": found.queries,
        "rest_queries": found.rest_queries,
        "against": "rest" if found.compared_with_rest else "even_odds",
        "p_value": found.p_value,
    }


def _describe_citation(found: Citation) -> Json:
    return {
        "different_dimension": found.different_dimension,
        "different_reading": found.different_reading,
        "same_reading": found.same_reading,
        "unknown": found.unknown,
        "comparisons": found.known,
        "apart": found.apart,
        "chance": found.chance,
        "rest_comparisons": found.rest_known,
        "rest_apart": found.rest_apart,
        "queries": found.queries,
        "rest_queries": found.rest_queries,
        "against": "rest" if found.compared_with_rest else "chance",
        "p_value": found.p_value,
    }


def _describe_leniency(found: Leniency, names: tuple[str, ...]) -> Json:
    return {
        "a": names[found.a],
        "b": names[found.b],
        "a_higher": found.a_higher,
        "b_higher": found.b_higher,
        "queries": found.queries,
        "p_value": found.p_value,
        "lenient": None if found.lenient is None else names[found.lenient],
    }
