"""What was recorded, line by line: judgments and the action log."""

from collections.abc import Iterator
from typing import Any

from annotation.models import Judgment
from results.selectors.records import stream_actions, stream_judgments
from results.services.exports.kinds import ExportRequest
from results.services.exports.manifest import Manifest
from studies.formats.jsontext import json_line
from studies.formats.judgments import write_judgments_csv
from studies.formats.records import UNSURE, JudgmentRecord
from studies.models import Action, Study


def judgment_lines(request: ExportRequest, manifest: Manifest) -> Iterator[str]:
    """Every label of every round as CSV, by query, document, annotator and round."""
    manifest.expect_counts("judgments", "unsure")
    return write_judgments_csv(_counted(stream_judgments(request.study), manifest))


def _counted(records: Iterator[JudgmentRecord], manifest: Manifest) -> Iterator[JudgmentRecord]:
    judgments = unsure = 0
    for judgments, record in enumerate(records, start=1):  # noqa: B007 - their number at the end
        unsure += record.relevance == UNSURE
        if record.rubric_version is not None:
            manifest.rubric_versions.add(record.rubric_version)
        yield record
    manifest.counts.update(judgments=judgments, unsure=unsure)


def count_judgments(study: Study) -> int:
    """How many labels there are, of every round."""
    return Judgment.objects.filter(round__study=study).count()


def count_actions(study: Study) -> int:
    return Action.objects.filter(study=study).count()


def describe_judgments(request: ExportRequest, manifest: Manifest) -> None:
    labels = Judgment.objects.filter(round__study=request.study)
    manifest.counts["judgments"] = count_judgments(request.study)
    manifest.counts["unsure"] = labels.filter(is_unsure=True).count()
    numbers = labels.order_by().values_list("rubric_version__number", flat=True).distinct()
    manifest.rubric_versions.update(numbers)


def action_lines(request: ExportRequest, manifest: Manifest) -> Iterator[str]:
    """The log in order, one JSON object for each action, up to where the request ends it."""
    describe_actions(request, manifest)
    for action in stream_actions(request.study, until=manifest.log_until):
        yield json_line(_action_json(action))


def _action_json(action: dict[str, Any]) -> dict[str, Any]:
    return {**action, "at": action["at"].isoformat()}


def describe_actions(request: ExportRequest, manifest: Manifest) -> None:
    actions = count_actions(request.study)
    if request.until is not None:
        actions = min(actions, request.until)
    manifest.counts["actions"] = manifest.log_until = actions
