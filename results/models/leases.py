from django.db import models

from studies.models import Member, Pair


class Lease(models.Model):
    """Who is settling a pair at this moment, so that nobody else is led to it.

    It keeps two people from doing the same work; that no pair is settled twice unknowingly is
    kept by comparing what a form was shown with what is there when it arrives.
    """

    pair = models.OneToOneField(Pair, models.PROTECT, primary_key=True, related_name="lease")
    holder = models.ForeignKey(Member, models.PROTECT, related_name="leases")
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ["expires_at"]
        indexes = [models.Index(fields=["holder", "expires_at"], name="lease_of_holder")]

    def __str__(self) -> str:
        return f"{self.holder_id} holds {self.pair_id}"
