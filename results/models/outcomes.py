from django.db import models

from studies.models import Pair, Study


class PairOutcome(models.Model):
    """How the current labels of a pair stand to each other, kept beside the labels.

    The queue of contested pairs is read from here. `votes` and `outcomes` count labels without
    and with those that are unsure; `distance` is the number of steps of the scale between the
    lowest and the highest grade. Rows are made anew from the labels by
    `results.services.outcomes`, for pairs that `ChangedPair` names.
    """

    class Kind(models.TextChoices):
        TIE = "tie"
        SPLIT = "split"
        UNSURE = "unsure"
        AGREED = "agreed"
        NONE = "none"

    pair = models.OneToOneField(Pair, models.CASCADE, primary_key=True, related_name="outcome")
    study = models.ForeignKey(Study, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=8, choices=Kind)
    distance = models.PositiveSmallIntegerField()
    votes = models.PositiveIntegerField()
    outcomes = models.PositiveIntegerField()

    class Meta:
        ordering = ["pair"]
        indexes = [models.Index(fields=["study", "kind", "votes"], name="outcome_by_kind")]

    def __str__(self) -> str:
        return f"{self.kind} {self.pair_id}"


class ChangedPair(models.Model):
    """A pair whose labels have changed since its outcome was told. Triggers write it.

    One row for each change, never one for each pair: who changes a label then waits for nobody
    who reads, and a change made while an older one is read leaves its own row.
    """

    pair = models.ForeignKey(Pair, models.CASCADE, related_name="+")
    study = models.ForeignKey(Study, models.CASCADE, related_name="+")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"change of {self.pair_id}"
