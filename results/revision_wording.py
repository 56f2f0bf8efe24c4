"""What a revision account warns of, in sentences."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from results.services.scopes import Scope
from results.wording import as_count, as_ratio, as_share, as_words

# Why a pair has no label, as `results.consensus` says it: named here to be translated.
WITHOUT_LABEL = (
    gettext_noop("tie"),
    gettext_noop("unsure only"),
    gettext_noop("too few votes"),
    gettext_noop("not unanimous"),
    gettext_noop("dropped"),
)


def name_side(side: Mapping[str, Any]) -> str:
    """A side in words: the rubric version, or the round."""
    if side["round"] is not None:
        return _("round “%(name)s”") % {"name": side["round"]}
    return _("rubric %(number)d") % {"number": side["rubric_version"]}


def name_scope(scope: Scope) -> str:
    return name_side({"round": scope.round, "rubric_version": scope.rubric})


def say_warnings(account: Mapping[str, Any]) -> list[str]:
    """Everything that keeps the account from being read at face value, the gravest first."""
    return [
        *say_errors(account),
        *say_other_warnings(account),
    ]


def say_errors(account: Mapping[str, Any]) -> list[str]:
    """What is to be shown as an error: the scores cannot be compared as they stand."""
    return [*say_broken_bounds(account), *_say_dropped(account, "alarm")]


def say_other_warnings(account: Mapping[str, Any]) -> list[str]:
    return [
        *_say_dropped(account, "warning"),
        *_say_unscored(account),
        *_say_unchecked(account),
        *_say_chance(account),
        *_say_undefined(account),
        *_say_left_out(account),
        *_say_relevance(account),
    ]


def say_broken_bounds(account: Mapping[str, Any]) -> list[str]:
    """What says that something else than the relabelling changed."""
    if not account["bound_checked"]:
        return []
    return [
        ngettext(
            "Run %(run)s lost its hit on %(lost)s query, but no pair of the queries scored lost "
            "“relevant”: something other than the relabelling changed between the two.",
            "Run %(run)s lost its hit on %(lost)s queries, but only %(pairs)s pairs of the queries "
            "scored lost “relevant”: something other than the relabelling changed between the two.",
            run["queries_lost"],
        )
        % {
            "run": run["run"],
            "lost": as_count(run["queries_lost"]),
            "pairs": as_count(run["bound"]),
        }
        for run in account["runs"]
        if not run["within_bound"]
    ]


def _say_dropped(account: Mapping[str, Any], level: str) -> Iterator[str]:
    """The sides that have dropped so much; an alarm says how to read the scores."""
    for side in (account["before"], account["after"]):
        if side["dropped_warning"] != level:
            continue
        said = ngettext(
            "%(count)s pair (%(share)s of those decided) is dropped (%(side)s). A set without "
            "its hardest pairs reports a recall that no system reproduces.",
            "%(count)s pairs (%(share)s of those decided) are dropped (%(side)s). A set without "
            "its hardest pairs reports a recall that no system reproduces.",
            side["dropped"],
        ) % {
            "count": as_count(side["dropped"]),
            "share": as_share(side["dropped_share"]),
            "side": name_side(side),
        }
        advice = _("Read the scores by their bounds.")
        yield f"{said} {advice}" if level == "alarm" else said


def _say_unscored(account: Mapping[str, Any]) -> Iterator[str]:
    """Queries that the change took from the scores; those it added are no loss."""
    if account["runs"] and account["queries_only_before"]:
        yield ngettext(
            "%(count)s query is scored no longer (%(side)s): all its pairs are dropped or without "
            "a label. The measures leave it out on both sides.",
            "%(count)s queries are scored no longer (%(side)s): all their pairs are dropped or "
            "without a label. The measures leave them out on both sides.",
            account["queries_only_before"],
        ) % {
            "count": as_count(account["queries_only_before"]),
            "side": name_side(account["after"]),
        }


def _say_unchecked(account: Mapping[str, Any]) -> Iterator[str]:
    if account["runs"] and not account["bound_checked"]:
        yield _(
            "k is deeper than the pool, so unjudged documents come in: lost hits are not checked "
            "against their bound."
        )


def _say_chance(account: Mapping[str, Any]) -> Iterator[str]:
    if account["expected_moved"]:
        yield _(
            "Chance agreement moved from %(before)s to %(after)s: the label mix shifted, so the "
            "change of κ does not by itself say that people converged."
        ) % {
            "before": as_ratio(account["before"]["expected"]),
            "after": as_ratio(account["after"]["expected"]),
        }


def _say_undefined(account: Mapping[str, Any]) -> Iterator[str]:
    for side in (account["before"], account["after"]):
        if side["kappa"] is None:
            yield _("κ is undefined (%(side)s): %(reason)s.") % {
                "side": name_side(side),
                "reason": as_words(side["kappa_reason"]),
            }


def _say_left_out(account: Mapping[str, Any]) -> Iterator[str]:
    for key, side in (("pairs_only_before", "before"), ("pairs_only_after", "after")):
        if account[key]:
            yield ngettext(
                "%(count)s pair has labels only on one side (%(side)s); it is not compared.",
                "%(count)s pairs have labels only on one side (%(side)s); they are not compared.",
                account[key],
            ) % {"count": as_count(account[key]), "side": name_side(account[side])}


def _say_relevance(account: Mapping[str, Any]) -> Iterator[str]:
    before, after = account["before"]["relevant_from"], account["after"]["relevant_from"]
    if before != after:
        yield _(
            "The grade from which a document counts as relevant changed from %(before)s to "
            "%(after)s: retrieval measures move with it."
        ) % {"before": before, "after": after}
