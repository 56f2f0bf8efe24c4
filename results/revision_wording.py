"""What a revision account warns of, in sentences."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from results.wording import as_count, as_ratio, as_words


def say_warnings(account: Mapping[str, Any]) -> list[str]:
    """Everything that keeps the account from being read at face value, the gravest first."""
    return [
        *_say_bounds(account),
        *_say_chance(account),
        *_say_undefined(account),
        *_say_left_out(account),
        *_say_relevance(account),
    ]


def _say_bounds(account: Mapping[str, Any]) -> Iterator[str]:
    if account["runs"] and not account["bound_checked"]:
        yield _(
            "k is deeper than the pool, so unjudged documents come in: lost hits are not checked "
            "against their bound."
        )
        return
    for run in account["runs"]:
        if not run["within_bound"]:
            yield _(
                "Run %(run)s lost its hit on %(lost)s queries, but only %(pairs)s pairs lost "
                "“relevant”: something other than the relabelling changed between the two."
            ) % {
                "run": run["run"],
                "lost": as_count(run["queries_lost"]),
                "pairs": as_count(run["bound"]),
            }


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
            yield _("κ under rubric %(number)d is undefined: %(reason)s.") % {
                "number": side["rubric_version"],
                "reason": as_words(side["kappa_reason"]),
            }


def _say_left_out(account: Mapping[str, Any]) -> Iterator[str]:
    for key, number in (
        ("pairs_only_before", account["from"]),
        ("pairs_only_after", account["to"]),
    ):
        if account[key]:
            yield ngettext(
                "%(count)s pair has labels under rubric %(number)d only; it is not compared.",
                "%(count)s pairs have labels under rubric %(number)d only; they are not compared.",
                account[key],
            ) % {"count": as_count(account[key]), "number": number}


def _say_relevance(account: Mapping[str, Any]) -> Iterator[str]:
    before, after = account["before"]["relevant_from"], account["after"]["relevant_from"]
    if before != after:
        yield _(
            "The grade from which a document counts as relevant changed from %(before)s to "
            "%(after)s: retrieval measures move with it."
        ) % {"before": before, "after": after}
