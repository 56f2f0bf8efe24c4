"""What a relabel round tells: each annotator's labels against their own earlier ones.

Imports numpy: only workers and commands import this module.
"""

from typing import Any

import numpy as np

from results.services.columns import UNSURE, ScopeLabels, leave_controls_out, read_labels
from results.services.scopes import Scope, find_rounds
from results.statistics.agreement import kappa_band
from results.statistics.intervals import RESAMPLES
from results.statistics.self_agreement import SelfAgreement, measure_self_agreement
from studies.models import Round, Study

Json = dict[str, Any]


def describe_self_agreement(
    study: Study, round: Round, *, resamples: int = RESAMPLES
) -> list[Json]:
    """Self-agreement of everybody with labels in the relabel round, within the caller's snapshot.

    A label counts where its annotator has graded the pair before under the version that the round
    is judged under (given under it, or carried to it): under another rule, another grade is no
    slip. Labels that were unsure, then or now, are left out.
    """
    number = round.rubric_version.number
    again = _read(study, Scope(round=round.name), number)
    earlier = _read(study, Scope(rubric=number), number)
    scale = sorted({*again.vocabulary.scale, *earlier.vocabulary.scale})
    first, second = (_list_grades(read) for read in (earlier, again))
    query = {
        int(key): int(code) for key, code in zip(again.pool.key, again.pool.query, strict=True)
    }
    keys = sorted(first.keys() & second.keys())
    names = sorted({name for _pair, name in keys})
    place = {grade: number for number, grade in enumerate(scale)}
    measured = measure_self_agreement(
        query=np.array([query[pair] for pair, _name in keys], dtype=np.int64),
        annotator=np.array([names.index(name) for _pair, name in keys], dtype=np.int64),
        before=np.array([place[first[key]] for key in keys], dtype=np.int64),
        after=np.array([place[second[key]] for key in keys], dtype=np.int64),
        grades=len(scale),
        resamples=resamples,
    )
    return [_describe(found, names[found.annotator]) for found in measured]


def _read(study: Study, scope: Scope, number: int) -> ScopeLabels:
    return leave_controls_out(read_labels(study, find_rounds(study, scope), rubric=number))


def _list_grades(read: ScopeLabels) -> dict[tuple[int, str], int]:
    """Grades by pair (key) and name."""
    labels = read.labels.where(read.labels.grade != UNSURE)
    rows = zip(
        read.pool.key[labels.pair].tolist(),
        labels.annotator.tolist(),
        labels.grade.tolist(),
        strict=True,
    )
    vocabulary = read.vocabulary
    return {
        (pair, vocabulary.annotator_names[who]): vocabulary.scale[grade]
        for pair, who, grade in rows
    }


def _describe(found: SelfAgreement, name: str) -> Json:
    kappa, interval = found.kappa, found.interval.interval
    reasons = {"reason": kappa.reason, "interval95_reason": found.interval.reason}
    return {
        "name": name,
        "pairs": found.observed.n,
        "observed": found.observed.value,
        "expected": found.expected.value,
        "kappa": kappa.value,
        "interval95": [interval.low, interval.high] if interval else None,
        "band": None if kappa.value is None else kappa_band(kappa.value),
        **{key: reason for key, reason in reasons.items() if reason is not None},
    }
