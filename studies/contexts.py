"""What the study's front page and the list of studies show."""

from collections.abc import Sequence
from dataclasses import dataclass

from studies import selectors
from studies.models import Member, Role, Round, Study


@dataclass(frozen=True, slots=True)
class StudyCounts:
    """Size of a study, for those who run it; judges get none of it."""

    queries: int
    documents: int
    pairs: int
    runs: int
    rounds: Sequence[str]
    to_come: Sequence[Round]


@dataclass(frozen=True, slots=True)
class Membership:
    study: Study
    roles: Sequence[str]
    is_annotator: bool
    is_adjudicator: bool
    is_in_charge: bool
    is_admin: bool


def show_membership(member: Member) -> Membership:
    return Membership(
        study=member.study,
        roles=[str(Role(role).label) for role in member.roles],
        is_annotator=member.has_role(Role.ANNOTATOR),
        is_adjudicator=member.has_role(Role.ADJUDICATOR),
        is_in_charge=member.has_role(Role.LEAD, Role.ADMIN),
        is_admin=member.has_role(Role.ADMIN),
    )


def count_study(study: Study) -> StudyCounts:
    return StudyCounts(
        queries=study.queries.count(),
        documents=study.documents.count(),
        pairs=study.pairs.count(),
        runs=study.runs.count(),
        rounds=[round.name for round in selectors.list_open_rounds(study)],
        to_come=list(selectors.list_rounds_to_come(study)),
    )
