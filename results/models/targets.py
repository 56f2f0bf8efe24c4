from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from studies.models import Study


class AgreementTarget(models.Model):
    """What the agreement of every two annotators of a study is to reach."""

    class Weights(models.TextChoices):
        NOMINAL = "nominal", _("nominal κ")
        LINEAR = "linear", _("linearly weighted κ")
        QUADRATIC = "quadratic", _("quadratically weighted κ")

    study = models.OneToOneField(Study, models.PROTECT, related_name="agreement_target")
    weights = models.CharField(max_length=16, choices=Weights, default=Weights.QUADRATIC)
    at_least = models.DecimalField(
        max_digits=3,
        decimal_places=2,
        default=0.7,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(at_least__gte=0, at_least__lte=1), name="target_is_a_kappa"
            ),
            models.CheckConstraint(
                condition=Q(weights__in=["nominal", "linear", "quadratic"]),
                name="target_weights_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.weights} {self.at_least}"
