"""The blind collection: who holds which query, and who labelled what."""

from annotation.models.assignments import RoundAssignment
from annotation.models.carried import CarriedLabel
from annotation.models.changes import LabelChanges
from annotation.models.claims import Claim
from annotation.models.judgments import Judgment
from annotation.models.kept_forms import KeptForm
from annotation.models.reports import ProblemReport
from annotation.models.rubrics import RubricTold

__all__ = [
    "CarriedLabel",
    "Claim",
    "Judgment",
    "KeptForm",
    "LabelChanges",
    "ProblemReport",
    "RoundAssignment",
    "RubricTold",
]
