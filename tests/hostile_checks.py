"""What is harmless: checks on texts, fences, terminals and markup."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

from hostile_calls import Outcome

from webtools.fencing import STATEMENT, WORDS

# --- characters --------------------------------------------------------------------------------


def strings_of(value: Any) -> Iterator[str]:
    """Give all texts in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings_of(key)
            yield from strings_of(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings_of(item)


# What acts, hides or reorders: controls, formats (direction and zero-width among them), lone
# surrogates, and letters that are blank.
TRICKY = {"Cc", "Cf", "Cs"}
BLANK = "\u034f\u115f\u1160\u3164\uffa0"


def tricks_in(text: str, allowed: str = "\n\t") -> set[str]:
    """Name the characters of a text that do more than being read."""
    found = {one for one in set(text) if unicodedata.category(one) in TRICKY or one in BLANK}
    return {f"U+{ord(one):04X}" for one in found - set(allowed)}


def addresses_in(value: Any) -> Iterator[str]:
    """Return the addresses of results."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name in {"url", "source"}:
                yield item
            elif name == "citations":  # of a summary addresses, of a claim quotations with theirs
                for each in item:
                    yield from [each] if isinstance(each, str) else addresses_in(each)
            else:
                yield from addresses_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from addresses_in(item)


# --- fences ----------------------------------------------------------------------------------

OURS = re.compile(
    r"|Confidence: (high|medium|low)( \([\w ,.]+\))?\.|Uncertainty: .+|Warning: .+"
    r"|Retrieved [\d-]+ [\d:]+ UTC( by [a-z\d]+)?(, from the cache)?\."
    r"|Degraded: .+ \(failed or skipped\)\."
    r'|Query ".+" failed: .+|… and \d+ more|\[Output truncated: showing .+\.txt\]'
    r"|\[Read on with web_read: handle (?P<handle>[0-9a-f]{32}), offset \d+\.\]"
    r'|\[Characters \d+ to \d+ of \d+(, the end)?\.\]|\[".+" is .+\]'
)
FENCED = re.compile(
    rf"{re.escape(STATEMENT)}\n<<<{WORDS} ([0-9a-f]{{12}})\n(.*)\n{WORDS} \1>>>(?:\n\n(.*))?",
    re.DOTALL,
)
ALIKE = str.maketrans("\u0435\u0430", "ea")


def parts(outcome: Outcome, fence: str) -> tuple[str, list[str]]:
    """Split a text into what is the web's and the lines that are ours."""
    text = outcome.result.text
    found = FENCED.fullmatch(text)
    if found is not None:
        return found[2], (found[3] or "").split("\n")
    assert outcome.tool == "web_search" or outcome.result.is_error
    assert fence == "pages" or outcome.result.is_error
    lines = text.split("\n")
    last = max(at for at, line in enumerate(lines) if not OURS.fullmatch(line))
    return "\n".join(lines[: last + 1]), lines[last + 1 :]


def assert_fenced(outcome: Outcome, fence: str) -> None:
    theirs, ours = parts(outcome, fence)
    plain = unicodedata.normalize("NFKC", theirs).translate(ALIKE).casefold()
    letters = re.sub(r"[\W_]", "", plain)
    assert WORDS.replace("-", "") not in letters
    for line in ours:
        notice = OURS.fullmatch(line)
        assert notice, line
        if notice["handle"]:
            assert notice["handle"] == outcome.result.details["read_handle"]
    kinds = [line.partition(" ")[0] for line in ours]
    for kind in ("Confidence:", "Retrieved", "[Output", "[Read"):
        assert kinds.count(kind) <= 1


# --- terminals and markup --------------------------------------------------------------------

WEB = {"http", "https"}
ENDS = "\u2028\u2029"  # of lines and paragraphs, beside line feeds
RICH = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;(?:id=[0-9-]+;(?P<link>https?://[!-~]+)|;)\x1b\\")
TAGS = {"div", "style", "span", "bdi", "a", "table", "thead", "tbody", "tr", "th", "td", "pre"}
TAGS |= {"details", "summary", "ul", "ol", "li", "p", "br", "hr", "em", "strong", "code"}
TAGS |= {"blockquote", "h1", "h2", "h3", "h4", "h5", "h6"}
ATTRIBUTES = {"class", "href", "target", "rel", "dir", "scope", "colspan", "id", "start"}
MARKDOWN = {"p", "a", "em", "strong", "code", "pre", "hr", "br", "blockquote", "ol", "ul", "li"}
MARKDOWN |= {"table", "thead", "tbody", "tr", "th", "td"}


class Seen(HTMLParser):
    """The tags, attributes, links and text of a fragment."""

    def __init__(self, fragment: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.text = ""
        self.feed(fragment)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in {"href", "src"}}

    def handle_data(self, data: str) -> None:
        self.text += data


def assert_links(urls: set[str]) -> None:
    """A link leads to the web, to the host that is to be seen in it."""
    for url in urls:
        parts = urlsplit(url)
        assert parts.scheme in WEB
        assert parts.hostname == parts.netloc.partition(":")[0]
        assert url.isascii()


def assert_inert(fragment: str, tags: set[str] = TAGS) -> None:
    seen = Seen(fragment)
    assert seen.tags <= tags
    assert seen.attributes <= ATTRIBUTES
    assert_links({url for url in seen.links if not url.startswith("#")})
    assert tricks_in(seen.text) == set()
    assert not re.search(
        r"<script|javascript:[^<]*>", re.sub(r">[^<]*<", "><", fragment), re.IGNORECASE
    )
