"""The gate to results: leads and admins of the study."""

import uuid

from django.http import Http404, HttpRequest, QueryDict

from results.selectors.final_labels import get_pair, has_labelled
from results.selectors.reports import get_job
from results.services.scopes import Scope
from studies.access import StudyAccess, get_study_for_role
from studies.models import Job, Pair, Role
from studies.numbers import read_number


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
    if not access.study.settle_own_pairs and has_labelled(access.member, pair):
        raise Http404("Not for who has labelled it.")
    return pair


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
    """The scope an address names by `round` and `rubric`. Raises Http404 for no number."""
    number = read_number(query.get("rubric", ""))
    if query.get("rubric") and number is None:
        raise Http404("Rubric versions are numbers.")
    return Scope(round=query.get("round") or None, rubric=number)
