"""Exports: what leaves the study, with the account that travels with it."""

from results.services.exports.kinds import ExportKind, ExportRefused
from results.services.exports.manifest import Manifest
from results.services.exports.placing import manifest_path
from results.services.exports.registry import KINDS
from results.services.exports.service import (
    ExportStream,
    describe_export,
    find_annotator,
    find_last_end,
    open_manifest,
    stream_export,
    write_export,
)

__all__ = [
    "KINDS",
    "ExportKind",
    "ExportRefused",
    "ExportStream",
    "Manifest",
    "describe_export",
    "find_annotator",
    "find_last_end",
    "manifest_path",
    "open_manifest",
    "stream_export",
    "write_export",
]
