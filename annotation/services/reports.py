"""Word from annotators that a document is not as it should be."""

from django.db import transaction

from annotation.models import ProblemReport
from studies.models import Member, Pair
from studies.services.log import record_action


@transaction.atomic
def report_problem(*, pair: Pair, annotator: Member, kind: str, note: str) -> ProblemReport:
    """Record what is wrong with the pair's document; the same report again adds nothing."""
    report, is_new = ProblemReport.objects.get_or_create(
        pair=pair, annotator=annotator, kind=kind, defaults={"note": note}
    )
    if is_new:
        record_action(
            annotator.study,
            "document.reported",
            user=annotator.user,
            member=annotator,
            data={
                "query_id": pair.query.external_id,
                "doc_id": pair.document.external_id,
                "kind": kind,
                "note": note,
            },
        )
    return report
