"""A whole study as the files that `import_study` reads."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import PurePosixPath

from django.core.files.storage import default_storage
from django.db.models import Sum

from annotation.models import Judgment
from results.models import FinalLabel
from results.selectors import materials
from results.selectors.records import stream_final_labels
from results.services.exports.kinds import Entry, ExportRequest, encode
from results.services.exports.manifest import Manifest
from results.services.exports.records import action_lines, describe_actions, judgment_lines
from results.services.exports.settings import collect_state, describe_settings, list_rubrics
from studies.formats.controls import write_controls
from studies.formats.documents import IMAGE_ENDINGS, write_corpus_jsonl
from studies.formats.judgments import write_final_labels_csv
from studies.formats.pools import write_pool_csv
from studies.formats.queries import write_queries_jsonl
from studies.formats.records import RunFile
from studies.formats.rubrics import write_rubric
from studies.formats.runs import write_run
from studies.formats.study import write_study_file
from studies.models import ControlPair, Document, Pair, Query, Ranking, Run, Study


def study_entries(request: ExportRequest, manifest: Manifest) -> Iterator[Entry]:
    """The files of the study. What cannot be a file is named among the manifest's problems."""
    study = request.study
    describe_study(request, manifest)
    # Counted already; the lines count again for the exports where they stand alone.
    apart = Manifest(study.slug, study.title, "study", manifest.created_at, study.minimum_votes)
    return chain(
        _setting_entries(study, manifest),
        _material_entries(study, manifest),
        _record_entries(request, apart),
    )


def describe_study(request: ExportRequest, manifest: Manifest) -> None:
    """Count what the study holds."""
    study = request.study
    labels = Judgment.objects.filter(round__study=study)
    manifest.counts.update(
        {
            "queries": Query.objects.filter(study=study).count(),
            "documents": Document.objects.filter(study=study).count(),
            "pairs": Pair.objects.filter(study=study, pool_rank__isnull=False).count(),
            "control_pairs": ControlPair.objects.filter(pair__study=study).count(),
            "runs": Run.objects.filter(study=study).count(),
            "run_hits": Ranking.objects.filter(run__study=study).aggregate(
                hits=Sum("document_ids__len", default=0)
            )["hits"],
            "judgments": labels.count(),
            "unsure": labels.filter(is_unsure=True).count(),
            "final_labels": FinalLabel.objects.filter(
                pair__study=study, ended_at__isnull=True
            ).count(),
        }
    )
    describe_actions(request, manifest)
    numbers = labels.order_by().values_list("rubric_version__number", flat=True).distinct()
    manifest.rubric_versions.update(numbers)


def _setting_entries(study: Study, manifest: Manifest) -> Iterator[Entry]:
    yield Entry(
        "study.yaml", [write_study_file(describe_settings(study, manifest.problems)).encode()]
    )
    for number, rubric in list_rubrics(study):
        name = "rubric.yaml" if number == 1 else f"rubric-{number}.yaml"
        yield Entry(name, [write_rubric(rubric).encode()])
    state = json.dumps(collect_state(study), ensure_ascii=False, indent=2)
    yield Entry("state.json", [f"{state}\n".encode()])


def _material_entries(study: Study, manifest: Manifest) -> Iterator[Entry]:
    queries = write_queries_jsonl(materials.stream_queries(study))
    yield Entry("queries.jsonl", encode(queries))
    documents = write_corpus_jsonl(materials.stream_documents(study))
    yield Entry("corpus.jsonl", encode(documents))
    yield from _image_entries(study, manifest)
    # The ranks that judging has seen. Runs alone would give others once the pool has grown.
    yield Entry("pool.csv", encode(write_pool_csv(materials.stream_pool(study))))
    yield from _run_entries(study, manifest)
    controls = write_controls(materials.stream_controls(study))
    yield Entry("controls.csv", encode(controls))


def _record_entries(request: ExportRequest, manifest: Manifest) -> Iterator[Entry]:
    yield Entry("judgments.csv", encode(judgment_lines(request, manifest)))
    yield Entry("final_labels.csv", encode(_final_label_lines(request)))
    yield Entry("log.jsonl", encode(action_lines(request, manifest)))


def _final_label_lines(request: ExportRequest) -> Iterator[str]:
    return write_final_labels_csv(stream_final_labels(request.study))


def _image_entries(study: Study, manifest: Manifest) -> Iterator[Entry]:
    for doc_id, stored in materials.stream_images(study):
        ending = PurePosixPath(stored).suffix.lower()
        if ending not in IMAGE_ENDINGS or not _is_file_name(doc_id):
            manifest.problems.append(f"The image of {doc_id} has no file name; it is left out.")
        elif not default_storage.exists(stored):
            manifest.problems.append(f"The image of {doc_id} is missing in the storage.")
        else:
            yield Entry(f"images/{doc_id}{ending}", _stored_chunks(stored), is_text=False)


def _stored_chunks(stored: str) -> Iterator[bytes]:
    with default_storage.open(stored) as file:
        yield from file.chunks()


def _run_entries(study: Study, manifest: Manifest) -> Iterator[Entry]:
    for run in Run.objects.filter(study=study).order_by("name"):
        if _is_file_name(run.name):
            yield Entry(f"runs/{run.name}.run", encode(_run_lines(run)))
        else:
            manifest.problems.append(f"The run {run.name} has no file name; it is left out.")


def _run_lines(run: Run) -> Iterator[str]:
    """Line by line, so that no run is held whole."""
    for hit in materials.stream_run(run):
        yield from write_run(RunFile(run.name, run.tag, [hit]))


def _is_file_name(name: str) -> bool:
    return not name.startswith(".") and not any(c in name for c in "/\\:\0")
