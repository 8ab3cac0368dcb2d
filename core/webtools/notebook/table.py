"""What each notebook magic calls, and the options that it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from webtools.notebook.line import Option, OptionError
from webtools.tools import CATEGORIES

_OUTPUT = Option(("-o", "--output"), "output", "name of the variable that keeps the response")
_CONFIG = Option(("--config",), "config", "path of the config file for this call")
_PROVIDER = Option(("--provider", "-p"), "provider", "configured name of the provider")
_LIMIT = Option(("--limit", "-n"), "limit", "most results", "number")
_CACHE = Option(
    ("--cache",), "cache", "what to do with kept answers", choices=("use", "refresh", "bypass")
)
_EVERY = (_CACHE, _OUTPUT, _CONFIG, Option(("--help", "-h"), "help", "list the options", "flag"))
_SEARCH = (
    _PROVIDER,
    _LIMIT,
    Option(("--include-domain",), "include_domains", "only results from this domain", "list"),
    Option(("--exclude-domain",), "exclude_domains", "no results from this domain", "list"),
    Option(("--since",), "start_published_date", "published on or after this date"),
    Option(("--until",), "end_published_date", "published on or before this date"),
    Option(("--category",), "category", "kind of page", choices=CATEGORIES),
)
_FETCH = (
    _PROVIDER,
    Option(("--question",), "question", "only the passages that bear on this question"),
    Option(("--text",), "text", "the text, also beside other choices", "flag"),
    Option(("--highlights",), "highlights", "the most relevant extracts", "flag"),
    Option(("--summary",), "summary", "a summary of each page", "flag"),
    Option(
        ("--max-characters",), "text_max_characters", "most characters of text per page", "number"
    ),
)
_SUMMARIZE = (
    _PROVIDER,
    Option(("--type",), "summary_type", "prose or key points", choices=("summary", "takeaway")),
    Option(("--engine",), "engine", "general or technical", choices=("cecil", "agnes")),
    Option(("--language",), "target_language", "language code of the output"),
)
_RESEARCH = (
    _LIMIT,
    Option(
        ("--recency-days",), "recency_days", "age up to which a source counts as recent", "number"
    ),
    Option(
        ("--synthesis",),
        "synthesis",
        "how to write the answer",
        choices=("extractive", "perplexity", "none"),
    ),
    Option(("--plan",), "plan", "only tell what it would do and cost at most", "flag"),
)


@dataclass(frozen=True, slots=True)
class Magic:
    """A magic.

    Attributes:
        method: The method of WebTools.
        example: A subject to show.
        own: Its options, beside those that all have.
        reads: How the text becomes the subject of the call.
        fixed: Arguments that the magic itself sets.
    """

    method: str
    example: str
    own: tuple[Option, ...]
    reads: Callable[[str], Any]
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def options(self) -> tuple[Option, ...]:
        """All its options."""
        return *self.own, *_EVERY


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _one_url(text: str) -> str:
    words = text.split()
    if len(words) > 1:
        raise OptionError(f"give one URL, not {len(words)}.")
    return text


_QUESTION = "what did Python 3.10 add?"
_URL = "https://docs.python.org/3/"
MAGICS = {
    "web": Magic("search", "structural pattern matching", _SEARCH, _lines),
    "web_fetch": Magic("fetch", _URL, _FETCH, str.split),
    "web_summarize": Magic("summarize", _URL, _SUMMARIZE, _one_url),
    "web_deep": Magic("research", _QUESTION, _RESEARCH, str, {"command": "web-deep"}),
    "web_news": Magic("research", _QUESTION, _RESEARCH, str, {"command": "web-news"}),
    "web_docs": Magic("research", "asyncio TaskGroup", _RESEARCH, str, {"command": "web-docs"}),
}
