"""The one gate to a study.

A page asks for the study together with the roles it is meant for. A stranger, and a member
without one of the roles, get the same 404 as an address that does not exist.
"""

from dataclasses import dataclass

from django.http import Http404, HttpRequest

from studies.models import Member, Role, Study, User


@dataclass(frozen=True, slots=True)
class StudyAccess:
    study: Study
    member: Member
    user: User


def get_user(request: HttpRequest) -> User:
    """The account that is logged in. Raises Http404 where nobody is."""
    if not isinstance(request.user, User):
        # Never look up "no user": identities without an account would match it.
        raise Http404("Nobody is logged in.")
    return request.user


def get_study_for_role(request: HttpRequest, slug: str, *roles: Role) -> StudyAccess:
    """Return the study and the caller's membership, which has at least one of `roles`
    (any role at all where none is named). Raises Http404 for everybody else."""
    user = get_user(request)
    member = (
        Member.objects.select_related("study", "user")
        .filter(study__slug=slug, user=user, is_active=True)
        .first()
    )
    if member is None or not member.has_role(*(roles or tuple(Role))):
        raise Http404("No such study for this person.")
    access = StudyAccess(study=member.study, member=member, user=user)
    # Kept for the navigation, which then needs no query of its own.
    request.study_access = access  # type: ignore[attr-defined]
    return access
