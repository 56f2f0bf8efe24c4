"""Pages that belong to no room: health and errors."""

import logging
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.views import LoginView
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.kept_forms import find_waiting_address, show_typed_again
from studies.http import ExplainedBadRequest

logger = logging.getLogger(__name__)


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 when database, migrations and broker are well, 503 with what is not."""
    checks = {
        "database": database_is_well,
        "migrations": migrations_are_done,
        "broker": broker_is_well,
    }
    state = {name: is_well(name, check) for name, check in checks.items()}
    return JsonResponse(state, status=200 if all(state.values()) else 503)


def is_well(name: str, check: Callable[[], bool]) -> bool:
    """What a check says; one that breaks, for whatever reason, says that it is not well."""
    try:
        return check()
    except Exception:
        logger.exception("Health: %s is not well.", name)
        return False


def database_is_well() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return True


def migrations_are_done() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def broker_is_well() -> bool:
    from config.celery import app

    with app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, timeout=2)
    return True


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    reason = str(exception) if isinstance(exception, ExplainedBadRequest) else ""
    return render(request, "400.html", {"reason": reason}, status=400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "403.html", status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Rendered without the request: what broke may be what the context needs."""
    return HttpResponse(render(None, "500.html").content, status=500)


# The reasons that Django names when it is the address, not the token, that does not fit.
ADDRESS_REASONS = ("Origin checking failed", "Referer checking failed")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Where only the token is out of date, show what was typed again; where the address does not
    fit, say which setting to look at: behind a proxy this is nearly always BASE_URL."""
    is_address = reason.startswith(ADDRESS_REASONS)
    if not is_address and (answer := show_typed_again(request)):
        return answer
    context = {
        "is_address": is_address,
        "origin": request.headers.get("Origin") or request.headers.get("Referer", ""),
        "base_url": settings.BASE_URL.origin,
    }
    return render(request, "403_csrf.html", context, status=403)


class Login(LoginView):
    """Leads on to where a form waits for who logs in, if one does."""

    redirect_authenticated_user = True

    def get_default_redirect_url(self) -> str:
        return find_waiting_address(self.request) or super().get_default_redirect_url()
