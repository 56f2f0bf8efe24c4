"""What the database holds of labels carried to a later rubric version."""

import uuid

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import CarriedLabel, Judgment
from annotation.services.judgments import Label, describe_state, revise_judgment
from annotation.tokens import ShownPair
from studies.models import RubricVersion
from tests import factories as make
from tests.cast import Cast


def carry(label: Judgment, version: RubricVersion) -> CarriedLabel:
    with transaction.atomic():
        return CarriedLabel.objects.create(judgment=label, rubric_version=version)


@pytest.fixture
def given(cast: Cast) -> Judgment:
    return make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1, decided_by="recency")


def test_label_is_carried_to_a_later_version_once(cast: Cast, given: Judgment) -> None:
    later = make.make_rubric(cast.study)
    carry(given, later)
    with pytest.raises(IntegrityError, match="carried_once_per_version"):
        carry(given, later)


def test_label_is_not_carried_backwards_to_drafts_or_elsewhere(cast: Cast, given: Judgment) -> None:
    draft = make.make_rubric(cast.study, publish=False)
    elsewhere = make.make_rubric(cast.other_study, number=5)
    for version in (cast.rubric, draft, elsewhere):
        with pytest.raises(IntegrityError, match="not carried to a later"):
            carry(given, version)


def test_label_is_not_carried_where_its_grade_or_dimension_is_missing(
    cast: Cast, given: Judgment
) -> None:
    without_grade = make.make_rubric(cast.study, grades={0: "irrelevant", 2: "answers"})
    without_dimension = make.make_rubric(cast.study, dimensions=("answerability",))
    for version in (without_grade, without_dimension):
        with pytest.raises(IntegrityError, match="lacks the grade or dimension"):
            carry(given, version)


def test_carried_label_never_changes(cast: Cast, given: Judgment) -> None:
    carried = carry(given, make.make_rubric(cast.study))
    carried.why = CarriedLabel.Why.KEPT
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        carried.save()


def test_revised_label_is_no_longer_carried(cast: Cast, given: Judgment) -> None:
    carry(given, make.make_rubric(cast.study))
    shown = ShownPair(
        annotator_id=cast.ana.pk,
        round_id=cast.main.pk,
        rubric_version_id=cast.rubric.pk,
        pair_id=cast.pairs[0].public_id,
        shown_at=timezone.now(),
        judgment_id=str(given.public_id),
        state=describe_state(given),
    )
    outcome = revise_judgment(
        shown=shown, annotator=cast.ana, label=Label(2, "recency"), key=uuid.uuid4()
    )
    assert outcome.kind == "recorded"
    assert not CarriedLabel.objects.exists()
