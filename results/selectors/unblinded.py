"""Labels that were not given blind: they count, and are told beside the numbers.

A label is not blind when its annotator gave or revised it after they could read others' labels of
its round (see `studies.services.unblinding`). Told when it is read; no label holds it.
"""

from django.db import connection

from results.selectors.labels import select_current_labels
from studies.models import Member, Study, Unblinding

# Beside a judgment `j`: the join, and whether the label is blind.
JOIN_UNBLINDING = """
LEFT JOIN studies_unblinding u ON u.member_id = j.annotator_id AND u.round_id = j.round_id
"""
IS_BLIND = "(u.at IS NULL OR coalesce(j.revised_at, j.judged_at) < u.at)"

COUNT_CURRENT = f"""
WITH {select_current_labels()}
SELECT count(*) FROM current_labels l JOIN annotation_judgment j ON j.id = l.id
{JOIN_UNBLINDING}
WHERE NOT {IS_BLIND}
"""  # noqa: S608 - put together from constants


def count_unblinded(study: Study, annotator: Member | None = None) -> int:
    """How many current labels, unsure ones among them, are not blind: people's, or those of
    `annotator`."""
    if not Unblinding.objects.filter(round__study=study).exists():
        return 0
    parameters = {"study": study.pk, "annotator": annotator.pk if annotator else None}
    with connection.cursor() as cursor:
        cursor.execute(COUNT_CURRENT, parameters)
        return int(cursor.fetchone()[0])
