from django.db import models

from studies.models.people import Member
from studies.models.rubrics import RubricVersion
from studies.models.study import Study


class RubricDraft(models.Model):
    """The next rubric version of a study while it is written. It may be wrong in every way.

    `content` is what the editor's form holds, as `studies.rubric_drafts` lays it out. `edition`
    grows with each save, so that a form can tell that another one was saved meanwhile.
    """

    study = models.OneToOneField(
        Study, models.CASCADE, primary_key=True, related_name="rubric_draft"
    )
    based_on = models.ForeignKey(
        RubricVersion, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    content = models.JSONField(default=dict)
    edition = models.PositiveIntegerField(default=1)
    saved_by = models.ForeignKey(Member, models.PROTECT, null=True, blank=True, related_name="+")
    saved_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"rubric draft of {self.study_id}"
