"""The form of the import page."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.models import Round, Study
from studies.services.import_drafts import ImportOptions

DEEPEST = 1000


class FilesInput(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of files; empty ones too, so that the report names what is wrong with them."""

    widget = FilesInput

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, allow_empty_file=True, **kwargs)

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[Any]]:
        files = data if isinstance(data, (list, tuple)) else [data]
        return [super(FilesField, self).clean(file, initial) for file in files if file]


class UploadForm(forms.Form):
    study_files = FilesField(
        label=gettext_lazy("Files of the study, or one zip of them"),
        help_text=gettext_lazy(
            "Queries, documents, images, a pool, control pairs, rubrics: told apart by the names "
            "that stand below."
        ),
    )
    runs = FilesField(
        label=gettext_lazy("Runs"),
        help_text=gettext_lazy("TREC runs. The name of the file becomes the name of the run."),
    )
    depth = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=DEEPEST,
        label=gettext_lazy("A deeper pool"),
    )
    judgments = forms.FileField(
        required=False,
        allow_empty_file=True,
        label=gettext_lazy("Labels"),
        help_text=gettext_lazy("CSV or TREC qrels. Their names become identities, not accounts."),
    )
    annotator = forms.CharField(
        required=False,
        max_length=150,
        label=gettext_lazy("Whose labels, if the file does not say"),
    )
    round = forms.ModelChoiceField(
        queryset=Round.objects.none(),
        required=False,
        to_field_name="name",
        empty_label=gettext_lazy("the newest main round that is open"),
        label=gettext_lazy("Into the round"),
    )
    machine = forms.BooleanField(
        required=False, label=gettext_lazy("The annotators are machines and fill no place")
    )
    extend_pool = forms.BooleanField(
        required=False, label=gettext_lazy("Add pairs that the pool lacks")
    )
    annotator_from_iteration = forms.BooleanField(
        required=False, label=gettext_lazy("The second column of the qrels names the annotator")
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        # A field with choices of models.
        self.fields["round"].queryset = study.rounds.all()  # type: ignore[attr-defined]
        if study.depth:
            sentence = _("The pool takes the first %(depth)d of each run.")
            self.fields["depth"].help_text = sentence % {"depth": study.depth}
        else:
            self.fields["depth"].label = _("Depth of the pool")
            self.fields["depth"].help_text = _("How many of each run's first are judged; else 5.")

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        depth = found.get("depth")
        if depth is not None and depth <= (self.study.depth or 0):
            sentence = _("The pool is as deep as that already; pairs are never taken away.")
            self.add_error("depth", sentence)
        if found.get("annotator") and found.get("annotator_from_iteration"):
            sentence = _("Either the file names the annotators, or you do.")
            self.add_error("annotator", sentence)
        has_files = any(found.get(name) for name in ("study_files", "runs", "judgments"))
        if not self.errors and not has_files and depth is None:
            self.add_error(None, _("Choose at least one file."))
        return found

    @property
    def uploads(self) -> list[tuple[str, UploadedFile[Any]]]:
        """Each file with its kind, as the draft keeps it."""
        found = self.cleaned_data
        uploads = [("study", file) for file in found["study_files"]]
        uploads += [("run", file) for file in found["runs"]]
        if found["judgments"] is not None:
            uploads.append(("judgments", found["judgments"]))
        return uploads

    @property
    def options(self) -> ImportOptions:
        found = self.cleaned_data
        return ImportOptions(
            annotator=found["annotator"],
            round_name=found["round"].name if found["round"] else "",
            machine=found["machine"],
            extend_pool=found["extend_pool"],
            annotator_from_iteration=found["annotator_from_iteration"],
            depth=found["depth"],
        )
