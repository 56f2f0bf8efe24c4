from django.urls import path

from results.views import (
    adjudication,
    agreement,
    comparison,
    exports,
    final_labels,
    pairs,
    revision,
    rounds,
)

app_name = "results"

urlpatterns = [
    path("results/", agreement.overview, name="overview"),
    path("results/agreement/", agreement.agreement, name="agreement"),
    path("results/splits/", agreement.splits, name="splits"),
    path("results/splits/pairs/", pairs.pairs, name="pairs"),
    path("results/splits/pairs.csv", pairs.pairs_csv, name="pairs-csv"),
    path("results/refresh/", agreement.refresh, name="refresh"),
    path("results/jobs/<uuid:job_id>/", agreement.job, name="job"),
    path("results/rounds/", rounds.rounds, name="rounds"),
    path("results/rounds/calibrate/", rounds.calibrate, name="calibrate"),
    path("results/rounds/relabel/", rounds.relabel, name="relabel"),
    path("results/rounds/close/", rounds.close, name="close-round"),
    path("results/rounds/compute/", rounds.compute, name="compute-rounds"),
    path("results/comparison/", comparison.comparison, name="comparison"),
    path("results/comparison/open/", comparison.open_it, name="open-comparison"),
    path("results/comparison/names/", comparison.names, name="comparison-names"),
    path("results/comparison/notes.md", comparison.notes, name="calibration-notes"),
    path("results/comparison/<uuid:pair_id>/", comparison.note, name="calibration-note"),
    path("results/revision/", revision.revision, name="revision"),
    path("results/revision/compute/", revision.compute, name="compute-revision"),
    path("results/revision/account.md", revision.markdown, name="revision-markdown"),
    path("results/revision/account.json", revision.as_json, name="revision-json"),
    path("results/final-labels/", final_labels.final_labels, name="final-labels"),
    path("results/final-labels/reopen/", final_labels.reopen, name="reopen"),
    path("results/final-labels/<uuid:pair_id>/", final_labels.final_label, name="final-label"),
    path("results/final-labels/<uuid:pair_id>/names/", final_labels.names, name="names"),
    path("adjudicate/", adjudication.adjudicate, name="adjudicate"),
    path("adjudicate/later/", adjudication.later, name="later"),
    path("adjudicate/<uuid:pair_id>/", adjudication.case, name="case"),
    path("adjudicate/images/<uuid:pair_id>/", adjudication.image, name="case-image"),
    path("results/exports/", exports.exports, name="exports"),
    path("results/exports/<slug:kind>/", exports.export, name="export"),
    path("results/exports/<slug:kind>/manifest/", exports.manifest, name="manifest"),
]
