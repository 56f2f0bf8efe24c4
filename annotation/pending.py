"""A label that arrives after its session has expired waits in the new session for the login.

The signed token in it names the annotator, so a label typed by one person is never recorded for
another who logs in at the same browser.
"""

from django.http import HttpRequest, QueryDict

SESSION_KEY = "pending-label"


def keep_label(request: HttpRequest) -> None:
    request.session[SESSION_KEY] = request.POST.urlencode()


def take_label(request: HttpRequest) -> QueryDict | None:
    """Return the waiting label's form data, once."""
    waiting = request.session.pop(SESSION_KEY, None)
    return QueryDict(waiting) if waiting else None
