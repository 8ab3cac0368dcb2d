"""The parts of a response to show; HTML, Markdown and terminal text are drawn from them.

Foreign text in it is already shortened and cleaned; the writers only lay it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from webtools._internal.display.short_texts import cut, cut_lines, day
from webtools._internal.text.text_fragments import with_text_fragment
from webtools._internal.text.visible import LONGEST_URL, link_target
from webtools.page_urls import other_host
from webtools.results import ResearchResult, SearchResult
from webtools.truncation import MAX_BYTES

LONGEST_TITLE = 300
_ENDS_IN_CODE = re.compile(r"\A[^`]*^```[^`]*^```\s*\Z", re.MULTILINE)  # its only code
# The rules of a table whose lines were joined: `| --- | --- |`, `+-----+-----+`, `===== =====`.
_RULE = re.compile(
    r"(?:\|\s*:?-{3,}:?\s*)+(?=\||$)|(?<!\S)[|+:]*[-=_~+\u2500-\u257f]{4,}[|+:]*(?!\S)"
)
LONGEST_SENTENCE = 1000
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is shown of a response.

    Attributes:
        rows: Results and passages.
        pages: Pages, and cited sources.
        page: Characters of a page, or of any other long text.
        all_pages: Characters of all pages together.
        lines: Lines of a long text; None for no limit.
        snippet: Characters of a snippet.
    """

    rows: int = 100
    pages: int = 100
    page: int = MAX_BYTES
    all_pages: int = 400_000
    lines: int | None = None
    snippet: int = 600


WHOLE = Limits()
BRIEF = Limits(rows=10, lines=20, snippet=300)


@dataclass(frozen=True, slots=True)
class Address:
    """A URL for display, and the URL to link to; None if it must not be a link."""

    shown: str
    link: str | None


@dataclass(frozen=True, slots=True)
class Fact:
    """A few words; the tone is `good`, `warn`, `bad` or none."""

    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A warning or a failure."""

    label: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Clip:
    """A long text, and a note on the part that is missing; both may be empty."""

    text: str
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """One result."""

    rank: int
    title: str
    address: Address
    day: str = ""
    provider: str = ""
    snippet: str = ""
    author: str = ""
    final_host: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Results grouped by query, or under a title."""

    groups: list[tuple[str, list[Source]]]
    hidden: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """One claim of an answer: the numbers of its sources, its status, and quotations from them.

    If `reasons` speak against the claim, the quotation is the closest passage.
    """

    text: Clip
    numbers: list[int] = field(default_factory=list[int])
    status: Fact = Fact("")
    quotations: list[str] = field(default_factory=list[str])
    reasons: str = ""

    @property
    def cited(self) -> str:
        """The text with the marks of its sources; before code that follows prose."""
        text, marks = self.text.text, "".join(f"[{number}]" for number in self.numbers)
        if not marks:
            return text
        if not _ENDS_IN_CODE.search(text):
            between = "\n" if text.endswith(("```", "~~~")) else " "
            return f"{text}{between}{marks}"
        prose, fence, code = text.partition("```")
        if not prose.strip():
            return f"{text}\n{marks}"
        return f"{prose.rstrip()} {marks}\n\n{fence}{code}"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; its marks `[n]` refer to `sources`, the first sources listed below it."""

    statements: list[Statement]
    sources: list[Address]


@dataclass(frozen=True, slots=True)
class Extract:
    """A passage of a source: the number of the source, its heading, its text."""

    number: int
    heading: str
    text: Clip


@dataclass(frozen=True, slots=True)
class Extracts:
    """Passages; folded below an answer."""

    title: str
    items: list[Extract]
    hidden: int = 0
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A page, or why it failed. A page that is alone is not folded."""

    title: str
    address: Address
    facts: list[str]
    error: str = ""
    summary: Clip = Clip("")
    highlights: list[str] = field(default_factory=list[str])
    passages: Clip = Clip("")
    text: Clip = Clip("")
    is_alone: bool = False


@dataclass(frozen=True, slots=True)
class Prose:
    """A text; verbatim where each character counts, folded if it has a title."""

    text: Clip
    is_verbatim: bool = False
    title: str = ""
    address: Address | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; `kinds` are CSS classes of its columns."""

    kinds: tuple[str, ...]
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]


Part: TypeAlias = Listing | Answer | Extracts | Document | Prose | Grid


@dataclass(frozen=True, slots=True)
class Outline:
    """The parts of a response to show.

    Attributes:
        kind: Name of the operation or result.
        subject: Query or URL.
        provider: The provider that served it.
        outcome: Counts of results and failures.
        facts: Price, age and the like.
        parts: The content.
        notes: Failures and warnings.
        hidden: How many parts are omitted, in words.
    """

    kind: str
    subject: str
    provider: str
    outcome: list[Fact]
    facts: list[str] = field(default_factory=list[str])
    parts: list[Part] = field(default_factory=list[Part])
    notes: list[Note] = field(default_factory=list[Note])
    hidden: str = ""

    def head(self, *, brief: bool = False) -> list[Fact]:
        """Return the facts for the first line, the most important first."""
        facts = self.outcome
        if not brief:
            facts = [*facts[:1], Fact(self.provider), *facts[1:], *map(Fact, self.facts)]
        return [fact for fact in facts if fact.text]


def address_of(url: Any, quotations: Iterable[str] = ()) -> Address:
    """Return a URL for display. Its link leads to the first words of quotations."""
    shown = cut(url, LONGEST_URL)
    link = link_target(url, shown) if shown else None
    return Address(shown, with_text_fragment(link, quotations) if link else None)


def name(text: Any) -> str:
    """Shorten a short name, such as that of a provider."""
    return cut(text, _LONGEST_NAME)


def sentence(text: Any) -> str:
    """Shorten a warning, a reason or a quotation."""
    return cut(text, LONGEST_SENTENCE)


def clip(text: Any, limit: int, limits: Limits = WHOLE) -> Clip:
    """Shorten a long text."""
    return Clip(*cut_lines(text, limit, limits.lines))


def source(rank: int, result: SearchResult | ResearchResult, limits: Limits) -> Source:
    return Source(
        rank,
        cut(result.title, LONGEST_TITLE) or cut(result.url, LONGEST_TITLE),
        address_of(result.url),
        day(result.published_at),
        name(result.source_provider),
        cut(_RULE.sub("", result.snippet), limits.snippet),
        name(result.author) if isinstance(result, SearchResult) else "",
        "" if isinstance(result, SearchResult) else _final_host(result),
    )


def _final_host(result: ResearchResult) -> str:
    host = other_host(result.url, result.url_final)
    return f"from {name(host)}" if host else ""
