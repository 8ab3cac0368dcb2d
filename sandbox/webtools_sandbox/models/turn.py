"""What a request asks of a simulated model, and what the model does, for every vendor."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from webtools_sandbox.library import Filters, Library, PageHit

Json = dict[str, Any]
SearchFault = Literal["error", "pause", "later", "uncounted", "outside"]
OUTSIDE = "https://outside.example/page"
_RESULTS = 2
_URL = re.compile(r"https?://[^\s)\]>\"'\\]+")


class RefusedError(Exception):
    """The request breaks a documented rule of the vendor.

    Attributes:
        status: HTTP status.
        message: Message of the vendor.
        param: Parameter that breaks the rule, or "".
    """

    def __init__(self, message: str, param: str = "", status: int = 400) -> None:
        """Store the parts of the error."""
        super().__init__(message)
        self.status, self.message, self.param = status, message, param


@dataclass(frozen=True)
class Turn:
    """A request, without the form of its vendor.

    Attributes:
        question: The last text of the user.
        outputs: Texts of the function results after it.
        search: Filters of the vendor's search, or None if the request does not have it.
        functions: Names of the function tools.
        is_paused: Whether the request continues a paused answer.
        pending: ID of a search of the last answer that has no result yet, or "".
    """

    question: str
    outputs: tuple[str, ...] = ()
    search: Filters | None = None
    functions: tuple[str, ...] = ()
    is_paused: bool = False
    pending: str = ""


@dataclass(frozen=True)
class Source:
    """A page that the search found."""

    url: str
    title: str
    sentence: str


@dataclass(frozen=True)
class Step:
    """What the model does.

    Attributes:
        text: The answer.
        sources: What the vendor's search found; the first one is cited.
        has_searched: Whether the vendor's search ran.
        call: Name of the function that the model calls, or "".
        arguments: Its arguments.
    """

    text: str = ""
    sources: tuple[Source, ...] = ()
    has_searched: bool = False
    call: str = ""
    arguments: Json = field(default_factory=dict[str, Any])


def decide(turn: Turn, library: Library, fault: SearchFault | None) -> Step:
    """Search with the vendor's search, else with the function `web_search`, then answer."""
    if turn.search is not None and not turn.outputs:
        found = [_source(hit) for hit in library.search(turn.question, turn.search)[:_RESULTS]]
        if fault == "outside":
            found.insert(0, Source(OUTSIDE, "Outside", "This page is outside the filters."))
        text = found[0].sentence if found else "The search found nothing."
        return Step(text, tuple(found), has_searched=True)
    if "web_search" in turn.functions and not turn.outputs:
        return Step(call="web_search", arguments={"queries": [turn.question]})
    if turn.outputs:
        link = _URL.search(" ".join(turn.outputs))
        return Step(f"See [the first result]({link[0]})." if link else turn.outputs[-1][:200])
    return Step("I cannot search.")


def _source(hit: PageHit) -> Source:
    return Source(hit.url, hit.title, hit.snippet)
