from studies.views.account import (
    change_language,
    change_name,
    change_password,
    end,
    end_others,
    me,
    set_language,
)
from studies.views.joining import join
from studies.views.pages import index, study
from studies.views.people import activity, invite, link, people, revoke, roles
from studies.views.settings import new_study, settings

__all__ = [
    "activity",
    "change_language",
    "change_name",
    "change_password",
    "end",
    "end_others",
    "index",
    "invite",
    "join",
    "link",
    "me",
    "new_study",
    "people",
    "revoke",
    "roles",
    "set_language",
    "settings",
    "study",
]
