from studies.views.pages import index, study

__all__ = ["index", "study"]
