from annotation.views.images import image
from annotation.views.judge import judge, report_problem, undo
from annotation.views.labels import labels, revise

__all__ = ["image", "judge", "labels", "report_problem", "revise", "undo"]
