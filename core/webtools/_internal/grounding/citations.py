# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Read an answer: its claims, sentence by sentence, and the sources that each of them cites.

`[n]` cites the n-th source, or the URL that the answer's own list of references has for it; links
and bare URLs cite the source at that address. Marks alone below a block of code cite for all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, NamedTuple
from urllib.parse import urldefrag

from webtools._internal.grounding.blocks import FENCES
from webtools._internal.grounding.evidence import row_text
from webtools._internal.grounding.sentences import sentence_spans
from webtools._internal.text.cleaning import without_controls

LONGEST = 50_000  # characters of an answer
_MOST_BRACKETS = 1000  # as each may open a mark, which takes far longer to read than a word
_MOST_SEARCHED = 500_000_000  # characters of sources, in which brackets of code are looked for
_MOST_CITED = 20  # sources of one mark, and of one claim

_PRIVATE = re.compile("[\ue000-\uf8ff]")
_URL = (
    r"(?:[a-z][a-z0-9+.-]{1,20}://|www\.|(?:mailto|javascript|data|tel):(?=\S))"
    r"[^\s<>\"'`{}|\\^\[\]]{0,2000}"
)
_NUMBERS = (
    r"[\[【［]{1,2}\s{0,3}(?:\^|#|(?:sources?|refs?)\.?:?\s{1,3})?"
    r"(?P<NAME>\d{1,9}(?:\s{0,3}(?:[-–—,;&]|and|to)\s{0,3}\d{1,9}){0,40})"
    r"(?:†[^\]】\[]{0,80})?\s{0,3}[\]】］]{1,2}"
)
_TARGET = r"[^()\s]{0,2000}(?:\([^()\s]{0,500}\)[^()\s]{0,500})?"
_TOKEN = re.compile(
    r"(?P<code>`[^`\n]{1,500}`)"
    rf"|!?{_NUMBERS.replace('NAME', 'linked')}\((?P<marked>{_TARGET})\)"
    rf"|!?\[(?P<label>[^\[\]]{{0,500}})\]\((?P<target>{_TARGET})(?:\s[^()]{{0,200}})?\)"
    r"|\[(?P<named>[^\[\]\d][^\[\]]{0,300})\](?=\[\d{1,3}\])"
    rf"|{_NUMBERS.replace('NAME', 'mark')}"
    r"|(?P<html><\s{0,3}/?[a-z!][^<>]{0,500}\b(?:href|src|srcset|action|data|poster|url)\b"
    r"[^<>]{0,2000}>?)"
    rf"|<?(?P<url>{_URL})>?"
    r"|(?P<hedge>[(\[](?:uncertain|unverified)[)\]])",
    re.IGNORECASE,
)
_MARKS_ALONE = re.compile(
    rf"\s*(?:{_NUMBERS.replace('?P<NAME>', '?:')}[\s,;.]{{0,9}}){{1,20}}"
    r"(?:\((?:uncertain|unverified)\))?\s*",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d{1,9})(?:\s{0,3}(?:[-–—]|to)\s{0,3}(\d{1,9}))?", re.IGNORECASE)
_HOLDER = re.compile("\ue000(\\d{1,6})\ue001")
_HOLDERS = re.compile("(?:[\\s(]{0,9}\ue000\\d{1,6}\ue001[,;)]?)+")
_BLANKED = re.compile(r"\ue000\d{1,6}\ue001(?:(\s{0,3})[^\W\d_A-Z])?")
_ASIDE = re.compile(
    "\\((?:see|cf\\.?)[\\s:]{0,3}((?:\ue000\\d{1,6}\ue001[\\s,;]{0,3}){1,20}\\))", re.IGNORECASE
)
_PREFIX = re.compile(r"[ \t]{0,40}(?:>\s?){0,5}(?:(?:[-*+•‣]|\d{1,3}[.)])\s+)?")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)|\s{0,3}\*\*[^*\[.]{1,200}\*\*:?\s*$")
_REFERENCES = re.compile(
    r"\W*(?:sources?|references?|citations?|bibliography|works cited|links|further reading|quellen)"
    r"\W*",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    rf"\s{{0,9}}(?:[-*+]\s)?(?:\[\^?(\d{{1,9}})\]:?|(\d{{1,3}})[.)])\s.{{0,500}}?({_URL})\W*$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]")
_BOLD = re.compile(r"(?<!\w)\*\*|\*\*(?!\w)")  # `2**10` is code
_LEADS_IN = 200  # characters of a line that ends with a colon and is no claim
# A bracket of code: after `=` or in a call, or right after a name that goes on.
_OF_CODE = re.compile(r"(?:\w\(|=\s?)$")
_GOES_ON = re.compile(r"\s{0,3}[-+*/%]?=(?!=)|\.[a-z_]")
_TRAILING = ".,;:!?)]}'\"*_，。）】」"


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, list item, table row or code block of an answer.

    Attributes:
        text: The statement without its citations.
        cites: Indexes of the sources that it cites, each once.
        foreign: Addresses and marks in it that belong to no source.
    """

    text: str
    cites: tuple[int, ...]
    foreign: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph or an item of a list: what it begins with, and its statements."""

    prefix: str
    statements: tuple[Statement, ...]


class _Row(NamedTuple):
    """A paragraph or an item with what it begins with, or a block of code with the marks below."""

    prefix: str
    text: str
    marks: str = ""


@dataclass
class _Marks:
    """What the marks of a line cite, by the numbers that hold their places."""

    cites: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    foreign: dict[int, str] = field(default_factory=dict[int, str])

    def hold(self) -> int:
        """Return the number of the next place."""
        return len(self.cites) + len(self.foreign)


class Answer:
    """An answer, read against the addresses of its sources.

    Attributes:
        lines: Its paragraphs and items; an empty line stands for a blank one.
        length: How many characters were read.
    """

    def __init__(self, text: str, sources: Sequence[Any]) -> None:
        """Read an answer; the texts of its sources tell an index of code from a mark."""
        self._texts = [source.text for source in sources]
        self._searched = 0
        self._numbered: dict[int, int] = {}
        self._places: dict[str, list[int]] = {}
        for place, source in enumerate(sources):
            self._numbered.setdefault(getattr(source, "number", place + 1), place)
            for form in dict.fromkeys((source.url, address(source.url))):
                self._places.setdefault(form, []).append(place)
        brackets = re.finditer(r"[\[【［]", text[:LONGEST])
        beyond = next(islice(brackets, _MOST_BRACKETS, None), None)
        self.length = beyond.start() if beyond else min(len(text), LONGEST)
        rows = _PRIVATE.sub("", without_controls(text[: self.length])).splitlines()
        self._defined = dict(filter(None, map(self._definition, rows)))
        paragraphs = _paragraphs(rows)
        self.lines = [self._code(row) if row.marks else self._line(row) for row in paragraphs]

    def _definition(self, row: str) -> tuple[int, tuple[int, ...] | str] | None:
        """Read an entry of a list of references."""
        match = _DEFINITION.match(row)
        if match is None:
            return None
        url = match[3].rstrip(_TRAILING)
        return int(match[1] or match[2]), self._at(url) or url

    def _at(self, url: str) -> tuple[int, ...]:
        """Return the places of the sources at an address, which may end in a full stop."""
        for form in dict.fromkeys((url, url.rstrip(_TRAILING))):
            if places := self._places.get(form) or self._places.get(address(form)):
                return tuple(places)
        return ()

    def _code(self, row: _Row) -> Line:
        """Return a block of code as one statement; a URL in it has to be in a source, too."""
        marks = _Marks()
        _TOKEN.sub(lambda match: self._held(match, marks), row.marks)
        cites = tuple(dict.fromkeys(chain.from_iterable(marks.cites.values())))
        urls = (found[0].rstrip(_TRAILING) for found in re.finditer(_URL, row.text, re.IGNORECASE))
        foreign = (*marks.foreign.values(), *(url for url in urls if not self._is_in_source(url)))
        return Line("", (Statement(row.text, cites[:_MOST_CITED], foreign),))

    def _line(self, row: _Row) -> Line:
        marks = _Marks()
        held = _ASIDE.sub(r"(\1", _TOKEN.sub(lambda match: self._held(match, marks), row.text))
        blanked = _BLANKED.sub(_blanked, held)
        spans = [span for span in sentence_spans(blanked) if _WORD.search(blanked, *span)]
        starts, ends = [start for start, _ in spans], [end for _, end in spans]
        # A mark belongs to what it follows, but on a line that begins with one.
        cuts = [0, *ends[:-1]] if _HOLDER.match(held.lstrip()) else [0, *starts[1:]]
        pieces = [held[i:j] for i, j in zip(cuts, [*cuts[1:], len(held)], strict=True)]
        found = (_statement(piece, marks) for piece in pieces)
        return Line(row.prefix, tuple(each for each in found if each is not None))

    def _held(self, match: re.Match[str], marks: _Marks) -> str:
        """Note what a mark, a link or a URL cites, and put a holder in its place."""
        url = match["url"] or match["html"] or match["marked"] or match["target"] or ""
        if match["named"]:
            return match["named"]
        if (match["code"] and "://" not in match[0]) or (match["mark"] and self._is_code(match)):
            return match[0]
        key = marks.hold()
        if match["hedge"]:
            marks.cites[key] = ()
        elif match["mark"]:
            self._note(match["mark"], key, marks)
        elif not match["code"] and (places := self._at(url)):
            marks.cites[key] = places
        else:
            marks.foreign[key] = (url or match[0]).rstrip(_TRAILING)
        rest = url[len(url.rstrip(_TRAILING)) :] if match["url"] else ""
        return f"{match['label'] or match['code'] or ''}\ue000{key}\ue001{rest}"

    def _note(self, numbers: str, key: int, marks: _Marks) -> None:
        """Note the sources that numbers in brackets mean."""
        cited: dict[int, None] = {}
        for first, last in _RANGE.findall(numbers):
            start, stop = int(first), min(int(last or first), int(first) + _MOST_CITED)
            for number in range(start, stop + 1):
                defined = self._defined.get(number)
                if isinstance(defined, str):
                    marks.foreign[key] = defined
                    return
                place = self._numbered.get(number)
                cited |= dict.fromkeys(defined or (() if place is None else (place,)))
        marks.cites[key] = tuple(cited)

    def _is_code(self, match: re.Match[str]) -> bool:
        """Know a list or an index of code from a mark, which may stand right after a word."""
        text = match.string
        before = text[max(0, match.start() - 100) : match.start()]
        if _OF_CODE.search(before):
            return True
        name = re.search(r"[\w.]*\w$", before)
        if name is None:
            return False
        written = name[0] + match[0]
        return bool(_GOES_ON.match(text, match.end())) or self._is_in_source(written)

    def _is_in_source(self, written: str) -> bool:
        """Return whether a source has it, as long as looking takes less than about a second."""
        self._searched += sum(map(len, self._texts))
        return self._searched <= _MOST_SEARCHED and any(written in text for text in self._texts)


def _blanked(match: re.Match[str]) -> str:
    """Return blanks for a mark, which hides no end of a sentence; what follows begins another."""
    return " " * len(match[0]) if match[1] is None else f"{' ' * (len(match[0]) - 1)}X"


def cited_urls(text: str) -> list[str]:
    """Return the web addresses that an answer names, in order, each page once."""
    found: dict[str, str] = {}
    for match in _TOKEN.finditer(text[:LONGEST]):
        url = match["url"] or match["marked"] or match["target"] or ""
        if url.lower().startswith(("http://", "https://")):
            url = url.rstrip(_TRAILING)
            found.setdefault(address(url), url)
    return list(found.values())


def address(url: str) -> str:
    """Return the form in which addresses are compared: no fragment, no slash at the end."""
    try:
        bare = urldefrag(url)[0]
    except ValueError:  # brackets that hold no address
        return url
    bare = re.sub(r"(?<=[?&])(?:utm_\w+|fbclid|gclid|ref)=[^&]*&?", "", bare).rstrip("?&/")
    scheme, colon, rest = bare.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme.lower()}{colon}{host.lower()}{slash}{path}".rstrip("/")


def _statement(piece: str, marks: _Marks) -> Statement | None:
    """Read a sentence and what it cites; None without words."""
    keys = [int(key) for key in _HOLDER.findall(piece)]
    text = _tidy(_HOLDERS.sub("", piece))
    foreign = tuple(marks.foreign[key] for key in keys if key in marks.foreign)
    if not _WORD.search(text) and not foreign:
        return None
    cites = tuple(dict.fromkeys(place for key in keys for place in marks.cites.get(key, ())))
    return Statement(text, cites[:_MOST_CITED], foreign)


def _paragraphs(rows: Sequence[str]) -> list[_Row]:
    """Join lines to paragraphs and items, each with what it begins with."""
    found: list[_Row] = []
    is_fenced = is_open = False
    for row in _with_cited_code(rows):
        if isinstance(row, _Row):
            found.append(row)
            is_open = False
        elif _is_fence(row):
            is_fenced, is_open = not is_fenced, False
        elif _REFERENCES.fullmatch(row):
            break
        elif _is_silent(row):
            is_open = False
            found += [_Row("", "")] if found and found[-1] != ("", "", "") else []
        else:
            match = _PREFIX.match(row)
            begun = match[0] if match else ""
            body = row[len(begun) :]
            if body.startswith("|"):
                body = row_text(body)
            if is_open and not begun.strip() and not is_fenced:
                found[-1] = _Row(found[-1].prefix, f"{found[-1].text}\n{body}")
            else:
                found.append(_Row(begun.replace("\t", "    "), body))
            is_open = not is_fenced
    return found


def _with_cited_code(rows: Sequence[str]) -> Iterator[str | _Row]:
    """Yield lines; a block of code becomes one row where marks alone stand below it."""
    fences = [at for at, row in enumerate(rows) if _is_fence(row)]
    done = 0
    for start, end in zip(fences[::2], fences[1::2], strict=False):
        below = next((at for at in range(end + 1, len(rows)) if rows[at].strip()), end)
        if _MARKS_ALONE.fullmatch(rows[below]):
            yield from rows[done:start]
            yield _Row("", "\n".join(rows[start : end + 1]), rows[below])
            done = below + 1
    yield from rows[done:]


def _is_fence(row: str) -> bool:
    return row.lstrip().startswith(FENCES)


def _is_silent(row: str) -> bool:
    """Return whether a line is a heading, a rule, a lead-in or an entry of references: no claim."""
    bare = row.strip()
    leads_in = bare.endswith(":") and "[" not in bare and len(bare) < _LEADS_IN
    is_entry = _DEFINITION.match(row) is not None and _is_entry(row)
    return leads_in or is_entry or bool(_HEADING.match(row)) or not _WORD.search(bare)


def _is_entry(row: str) -> bool:
    """Know an entry of references from an item of an answer that ends with a URL."""
    return row.lstrip("-*+ \t").startswith("[")


def _tidy(text: str) -> str:
    """Fold blanks, and take out those before a full stop and brackets that held a mark alone."""
    # After a word they are code: `heappop()`.
    text = " ".join(re.sub(r"(?<!\S)(?:\(\s*\)|\[\s*\])", "", text).split())
    text = re.sub(r"\s+([.,;:!?])(?=\s|$)", r"\1", text)
    bold = _BOLD.findall(text)  # whose other mark was in the sentence before or after
    return _BOLD.sub("", text) if len(bold) % 2 else text
