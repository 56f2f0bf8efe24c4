"""The links at the top of a study's pages, by what the person may open there."""

from dataclasses import dataclass
from functools import partial

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from studies.access import StudyAccess
from studies.models import Role


@dataclass(frozen=True, slots=True)
class NavLink:
    label: str
    url: str
    is_current: bool


def navigation(request: HttpRequest) -> dict[str, object]:
    """Context processor: `nav` and `access` on pages that went through the gate of a study."""
    access: StudyAccess | None = getattr(request, "study_access", None)
    if access is None:
        return {}
    return {"access": access, "nav": SimpleLazyObject(partial(list_links, request, access))}


def list_links(request: HttpRequest, access: StudyAccess) -> list[NavLink]:
    member, slug = access.member, access.study.slug
    pages: list[tuple[str, str]] = [("studies:study", _("Study"))]
    if member.has_role(Role.ANNOTATOR):
        pages += [("annotation:judge", _("Judge")), ("annotation:labels", _("My labels"))]
    pages.append(("rubric:page", _("Rubric")))
    if member.has_role(Role.ADJUDICATOR):
        pages += [("results:adjudicate", _("Adjudicate"))]
    if member.has_role(Role.LEAD, Role.ADMIN):
        pages.append(("annotation:progress", _("Progress")))
        pages += [("results:overview", _("Results")), ("results:exports", _("Exports"))]
    if member.has_role(Role.ADMIN):
        pages += [
            ("studies:people", _("People")),
            ("studies:import", _("Import")),
            ("studies:settings", _("Settings")),
        ]
    here = request.resolver_match.view_name if request.resolver_match else ""
    return [NavLink(label, reverse(name, args=[slug]), name == here) for name, label in pages]
