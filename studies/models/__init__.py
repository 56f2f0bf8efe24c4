"""What is judged and by whom."""

from studies.models.access import Invitation, LoginSession
from studies.models.drafts import RubricDraft
from studies.models.imports import ImportDraft
from studies.models.jobs import Job
from studies.models.log import Action
from studies.models.materials import Document, DocumentText, Query, QueryClass
from studies.models.people import Member, Role, User
from studies.models.pools import ControlPair, Pair, Ranking, Run
from studies.models.rounds import Quota, Round, RoundQuery, Unblinding
from studies.models.rubrics import Clause, Dimension, EdgeCase, Grade, RubricVersion
from studies.models.study import Study

__all__ = [
    "Action",
    "Clause",
    "ControlPair",
    "Dimension",
    "Document",
    "DocumentText",
    "EdgeCase",
    "Grade",
    "ImportDraft",
    "Invitation",
    "Job",
    "LoginSession",
    "Member",
    "Pair",
    "Query",
    "QueryClass",
    "Quota",
    "Ranking",
    "Role",
    "Round",
    "RoundQuery",
    "RubricDraft",
    "RubricVersion",
    "Run",
    "Study",
    "Unblinding",
    "User",
]
