from django.db import models

from studies.models import Member


class KeptForm(models.Model):
    """What somebody had typed when it could not be taken: their session had ended, say.

    It waits in the browser it came from, which knows it by a random number, for the person the
    form was made for. `is_checked` when the browser was known to have sent it of the person's own
    will: only then may it be taken without being sent once more.
    """

    browser = models.UUIDField()
    owner = models.ForeignKey(Member, models.CASCADE, related_name="+")
    address = models.TextField()
    data = models.TextField()
    is_checked = models.BooleanField()
    kept_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["browser"], name="kept_form_of_browser")]

    def __str__(self) -> str:
        return f"{self.owner_id} at {self.address}"
