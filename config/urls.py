"""Addresses. Studies, judging and results share the prefix of the study they belong to."""

from django.contrib.auth.views import LogoutView
from django.urls import include, path

from config import views
from studies.views import set_language

urlpatterns = [
    path("login/", views.Login.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("language/setlang/", set_language, name="set_language"),
    path("healthz", views.healthz, name="healthz"),
    path("", include("studies.urls")),
    path("studies/<slug:slug>/rubric/recheck/", include("results.recheck_urls")),
    path("studies/<slug:slug>/rubric/", include("studies.rubric_urls")),
    path("studies/<slug:slug>/", include("annotation.urls")),
    path("studies/<slug:slug>/", include("results.urls")),
]

handler400 = "config.views.bad_request"
handler403 = "config.views.forbidden"
handler404 = "config.views.not_found"
handler500 = "config.views.server_error"
