"""Judging in few words, and reading exports back, for the tests of exports."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from results.services.exports import describe_export, stream_export
from studies.models import Member, Pair, Round, Study
from tests import factories as make
from tests.cast import Cast

UNSURE = None


def judge(
    round: Round,
    pairs: Sequence[Pair],
    annotator: Member,
    grades: Sequence[int | None],
    **fields: Any,
) -> None:
    """Give the pairs one label each, `UNSURE` among them."""
    for pair, grade in zip(pairs, grades, strict=True):
        make.make_judgment(round, pair, annotator, grade, **fields)


def judge_all(cast: Cast, *, ana: Sequence[int | None], ben: Sequence[int | None]) -> None:
    """Label the first pairs of the cast's study, as many as there are grades."""
    judge(cast.main, cast.pairs[: len(ana)], cast.ana, ana)
    judge(cast.main, cast.pairs[: len(ben)], cast.ben, ben)


def export_bytes(study: Study, kind: str, **options: Any) -> bytes:
    return b"".join(stream_export(study, kind, **options))


def export_lines(study: Study, kind: str, **options: Any) -> list[str]:
    return export_bytes(study, kind, **options).decode().splitlines()


def describe_json(study: Study, kind: str, **options: Any) -> dict[str, Any]:
    return describe_export(study, kind, **options).as_json()


def withheld_reasons(study: Study, kind: str = "consensus-qrels", **options: Any) -> dict[str, str]:
    told = describe_json(study, kind, **options)["withheld"]
    return {query["query_id"]: query["reason"] for query in told}


def read_manifest(path: Path) -> dict[str, Any]:
    text = path.with_name(f"{path.name}.manifest.json").read_text(encoding="utf-8")
    manifest: dict[str, Any] = json.loads(text)
    return manifest


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
