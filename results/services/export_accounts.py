"""What exports would hold, before anybody makes them: of a small pool counted when it is asked
for, of a large one by a worker, stored, and told whether it is old.

What an export itself says in its manifest is always counted from the labels as it is made.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from results.gate_facts import Freshness
from results.models import ExportAccount
from results.selectors.export_accounts import (
    COUNT_EXPORTS,
    describe_basis,
    get_export_account,
    name_arguments,
    tell_freshness,
)
from results.selectors.labels import read_snapshot
from results.services.exports import Manifest, describe_export, find_annotator, open_manifest
from results.services.exports.decisions import DecidedQuery, Reason
from results.services.exports.records import count_judgments
from studies.models import Job, Study, User
from studies.services.jobs import request_job

# So many pairs are counted in about 0.1 s of Python and as much of PostgreSQL.
COUNTED_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class Counted:
    """An account with how it stands to the study of now: counted at `computed_at`, None where it
    was counted just now, or, `missing`, not at all and all its counts are none. `recorded` is the
    number of labels of every round, None where it is not known as of now."""

    manifest: Manifest
    freshness: Freshness
    recorded: int | None = None
    computed_at: datetime | None = None

    @property
    def is_of_now(self) -> bool:
        return self.freshness == "current" and self.computed_at is None


def name_kind(annotator: str | None) -> str:
    """The kind of export whose account is that of the consensus, or of one annotator."""
    return "annotator-qrels" if annotator else "consensus-qrels"


def is_counted_at_once(study: Study) -> bool:
    return not study.pairs.order_by()[COUNTED_AT_ONCE : COUNTED_AT_ONCE + 1].exists()


def read_counts(study: Study, annotator: str | None) -> Counted:
    """What would leave the study, by consensus or of one annotator's labels.

    Raises ExportRefused for an annotator that the study does not know.
    """
    kind = name_kind(annotator)
    if is_counted_at_once(study):
        manifest = describe_export(study, kind, annotator=annotator)
        return Counted(manifest, "current", count_judgments(study))
    manifest = open_manifest(study, kind, annotator=annotator)
    account = get_export_account(study, find_annotator(study, annotator) if annotator else None)
    if account is None:
        return Counted(manifest, "missing")
    manifest.counts.update(account.payload["counts"])
    manifest.withheld += map(_read_withheld, account.payload["withheld"])
    freshness = tell_freshness(study, account)
    recorded = account.payload["recorded"] if freshness == "current" else None
    return Counted(manifest, freshness, recorded, account.computed_at)


def request_account(study: Study, annotator: str | None, *, user: User | None = None) -> Job:
    """Ask a worker to count anew; returns the job to watch.

    Raises ExportRefused for an annotator that the study does not know.
    """
    if annotator:
        find_annotator(study, annotator)
    return request_job(
        kind=COUNT_EXPORTS, study=study, user=user, arguments=name_arguments(annotator)
    )


def run_account(study: Study, annotator: str | None) -> ExportAccount:
    """Count from one snapshot, and store it in the place of what was counted before.

    Raises ExportRefused for an annotator that the study does not know.
    """
    with read_snapshot():
        basis = describe_basis(study)
        kind = name_kind(annotator)
        manifest = describe_export(study, kind, annotator=annotator, with_gate=False)
        payload = {**_write_counts(manifest), "recorded": count_judgments(study)}
    account, _is_new = ExportAccount.objects.update_or_create(
        study=study,
        annotator=find_annotator(study, annotator) if annotator else None,
        defaults={
            "payload": payload,
            "basis": basis,
            "computed_at": timezone.now(),
        },
    )
    return account


def _write_counts(manifest: Manifest) -> Mapping[str, Any]:
    """The counts, and of each withheld query its id and its reasons: code, pairs, missing and
    needed outcomes."""
    return {
        "counts": manifest.counts,
        "withheld": [
            [
                query.query_id,
                [[one.code, one.pairs, one.missing, one.needed] for one in query.reasons],
            ]
            for query in manifest.withheld
        ],
    }


def _read_withheld(written: tuple[str, list[list[Any]]]) -> DecidedQuery:
    query_id, reasons = written
    return DecidedQuery(query_id, (), tuple(Reason(*reason) for reason in reasons))
