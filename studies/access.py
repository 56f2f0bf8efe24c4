"""The one gate to a study.

A page asks for the study together with the roles it is meant for. A stranger, and a member
without one of the roles, get the same 404 as an address that does not exist.
"""

from dataclasses import dataclass, field

from django.http import Http404, HttpRequest

from studies.models import Member, Role, Study, User
from studies.rows import Columns, build_parts, prepared_cursor

# Asked for by every page of a study, so kept as SQL (see studies.rows).
MEMBER, STUDY = Columns(Member), Columns(Study)
FIND_MEMBER = f"""
SELECT {MEMBER.of("m")}, {STUDY.of("s")}
FROM studies_member m JOIN studies_study s ON s.id = m.study_id
WHERE s.slug = %s AND m.user_id = %s AND m.is_active
"""  # noqa: S608 (names of columns alone)


@dataclass(frozen=True, slots=True)
class StudyAccess:
    """Who asks for which study. `not_blind_in` is filled where others' labels are shown: names of
    rounds, not closed yet, that they judge no longer blind, which the page then tells them."""

    study: Study
    member: Member
    user: User
    not_blind_in: list[str] = field(default_factory=list)


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
    member = find_member(user, slug)
    if member is None or not member.has_role(*(roles or tuple(Role))):
        raise Http404("No such study for this person.")
    access = StudyAccess(study=member.study, member=member, user=user)
    # Kept for the navigation, which then needs no query of its own.
    request.study_access = access  # type: ignore[attr-defined]  # a mark of our own on the request
    return access


def find_member(user: User, slug: str) -> Member | None:
    """The person's active membership of the study, with both of them, if there is one."""
    with prepared_cursor() as cursor:
        cursor.execute(FIND_MEMBER, [slug, user.pk])
        row = cursor.fetchone()
    if row is None:
        return None
    member, member.study = build_parts(row, MEMBER, STUDY)
    member.user = user
    return member
