"""What follows from logging in and out, whichever page does it."""

import logging
from typing import Any

from axes.signals import user_locked_out
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest

from studies.models import LoginSession, User
from studies.services.sessions import record_login

logger = logging.getLogger(__name__)


@receiver(user_logged_in)
def remember_login(request: HttpRequest, user: User, **kwargs: Any) -> None:
    record_login(request=request, user=user)


@receiver(user_logged_out)
def forget_login(request: HttpRequest, user: User | None, **kwargs: Any) -> None:
    LoginSession.objects.filter(session_key=request.session.session_key).delete()


@receiver(user_locked_out)
def tell_lock(**kwargs: Any) -> None:
    """A line of the server's log, without the name and the address: those are in the database."""
    logger.warning("An account was locked out for a while after too many failed logins.")
