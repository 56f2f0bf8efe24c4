from annotation.views.images import image
from annotation.views.judge import confirm_rubric, judge, report_problem, undo
from annotation.views.labels import labels, revise
from annotation.views.plan import plan
from annotation.views.progress import progress, release, requeue

__all__ = [
    "confirm_rubric",
    "image",
    "judge",
    "labels",
    "plan",
    "progress",
    "release",
    "report_problem",
    "requeue",
    "revise",
    "undo",
]
