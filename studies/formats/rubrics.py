"""`rubric.yaml` and `rubric-N.yaml`: one published rubric version each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import BinaryIO

import yaml

from studies.formats.fields import MAX_GRADE
from studies.formats.problems import Problems
from studies.formats.records import (
    DROPPED,
    EXAMPLE_KINDS,
    UNSURE,
    ClauseSpec,
    DimensionSpec,
    EdgeCaseSpec,
    ExampleSpec,
    GradeSpec,
    RubricFile,
)
from studies.formats.text import check_name
from studies.formats.yamltext import Section, YamlText, is_null, read_yaml, write_yaml

CLAUSE_SUFFIX = "_clause"

_NUMBER = re.compile(r"[+-]?[0-9]+")


def read_rubric(
    stream: BinaryIO, *, file: str, problems: Problems, version: int = 1
) -> RubricFile | None:
    """Read a rubric version; None when anything in it was refused.

    Versions after the first must say in `note` what changed and why.
    """
    before = problems.count
    node = read_yaml(stream, file=file, problems=problems)
    if node is None:
        return None
    text = YamlText(file, problems)
    top = Section(text, node, "the rubric", ("note", "grades", "dimensions", "edge_cases"))
    grades = _grades(text, top)
    rubric = RubricFile(
        grades=grades,
        dimensions=_dimensions(text, top, grades),
        edge_cases=[_edge_case(text, item) for item in top.items("edge_cases")],
        note=top.string("note"),
    )
    if version > 1 and not rubric.note.strip():
        top.refuse("note", f"version {version} needs a note saying what changed and why")
    is_empty = not (rubric.grades or rubric.dimensions or rubric.edge_cases)
    if is_empty and problems.count == before:
        text.refuse(node, "the rubric has neither grades nor dimensions")
    return rubric if problems.count == before else None


def _grades(text: YamlText, top: Section) -> list[GradeSpec] | None:
    if "grades" not in top.values:
        return None
    nodes = top.items("grades")
    if len(nodes) < 2 and isinstance(top.values["grades"], yaml.SequenceNode):
        top.refuse("grades", "a rubric needs two grades or more")
    read = [(node, _grade(text, node)) for node in nodes]
    known = [(node, grade) for node, grade in read if grade is not None]
    _check_unique(text, "the grade", [(node, str(grade.value)) for node, grade in known])
    _check_unique(text, "the grade name", [(node, grade.name) for node, grade in known])
    grades = [grade for _, grade in known]
    _check_monotone(top, grades)
    return grades


def _grade(text: YamlText, node: yaml.Node) -> GradeSpec | None:
    section = Section(
        text, node, "a grade", ("value", "name", "definition", "relevant", "examples")
    )
    value = section.integer("value", low=-MAX_GRADE, high=MAX_GRADE)
    if value is None:
        if "value" not in section.values:
            section.refuse("value", "a grade: value is missing")
        return None
    name = section.name()
    if name.lower() in (UNSURE, DROPPED):
        section.refuse("name", f"a grade cannot be called {name}, which has a meaning of its own")
    if _NUMBER.fullmatch(name) and name != str(value):
        section.refuse("name", f"the grade {value} is called {name}, another number")
    relevant = section.boolean("relevant")
    return GradeSpec(
        value=value,
        name=name,
        definition=section.string("definition"),
        relevant=value >= 1 if relevant is None else relevant,
        examples=[_example(text, item) for item in section.items("examples")],
    )


def _example(text: YamlText, node: yaml.Node) -> ExampleSpec:
    section = Section(text, node, "an example", ("kind", "query", "document", "why"))
    if "kind" not in section.values:
        section.refuse("kind", "an example: kind is missing")
    return ExampleSpec(
        kind=section.choice("kind", EXAMPLE_KINDS, EXAMPLE_KINDS[0]),
        query=section.string("query"),
        document=section.string("document"),
        why=section.string("why"),
    )


def _check_unique(text: YamlText, what: str, values: Iterable[tuple[yaml.Node, str]]) -> None:
    seen: set[str] = set()
    for node, value in values:
        if value and value in seen:
            text.refuse(node, f"{what} {value} stands twice")
        seen.add(value)


def _check_monotone(top: Section, grades: list[GradeSpec]) -> None:
    ordered = sorted(grades, key=lambda grade: grade.value)
    for lower, higher in pairwise(ordered):
        if lower.relevant and not higher.relevant:
            reason = f"grade {lower.value} is relevant but the higher {higher.value} is not"
            top.refuse("grades", reason)


def _dimensions(
    text: YamlText, top: Section, grades: list[GradeSpec] | None
) -> list[DimensionSpec]:
    if "dimensions" not in top.values:
        return []
    members = text.members(top.values["dimensions"], "dimensions")
    dimensions = []
    for name, (key_node, node) in members.items():
        if reason := check_name(name):
            text.refuse(key_node, f"dimensions: {reason}")
        dimensions.append(_dimension(text, name, node, grades))
    return dimensions


def _is_clause_key(key: str) -> bool:
    return key.endswith(CLAUSE_SUFFIX) and len(key) > len(CLAUSE_SUFFIX)


def _dimension(
    text: YamlText, name: str, node: yaml.Node, grades: list[GradeSpec] | None
) -> DimensionSpec:
    what = f"the dimension {name}"
    section = Section(text, node, what, ("test", "clauses"), allows=_is_clause_key)
    clauses: list[tuple[yaml.Node, ClauseSpec]] = []
    for key, value in section.values.items():
        if _is_clause_key(key):
            class_name = key.removesuffix(CLAUSE_SUFFIX)
            told = section.required(key)
            line = text.line_of(value)
            clauses.append((value, ClauseSpec(class_name, [class_name], told, line=line)))
        elif key == "clauses":
            clauses.extend(_long_clauses(text, value, what, grades))
    _check_unique(text, f"{what}: the clause", [(found, c.name) for found, c in clauses])
    for found, clause in clauses:
        if reason := check_name(clause.name):
            text.refuse(found, f"{what}: a clause: {reason}")
    return DimensionSpec(name, section.required("test"), [clause for _, clause in clauses])


def _long_clauses(
    text: YamlText, node: yaml.Node, what: str, grades: list[GradeSpec] | None
) -> list[tuple[yaml.Node, ClauseSpec]]:
    return [
        (clause_node, _long_clause(text, name, clause_node, f"{what}: the clause {name}", grades))
        for name, (_, clause_node) in text.members(node, f"{what}: clauses").items()
    ]


def _long_clause(
    text: YamlText, name: str, node: yaml.Node, what: str, grades: list[GradeSpec] | None
) -> ClauseSpec:
    section = Section(text, node, what, ("classes", "text", "grade_when_failed"))
    failed = section.integer("grade_when_failed", low=-MAX_GRADE, high=MAX_GRADE)
    if failed is not None and grades and failed not in {grade.value for grade in grades}:
        section.refuse("grade_when_failed", f"{what}: the grade {failed} is not of this rubric")
    classes = []
    for class_node, class_name in section.strings("classes"):
        if reason := check_name(class_name):
            text.refuse(class_node, f"{what}: {reason}")
        elif class_name in classes:
            text.refuse(class_node, f"{what}: the class {class_name} stands twice")
        else:
            classes.append(class_name)
    line = text.line_of(section.values.get("classes", node))
    return ClauseSpec(name, classes, section.required("text"), failed, line=line)


def _edge_case(text: YamlText, node: yaml.Node) -> EdgeCaseSpec:
    section = Section(text, node, "an edge case", ("case", "ruling"))
    if is_null(node):
        text.refuse(node, "an edge case is empty")
    return EdgeCaseSpec(section.required("case"), section.required("ruling"))


def write_rubric(rubric: RubricFile) -> str:
    """`rubric.yaml` for a rubric version, which `read_rubric` reads back equal.

    Raises ValueError for a text that YAML cannot carry.
    """
    top: dict[str, object] = {}
    if rubric.note:
        top["note"] = rubric.note
    if rubric.grades is not None:
        top["grades"] = [_grade_fields(grade) for grade in rubric.grades]
    if rubric.dimensions:
        top["dimensions"] = {d.name: _dimension_fields(d) for d in rubric.dimensions}
    if rubric.edge_cases:
        top["edge_cases"] = [{"case": e.case, "ruling": e.ruling} for e in rubric.edge_cases]
    return write_yaml(top)


def _grade_fields(grade: GradeSpec) -> dict[str, object]:
    fields: dict[str, object] = {
        "value": grade.value,
        "name": grade.name,
        "definition": grade.definition,
        "relevant": grade.relevant,
    }
    if grade.examples:
        fields["examples"] = [
            {"kind": e.kind, "query": e.query, "document": e.document, "why": e.why}
            for e in grade.examples
        ]
    return fields


def _dimension_fields(dimension: DimensionSpec) -> dict[str, object]:
    fields: dict[str, object] = {"test": dimension.test}
    if all(_is_short(clause) for clause in dimension.clauses):
        fields |= {f"{clause.name}{CLAUSE_SUFFIX}": clause.text for clause in dimension.clauses}
    else:
        fields["clauses"] = {clause.name: _clause_fields(clause) for clause in dimension.clauses}
    return fields


def _is_short(clause: ClauseSpec) -> bool:
    return clause.classes == [clause.name] and clause.grade_when_failed is None


def _clause_fields(clause: ClauseSpec) -> dict[str, object]:
    fields: dict[str, object] = {"classes": clause.classes, "text": clause.text}
    if clause.grade_when_failed is not None:
        fields["grade_when_failed"] = clause.grade_when_failed
    return fields
