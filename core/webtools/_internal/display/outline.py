"""What is shown of a response, apart from how: every writer draws from the same outline.

All foreign text in it is cut to size and cleaned for people's eyes; the writers only lay it out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from webtools._internal.display.text import cut, cut_lines, day
from webtools._internal.text.visible import LONGEST_URL, link_target
from webtools.results import ResearchResult, SearchResult
from webtools.truncation import MAX_BYTES

LONGEST_TITLE = 300
_ENDS_IN_CODE = re.compile(r"\A[^`]*^```[^`]*^```\s*\Z", re.MULTILINE)  # and has no other
LONGEST_SENTENCE = 1000
LONGEST_SUBJECT = 200
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is shown of a response.

    Attributes:
        rows: Results and passages.
        pages: Pages, and cited sources.
        page: Characters of a page, or of any other long text.
        all_pages: Characters of all pages together.
        lines: Lines of a long text; None for all of them.
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
    """A URL as it is shown, and what it may link to; None when it should be no link."""

    shown: str
    link: str | None


@dataclass(frozen=True, slots=True)
class Fact:
    """A few words; the tone is `good`, `warn`, `bad` or none."""

    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What the reader should know: a warning or a failure."""

    label: str
    text: str
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Clip:
    """A long text and a note on what is missing of it; both may be empty."""

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


@dataclass(frozen=True, slots=True)
class Listing:
    """Results under the queries that found them, or under a title."""

    groups: list[tuple[str, list[Source]]]
    hidden: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """One claim of an answer: the sources that it cites by number, its status, and what shows it.

    `reasons` speak against the claim; the quotations after them are then the closest passage.
    """

    text: Clip
    numbers: list[int] = field(default_factory=list[int])
    status: Fact = Fact("")
    quotations: list[str] = field(default_factory=list[str])
    reasons: str = ""

    @property
    def cited(self) -> str:
        """Return the text with the marks of its sources; they stand before code at its end."""
        text, marks = self.text.text, "".join(f"[{number}]" for number in self.numbers)
        if not marks:
            return text
        if not _ENDS_IN_CODE.search(text):
            between = "\n" if text.endswith(("```", "~~~")) else " "
            return f"{text}{between}{marks}"
        prose, fence, code = text.partition("```")
        return f"{prose.rstrip()} {marks}".lstrip() + f"\n\n{fence}{code}"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; its marks `[n]` refer to the first so many of the sources listed below it."""

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
    """Passages; folded where an answer says it all."""

    title: str
    items: list[Extract]
    hidden: int = 0
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A page, or why it failed; alone it is not folded."""

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
    """A text; verbatim when every character of it counts, folded under a title if it has one."""

    text: Clip
    verbatim: bool = False
    title: str = ""
    address: Address | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """A table, each of its columns of some kind."""

    kinds: tuple[str, ...]
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]


Part: TypeAlias = Listing | Answer | Extracts | Document | Prose | Grid


@dataclass(frozen=True, slots=True)
class Outline:
    """What there is to be shown of a response.

    Attributes:
        kind: What was done.
        subject: What it was done with: a query or a URL.
        provider: Who served.
        found: What came of it.
        facts: Price, age and the like.
        parts: The content.
        notes: Failures and warnings.
        hidden: How many parts are left out.
    """

    kind: str
    subject: str
    provider: str
    found: list[Fact]
    facts: list[str] = field(default_factory=list[str])
    parts: list[Part] = field(default_factory=list[Part])
    notes: list[Note] = field(default_factory=list[Note])
    hidden: str = ""

    def head(self, *, brief: bool = False) -> list[Fact]:
        """Return what is known in a few words, the most telling first."""
        whole = [*self.found[:1], Fact(self.provider), *self.found[1:], *map(Fact, self.facts)]
        return [fact for fact in (self.found if brief else whole) if fact.text]


def address_of(url: Any) -> Address:
    """Return a URL for the eye."""
    shown = cut(url, LONGEST_URL)
    return Address(shown, link_target(url, shown) if shown else None)


def name(text: Any) -> str:
    """Return the name of a provider."""
    return cut(text, _LONGEST_NAME)


def subject(text: Any) -> str:
    """Return a query or what else a call is about."""
    return cut(text, LONGEST_SUBJECT)


def sentence(text: Any) -> str:
    """Return a warning, a reason or a quotation."""
    return cut(text, LONGEST_SENTENCE)


def clip(text: Any, most: int, limits: Limits = WHOLE) -> Clip:
    """Return a long text as far as it is shown."""
    return Clip(*cut_lines(text, most, limits.lines))


def source(rank: int, result: SearchResult | ResearchResult, limits: Limits) -> Source:
    """Return a result as one of a list."""
    return Source(
        rank,
        cut(result.title, LONGEST_TITLE) or cut(result.url, LONGEST_TITLE),
        address_of(result.url),
        day(result.published_at),
        name(result.source_provider),
        cut(result.snippet, limits.snippet),
        name(result.author) if isinstance(result, SearchResult) else "",
    )
