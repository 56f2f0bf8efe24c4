"""The gate to judging: the annotator's own membership, and through it their own things."""

import uuid

from django.http import Http404, HttpRequest

from annotation import selectors
from annotation.models import Judgment
from studies.access import get_study_for_role
from studies.models import Member, Pair, Role


def get_annotator(request: HttpRequest, slug: str) -> Member:
    """The caller as annotator of the study. Raises Http404 for everybody else."""
    return get_study_for_role(request, slug, Role.ANNOTATOR).member


def get_own_label(annotator: Member, judgment_id: uuid.UUID) -> Judgment:
    judgment = selectors.get_own_label(annotator, judgment_id)
    if judgment is None:
        raise Http404("No such label of this person.")
    return judgment


def get_held_pair(annotator: Member, pair_id: uuid.UUID) -> Pair:
    """A pair of a query that the annotator holds or has held. Raises Http404 otherwise."""
    pair = (
        Pair.objects.filter(
            public_id=pair_id,
            study=annotator.study_id,
            query__round_queries__claims__annotator=annotator,
        )
        .select_related("document__body")
        .first()
    )
    if pair is None:
        raise Http404("No such pair for this person.")
    return pair
