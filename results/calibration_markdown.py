"""The notes of a calibration round as Markdown that can be committed beside a rubric.

Plain English whatever the language of the person who asks; nobody is named.
"""

from collections import Counter
from collections.abc import Iterator

from django.utils import translation

from results.comparison_contexts import ComparedSplit, lay_out_split
from results.markdown_blocks import escape, section
from results.models import CalibrationNote
from results.selectors.calibration import list_notes
from results.selectors.split_pairs import SplitLabel, Wanted, list_split_pairs
from results.services.scopes import Scope
from results.wording import as_count
from studies.models import Round, Study

_HOW_TO_READ = """\
## How to read this

A split is a pair whose labels (unsure aside) are not all the same. It is a **slip** where all cite
the same dimension and reading, **underspecified** where they cite different dimensions, or one
dimension with different readings, and **undecided** where no rule decides. Letters stand for people
and for somebody else on each pair. The labels were given before anybody compared them, and what was
said of them changed none."""


def render_notes(study: Study, round: Round) -> str:
    """Every split of the round with its note, ending in a line end."""
    notes = list_notes(round)
    pairs = list_split_pairs(study, Scope(round=round.name), Wanted(), limit=None, by_query=True)
    splits = [lay_out_split(study, pair, notes) for pair in pairs]
    with translation.override("en"):
        return "\n\n".join(_blocks(study, round, splits)) + "\n"


def _blocks(study: Study, round: Round, splits: list[ComparedSplit]) -> Iterator[str]:
    yield f"# Calibration notes: {escape(study.title)}, round {escape(round.name)}"
    closed = f"{round.closed_at:%Y-%m-%d}" if round.closed_at else "still open"
    noted = sum(split.saved is not None for split in splits)
    yield (
        f"Judged under rubric {round.rubric_version.number}, closed {closed}. "
        f"{as_count(len(splits))} splits, {as_count(noted)} of them noted."
    )
    counts = Counter(split.saved.kind for split in splits if split.saved)
    rows = [(str(label), as_count(counts[value])) for value, label in CalibrationNote.Kind.choices]
    yield from section("What the splits are", rows, ["kind", "n"], "lr")
    for number, split in enumerate(splits, start=1):
        yield from _tell_split(number, split)
    yield _HOW_TO_READ


def _tell_split(number: int, split: ComparedSplit) -> Iterator[str]:
    pair = split.pair
    title = pair.title or "Untitled document"
    yield f"## {number}. {escape(pair.query)} → {escape(title)}"
    if pair.query_class:
        yield f"Class: {escape(pair.query_class)}."
    yield "\n".join(_tell_label(one.letter, one.label) for one in split.labels)
    if split.saved:
        yield f"**{split.saved.get_kind_display()}**"
        if split.saved.note.strip():
            lines = split.saved.note.strip().splitlines()
            yield "\n".join(f"> {escape(line)}".rstrip() for line in lines)
    else:
        yield "Not noted yet."


def _tell_label(letter: str, label: SplitLabel) -> str:
    given = "unsure" if label.grade is None else f"{label.grade} {escape(label.grade_name)}".strip()
    why = escape(label.dimension) or "no dimension named"
    reading = f", {escape(label.clause)}" if label.clause else ""
    note = f": {escape(label.note)}" if label.note.strip() else ""
    return f"- {letter}: {given} ({why}{reading}){note}"
