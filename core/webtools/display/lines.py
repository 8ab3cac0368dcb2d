"""Responses in one line, for logs and tracebacks; models with their values cut."""

from __future__ import annotations

import reprlib
from functools import singledispatch
from typing import Any

from webtools.display.text import count, price
from webtools.results import (
    FetchResponse,
    ReadResponse,
    ResearchEnvelope,
    ResearchPlan,
    SearchResponse,
    SummaryResponse,
)
from webtools.text.visible import display_text
from webtools.tools import ToolResult

_LONGEST_SUBJECT = 80
_LONGEST_NAME = 64

_cutter = reprlib.Repr()
_cutter.maxstring = 200
_cutter.maxother = 400
_cutter.maxlist = _cutter.maxtuple = _cutter.maxdict = 4


class _Written:
    """Prints as it is written."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def bounded(value: Any) -> Any:
    """Give something that prints like the value, but shortly."""
    return _Written(_cutter.repr(value))


@singledispatch
def line(response: Any) -> str:
    """Say in a few words what a response holds."""
    raise TypeError(type(response).__name__)


@line.register
def _(response: SearchResponse) -> str:
    failed = count(len(response.errors), "query", "queries") + " failed" if response.errors else ""
    several = len(response.queries) > 1
    asked = count(len(response.queries), "query", "queries") if several else ""
    subject = asked or _quoted(response.queries[0])
    found = count(len(response.results), "result")
    return _joined(f"{found} from {_name(response.provider)} for {subject}", failed)


@line.register
def _(response: FetchResponse) -> str:
    failed = sum(page.error is not None for page in response.pages)
    subject = f" for {_quoted(response.pages[0].url)}" if len(response.pages) == 1 else ""
    pages = f"{count(len(response.pages), 'page')} from {_name(response.provider)}{subject}"
    return _joined(pages, f"{failed:,} failed" if failed else "")


@line.register
def _(response: SummaryResponse) -> str:
    length = count(len(response.text), "character")
    return f"{length} from {_name(response.provider)} for {_quoted(response.url)}"


@line.register
def _(response: ReadResponse) -> str:
    start, total = response.offset, response.total_characters
    stop = start + len(response.content)
    missed = response.find and response.found_at is None
    shown = f"nothing from {start:,} on" if missed else f"characters {start:,} to {stop:,}"
    sought = f" for {_quoted(response.find)}" if response.find else ""
    return f"{shown} of {total:,} in {_name(response.handle)}{sought}"


@line.register
def _(response: ResearchEnvelope) -> str:
    meta, synthesis = response.meta, response.synthesis
    source = f" from {_name(meta.provider_used)}" if meta.provider_used else ""
    return _joined(
        f"{meta.command} {count(len(response.results), 'result')}{source} for "
        f"{_quoted(meta.query)}",
        f"{meta.confidence} confidence",
        f"answer with {count(len(synthesis.citations), 'citation')}" if synthesis else "",
    )


@line.register
def _(response: ResearchPlan) -> str:
    chain = " → ".join(_name(step.provider) for step in response.chain[:5])
    asked = f"{response.command} for {_quoted(response.query)}"
    return _joined(asked, chain, f"at most {price(response.worst_cost_usd)}")


@line.register
def _(response: ToolResult) -> str:
    handle = _name(response.details.get("read_handle"))
    return _joined(
        "failed" if response.is_error else "",
        count(len(response.text), "character"),
        f"read_handle {handle}" if handle else "",
    )


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _quoted(text: str) -> str:
    return f'"{display_text(text, _LONGEST_SUBJECT)}"'


def _name(text: Any) -> str:
    return display_text(text, _LONGEST_NAME)
