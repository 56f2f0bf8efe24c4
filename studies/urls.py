from django.urls import path

from studies import views

app_name = "studies"

urlpatterns = [
    path("", views.index, name="index"),
    path("me/", views.me, name="me"),
    path("me/name/", views.change_name, name="name"),
    path("me/language/", views.change_language, name="language"),
    path("me/password/", views.change_password, name="password"),
    path("me/sessions/end/", views.end_others, name="end-others"),
    path("me/sessions/<uuid:session_id>/end/", views.end, name="end-session"),
    path("join/<str:token>/", views.join, name="join"),
    path("studies/new/", views.new_study, name="new"),
    path("studies/<slug:slug>/", views.study, name="study"),
    path("studies/<slug:slug>/settings/", views.settings, name="settings"),
    path("studies/<slug:slug>/import/", views.import_files, name="import"),
    path("studies/<slug:slug>/import/<uuid:draft_id>/", views.import_draft, name="import-draft"),
    path(
        "studies/<slug:slug>/import/<uuid:draft_id>/confirm/",
        views.confirm_import,
        name="import-confirm",
    ),
    path(
        "studies/<slug:slug>/import/<uuid:draft_id>/retry/",
        views.retry_import,
        name="import-retry",
    ),
    path(
        "studies/<slug:slug>/import/<uuid:draft_id>/discard/",
        views.discard_import,
        name="import-discard",
    ),
    path("studies/<slug:slug>/classes/", views.classes, name="classes"),
    path("studies/<slug:slug>/classes/new/", views.new_class, name="new-class"),
    path("studies/<slug:slug>/classes/weigh/", views.weigh, name="weigh-class"),
    path("studies/<slug:slug>/classes/assign/", views.assign, name="assign"),
    path("studies/<slug:slug>/classes/rules/", views.rules, name="class-rules"),
    path("studies/<slug:slug>/people/", views.people, name="people"),
    path("studies/<slug:slug>/people/invite/", views.invite, name="invite"),
    path("studies/<slug:slug>/people/roles/", views.roles, name="roles"),
    path("studies/<slug:slug>/people/activity/", views.activity, name="activity"),
    path("studies/<slug:slug>/people/link/", views.link, name="link"),
    path(
        "studies/<slug:slug>/people/invitations/<uuid:invitation_id>/revoke/",
        views.revoke,
        name="revoke",
    ),
]
