"""Describing, streaming and writing exports."""

import hashlib
import json
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from results.consensus import Policy
from results.gate import list_red
from results.selectors.final_labels import (
    count_final_labels,
    find_relevant_from,
)
from results.selectors.labels import read_snapshot
from results.selectors.unblinded import count_unblinded
from results.services.exports.kinds import (
    ExportKind,
    ExportRefused,
    ExportRequest,
    FolderKind,
    TextKind,
    encode,
)
from results.services.exports.manifest import Digest, Manifest
from results.services.exports.packing import write_folder, zip_chunks
from results.services.exports.placing import (
    check_place,
    put_in_place,
    temporary_names,
    write_file,
)
from results.services.exports.registry import KINDS
from results.services.exports.selection import COMMON_COUNTS, CONSENSUS_COUNTS
from results.services.gate import read_gate
from results.services.reports import find_open_holes
from studies.models import Action, Member, Study, User
from studies.selectors import find_rubric_in_force
from studies.services.log import record_action

# Who gave the reason of an export that no account asked for.
BY_COMMAND = "manage.py export"


class ExportStream(Iterator[bytes]):
    """The bytes of an export under way.

    All of it is read from one snapshot of the database, opened at the first `next`. `manifest`
    is complete, and the export is in the study's log if it is to be `logged`, once the stream has
    ended; a stream that is closed early leaves nothing.
    """

    def __init__(
        self, kind: ExportKind, request: ExportRequest, user: User | None, *, logged: bool
    ) -> None:
        self.kind = kind
        self._logged = logged
        self.manifest = _begin_manifest(kind, request)
        self.file_name = _file_name(kind, request)
        self._request = request
        self._user = user
        self._chunks = self._run()

    def __next__(self) -> bytes:
        return next(self._chunks)

    def close(self) -> None:
        """End the stream early, and with it the transaction it reads in."""
        self._chunks.close()

    def _run(self) -> Generator[bytes, None, None]:
        digest = Digest()
        _tell_gate(self.manifest, self._request.study)
        with _refusing(), read_snapshot():
            _open_account(self.manifest, self._request)
            with closing(_make_chunks(self.kind, self._request, self.manifest)) as chunks:
                for chunk in chunks:
                    digest.update(chunk)
                    yield chunk
        self.manifest.seal(digest, is_text=isinstance(self.kind, TextKind))
        if self._logged:
            _log_export(self._request, self.manifest, self._user)


def describe_export(
    study: Study,
    kind: str,
    *,
    annotator: str | None = None,
    with_texts: bool = False,
    with_gate: bool = True,
) -> Manifest:
    """What an export would hold and leave out, without making it; on request without the gate.

    Raises ExportRefused for an unknown kind or annotator.
    """
    found, request = _make_request(study, kind, annotator=annotator, with_texts=with_texts)
    manifest = _begin_manifest(found, request)
    if with_gate:
        _tell_gate(manifest, study)
    with read_snapshot():
        _open_account(manifest, request)
        # Texts change nothing in the counts, and are the costly part.
        found.describe(ExportRequest(study, request.annotator), manifest)
    return manifest


def stream_export(
    study: Study,
    kind: str,
    *,
    annotator: str | None = None,
    with_texts: bool = False,
    until: int | None = None,
    user: User | None = None,
    logged: bool = True,
) -> ExportStream:
    """The export as chunks of bytes, in constant memory; folders come as a zip archive.

    `until` ends the log that it holds after so many actions. What nobody is given (a manifest is
    made of the bytes, too) need not be `logged`. Raises ExportRefused for an unknown kind or
    annotator at once, and while streaming for ids that the format cannot carry.
    """
    found, request = _make_request(
        study, kind, annotator=annotator, with_texts=with_texts, until=until
    )
    return ExportStream(found, request, user, logged=logged)


def write_export(
    study: Study,
    kind: str,
    path: Path,
    *,
    annotator: str | None = None,
    with_texts: bool = False,
    until: int | None = None,
    user: User | None = None,
    reason: str | None = None,
) -> Manifest:
    """Write the export to `path` and its manifest to `path` with `.manifest.json` appended.

    `beir` and `study` become a folder unless the name ends in `.zip`. Both appear only when
    they are complete; an ordinary file of that name is replaced, a link, a device or a folder that
    holds something is not. `reason` says why labels leave in spite of a red gate: this export
    only, and nothing waits for it.
    Raises ExportRefused, and OSError when the disk refuses.
    """
    found, request = _make_request(
        study, kind, annotator=annotator, with_texts=with_texts, until=until
    )
    manifest = _begin_manifest(found, request)
    is_folder = isinstance(found, FolderKind) and path.suffix.lower() != ".zip"
    check_place(path, is_folder=is_folder)
    _tell_gate(manifest, study)
    if manifest.gate and reason:
        manifest.gate = manifest.gate.excuse(reason, by=BY_COMMAND, at=manifest.created_at)
    with temporary_names(path) as (made, account):
        with _refusing(), read_snapshot():
            _open_account(manifest, request)
            if is_folder and isinstance(found, FolderKind):
                made.mkdir()
                write_folder(found.entries(request, manifest), made, manifest)
            else:
                digest = write_file(made, _make_chunks(found, request, manifest))
                manifest.seal(digest, is_text=isinstance(found, TextKind))
        text = json.dumps(manifest.as_json(), ensure_ascii=False, indent=2)
        account.write_text(f"{text}\n", encoding="utf-8")
        with transaction.atomic():
            _log_export(request, manifest, user)
            put_in_place(made, account, path)
    return manifest


def open_manifest(study: Study, kind: str, *, annotator: str | None = None) -> Manifest:
    """An account of an export without its counts: the gate, the holes and where relevance begins.
    Raises ExportRefused for an unknown annotator."""
    found, request = _make_request(study, kind, annotator=annotator)
    manifest = _begin_manifest(found, request)
    _tell_gate(manifest, study)
    _tell_findings(manifest, study)
    return manifest


def count_consensus(study: Study) -> Manifest:
    """An empty account of the consensus, to be counted into."""
    kind, request = _make_request(study, "consensus-qrels")
    manifest = _begin_manifest(kind, request)
    manifest.expect_counts(*COMMON_COUNTS, *CONSENSUS_COUNTS)
    return manifest


def read_lines(study: Study, kind: str) -> Iterator[str]:
    """The lines of a text export as a download has them, made but not logged. Must run inside a
    transaction, such as `read_snapshot`."""
    found, request = _make_request(study, kind)
    yield from _decode(_make_chunks(found, request, _begin_manifest(found, request)))


def read_entry(study: Study, kind: str, name: str) -> Iterator[str]:
    """The same of one file of an export that is a folder; nothing where it has no such file."""
    found, request = _make_request(study, kind)
    if isinstance(found, FolderKind):
        for entry in found.entries(request, _begin_manifest(found, request)):
            if entry.name == name:
                yield from _decode(entry.chunks)


def _decode(chunks: Iterable[bytes]) -> Iterator[str]:
    """Lines with their ends; no chunk of an export ends within a line."""
    for chunk in chunks:
        yield from chunk.decode().splitlines(keepends=True)


def find_last_end(study: Study, kind: str, user: User) -> int | None:
    """After how many actions the log ends in the last export of this kind that the account was
    given; None where there is none, or where it holds no log."""
    if kind not in KINDS or not KINDS[kind].has_log:
        return None
    made = Action.objects.filter(study=study, name="export.made", user=user, data__kind=kind)
    last = made.order_by("-id").values_list("data", flat=True).first()
    end: int | None = last.get("log_until") if last else None
    return end


def _make_request(
    study: Study,
    kind: str,
    *,
    annotator: str | None = None,
    with_texts: bool = False,
    until: int | None = None,
) -> tuple[ExportKind, ExportRequest]:
    """What was asked for, in terms of the study. Raises ExportRefused for what cannot be."""
    found = KINDS.get(kind)
    if found is None:
        raise ExportRefused(f"There is no export {kind!r}. There are: {', '.join(KINDS)}.")
    if with_texts and not found.offers_texts:
        raise ExportRefused(f"The export {kind} has no variant with texts.")
    if found.needs_annotator and not annotator:
        raise ExportRefused(f"The export {kind} needs the name of an annotator.")
    if annotator and not found.needs_annotator:
        raise ExportRefused(f"The export {kind} is of the whole study; it takes no annotator.")
    if until is not None and not found.has_log:
        raise ExportRefused(f"The export {kind} holds no log that could end earlier.")
    if until is not None and until < 1:
        raise ExportRefused(f"The log can end after its first action or later, not after {until}.")
    member = find_annotator(study, annotator) if annotator else None
    return found, ExportRequest(study, member, with_texts, until)


def find_annotator(study: Study, name: str) -> Member:
    """Raises ExportRefused where the study does not know the name."""
    member = Member.objects.filter(study=study, name=name).first()
    if member is None:
        names = study.members.filter(judgments__isnull=False).distinct().order_by("name")
        known = ", ".join(names.values_list("name", flat=True)) or "nobody"
        raise ExportRefused(
            f"The study {study.slug} has no annotator named {name!r}. Labels are there of: {known}."
        )
    return member


def _begin_manifest(kind: ExportKind, request: ExportRequest) -> Manifest:
    return Manifest(
        study=request.study.slug,
        title=request.study.title,
        kind=kind.name,
        created_at=timezone.now(),
        minimum_votes=request.study.minimum_votes,
        policy=cast(Policy, str(request.study.consensus)),
        annotator=request.annotator.name if request.annotator else None,
        with_texts=request.with_texts,
    )


def _tell_gate(manifest: Manifest, study: Study) -> None:
    """The gate as it stands just before: reading it brings the outcomes of pairs up to date,
    which a snapshot cannot."""
    manifest.gate = read_gate(study)


def _tell_findings(manifest: Manifest, study: Study) -> None:
    manifest.open_holes = find_open_holes(study)
    manifest.relevant_from = find_relevant_from(find_rubric_in_force(study))


def _open_account(manifest: Manifest, request: ExportRequest) -> None:
    """Tell, within the snapshot of the export, of which moment it is, what is open and which
    rubric versions are in force then."""
    study = request.study
    manifest.created_at = timezone.now()
    manifest.judges_read_results = study.judges_read_results
    manifest.not_blind = count_unblinded(study, request.annotator)
    _tell_findings(manifest, study)
    manifest.pool_dropped = (
        count_final_labels(study)["dropped"],
        study.pairs.filter(pool_rank__isnull=False).count(),
    )
    manifest.versions_in_force.update(
        study.rounds.order_by().values_list("rubric_version__number", flat=True)
    )


def _file_name(kind: ExportKind, request: ExportRequest) -> str:
    """Different exports of a study have different names."""
    parts = [request.study.slug, kind.name]
    if request.annotator:
        parts.append(_name_for_file(request.annotator.name))
    if request.with_texts:
        parts.append("with-texts")
    return "-".join(parts) + kind.ending


def _name_for_file(name: str) -> str:
    """The name, if every system can carry it in the name of a file; else what is left of it, and
    a sign that tells it from other names of which the same is left."""
    safe = slugify(name)[:40]
    if safe == name:
        return safe
    sign = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{safe}-{sign}" if safe else sign


def _make_chunks(
    kind: ExportKind, request: ExportRequest, manifest: Manifest
) -> Generator[bytes, None, None]:
    if isinstance(kind, TextKind):
        return encode(kind.lines(request, manifest))
    assert isinstance(kind, FolderKind)
    return zip_chunks(kind.entries(request, manifest), manifest)


@contextmanager
def _refusing() -> Iterator[None]:
    """Writers of files raise ValueError for what their format cannot carry."""
    try:
        yield
    except ValueError as error:
        raise ExportRefused(f"{error}. Nothing was written.") from error


def _log_export(request: ExportRequest, manifest: Manifest, user: User | None) -> None:
    data: dict[str, Any] = {
        "kind": manifest.kind,
        "annotator": manifest.annotator,
        "with_texts": manifest.with_texts,
        "sha256": manifest.sha256,
        "counts": dict(manifest.counts),
        "log_until": manifest.log_until,
        "gate": _describe_gate(manifest),
    }
    record_action(request.study, "export.made", user=user, data=data)


def _describe_gate(manifest: Manifest) -> dict[str, Any]:
    """What the log keeps of the gate: its state and, where it was red, why all the same."""
    gate = manifest.gate
    if gate is None:
        return {}
    return {
        "state": gate.state,
        "red": list_red(gate.lines),
        "reason": gate.override.reason if gate.override else None,
        "reason_given": gate.is_reason_given,
    }
