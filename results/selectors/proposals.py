"""Clauses that were asked for at adjudication and that no version has taken up yet."""

from collections import Counter

from django.db.models import Max, Q, QuerySet

from results.models import ClauseProposal
from studies.models import RubricVersion, Study


def list_proposals_since_publication(study: Study) -> QuerySet[ClauseProposal]:
    """Those made since the newest version was published, the oldest first: open ones and those
    that were declined, without those that were withdrawn with their draft."""
    published = RubricVersion.objects.filter(study=study).aggregate(at=Max("published_at"))["at"]
    proposals = ClauseProposal.objects.filter(
        Q(withdrawn_at__isnull=True) | Q(declined_by__isnull=False), pair__study=study
    ).select_related("pair__query__query_class", "pair__document", "by")
    return proposals.filter(at__gt=published) if published else proposals


def list_open_proposals(study: Study) -> QuerySet[ClauseProposal]:
    """Those of them that nobody has declined."""
    return list_proposals_since_publication(study).filter(withdrawn_at__isnull=True)


def count_open_proposals(study: Study) -> dict[str, int]:
    """How many there are by query class, "" for none."""
    names = list_open_proposals(study).values_list("pair__query__query_class__name", flat=True)
    return dict(Counter(name or "" for name in names))
