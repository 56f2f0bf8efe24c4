"""Telling an annotator that they are to judge under another rubric version."""

from django.db import transaction

from annotation.models import Judgment, RubricTold
from studies.models import Member, Round, RubricVersion
from studies.selectors import list_open_rounds
from studies.services.log import record_action


def find_version_known(annotator: Member, round: Round, told: int | None) -> RubricVersion | None:
    """The version that the annotator knows, if the round is judged under another one.

    `told` is the key of the version that they were last told of. Who has not been told of any
    knows the version of their latest label, or, without a label, begins with the round's, which
    is kept from then on.
    """
    known = told or _begin(annotator, round).rubric_version_id
    return None if known == round.rubric_version_id else RubricVersion.objects.get(pk=known)


def _begin(annotator: Member, round: Round) -> RubricTold:
    latest = (
        Judgment.objects.filter(annotator=annotator, source=Judgment.Source.APP)
        .order_by("-pk")
        .values_list("rubric_version", flat=True)
        .first()
    )
    told, _ = RubricTold.objects.get_or_create(
        annotator=annotator, defaults={"rubric_version_id": latest or round.rubric_version_id}
    )
    return told


@transaction.atomic
def confirm_version_read(*, annotator: Member, number: int) -> bool:
    """Keep that the annotator has read what changed. False, and nothing kept, unless an open
    round is judged under the version: it may have changed again since."""
    rounds = list_open_rounds(annotator.study)
    version = RubricVersion.objects.filter(
        study=annotator.study_id,
        number=number,
        pk__in=[round.rubric_version_id for round in rounds],
    ).first()
    if version is None:
        return False
    RubricTold.objects.update_or_create(annotator=annotator, defaults={"rubric_version": version})
    record_action(
        annotator.study,
        "rubric.read",
        user=annotator.user,
        member=annotator,
        data={"number": number},
    )
    return True
