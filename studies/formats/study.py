"""`study.yaml`: the settings, classes, people and rounds of a study."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import BinaryIO, Literal, TypeVar

import yaml

from studies.formats.fields import MAX_INTEGER
from studies.formats.problems import Problems
from studies.formats.records import (
    CONSENSUS_RULES,
    DOCUMENTS_RULES,
    ORDERINGS,
    ROLES,
    ROUND_KINDS,
    TARGET_WEIGHTS,
    ClassSpec,
    PersonSpec,
    Role,
    RoundSpec,
    StudyFile,
    TargetSpec,
)
from studies.formats.text import check_id
from studies.formats.yamltext import Section, YamlText, read_yaml, write_yaml

MAX_SLUG_LENGTH = 60
MAX_SMALL = 1000
"""The most annotators per query, votes, pool depth and the like that a file may ask for."""

# Addresses of the site that stand where a study's slug would.
RESERVED_SLUGS = frozenset({"new"})
SLUG = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")

KAPPA = re.compile(r"0(?:\.[0-9]{1,2})?|1(?:\.0{1,2})?")

KEYS = (
    "study", "title", "description", "annotators_per_query", "minimum_votes", "ordering",
    "depth", "documents", "consensus", "settle_own_pairs", "judges_read_results", "target",
    "classes", "people", "rounds",
)  # fmt: skip

SpecT = TypeVar("SpecT", ClassSpec, PersonSpec, RoundSpec)


def read_study_file(stream: BinaryIO, *, file: str, problems: Problems) -> StudyFile | None:
    """Read the settings of a study, defaults filled in; None when anything was refused."""
    before = problems.count
    node = read_yaml(stream, file=file, problems=problems)
    if node is None:
        return None
    text = YamlText(file, problems)
    top = Section(text, node, "the study", KEYS)
    slug = top.required("study")
    if slug and (len(slug) > MAX_SLUG_LENGTH or not SLUG.fullmatch(slug)):
        top.refuse(
            "study",
            f"study is {slug!r}; it takes up to {MAX_SLUG_LENGTH} lower-case letters and digits, "
            "with single - or _ between them",
        )
    if slug in RESERVED_SLUGS:
        top.refuse("study", f"study is {slug!r}, which is an address of the site: choose another")
    study = StudyFile(
        study=slug,
        title=top.string("title") or slug,
        description=top.string("description"),
        annotators_per_query=_small(top, "annotators_per_query", 2),
        minimum_votes=_small(top, "minimum_votes", 1),
        ordering=top.choice("ordering", ORDERINGS, "by_query"),
        depth=_small(top, "depth", 5),
        documents=top.choice("documents", DOCUMENTS_RULES, "required"),
        consensus=top.choice("consensus", CONSENSUS_RULES, "plurality"),
        settle_own_pairs=top.boolean("settle_own_pairs") or False,
        judges_read_results=top.boolean("judges_read_results") or False,
        target=_target(text, top),
        classes=_specs(text, top, "classes", _class),
        people=_specs(text, top, "people", _person),
        rounds=_specs(text, top, "rounds", _round) or [RoundSpec("main", "main")],
    )
    return study if problems.count == before else None


def _small(section: Section, key: str, default: int) -> int:
    value = section.integer(key, low=1, high=MAX_SMALL)
    return default if value is None else value


def _specs(
    text: YamlText, top: Section, key: str, read: Callable[[YamlText, yaml.Node], SpecT]
) -> list[SpecT]:
    specs: list[SpecT] = []
    names: set[str] = set()
    for node in top.items(key):
        spec = read(text, node)
        if spec.name and spec.name in names:
            text.refuse(node, f"{key}: the name {spec.name} stands twice")
        names.add(spec.name)
        specs.append(spec)
    return specs


def _target(text: YamlText, top: Section) -> TargetSpec | None:
    if "target" not in top.values:
        return None
    section = Section(text, top.values["target"], "the target", ("weights", "at_least"))
    raw = section.required("at_least")
    if raw and not KAPPA.fullmatch(raw):
        section.refuse("at_least", f"the target: at_least is {raw}, not 0 to 1 by hundredths")
        return None
    weights = section.choice("weights", TARGET_WEIGHTS, "quadratic")
    return TargetSpec(weights, Decimal(raw)) if raw else None


def _class(text: YamlText, node: yaml.Node) -> ClassSpec:
    section = Section(text, node, "a class", ("name", "title", "high_risk", "minimum_queries"))
    return ClassSpec(
        name=section.name(),
        title=section.string("title"),
        high_risk=section.boolean("high_risk") or False,
        minimum_queries=section.integer("minimum_queries", low=0, high=MAX_INTEGER),
    )


def _person(text: YamlText, node: yaml.Node) -> PersonSpec:
    section = Section(text, node, "a person", ("name", "roles"))
    name = section.name()
    roles: list[Role] = []
    for role_node, raw in section.strings("roles"):
        role = next((role for role in ROLES if role == raw), None)
        if role is None:
            text.refuse(role_node, f"the role {raw!r} is not one of {', '.join(ROLES)}")
        elif role not in roles:
            roles.append(role)
    if "roles" not in section.values or not section.values["roles"].value:
        section.refuse("roles", f"the person {name} has no role")
    return PersonSpec(name, roles)


def _round(text: YamlText, node: yaml.Node) -> RoundSpec:
    section = Section(
        text, node, "a round",
        ("name", "kind", "queries", "annotators_per_query", "rubric_version", "opens_at"),
    )  # fmt: skip
    return RoundSpec(
        name=section.name(),
        kind=section.choice("kind", ROUND_KINDS, "main"),
        queries=_round_queries(text, section),
        annotators_per_query=_round_annotators(section),
        rubric_version=section.integer("rubric_version", low=1, high=MAX_SMALL),
        opens_at=section.moment("opens_at"),
    )


def _round_queries(text: YamlText, section: Section) -> list[str] | None:
    if "queries" not in section.values:
        return None
    queries: list[str] = []
    for node, query_id in section.strings("queries"):
        if reason := check_id(query_id):
            text.refuse(node, f"a round: queries: {reason}")
        elif query_id in queries:
            text.refuse(node, f"a round: the query {query_id} stands twice")
        else:
            queries.append(query_id)
    if not queries:
        section.refuse("queries", "a round: queries is empty; leave it out for the whole pool")
    return queries


def _round_annotators(section: Section) -> int | Literal["all"] | None:
    node = section.values.get("annotators_per_query")
    if isinstance(node, yaml.ScalarNode) and node.value == "all":
        return "all"
    return section.integer("annotators_per_query", low=1, high=MAX_SMALL)


def write_study_file(study: StudyFile) -> str:
    """`study.yaml` with every setting, which `read_study_file` reads back equal.

    Raises ValueError for a text that YAML cannot carry.
    """
    fields: dict[str, object] = {key: getattr(study, key) for key in KEYS[:11]}
    if study.target:
        fields["target"] = {
            "weights": study.target.weights,
            "at_least": float(study.target.at_least),
        }
    if study.classes:
        fields["classes"] = [_class_fields(spec) for spec in study.classes]
    if study.people:
        fields["people"] = [{"name": p.name, "roles": list(p.roles)} for p in study.people]
    fields["rounds"] = [_round_fields(spec) for spec in study.rounds]
    return write_yaml(fields)


def _class_fields(spec: ClassSpec) -> dict[str, object]:
    fields: dict[str, object] = {"name": spec.name}
    if spec.title:
        fields["title"] = spec.title
    if spec.high_risk:
        fields["high_risk"] = True
    if spec.minimum_queries is not None:
        fields["minimum_queries"] = spec.minimum_queries
    return fields


def _round_fields(spec: RoundSpec) -> dict[str, object]:
    fields: dict[str, object] = {
        "name": spec.name,
        "kind": spec.kind,
        "queries": spec.queries,
        "annotators_per_query": spec.annotators_per_query,
        "rubric_version": spec.rubric_version,
        "opens_at": spec.opens_at and spec.opens_at.isoformat(),
    }
    return {key: value for key, value in fields.items() if value is not None}
