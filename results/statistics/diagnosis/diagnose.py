"""From a label table to verdicts: the steps in their order."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from results.statistics.counts import compare_labels
from results.statistics.diagnosis.citation import (
    Citation,
    Readings,
    ask_citations,
    count_decided_by,
    count_decided_on_splits,
    count_split_usage,
    describe_citation,
    read_citations,
)
from results.statistics.diagnosis.concentration import (
    Concentration,
    QuerySplits,
    count_query_splits,
    measure_concentration,
)
from results.statistics.diagnosis.direction import (
    DirectedSplits,
    Direction,
    Leniency,
    count_directed,
    describe_directions,
    describe_leniency,
)
from results.statistics.diagnosis.outcome import ClassDiagnosis, Diagnosis
from results.statistics.diagnosis.resampling import Draws, holm
from results.statistics.diagnosis.sentences import (
    Sentence,
    say_citation,
    say_concentration,
    say_direction,
    say_leniency,
    say_study,
    say_what_to_do,
)
from results.statistics.diagnosis.shares import Answers, compare_shares
from results.statistics.diagnosis.thresholds import (
    LEVEL,
    MINIMUM_EXCESS,
    MINIMUM_REFERENCE,
    PERMUTATIONS,
    SEED,
)
from results.statistics.diagnosis.verdict import (
    Need,
    Verdict,
    decide,
    decide_study,
    find_need,
    find_spread_between_queries,
    is_concentrated,
    weigh_apart,
)
from results.statistics.splits import ClassSplits, splits_by_class, splits_by_grades
from results.statistics.table import NONE, BoolArray, IntArray, LabelTable


def diagnose(
    table: LabelTable,
    *,
    dimension_names: Sequence[str] = (),
    machine: frozenset[int] = frozenset(),
    seed: int = SEED,
    permutations: int = PERMUTATIONS,
) -> Diagnosis:
    """Tell for every named class whether its splits are a hole in the rubric.

    `machine` holds annotator codes whose labels are left out. `dimension_names` names the codes
    of the table's dimensions. The same table and `seed` give the same diagnosis; `permutations`
    bounds the random draws of each test. Raises `ValueError` where a label cites a dimension
    without a name.
    """
    people = table.without(machine)
    names = tuple(dimension_names)
    highest = int(people.dimension.max(initial=NONE))
    if highest >= len(names):
        raise ValueError(f"a label cites dimension {highest}, but only {len(names)} are named")
    study = _read_study(people, Draws(seed, permutations))
    evidence = _gather_evidence(study)
    classes = _judge_classes(study, evidence)
    leniency = _find_leniency(study, classes)
    verdict = decide_study([row.verdict for row in classes])
    return Diagnosis(
        annotators=people.annotators,
        classes=classes,
        leniency=leniency,
        verdict=verdict,
        sentences=_say_study(people, classes, leniency, verdict),
        decided_by=count_decided_by(people, names),
        decided_by_on_splits=tuple(count_decided_on_splits(study.readings, names)),
    )


@dataclass(frozen=True, eq=False)
class _Study:
    """The table and everything that is counted once for all classes."""

    table: LabelTable
    splits: list[ClassSplits]
    queries: QuerySplits
    directed: DirectedSplits
    readings: Readings
    draws: Draws


@dataclass(frozen=True, eq=False)
class _Evidence:
    """What speaks for and against a hole in one class."""

    splits: ClassSplits
    concentration: Concentration
    p_adjusted: float | None
    concentrated: bool
    directions: tuple[Direction, ...]
    citation: Citation

    @property
    def leading(self) -> Direction | None:
        """The contrast that speaks most for a direction of the class's own."""
        far = [found for found in self.directions if found.excess >= MINIMUM_EXCESS]
        return min(far, key=lambda found: (found.p_value, found.b is None), default=None)

    @property
    def direction_p(self) -> float | None:
        if not self.directions:
            return None
        return 1.0 if self.leading is None else self.leading.p_value

    @property
    def citation_p(self) -> float | None:
        if self.citation.p_value is None:
            return None
        return 1.0 if self.citation.excess < MINIMUM_EXCESS else self.citation.p_value


def _read_study(people: LabelTable, draws: Draws) -> _Study:
    comparisons = compare_labels(people)
    return _Study(
        table=people,
        splits=[row for row in splits_by_class(people) if row.code != NONE],
        queries=count_query_splits(people),
        directed=count_directed(comparisons),
        readings=read_citations(people, comparisons),
        draws=draws,
    )


def _gather_evidence(study: _Study) -> list[_Evidence]:
    """Concentration first, because it tells which other classes are no good to compare with."""
    found = measure_concentration(study.queries, len(study.splits), study.draws)
    adjusted = holm([row.p_value for row in found])
    concentrated = np.array(list(map(is_concentrated, found, adjusted)), dtype=bool)
    return [
        _Evidence(
            splits=row,
            concentration=found[row.code],
            p_adjusted=adjusted[row.code],
            concentrated=bool(concentrated[row.code]),
            directions=_find_directions(study, row.code, concentrated),
            citation=_find_citation(study, row.code, concentrated),
        )
        for row in study.splits
    ]


def _find_directions(study: _Study, code: int, concentrated: BoolArray) -> tuple[Direction, ...]:
    directed = study.directed
    inside, reference = _set_against(
        study.table.query_class[directed.query], code, concentrated, directed.answers
    )
    test = compare_shares(directed.answers, inside, reference, two_sided=True, draws=study.draws)
    return tuple(describe_directions(directed, test))


def _find_citation(study: _Study, code: int, concentrated: BoolArray) -> Citation:
    of_class = study.table.of_class(code)
    if not len(study.readings.differing):
        return describe_citation(of_class, None)
    usage = count_split_usage(study.readings, study.table.query_class == code)
    query, answers = ask_citations(study.readings, usage)
    inside, reference = _set_against(study.table.query_class[query], code, concentrated, answers)
    test = compare_shares(answers, inside, reference, two_sided=False, draws=study.draws)
    return describe_citation(of_class, test)


def _set_against(
    query_class: IntArray, code: int, concentrated: BoolArray, answers: Answers
) -> tuple[BoolArray, BoolArray]:
    """The queries of the class, and those to compare them with.

    Other concentrated classes may be holes themselves, and two holes would excuse each other. They
    are left out of the reference wherever nobody loses it by that.
    """
    inside = query_class == code
    suspect = np.isin(query_class, np.flatnonzero(concentrated))
    sound = ~inside & ~suspect
    enough, enough_sound = (
        rows.astype(np.float64) @ answers.asked >= MINIMUM_REFERENCE for rows in (~inside, sound)
    )
    return inside, sound if np.array_equal(enough, enough_sound) else ~inside


def _judge_classes(study: _Study, evidence: list[_Evidence]) -> tuple[ClassDiagnosis, ...]:
    weighed = [
        weigh_apart(row.direction_p, row.citation_p) if row.concentrated else None
        for row in evidence
    ]
    spread = find_spread_between_queries(study.queries)
    tests = sum(row.concentration.p_value is not None for row in evidence)
    return tuple(
        _judge_class(study.table, row, apart_p=apart_p, spread=spread, tests=tests)
        for row, apart_p in zip(evidence, holm(weighed), strict=True)
    )


def _judge_class(
    table: LabelTable, row: _Evidence, *, apart_p: float | None, spread: float, tests: int
) -> ClassDiagnosis:
    inside, rest = row.splits.inside, row.splits.rest
    need = find_need(row.concentration, inside, rest, tests=tests, spread=spread)
    verdict = decide(
        concentrated=row.concentrated, apart=apart_p is not None and apart_p <= LEVEL, need=need
    )
    grades = splits_by_grades(table.of_class(row.splits.code))
    return ClassDiagnosis(
        name=table.classes[row.splits.code],
        inside=inside,
        rest=rest,
        concentration=row.concentration,
        p_adjusted=row.p_adjusted,
        fisher_p=row.splits.fisher_p.value,
        directions=row.directions,
        citation=row.citation,
        grades=tuple((low, high, count) for (low, high), count in grades.items()),
        apart_p=apart_p,
        need=need,
        verdict=verdict,
        sentences=tuple(_say_class(table, row, verdict, need)),
    )


def _say_class(table: LabelTable, row: _Evidence, verdict: Verdict, need: Need) -> list[Sentence]:
    """Concentration, direction, citation, and what to do; no word on splits where there is none."""
    name, inside = table.classes[row.splits.code], row.splits.inside
    said = [
        say_concentration(
            name,
            inside,
            row.splits.rest,
            p_value=row.p_adjusted,
            concentrated=row.concentrated,
        )
    ]
    if inside.splits:
        leading = row.leading if (row.direction_p or 1.0) <= LEVEL else None
        total = sum(
            found.a_higher + found.b_higher for found in row.directions if found.b is not None
        )
        apart = (row.citation_p or 1.0) <= LEVEL
        said.append(say_direction(table.annotators, leading, total))
        said.append(say_citation(row.citation, inside.splits, apart=apart))
    return [*said, *say_what_to_do(verdict, name, inside, need)]


def _find_leniency(study: _Study, classes: tuple[ClassDiagnosis, ...]) -> tuple[Leniency, ...]:
    """Who is higher everywhere, holes left out: what a hole does is no habit."""
    directed = study.directed
    query_class = study.table.query_class[directed.query]
    holes = [code for code, row in enumerate(classes) if row.verdict == "hole"]
    outside = ~np.isin(query_class, holes)
    nobody = np.zeros(len(outside), dtype=bool)
    test = compare_shares(directed.answers, outside, nobody, two_sided=True, draws=study.draws)
    return tuple(describe_leniency(directed, test, query_class, outside))


def _say_study(
    table: LabelTable,
    classes: tuple[ClassDiagnosis, ...],
    leniency: tuple[Leniency, ...],
    verdict: Verdict,
) -> tuple[Sentence, ...]:
    names = [row.name for row in classes if row.verdict == verdict]
    lenient = [say_leniency(table.annotators, row) for row in leniency if row.lenient is not None]
    return (say_study(verdict, names), *lenient)
