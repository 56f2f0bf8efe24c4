from django.urls import path

from results.views import agreement, exports

app_name = "results"

urlpatterns = [
    path("results/", agreement.overview, name="overview"),
    path("results/agreement/", agreement.agreement, name="agreement"),
    path("results/splits/", agreement.splits, name="splits"),
    path("results/refresh/", agreement.refresh, name="refresh"),
    path("results/jobs/<uuid:job_id>/", agreement.job, name="job"),
    path("results/exports/", exports.exports, name="exports"),
    path("results/exports/<slug:kind>/", exports.export, name="export"),
    path("results/exports/<slug:kind>/manifest/", exports.manifest, name="manifest"),
]
