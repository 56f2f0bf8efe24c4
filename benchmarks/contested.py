"""The queue of contested pairs in a study of 100,000 pairs: page, counts, next pair."""

from collections.abc import Iterator

from django.db import connection

from benchmarks.measuring import Measurement, best_of
from benchmarks.scratch import make_scratch_study
from results.selectors.contested import Wanted, count_pairs, find_candidates, list_pairs
from results.services.outcomes import update_outcomes
from studies.models import Member

# The scratch study is written with triggers off; these rows are what they would have written.
NOTE_CHANGES = """
INSERT INTO results_changedpair (pair_id, study_id)
SELECT id, study_id FROM studies_pair WHERE study_id = %(study)s
"""


def measure() -> Iterator[Measurement]:
    study = make_scratch_study(queries=5_000, depth=20).study
    with connection.cursor() as cursor:
        cursor.execute(NOTE_CHANGES, {"study": study.pk})
    seconds, _ = best_of(lambda: update_outcomes(study), repeats=1)
    yield Measurement("contested: outcomes of all pairs", "100,000 pairs", seconds)
    member = Member.objects.create(study=study, name="ada")
    works = {
        "contested: first page of 50": lambda: list_pairs(study, Wanted(), limit=50),
        "contested: page 100": lambda: list_pairs(study, Wanted(), limit=50, offset=4950),
        "contested: one class": lambda: list_pairs(
            study, Wanted(query_class="factual", kind="tie"), limit=50
        ),
        "contested: counts": lambda: count_pairs(study, Wanted()),
        "contested: next pair": lambda: find_candidates(study, member, Wanted()),
    }
    for name, work in works.items():
        seconds, _ = best_of(work)
        yield Measurement(name, "100,000 pairs", seconds)
