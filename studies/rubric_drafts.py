"""A rubric while it is written: from a version, from the editor's form, and to a rubric file.

Pure. A draft is plain JSON, as lenient as a form: every field is a text as typed, so that
nothing typed is lost however wrong it is. What is wrong is told by the reader of rubric files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict
from io import BytesIO
from typing import Any, Protocol

from studies.formats.problems import Problem, Problems
from studies.formats.records import ClauseSpec, DimensionSpec, GradeSpec, RubricFile
from studies.formats.rubrics import read_rubric
from studies.formats.yamltext import write_yaml
from studies.numbers import read_number

Draft = dict[str, Any]

FILE, UPLOADED = "rubric", "rubric.yaml"
_NUMBER = re.compile(r"[+-]?[0-9]{1,6}")
_LIST = re.compile(r"(grades|dimensions|edge_cases)(?:-(\d{1,4})-(examples|clauses))?")

_GRADE = ("value", "name", "definition")
_EXAMPLE = ("kind", "query", "document", "why")
_DIMENSION = ("name", "test")
_CLAUSE = ("name", "text", "grade_when_failed")
_EDGE_CASE = ("case", "ruling")
_BLANK: dict[str, Draft] = {
    "grades": {"value": "", "name": "", "definition": "", "relevant": False, "examples": []},
    "examples": {"kind": "positive", "query": "", "document": "", "why": ""},
    "dimensions": {"name": "", "test": "", "clauses": []},
    "clauses": {"name": "", "text": "", "grade_when_failed": "", "classes": []},
    "edge_cases": {"case": "", "ruling": ""},
}

# Cases that most rubrics come to rule on; the rulings are to be made one's own.
EDGE_CASE_STARTERS: tuple[tuple[str, str], ...] = (
    (
        "The document is stale: it was right once, and something newer replaces it.",
        "Grade what it is worth to someone who acts on it today, and let recency decide.",
    ),
    (
        "The person who asks may lack the permission to do what the document says.",
        "Grade as if they had it, unless the query says who they are.",
    ),
    (
        "The answer is scattered over several chunks, and this is one of them.",
        "Grade this chunk alone; do not add what its neighbours would say.",
    ),
    (
        "A table has lost its headers.",
        "Grade it only by what can be told without guessing which column is which.",
    ),
    (
        "The document uses another word for the thing that was asked for.",
        "A synonym is as good as the word itself where the reader would know that it is one.",
    ),
    (
        "The query negates: without, not, except.",
        "A document on what was excluded answers nothing, however many words it shares.",
    ),
)


class FormData(Protocol):
    """What a submitted form offers: its names, and one or several values for each."""

    def __iter__(self) -> Iterator[str]: ...

    def getlist(self, key: str) -> list[str]: ...


def draft_from_rubric(rubric: RubricFile) -> Draft:
    """The draft that says what a rubric says."""
    return {
        "grades": [_draft_grade(grade) for grade in rubric.grades or []],
        "dimensions": [_draft_dimension(dimension) for dimension in rubric.dimensions],
        "edge_cases": [asdict(edge) for edge in rubric.edge_cases],
    }


def draft_from_form(data: FormData) -> Draft:
    """The draft that a form holds; items come in the order of their numbers."""
    return {
        "grades": [
            {
                **_fields(data, place, _GRADE),
                "relevant": bool(data.getlist(f"{place}-relevant")),
                "examples": [
                    _fields(data, inner, _EXAMPLE) for inner in _places(data, f"{place}-examples")
                ],
            }
            for place in _places(data, "grades")
        ],
        "dimensions": [
            {
                **_fields(data, place, _DIMENSION),
                "clauses": [
                    {**_fields(data, inner, _CLAUSE), "classes": data.getlist(f"{inner}-classes")}
                    for inner in _places(data, f"{place}-clauses")
                ],
            }
            for place in _places(data, "dimensions")
        ],
        "edge_cases": [_fields(data, place, _EDGE_CASE) for place in _places(data, "edge_cases")],
    }


def add_item(draft: Draft, path: str) -> None:
    """Add a blank item to a list of the draft, in place: `grades`, `dimensions-0-clauses`.

    Raises ValueError for a path that leads to no list of the draft.
    """
    items, kind = _find_list(draft, path)
    items.append(deepcopy(_BLANK[kind]))


def remove_item(draft: Draft, path: str) -> None:
    """Remove the item of a path such as `grades-2`, in place. Raises ValueError where none is."""
    list_path, _, place = path.rpartition("-")
    items, _kind = _find_list(draft, list_path)
    number = read_number(place)
    if number is None or number >= len(items):
        raise ValueError(f"the draft has no {path!r}")
    del items[number]


def remove_clause(draft: Draft, dimension: str, clause: str) -> bool:
    """Remove the clause of that name from its dimension, in place; returns whether it was there."""
    was_there = False
    for one in draft["dimensions"]:
        if one["name"] == dimension:
            kept = [found for found in one["clauses"] if found["name"] != clause]
            was_there = was_there or len(kept) < len(one["clauses"])
            one["clauses"] = kept
    return was_there


def add_edge_case_starters(draft: Draft) -> None:
    """Add the starters whose case the draft does not have yet, in place."""
    known = {edge["case"].strip() for edge in draft["edge_cases"]}
    draft["edge_cases"] += [
        {"case": case, "ruling": ruling} for case, ruling in EDGE_CASE_STARTERS if case not in known
    ]


def check_draft(draft: Draft) -> tuple[RubricFile | None, list[str]]:
    """The rubric that a draft makes, or what is wrong with it, each with its place."""
    faults = list(_find_repeated_names(draft))
    problems = Problems()
    try:
        text = write_yaml(_as_file(draft))
    except ValueError as refusal:
        return None, [*faults, str(refusal)]
    rubric = read_rubric(BytesIO(text.encode()), file=FILE, problems=problems)
    found = [*faults, *(problem.reason for problem in problems.items)]
    if rubric is not None and not rubric.dimensions:
        found.append("the rubric has no dimension: nothing could decide a label")
    if rubric is not None and not rubric.grades:
        found.append("the rubric has no grade")
    return (None if found else rubric), found


def read_draft(data: bytes) -> tuple[RubricFile | None, list[Problem]]:
    """A rubric from an uploaded file, or its problems by line."""
    problems = Problems()
    rubric = read_rubric(BytesIO(data), file=UPLOADED, problems=problems)
    return rubric, problems.items


def find_unknown_classes(rubric: RubricFile, known: Iterable[str]) -> list[Problem]:
    """Where a clause is for a query class that the study does not have."""
    classes = set(known)
    listed = ", ".join(sorted(classes)) or "none yet"
    return [
        Problem(
            UPLOADED,
            clause.line,
            f"the dimension {dimension.name}: the clause {clause.name} is for the class {name}, "
            f"which the study does not have (its classes: {listed})",
        )
        for dimension in rubric.dimensions
        for clause in dimension.clauses
        for name in clause.classes
        if name not in classes
    ]


def _draft_grade(grade: GradeSpec) -> Draft:
    return {
        "value": str(grade.value),
        "name": grade.name,
        "definition": grade.definition,
        "relevant": grade.relevant,
        "examples": [asdict(example) for example in grade.examples],
    }


def _draft_dimension(dimension: DimensionSpec) -> Draft:
    return {
        "name": dimension.name,
        "test": dimension.test,
        "clauses": [_draft_clause(clause) for clause in dimension.clauses],
    }


def _draft_clause(clause: ClauseSpec) -> Draft:
    failed = clause.grade_when_failed
    return {
        "name": clause.name,
        "text": clause.text,
        "grade_when_failed": "" if failed is None else str(failed),
        "classes": list(clause.classes),
    }


def _fields(data: FormData, place: str, names: Iterable[str]) -> Draft:
    # Browsers send line ends as CRLF; rubric files hold LF.
    return {
        name: "".join(data.getlist(f"{place}-{name}")[-1:]).replace("\r\n", "\n") for name in names
    }


def _places(data: FormData, prefix: str) -> list[str]:
    """The items of a list that the form names, such as `grades-0`."""
    start = f"{prefix}-"
    written = (name[len(start) :].partition("-")[0] for name in data if name.startswith(start))
    numbers = {number for one in written if (number := read_number(one)) is not None}
    return [f"{prefix}-{number}" for number in sorted(numbers)]


def _find_list(draft: Draft, path: str) -> tuple[list[Draft], str]:
    match = _LIST.fullmatch(path)
    if match is None:
        raise ValueError(f"the draft has no list {path!r}")
    outer, place, inner = match.groups()
    items: list[Draft] = draft[outer]
    if inner is None:
        return items, outer
    if int(place) >= len(items) or inner not in items[int(place)]:
        raise ValueError(f"the draft has no list {path!r}")
    nested: list[Draft] = items[int(place)][inner]
    return nested, inner


def _find_repeated_names(draft: Draft) -> Iterator[str]:
    """Names that a file, whose dimensions and clauses are keys, could not hold twice."""
    yield from _repeated("the dimension", draft["dimensions"])
    for dimension in draft["dimensions"]:
        yield from _repeated(f"the dimension {dimension['name']}: the clause", dimension["clauses"])


def _repeated(what: str, items: Sequence[Draft]) -> Iterator[str]:
    names = [item["name"] for item in items]
    yield from (
        f"{what} {name} stands twice" for name in dict.fromkeys(names) if names.count(name) > 1
    )


def _as_file(draft: Draft) -> Draft:
    """The draft in the shape of a rubric file."""
    return {
        "grades": [
            {
                **_number(grade, "value"),
                "name": grade["name"],
                "definition": grade["definition"],
                "relevant": grade["relevant"],
                "examples": grade["examples"],
            }
            for grade in draft["grades"]
        ],
        "dimensions": {
            dimension["name"]: {
                "test": dimension["test"],
                "clauses": {
                    clause["name"]: {
                        "classes": clause["classes"],
                        "text": clause["text"],
                        **_number(clause, "grade_when_failed"),
                    }
                    for clause in dimension["clauses"]
                },
            }
            for dimension in draft["dimensions"]
        },
        "edge_cases": draft["edge_cases"],
    }


def _number(item: Mapping[str, str], key: str) -> Draft:
    """A field as the number it is; as typed where it is none; left out where it is blank."""
    typed = item[key].strip()
    if not typed:
        return {}
    return {key: int(typed) if _NUMBER.fullmatch(typed) else typed}
