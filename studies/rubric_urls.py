from django.urls import path

from studies.views import rubrics

app_name = "rubric"

urlpatterns = [
    path("", rubrics.rubric, name="page"),
    path("<int:number>/", rubrics.rubric, name="version"),
    path("<int:number>/rubric.yaml", rubrics.download, name="download"),
    path("diff/", rubrics.diff, name="diff"),
    path("start/", rubrics.start, name="start"),
    path("draft/", rubrics.draft, name="draft"),
    path("upload/", rubrics.upload, name="upload"),
    path("publish/", rubrics.publish, name="publish"),
    path("discard/", rubrics.discard, name="discard"),
    path("switch/", rubrics.switch, name="switch"),
]
