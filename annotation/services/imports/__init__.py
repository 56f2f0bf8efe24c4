"""Importing labels: all of a file or nothing, and twice is the same as once."""

from __future__ import annotations

from pathlib import Path

from django.db.backends.utils import CursorWrapper

from annotation.services.claims import count_label_changes
from annotation.services.imports.places import take_finished_places, take_up_growth
from annotation.services.imports.pools import extend_pool, is_pool_closed
from annotation.services.imports.reading import COLUMNS, JudgmentOptions, LabelFile
from annotation.services.imports.resolving import (
    count_other_notes,
    find_conflicts,
    find_faults,
    lock_places,
    resolve_labels,
)
from studies.formats.text import check_name
from studies.models import Member, Round, Study, User
from studies.services.imports import ImportRefused, ImportReport, Progress
from studies.services.imports.staging import (
    Watch,
    all_or_nothing,
    execute,
    fetch,
    materialise,
    refresh_statistics,
    stage,
)
from studies.services.log import record_action

__all__ = ["ImportRefused", "ImportReport", "JudgmentOptions", "add_judgments", "import_judgments"]

IS_NEW = """
    s.copy = 1 AND NOT EXISTS (
        SELECT FROM annotation_judgment j
        WHERE j.round_id = s.round_id AND j.pair_id = s.pair AND j.annotator_id = s.member
    )
"""

KEEP_NEW = f"""
SELECT s.* FROM resolved_label s WHERE {IS_NEW}
"""  # noqa: S608 - put together from constants

ADD_JUDGMENTS = """
INSERT INTO annotation_judgment (public_id, round_id, pair_id, annotator_id, rubric_version_id,
    grade, is_unsure, decided_by_id, clause_id, note, source, is_surplus, active_seconds,
    judged_at, recorded_at)
SELECT public_id, round_id, pair, member, rubric, grade, is_unsure, dimension, clause_id,
    note, source, false, active_seconds, coalesce(judged_at, statement_timestamp()),
    statement_timestamp()
FROM new_label ORDER BY line
"""

COUNT_NEW = "SELECT round_id, member, count(*) FROM new_label GROUP BY round_id, member"

LOG_JUDGMENTS = """
INSERT INTO studies_action (study_id, at, name, user_id, member_id, data)
SELECT %(study)s, statement_timestamp(), 'judgment.imported', %(user)s, member, jsonb_build_object(
    'grade', grade, 'decided_by', coalesce(decided_by, ''), 'clause', coalesce(clause, ''),
    'note', note, 'query_id', query_id, 'doc_id', doc_id, 'round', round,
    'rubric_version', rubric_number, 'judgment', public_id)
FROM new_label ORDER BY line
"""


def import_judgments(
    *,
    study: Study,
    path: Path,
    options: JudgmentOptions | None = None,
    dry_run: bool = False,
    user: User | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import a file of labels in one transaction; with `dry_run` only say what would be.

    Files ending in `.csv` (or `.csv.gz`) are CSV, others TREC qrels. A label that is there
    already changes nothing; one that stands otherwise is a conflict. Raises ImportRefused, with
    every refused row, when anything is.
    """
    report = ImportReport(study.slug, dry_run=dry_run)
    with all_or_nothing(dry_run=dry_run):
        add_judgments(
            study=study,
            path=path,
            options=options or JudgmentOptions(),
            report=report,
            user=user,
            progress=progress,
        )
        report.raise_if_refused()
    return report


def add_judgments(
    *,
    study: Study,
    path: Path,
    options: JudgmentOptions,
    report: ImportReport,
    user: User | None = None,
    progress: Progress | None = None,
    take_places: bool = True,
    log_each: bool = True,
) -> None:
    """The work of `import_judgments`, inside the caller's transaction and into its report.

    Nothing is written when the report holds refusals afterwards. Without `take_places` no claim
    is made, without `log_each` the log tells of the file only; the caller brings the rest.
    """
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    with all_or_nothing(dry_run=False) as cursor:
        labels = _stage_labels(cursor, study, path, options, report, progress)
        extended = options.extend_pool and extend_pool(cursor, study, report, path.name) > 0
        _add_identities(study, labels, options, report)
        lock_places(cursor, study.pk)
        resolve_labels(cursor, study.pk)
        _refuse(cursor, study, path.name, report)
        if report.problems:
            return
        new = _write(cursor)
        if log_each:
            values = {"study": study.pk, "user": user.pk if user else None}
            execute(cursor, LOG_JUDGMENTS, values)
        _count(cursor, labels, new, report)
        if extended:
            take_up_growth(study, report)
        if new and take_places:
            _take_places(cursor, path.name, report)
        if new or extended:
            _log(study, path, labels, report, user)


def _stage_labels(
    cursor: CursorWrapper,
    study: Study,
    path: Path,
    options: JudgmentOptions,
    report: ImportReport,
    progress: Progress | None,
) -> LabelFile:
    round_name = options.round_name or _default_round(study, report, path.name)
    labels = LabelFile(path, options, round_name, report.problems)
    before = report.problems.count
    watch = Watch(0, progress)
    tally = report.tally("judgments")
    try:
        tally.read += stage(cursor, "staged_label", COLUMNS, watch.rows(labels.rows(), "judgments"))
    except OSError as error:
        report.problems.add(path.name, None, error.strerror or str(error))
        raise ImportRefused(report) from None
    tally.refused += report.problems.count - before
    return labels


def _default_round(study: Study, report: ImportReport, file: str) -> str:
    """The newest main round that is open; where none is, the newest that is still to open, else
    the newest. The labels in hand are of what is judged by now, not of what is planned."""
    main = study.rounds.filter(kind=Round.Kind.MAIN)
    rounds = sorted(
        main, key=lambda round: (round.is_open, not round.closed_at, round.position, round.pk)
    )
    if not rounds:
        report.refuse("judgments", file, None, "the study has no main round; name one: --round")
        raise ImportRefused(report)
    return rounds[-1].name


def _add_identities(
    study: Study, labels: LabelFile, options: JudgmentOptions, report: ImportReport
) -> None:
    """Create whom the file names and the study does not know; they have no account."""
    known = dict(study.members.values_list("name", "is_machine"))
    for name in sorted(labels.annotators & known.keys()):
        if options.machine and not known[name]:
            reason = f"{name} is a person in this study, not a machine"
            report.refuse("identities", labels.path.name, None, reason)
    new = sorted(name for name in labels.annotators - known.keys() if check_name(name) is None)
    Member.objects.bulk_create(
        Member(study=study, name=name, is_machine=options.machine) for name in new
    )
    report.count("identities", read=len(labels.annotators), new=len(new))
    if new:
        report.note(labels.path.name, f"new to the study: {', '.join(new)}")


def _refuse(cursor: CursorWrapper, study: Study, file: str, report: ImportReport) -> None:
    """Refuse by line what cannot stand, each row once."""
    faults = dict(find_faults(cursor, pool_is_closed=is_pool_closed(study)))
    conflicts = dict(find_conflicts(cursor))
    for line in sorted(faults.keys() | conflicts.keys()):
        if line in faults:
            report.refuse("judgments", file, line, faults[line])
        else:
            report.conflict("judgments", file, line, conflicts[line])


def _write(cursor: CursorWrapper) -> int:
    """Write the labels that are new; returns their number."""
    materialise(cursor, "new_label", KEEP_NEW, {})
    new = execute(cursor, ADD_JUDGMENTS, {})
    if new:
        refresh_statistics(cursor, "annotation_judgment")
    counts = fetch(cursor, COUNT_NEW, {})
    count_label_changes({(round_id, member): count for round_id, member, count in counts})
    return new


def _count(cursor: CursorWrapper, labels: LabelFile, new: int, report: ImportReport) -> None:
    tally = report.tally("judgments")
    tally.new += new
    tally.same += tally.read - new
    file = labels.path.name
    if labels.blank:
        report.note(file, f"rows without a label, counted as missing: {labels.blank:,}")
    if others := count_other_notes(cursor):
        report.note(file, f"labels with another note in the study, which is kept: {others:,}")


def _take_places(cursor: CursorWrapper, file: str, report: ImportReport) -> None:
    touched = fetch(cursor, "SELECT DISTINCT round_query FROM new_label", {})
    beyond = take_finished_places(key for (key,) in touched)
    if beyond:
        report.note(
            file, f"queries with labels of more people than planned: {beyond:,}; they all count"
        )


def _log(
    study: Study, path: Path, labels: LabelFile, report: ImportReport, user: User | None
) -> None:
    record_action(
        study,
        "judgments.imported",
        user=user,
        data={
            "file": path.name,
            "annotators": sorted(labels.annotators),
            "blank": labels.blank,
            "counts": report.counts(),
        },
    )
