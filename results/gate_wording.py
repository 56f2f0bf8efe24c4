"""The lines of the release gate in words, and where each leads to its cause."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from results.gate import Finding
from results.wording import as_count, as_ratio, as_share

TITLES = {
    "queries": _("Enough judged queries in each key class"),
    "high_risk": _("Every split in a class of high risk is reviewed"),
    "ties": _("Ties are settled"),
    "holes": _("No hole is open"),
    "rubric": _("The rubric is fixed, and every label stands under it"),
    "stable": _("Agreement is stable over the last calibration rounds"),
    "targets": _("Every two annotators reach the study’s target"),
    "dropped": _("Few pairs were dropped"),
    "exports": _("Exports are free of ranking information"),
}
MEASURES = {"kappa": "κ", "alpha": "α", "split_rate": _("the split rate")}
COMPUTE = _("Nothing has been counted yet: compute the checklist.")
COMPUTE_ANEW = _(
    "Labels, final labels, the plan or the rubric have changed since this was counted: compute the "
    "checklist anew."
)

SENTENCES = {
    "not_measured": COMPUTE,
    "measured_before": COMPUTE_ANEW,
    "not_diagnosed": COMPUTE,
    "diagnosed_before": COMPUTE_ANEW,
    "enough": _("%(class)s: %(judged)s judged and decided of %(needed)s needed."),
    "too_few": _("%(class)s: %(judged)s judged and decided of %(needed)s needed."),
    "enough_in_all": _(
        "No class is of high risk or names a number of queries, so the whole study counts: "
        "%(judged)s judged and decided of %(needed)s needed."
    ),
    "too_few_in_all": _(
        "No class is of high risk or names a number of queries, so the whole study counts: "
        "%(judged)s judged and decided of %(needed)s needed."
    ),
    "no_high_risk": _("No class is marked as high risk."),
    "nothing_judged": _("Nothing is judged yet."),
    "splits_open": ngettext_lazy(
        "%(class)s: its one split has no final label.",
        "%(class)s: %(open)s of %(splits)s splits have no final label.",
        "number_of_splits",
    ),
    "splits_reviewed": ngettext_lazy(
        "%(class)s: its one split has a final label.",
        "%(class)s: all %(splits)s splits have a final label.",
        "number_of_splits",
    ),
    "ties_open": ngettext_lazy(
        "%(count)s tie has no final label; its query is withheld.",
        "%(count)s ties have no final label; their queries are withheld.",
        "number",
    ),
    "ties_settled": ngettext_lazy(
        "The one tie has a final label.",
        "All %(ties)s ties have a final label.",
        "number_of_ties",
    ),
    "no_ties": _("There is no tie."),
    "hole": _("The rubric is silent in the class %(class)s: more votes settle nothing there."),
    "no_hole": _("The diagnosis of the current labels finds none."),
    "no_class": _("The queries have no classes, so no hole can be looked for."),
    "too_little_labelled": ngettext_lazy(
        "%(class)s: %(splits)s of %(pairs)s pairs split, which is too little to tell. Have "
        "%(count)s more pair labelled by two people.",
        "%(class)s: %(splits)s of %(pairs)s pairs split, which is too little to tell. Have "
        "%(count)s more pairs labelled by two people.",
        "number",
    ),
    "too_little_elsewhere": ngettext_lazy(
        "%(class)s: %(splits)s of %(pairs)s pairs split, and there is too little to compare them "
        "with. Have %(count)s more pair of other classes labelled by as many people.",
        "%(class)s: %(splits)s of %(pairs)s pairs split, and there is too little to compare them "
        "with. Have %(count)s more pairs of other classes labelled by as many people.",
        "number",
    ),
    "readings_unknown": _(
        "%(class)s: %(splits)s of %(pairs)s pairs split, more than elsewhere, and too few of the "
        "splits are known to rest on one reading. Adjudicate them: their causes tell what this "
        "line cannot."
    ),
    "no_rubric": _("No version of the rubric is published."),
    "draft_open": _("A draft of the next version is being written."),
    "clauses_asked_for": ngettext_lazy(
        "%(class)s: adjudication asked for %(count)s clause that no version has yet.",
        "%(class)s: adjudication asked for %(count)s clauses that no version has yet.",
        "number",
    ),
    "round_under_another": _(
        "The round %(round)s is judged under rubric %(other)s, and the newest is %(number)s."
    ),
    "labels_outside": ngettext_lazy(
        "%(count)s label was given under an earlier version than %(version)s and not carried to "
        "it.",
        "%(count)s labels were given under an earlier version than %(version)s and not carried to "
        "it.",
        "number",
    ),
    "finals_concerned": ngettext_lazy(
        "%(count)s final label was decided under an earlier version, and rubric %(version)s "
        "concerns it.",
        "%(count)s final labels were decided under an earlier version, and rubric %(version)s "
        "concerns them.",
        "number",
    ),
    "rubric_fixed": ngettext_lazy(
        "Rubric %(number)s; %(carried)s label of an earlier version was carried to it explicitly.",
        "Rubric %(number)s; %(carried)s labels of earlier versions were carried to it explicitly.",
        "number_of_carried",
    ),
    "too_few_rounds": ngettext_lazy(
        "It takes two calibration rounds to see whether agreement is stable; there is %(rounds)s.",
        "It takes two calibration rounds to see whether agreement is stable; there are %(rounds)s.",
        "number_of_rounds",
    ),
    "round_not_measured": _("The round %(round)s has no numbers yet: compute the checklist."),
    "round_measured_before": _(
        "Labels have changed since the numbers of the round %(round)s: compute the checklist anew."
    ),
    "undefined": _("%(measure)s is undefined in %(from)s or in %(to)s."),
    "moved": _(
        "%(measure)s moved from %(before)s (%(from)s) to %(after)s (%(to)s), by more than "
        "%(limit)s."
    ),
    "steady": _("%(measure)s: %(before)s (%(from)s), then %(after)s (%(to)s), within %(limit)s."),
    "no_target": _("The study has set no target for κ."),
    "nobody_compared": _("No two people have labelled the same pair."),
    "target_missed": _("%(a)s × %(b)s: κ %(value)s, and %(at_least)s is asked."),
    "target_undefined": _("%(a)s × %(b)s: κ is undefined, and %(at_least)s is asked."),
    "targets_reached": _("The lowest κ is %(value)s (%(a)s × %(b)s); %(at_least)s is asked."),
    "nothing_decided": _("No pair is decided yet."),
    "dropped_few": _("%(dropped)s dropped, %(share)s of the decided pairs."),
    "dropped_many": _(
        "%(dropped)s dropped, %(share)s of the decided pairs. A set without its hardest pairs "
        "reports a recall that no system reproduces."
    ),
    "nothing_exported": _("Every query is withheld, so there is no line to look into."),
    "free_of_ranking": ngettext_lazy(
        "%(kind)s: %(lines)s line looked into; no column beside the label.",
        "%(kind)s: %(lines)s lines looked into; no column beside the labels, rows in the order of "
        "their ids.",
        "number_of_lines",
    ),
    "ranking_by_columns": _("%(kind)s, line %(line)s: columns beside query, document and grade."),
    "ranking_by_iteration": _("%(kind)s, line %(line)s: something stands where only 0 does."),
    "ranking_by_grade": _("%(kind)s, line %(line)s: a number that is no grade of the rubric."),
    "ranking_by_order": _("%(kind)s, line %(line)s: the rows are not in the order of their ids."),
}

SHARES = {"share"}
RATIOS = {"before", "after", "limit", "value", "at_least"}


def say(finding: Finding) -> str:
    """What a line found, in a sentence with its numbers."""
    sentence: Any = SENTENCES[finding.code]
    return str(sentence % _write(finding.values))


def _write(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as they are written. A split rate is a share, a kappa a ratio, a number of a
    version no count."""
    is_rate = values.get("measure") == "split_rate"
    written: dict[str, Any] = {"version": values.get("number")}
    for name, value in values.items():
        if name == "class":
            written[name] = value or gettext("no class")
        elif name == "measure":
            written[name] = MEASURES[value]
        elif name in SHARES or (is_rate and name in RATIOS):
            written[name] = as_share(value)
        elif name in RATIOS:
            written[name] = as_ratio(value)
        elif isinstance(value, int) and name not in ("number", "other"):
            written[name] = as_count(value)
            written[f"number_of_{name}"] = value
        else:
            written[name] = value
    if "count" in values:
        written["number"] = values["count"]
    return written
