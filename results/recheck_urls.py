from django.urls import path

from results.views import recheck

app_name = "recheck"

urlpatterns = [
    path("", recheck.recheck, name="page"),
    path("open/", recheck.open_round, name="open"),
    path("carry/", recheck.carry, name="carry"),
]
