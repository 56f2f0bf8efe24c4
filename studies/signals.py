"""What follows from logging in and out, whichever page does it."""

from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest

from studies.models import LoginSession, User
from studies.services.sessions import record_login


@receiver(user_logged_in)
def remember_login(request: HttpRequest, user: User, **kwargs: Any) -> None:
    record_login(request=request, user=user)


@receiver(user_logged_out)
def forget_login(request: HttpRequest, user: User | None, **kwargs: Any) -> None:
    LoginSession.objects.filter(session_key=request.session.session_key).delete()
