from django.urls import include, path

from benchmarks.bare.views import step

urlpatterns = [path("bare/", step), path("", include("config.urls"))]
