"""How people get in, and where they are logged in."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from studies.models.fields import PublicIdField
from studies.models.people import Member, Role, User
from studies.models.study import Study


class Invitation(models.Model):
    """A link by which one person joins a study. Only the hash of its token is kept.

    `identity` is the identity without account that the person becomes, if the link is for one.
    """

    public_id = PublicIdField()
    study = models.ForeignKey(Study, models.PROTECT, related_name="invitations")
    token_hash = models.CharField(max_length=64, unique=True)
    roles = ArrayField(models.CharField(max_length=16, choices=Role))
    identity = models.ForeignKey(
        Member, models.PROTECT, null=True, blank=True, related_name="invitations"
    )
    note = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        Member, models.PROTECT, null=True, blank=True, related_name="accepted_invitations"
    )

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(roles__contained_by=list(Role.values), roles__len__gte=1),
                name="invitation_roles_known",
            ),
            models.CheckConstraint(
                condition=Q(accepted_at__isnull=True, accepted_by__isnull=True)
                | Q(accepted_at__isnull=False, accepted_by__isnull=False, revoked_at__isnull=True),
                name="invitation_accepted_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"invitation to {self.study_id}"

    @property
    def state(self) -> str:
        """One of `accepted`, `revoked`, `expired`, `open`."""
        if self.accepted_at is not None:
            return "accepted"
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at <= timezone.now() else "open"


class LoginSession(models.Model):
    """A browser in which an account is logged in: what its owner needs to know it again."""

    public_id = PublicIdField()
    user = models.ForeignKey(User, models.CASCADE, related_name="login_sessions")
    session_key = models.CharField(max_length=40, unique=True)
    browser = models.CharField(max_length=300, blank=True)
    address = models.GenericIPAddressField(null=True, blank=True)
    started_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.user_id} since {self.started_at}"
