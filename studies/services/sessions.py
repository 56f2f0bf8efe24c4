"""Where an account is logged in, and ending it."""

from axes.helpers import get_client_ip_address
from django.contrib.auth import update_session_auth_hash
from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from studies.models import LoginSession, User
from studies.services.log import record_action

BROWSER_LENGTH = 300


@transaction.atomic
def record_login(*, request: HttpRequest, user: User) -> None:
    """Remember the browser, and tell the log of each study that the person has come."""
    key = request.session.session_key
    if key is None:
        return
    forget_dead_sessions(user)
    LoginSession.objects.update_or_create(
        session_key=key,
        defaults={
            "user": user,
            "browser": request.META.get("HTTP_USER_AGENT", "")[:BROWSER_LENGTH],
            "address": get_client_ip_address(request),
        },
    )
    for member in user.memberships.select_related("study").filter(is_active=True):
        record_action(member.study, "member.logged_in", user=user, member=member)


def list_sessions(user: User) -> list[LoginSession]:
    """Where the account is logged in now, latest first."""
    return list(user.login_sessions.filter(session_key__in=list_live_keys(user)))


def list_live_keys(user: User) -> list[str]:
    own = user.login_sessions.values("session_key")
    live = Session.objects.filter(session_key__in=own, expire_date__gt=timezone.now())
    return list(live.values_list("session_key", flat=True))


def forget_dead_sessions(user: User) -> None:
    user.login_sessions.exclude(session_key__in=list_live_keys(user)).delete()


@transaction.atomic
def end_session(session: LoginSession) -> None:
    """Log that browser out."""
    Session.objects.filter(session_key=session.session_key).delete()
    session.delete()


@transaction.atomic
def end_other_sessions(*, user: User, session_key: str | None) -> int:
    """Log the account out everywhere but in the session named; returns how many were ended."""
    others = user.login_sessions.exclude(session_key=session_key)
    Session.objects.filter(session_key__in=others.values("session_key")).delete()
    return others.delete()[0]


@transaction.atomic
def renew_after_password_change(*, request: HttpRequest, user: User) -> None:
    """Stay logged in here, under a new session key, and nowhere else."""
    old_key = request.session.session_key
    update_session_auth_hash(request, user)
    new_key = request.session.session_key
    if new_key is not None:
        user.login_sessions.filter(session_key=old_key).update(session_key=new_key)
    end_other_sessions(user=user, session_key=new_key)
