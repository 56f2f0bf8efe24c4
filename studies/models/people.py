from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from studies.models.study import Study


class User(AbstractUser):
    """An account: who can log in. What a person may do is told by their memberships.

    `language` is the one chosen for the account, "" where the browser's is to be followed.
    """

    language = models.CharField(max_length=16, blank=True)

    def __str__(self) -> str:
        return self.get_full_name() or self.username


class Role(models.TextChoices):
    ANNOTATOR = "annotator", _("annotator")
    ADJUDICATOR = "adjudicator", _("adjudicator")
    ADMIN = "admin", _("admin")
    LEAD = "lead", _("lead")


class Member(models.Model):
    """An identity within a study: whose labels, and with which roles.

    Identities that come from imported judgments have no account until an admin links one. A
    machine (an LLM judge, a click model) is an identity too; it never has an account or a role.
    """

    study = models.ForeignKey(Study, models.PROTECT, related_name="members")
    user = models.ForeignKey(
        User, models.PROTECT, related_name="memberships", null=True, blank=True
    )
    name = models.TextField(db_collation="C")
    roles = ArrayField(models.CharField(max_length=16, choices=Role), default=list, blank=True)
    is_machine = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="member_name_once_per_study"),
            models.UniqueConstraint(
                fields=["study", "user"],
                condition=Q(user__isnull=False),
                name="member_user_once_per_study",
            ),
            models.CheckConstraint(
                condition=Q(roles__contained_by=list(Role.values)), name="member_roles_known"
            ),
            models.CheckConstraint(
                condition=Q(is_machine=False) | Q(user__isnull=True, roles=[]),
                name="member_machine_has_no_account",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def has_role(self, *roles: Role) -> bool:
        return self.is_active and any(role.value in self.roles for role in roles)
