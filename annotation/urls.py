from django.urls import path

from annotation import views

app_name = "annotation"

urlpatterns = [
    path("judge/", views.judge, name="judge"),
    path("judge/undo/", views.undo, name="undo"),
    path("judge/rubric/", views.confirm_rubric, name="confirm-rubric"),
    path("judge/report/", views.report_problem, name="report-problem"),
    path("judge/images/<uuid:pair_id>/", views.image, name="image"),
    path("progress/", views.progress, name="progress"),
    path("progress/release/", views.release, name="release"),
    path("progress/requeue/", views.requeue, name="requeue"),
    path("plan/", views.plan, name="plan"),
    path("labels/", views.labels, name="labels"),
    path("labels/<uuid:judgment_id>/", views.revise, name="revise"),
]
