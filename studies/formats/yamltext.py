"""YAML as the study files use it: safe, without aliases, every refusal with its line.

Scalars that stand for text are taken as they are written, so that a grade called `no` or a
query id `01` needs no quotes; nothing is ever constructed from a tag.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from datetime import MAXYEAR, UTC, datetime
from typing import BinaryIO, TypeVar

import yaml

from studies.formats.problems import Problems
from studies.formats.text import check_name, check_text, require_text, whole_text

MAX_YAML_BYTES = 512 * 1024
MAX_DEPTH = 20
A_MOMENT = "2026-05-04T09:00+02:00"

_INTEGER = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,8})")
_BREAKS = re.compile(r"[\n\r\x85\u2028\u2029\ufeff]")
_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_TAG = "tag:yaml.org,2002:"
_SCALAR_TAGS = {
    f"{_TAG}{kind}" for kind in ("str", "int", "float", "bool", "null", "timestamp", "value")
}
_NULL = f"{_TAG}null"

ChoiceT = TypeVar("ChoiceT", bound=str)


# The parser written in C, where PyYAML was built with it: ten times faster or more.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _ShapeError(yaml.YAMLError):
    def __init__(self, problem: str, event: yaml.Event) -> None:
        super().__init__(problem)
        self.line = event.start_mark.line + 1 if event.start_mark else None


def _check_shape(text: str) -> None:
    """Raise YAMLError for aliases, with which a small file can stand for a huge one, and for
    a nesting that no file here needs."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            raise _ShapeError("aliases (*name) are refused", event)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise _ShapeError("it is nested too deeply", event)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _compose(text: str) -> yaml.Node | None:
    _check_shape(text)
    return yaml.compose(text, Loader=_Loader)


def _where(error: yaml.YAMLError, text: str) -> int | None:
    if isinstance(error, _ShapeError):
        return error.line
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return error.problem_mark.line + 1
    if isinstance(error, yaml.reader.ReaderError):
        return text.count("\n", 0, error.position) + 1
    return None


def _why(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError):
        return f"not YAML that can be read: {error.problem or error.context}"
    if isinstance(error, _ShapeError):
        return f"not YAML that can be read: {error}"
    return "not YAML that can be read: a character that YAML does not allow"


class YamlText:
    """Where refusals of one YAML file go."""

    def __init__(self, file: str, problems: Problems) -> None:
        self.file = file
        self.problems = problems

    def refuse(self, node: yaml.Node, reason: str) -> None:
        self.problems.add(self.file, self.line_of(node), reason)

    @staticmethod
    def line_of(node: yaml.Node) -> int:
        line: int = node.start_mark.line
        return line + 1

    def scalar(self, node: yaml.Node, what: str) -> str | None:
        """A scalar as written; None where it is null or refused."""
        if not isinstance(node, yaml.ScalarNode) or node.tag not in _SCALAR_TAGS:
            self.refuse(node, f"{what} must be text")
            return None
        if node.tag == _NULL:
            return None
        value = str(node.value)
        if reason := check_text(value):
            self.refuse(node, f"{what}: {reason}")
            return None
        return value

    def sequence(self, node: yaml.Node, what: str) -> list[yaml.Node]:
        if isinstance(node, yaml.SequenceNode):
            return list(node.value)
        self.refuse(node, f"{what} must be a list")
        return []

    def members(self, node: yaml.Node, what: str) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        """Key node and value node of a mapping by key; a repeated key is refused."""
        if not isinstance(node, yaml.MappingNode):
            self.refuse(node, f"{what} must be a mapping of keys to values")
            return {}
        members: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key_node, value_node in node.value:
            key = self.scalar(key_node, f"a key of {what}")
            if key in members:
                first = members[key][0].start_mark.line + 1
                self.refuse(key_node, f"{what}: the key {key} stands already in line {first}")
            elif key is not None:
                members[key] = (key_node, value_node)
        return members


def is_null(node: yaml.Node) -> bool:
    """Whether a key has no value."""
    return bool(node.tag == _NULL)


class Section:
    """The keys of one mapping: read by kind, defaults for absent or empty ones.

    Keys outside of `keys` are refused by name when the section is made, unless `allows`
    says otherwise. Every method refuses a wrong value with its line and gives the default. What is
    no mapping is refused once: nothing more is said of keys that it cannot have.
    """

    def __init__(
        self,
        text: YamlText,
        node: yaml.Node,
        what: str,
        keys: Collection[str],
        allows: Callable[[str], bool] = lambda key: False,
    ) -> None:
        self.text = text
        self.node = node
        self.what = what
        members = text.members(node, what)
        for key, (key_node, _) in members.items():
            if key not in keys and not allows(key):
                known = ", ".join(keys)
                text.refuse(key_node, f"{what}: the key {key} is unknown (known: {known})")
        self.values = {k: v for k, (_, v) in members.items() if not is_null(v)}

    def refuse(self, key: str, reason: str) -> None:
        if isinstance(self.node, yaml.MappingNode):
            self.text.refuse(self.values.get(key, self.node), reason)

    def string(self, key: str, default: str = "") -> str:
        if key not in self.values:
            return default
        value = self.text.scalar(self.values[key], f"{self.what}: {key}")
        return default if value is None else value

    def required(self, key: str) -> str:
        """Text that must not be blank; "" after a refusal."""
        before = self.text.problems.count
        value = self.string(key)
        if not value.strip() and self.text.problems.count == before:
            self.refuse(key, f"{self.what}: {key} is missing")
        return value

    def name(self, key: str = "name") -> str:
        """A name; "" after a refusal."""
        value = self.required(key)
        if value.strip() and (reason := check_name(value)):
            self.refuse(key, f"{self.what}: {reason}")
            return ""
        return value if value.strip() else ""

    def integer(self, key: str, *, low: int, high: int) -> int | None:
        if key not in self.values:
            return None
        raw = self.text.scalar(self.values[key], f"{self.what}: {key}")
        if raw is None:
            return None
        if not _INTEGER.fullmatch(raw) or not low <= int(raw) <= high:
            self.refuse(key, f"{self.what}: {key} is {raw}, not an integer from {low} to {high}")
            return None
        return int(raw)

    def moment(self, key: str) -> datetime | None:
        """A date and time in ISO 8601, of UTC where it names no zone."""
        if key not in self.values:
            return None
        raw = self.text.scalar(self.values[key], f"{self.what}: {key}")
        if raw is None:
            return None
        try:
            found = datetime.fromisoformat(raw)
        except ValueError:
            found = None
        # In UTC the first and last days of the calendar may lie outside of it.
        if found is None or not 1 < found.year < MAXYEAR:
            self.refuse(key, f"{self.what}: {key} is {raw}, not a date and time such as {A_MOMENT}")
            return None
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    def boolean(self, key: str) -> bool | None:
        if key not in self.values:
            return None
        raw = self.string(key)
        if raw.lower() not in _TRUTH:
            self.refuse(key, f"{self.what}: {key} is {raw!r}, not true or false")
            return None
        return _TRUTH[raw.lower()]

    def choice(self, key: str, choices: Collection[ChoiceT], default: ChoiceT) -> ChoiceT:
        raw = self.string(key, default)
        for choice in choices:
            if choice == raw:
                return choice
        self.refuse(key, f"{self.what}: {key} is {raw!r}, not one of {', '.join(choices)}")
        return default

    def items(self, key: str) -> list[yaml.Node]:
        if key not in self.values:
            return []
        return self.text.sequence(self.values[key], f"{self.what}: {key}")

    def strings(self, key: str) -> Iterator[tuple[yaml.Node, str]]:
        """Each text of a list with its node."""
        for node in self.items(key):
            value = self.text.scalar(node, f"{self.what}: each of {key}")
            if value is not None:
                yield node, value
            elif is_null(node):
                self.text.refuse(node, f"{self.what}: one of {key} is empty")


def read_yaml(stream: BinaryIO, *, file: str, problems: Problems) -> yaml.Node | None:
    """The outermost node of a YAML file, None when it was refused or is empty."""
    text = whole_text(stream, file=file, problems=problems, max_bytes=MAX_YAML_BYTES)
    if text is None:
        return None
    try:
        node = _compose(text)
    except yaml.YAMLError as error:
        problems.add(file, _where(error, text), _why(error))
        return None
    if node is None or is_null(node):
        problems.add(file, None, "the file is empty")
        return None
    return node


class _Dumper(yaml.SafeDumper):
    """Writes texts of several plain lines as blocks, for people and for diffs."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text_style(value: str) -> str | None:
    """The scalar style that reads back as `value`: PyYAML's own choice folds some line breaks
    and loses others."""
    if _BREAKS.search(value):
        lines = value.removesuffix("\n").split("\n")
        block = all(line == line.strip() and line and not _BREAKS.search(line) for line in lines)
        return "|" if block else '"'
    return None


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    require_text(value, "a text")
    return dumper.represent_scalar(f"{_TAG}str", value, style=_text_style(value))


_Dumper.add_representer(str, _represent_text)


def write_yaml(value: object) -> str:
    """YAML text of nested dicts, lists and scalars. Raises ValueError for a refused text."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=96))
