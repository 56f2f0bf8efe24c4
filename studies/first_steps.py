"""What a study still lacks to be judged, computed from what is there."""

from dataclasses import dataclass, replace

from django.utils import timezone

from studies.models import Invitation, Role, Round, RubricVersion, Study
from studies.selectors import find_rubric_in_force, is_everything_closed
from studies.services.rubrics import same_rubric, starter_rubric


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """How far the study has come: numbers of what is there, and where something is done.

    `rubric` is the number of the newest published version, None without one; `is_starter` tells
    that it is the starter word for word. `annotators` can log in, `needed` of them make a query
    fully judged, `names` are identities of imported labels, `invited` are open invitations of
    annotators. `has_pairs_to_judge` tells whether any round, open or not, holds queries.
    """

    queries: int
    documents: int
    pairs: int
    rubric: int | None
    is_starter: bool
    annotators: int
    needed: int
    names: int
    invited: int
    has_pairs_to_judge: bool

    @property
    def has_materials(self) -> bool:
        return bool(self.queries and self.documents and self.pairs)

    @property
    def has_rubric(self) -> bool:
        return self.rubric is not None

    @property
    def has_people(self) -> bool:
        """Labels that were imported need nobody who logs in."""
        return self.annotators >= self.needed or self.names > 0

    @property
    def are_done(self) -> bool:
        return (
            self.has_materials and self.has_rubric and self.has_people and self.has_pairs_to_judge
        )


def find_first_steps(study: Study) -> FirstSteps | None:
    """What is there and what is missing; None once nothing is, or when judging is over."""
    if is_everything_closed(study):
        return None
    version = find_rubric_in_force(study)
    members = study.members.filter(is_active=True, is_machine=False)
    steps = FirstSteps(
        queries=study.queries.count(),
        documents=study.documents.count(),
        pairs=study.pairs.count(),
        rubric=version.number if version else None,
        is_starter=False,
        annotators=members.filter(user__isnull=False, roles__contains=[Role.ANNOTATOR]).count(),
        needed=study.annotators_per_query,
        names=members.filter(user=None).count(),
        invited=count_invited(study),
        has_pairs_to_judge=Round.objects.filter(
            study=study, round_queries__query__pairs__isnull=False
        ).exists(),
    )
    if steps.are_done:
        return None
    return replace(steps, is_starter=is_starter(version))


def is_starter(version: RubricVersion | None) -> bool:
    return version is not None and same_rubric(version, starter_rubric())


def count_invited(study: Study) -> int:
    return Invitation.objects.filter(
        study=study,
        roles__contains=[Role.ANNOTATOR],
        accepted_at=None,
        revoked_at=None,
        expires_at__gt=timezone.now(),
    ).count()
