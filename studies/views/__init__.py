from studies.views.account import (
    change_language,
    change_name,
    change_password,
    end,
    end_others,
    me,
    set_language,
)
from studies.views.classes import assign, classes, new_class, rules, weigh
from studies.views.imports import (
    confirm_import,
    discard_import,
    import_draft,
    import_files,
    retry_import,
)
from studies.views.joining import join
from studies.views.pages import index, study
from studies.views.people import activity, invite, link, people, revoke, roles
from studies.views.settings import new_study, settings

__all__ = [
    "activity",
    "assign",
    "change_language",
    "change_name",
    "change_password",
    "classes",
    "confirm_import",
    "discard_import",
    "end",
    "end_others",
    "import_draft",
    "import_files",
    "index",
    "invite",
    "join",
    "link",
    "me",
    "new_class",
    "new_study",
    "people",
    "retry_import",
    "revoke",
    "roles",
    "rules",
    "set_language",
    "settings",
    "study",
    "weigh",
]
