"""Clauses that somebody asked for: told to the rubric's editor by the room that knows of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from studies.models import Study
from studies.rubric_drafts import Draft


@dataclass(frozen=True, slots=True)
class ClauseRequest:
    """A clause that was put into the draft on request, by the names it had there; `pair_url` leads
    to the pair that asks, `decline_url` to declining it. `is_in_draft` is false once the draft has
    no clause of that name any more."""

    dimension: str
    clause: str
    text: str
    pair_url: str
    decline_url: str
    is_in_draft: bool = True


ListRequests = Callable[[Study], Sequence[ClauseRequest]]

_lists: list[ListRequests] = []


def register_requests(find: ListRequests) -> ListRequests:
    """Name the function that lists what was asked for and not answered yet."""
    _lists.append(find)
    return find


def list_requests(study: Study, draft: Draft) -> list[ClauseRequest]:
    """All that was asked for, over all that was registered, beside the draft as it is written."""
    names = {
        (dimension["name"], clause["name"])
        for dimension in draft["dimensions"]
        for clause in dimension["clauses"]
    }
    return [
        replace(one, is_in_draft=(one.dimension, one.clause) in names)
        for find in _lists
        for one in find(study)
    ]
