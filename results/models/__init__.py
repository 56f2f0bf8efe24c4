"""What follows the collection: stored numbers, final labels, who is settling which pair."""

from results.models.calibration import CalibrationNote
from results.models.final_labels import Cause, Citation, FinalLabel
from results.models.leases import Lease
from results.models.outcomes import ChangedPair, PairOutcome
from results.models.proposals import ClauseProposal
from results.models.release import ExportAccount, ReleaseReport
from results.models.reports import AgreementReport, RevisionAccount
from results.models.targets import AgreementTarget

__all__ = [
    "AgreementReport",
    "AgreementTarget",
    "CalibrationNote",
    "Cause",
    "ChangedPair",
    "Citation",
    "ClauseProposal",
    "ExportAccount",
    "FinalLabel",
    "Lease",
    "PairOutcome",
    "ReleaseReport",
    "RevisionAccount",
]
