"""The gate to results: leads and admins of the study."""

import uuid

from django.http import Http404, HttpRequest, QueryDict
from django.utils.translation import gettext as _

from results.selectors.final_labels import get_pair, has_labelled
from results.selectors.reports import get_job
from results.services.scopes import Scope
from studies.access import StudyAccess, get_study_for_role
from studies.http import ExplainedBadRequest
from studies.models import Job, Pair, Role, Round
from studies.numbers import read_number

LONGEST_KEY = 2000


def get_study_for_results(request: HttpRequest, slug: str) -> StudyAccess:
    """The study, for those who read its results. Raises Http404 for everybody else."""
    return get_study_for_role(request, slug, Role.LEAD, Role.ADMIN)


def get_study_for_adjudication(request: HttpRequest, slug: str) -> StudyAccess:
    """The study, for its adjudicators. Raises Http404 for everybody else."""
    return get_study_for_role(request, slug, Role.ADJUDICATOR)


def get_study_for_admin(request: HttpRequest, slug: str) -> StudyAccess:
    """The study, for its admins. Raises Http404 for everybody else."""
    return get_study_for_role(request, slug, Role.ADMIN)


def get_case_pair(access: StudyAccess, pair_id: uuid.UUID) -> Pair:
    """A pair that the adjudicator may settle: not one they have labelled, unless the study
    allows it. Raises Http404 otherwise."""
    pair = get_study_pair(access, pair_id)
    if not is_free_to_settle(access, pair):
        raise Http404("Not for who has labelled it.")
    return pair


def is_free_to_settle(access: StudyAccess, pair: Pair) -> bool:
    """Whether the pair is not the member's own: they have not labelled it, or the study allows
    settling those too."""
    return access.study.settle_own_pairs or not has_labelled(access.member, pair)


def get_study_pair(access: StudyAccess, pair_id: uuid.UUID) -> Pair:
    pair = get_pair(access.study, pair_id)
    if pair is None:
        raise Http404("No such pair in this study.")
    return pair


def get_results_job(access: StudyAccess, job_id: uuid.UUID) -> Job:
    job = get_job(access.study, job_id)
    if job is None:
        raise Http404("No such job in this study.")
    return job


def read_scope(query: QueryDict) -> Scope:
    """The scope an address names by `round` (several), `rubric`, `class`, `annotator` (several) and
    `controls`. Raises Http404 for a rubric that is no number, and ExplainedBadRequest for
    `controls` that is neither 0 nor 1 and for more names than a report can be filed under."""
    number, controls = read_number(query.get("rubric", "")), query.get("controls", "")
    if query.get("rubric") and number is None:
        raise Http404("Rubric versions are numbers.")
    if controls not in {"", "0", "1"}:
        raise ExplainedBadRequest(_("“controls” in the address is 1 (in) or 0 (out)."))
    first, *further = _list_names(query, "round") or [None]
    scope = Scope(
        round=first,
        rubric=number,
        further_rounds=tuple(sorted(name for name in further if name is not None)),
        query_class=query.get("class") or None,
        annotators=tuple(sorted(name for name in _list_names(query, "annotator") if name)),
        with_controls=controls == "1",
    )
    if len(scope.key) > LONGEST_KEY:
        raise ExplainedBadRequest(_("The address names more than one report can be of."))
    return scope


def get_scope(access: StudyAccess, query: QueryDict) -> Scope:
    """The scope an address names. Raises what `read_scope` and `refuse_open_calibration` raise."""
    scope = read_scope(query)
    refuse_open_calibration(access, scope.round, *scope.further_rounds)
    return scope


def refuse_open_calibration(access: StudyAccess, *names: str | None) -> None:
    """Raises ExplainedBadRequest where one of the rounds is a calibration that is still open: only
    its comparison shows its labels, and opening that closes it."""
    still_open = access.study.rounds.filter(
        name__in=[name for name in names if name is not None],
        kind=Round.Kind.CALIBRATION,
        closed_at__isnull=True,
    ).first()
    if still_open is not None:
        told = _(
            "The calibration round “%(name)s” is open: its numbers come once it is closed, which "
            "“Close and compare” under Results, Rounds does."
        )
        raise ExplainedBadRequest(told % {"name": still_open.name})


def _list_names(query: QueryDict, key: str) -> list[str | None]:
    """The different values of a key, without empty ones."""
    return list(dict.fromkeys(filter(None, query.getlist(key))))
