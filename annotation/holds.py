"""What counts as holding a query."""

from django.db.models import Q
from django.utils import timezone

from annotation.models import Claim


def has_ended() -> Q:
    """Claims that hold their query no longer: lapsed, or run out while nobody has noticed yet."""
    return Q(state=Claim.State.LAPSED) | Q(state=Claim.State.HELD, expires_at__lte=timezone.now())
