"""Every kind of export by its name."""

from django.utils.translation import gettext_lazy as _

from results.services.exports.beir import beir_entries
from results.services.exports.kinds import ExportKind, FolderKind, TextKind
from results.services.exports.qrels import ground_truth_lines, qrels_lines
from results.services.exports.records import (
    action_lines,
    describe_actions,
    describe_judgments,
    judgment_lines,
)
from results.services.exports.report import report_lines
from results.services.exports.selection import describe_queries
from results.services.exports.study import describe_study, study_entries
from results.services.exports.training import training_lines

TEXT = "text/plain; charset=utf-8"
CSV = "text/csv; charset=utf-8"
JSON_LINES = "application/jsonl"
MARKDOWN = "text/markdown; charset=utf-8"
ZIP = "application/zip"

_ALL: tuple[ExportKind, ...] = (
    TextKind(
        name="consensus-qrels",
        is_release=True,
        title=_("Consensus qrels"),
        ending=".qrels",
        content_type=TEXT,
        describe=describe_queries,
        lines=qrels_lines,
    ),
    TextKind(
        name="annotator-qrels",
        title=_("One annotator's qrels"),
        ending=".qrels",
        content_type=TEXT,
        describe=describe_queries,
        lines=qrels_lines,
        needs_annotator=True,
    ),
    TextKind(
        name="training-pairs",
        is_release=True,
        title=_("Training pairs"),
        ending=".jsonl",
        content_type=JSON_LINES,
        describe=describe_queries,
        lines=training_lines,
        offers_texts=True,
    ),
    TextKind(
        name="ground-truth",
        is_release=True,
        title=_("Ground truth (CSV)"),
        ending=".csv",
        content_type=CSV,
        describe=describe_queries,
        lines=ground_truth_lines,
    ),
    FolderKind(
        name="beir",
        is_release=True,
        title=_("BEIR data set"),
        ending=".zip",
        content_type=ZIP,
        describe=describe_queries,
        entries=beir_entries,
    ),
    TextKind(
        name="judgments",
        is_whole=True,
        title=_("Judgments (CSV)"),
        ending=".csv",
        content_type=CSV,
        describe=describe_judgments,
        lines=judgment_lines,
    ),
    TextKind(
        name="action-log",
        is_whole=True,
        title=_("Action log"),
        ending=".jsonl",
        content_type=JSON_LINES,
        describe=describe_actions,
        has_log=True,
        lines=action_lines,
    ),
    TextKind(
        name="agreement-report",
        title=_("Agreement report"),
        ending=".md",
        content_type=MARKDOWN,
        describe=describe_queries,
        lines=report_lines,
    ),
    FolderKind(
        name="study",
        is_whole=True,
        title=_("The whole study as files"),
        ending=".zip",
        content_type=ZIP,
        describe=describe_study,
        has_log=True,
        entries=study_entries,
    ),
)
KINDS: dict[str, ExportKind] = {kind.name: kind for kind in _ALL}
