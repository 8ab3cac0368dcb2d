"""The notebook magics. Their options are the arguments of the tools' input models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from webtools.config.config_models import synthesis_names
from webtools.inputs.options import CACHE, KEYLESS, Option, options_of
from webtools.notebook.line import OptionError
from webtools.tools import FETCH, MAP, READ, RESEARCH, SEARCH, SUMMARIZE

OUTPUT = Option(("--output", "-o"), "output", "Variable for the response.", metavar="NAME")
COMMON_OPTIONS = (
    OUTPUT,
    Option(("--config",), "config", "Use this config file for this call.", metavar="PATH"),
    Option(("--help", "-h"), "help", "List the options.", "flag"),
)
TIMEOUT = Option(("--timeout",), "timeout", "Time limit of the call.", metavar="SECONDS")
TAPE_OPTIONS = (
    Option(("--record",), "record", "Record calls to this file, a tape.", metavar="FILE"),
    Option(("--replay",), "replay", "Answer from this tape.", metavar="FILE"),
)
PLAN = Option(("--plan",), "plan", "Old name of %web_plan.", "flag")


@dataclass(frozen=True, slots=True)
class Magic:
    """A magic.

    Attributes:
        summary: Its description.
        method: The method of `WebTools`.
        example: An example of a subject.
        tool_options: The options of its tool.
        read_subject: Converts the text to the subject of the call.
        fixed: Arguments that the magic sets.
        new_name: The replacement for an old name, or "".
    """

    summary: str
    method: str
    example: str
    tool_options: tuple[Option, ...]
    read_subject: Callable[[str], Any]
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])
    new_name: str = ""

    @property
    def options(self) -> tuple[Option, ...]:
        """All its options."""
        call_options = (CACHE, TIMEOUT) if self.makes_calls else ()
        return *self.tool_options, *call_options, *COMMON_OPTIONS

    @property
    def makes_calls(self) -> bool:
        """Whether it calls providers, and so has cache entries and progress."""
        return self.method not in {"plan", "read"}


def _single_word(text: str, kind: str) -> str:
    words = text.split()
    if len(words) > 1:
        raise OptionError(f"pass one {kind}, not {len(words)}.")
    return text


def _research(summary: str, example: str, command: str = "") -> Magic:
    fixed = {"command": command} if command else {}
    options = tuple(option for option in _RESEARCH if option.target not in fixed)
    return Magic(summary, "research", example, (*options, PLAN), str, fixed)


_RESEARCH = (*options_of(RESEARCH.input_model, {"synthesis": synthesis_names()}), KEYLESS)
_QUESTION = "what did Python 3.10 add?"
_URL = "https://docs.python.org/3/"
MAGICS = {
    "web_search": Magic(
        "Search the web. In a cell, each line is a query, and all run at the same time.",
        *("search", "structural pattern matching"),
        (*options_of(SEARCH.input_model), KEYLESS),
        lambda text: [*filter(None, map(str.strip, text.split("\n")))],
    ),
    "web_fetch": Magic(
        "Read pages. In a cell, each line is a URL.",
        *("fetch", _URL, options_of(FETCH.input_model), str.split),
    ),
    "web_summarize": Magic(
        "Summarize the document behind a URL.",
        *("summarize", _URL, options_of(SUMMARIZE.input_model), partial(_single_word, kind="URL")),
    ),
    "web_map": Magic(
        "List the pages of a site.",
        *("map", _URL, options_of(MAP.input_model), partial(_single_word, kind="URL")),
    ),
    "web_read": Magic(
        "Read the rest of a truncated output. The handle is at the end of the output.",
        *("read", "{result.details['read_handle']}", options_of(READ.input_model)),
        partial(_single_word, kind="handle"),
    ),
    "web_research": _research(
        "Find the top links for a question, or run another --command.", _QUESTION
    ),
    "web_deep": _research(
        "Read the best pages on a question and answer it with citations.", _QUESTION, "web-deep"
    ),
    "web_news": _research("Find recent news on a question.", _QUESTION, "web-news"),
    "web_docs": _research("Find documentation of a library.", "asyncio TaskGroup", "web-docs"),
    "web_plan": Magic(
        "Show what a research call would do and its maximum cost. Nothing is sent.",
        *("plan", _QUESTION, _RESEARCH, str),
    ),
}
MAGICS["web"] = replace(MAGICS["web_search"], new_name="web_search")
