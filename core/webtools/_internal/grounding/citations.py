# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Read the claims of an answer, sentence by sentence, and the sources that each of them cites.

`[n]` cites the n-th source, or the URL with that number in the answer's own references. Links and
bare URLs cite the source with that URL. A line of marks below a block of code cites for the block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urldefrag

from webtools._internal.grounding.blocks import FENCES
from webtools._internal.grounding.evidence import row_text
from webtools._internal.grounding.sentences import sentence_spans
from webtools._internal.text.cleaning import without_controls

LONGEST = 50_000  # characters of an answer
_MAX_BRACKETS = 1000  # in an answer, since each may open a mark, which is slow to read
_MAX_SEARCHED = 500_000_000  # characters of sources to search for brackets of code
_MAX_CITED = 20  # sources of a mark or a claim

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
_PLACEHOLDER = re.compile("\ue000(\\d{1,6})\ue001")
_PLACEHOLDERS = re.compile("(?:[\\s(]{0,9}\ue000\\d{1,6}\ue001[,;)]?)+")
_PLACEHOLDER_AND_LETTER = re.compile(r"\ue000\d{1,6}\ue001(?:(\s{0,3})[^\W\d_A-Z])?")
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
_LEADS_IN = 200  # characters of a line that ends with a colon and is not a claim
# A bracket of code: after `=` or in a call, or between a name and `.name` or `=`.
_BEFORE_CODE = re.compile(r"(?:\w\(|=\s?)$")
_ATTRIBUTE = re.compile(r"\s{0,3}[-+*/%]?=(?!=)|\.[a-z_]")
_TRAILING = ".,;:!?)]}'\"*_，。）】」"


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, list item, table row or code block of an answer.

    Attributes:
        text: The statement without its citations.
        cites: Indexes of the sources that it cites, each once.
        foreign: Addresses and marks that belong to no source.
    """

    text: str
    cites: tuple[int, ...]
    foreign: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph or a list item: its prefix, such as `- `, and its statements."""

    prefix: str
    statements: tuple[Statement, ...]


class _Row(NamedTuple):
    """A paragraph or an item with its prefix, or a block of code with the marks below it."""

    prefix: str
    text: str
    marks: str = ""


# What a mark cites: the indexes of sources, or an address that belongs to none.
_Cited: TypeAlias = tuple[int, ...] | str


class Answer:
    """An answer, with the addresses of its sources resolved.

    Attributes:
        lines: Its paragraphs and items; an empty line stands for a blank one.
        length: Number of characters that were read.
    """

    def __init__(self, text: str, sources: Sequence[Any]) -> None:
        """Read an answer; the texts of its sources distinguish an index of code from a mark."""
        self._texts = [source.text for source in sources]
        self._searched = 0
        self._numbered: dict[int, int] = {}
        self._places: dict[str, list[int]] = {}
        for place, source in enumerate(sources):
            self._numbered.setdefault(getattr(source, "number", place + 1), place)
            for form in dict.fromkeys((source.url, address(source.url))):
                self._places.setdefault(form, []).append(place)
        brackets = re.finditer(r"[\[【［]", text[:LONGEST])
        excess = next(islice(brackets, _MAX_BRACKETS, None), None)
        self.length = excess.start() if excess else min(len(text), LONGEST)
        rows = _PRIVATE.sub("", without_controls(text[: self.length])).splitlines()
        self._defined = dict(filter(None, map(self._definition, rows)))
        paragraphs = _paragraphs(rows)
        self.lines = [self._code(row) if row.marks else self._line(row) for row in paragraphs]

    def _definition(self, row: str) -> tuple[int, _Cited] | None:
        """Read an entry of a list of references."""
        match = _DEFINITION.match(row)
        if match is None:
            return None
        url = match[3].rstrip(_TRAILING)
        return int(match[1] or match[2]), self._sources_at(url) or url

    def _sources_at(self, url: str) -> tuple[int, ...]:
        """Return the indexes of the sources with a URL, which may end in a full stop."""
        for form in dict.fromkeys((url, url.rstrip(_TRAILING))):
            if places := self._places.get(form) or self._places.get(address(form)):
                return tuple(places)
        return ()

    def _code(self, row: _Row) -> Line:
        """Return a block of code as one statement; URLs in it must be in a source."""
        marks: list[_Cited] = []
        _TOKEN.sub(lambda match: self._replace_mark(match, marks), row.marks)
        urls = (found[0].rstrip(_TRAILING) for found in re.finditer(_URL, row.text, re.IGNORECASE))
        marks += [url for url in urls if not self._is_in_source(url)]
        return Line("", (_statement(row.text, marks),))

    def _line(self, row: _Row) -> Line:
        marks: list[_Cited] = []
        text = _TOKEN.sub(lambda match: self._replace_mark(match, marks), row.text)
        text = _ASIDE.sub(r"(\1", text)
        blanked = _PLACEHOLDER_AND_LETTER.sub(_blank_placeholder, text)
        spans = [span for span in sentence_spans(blanked) if _WORD.search(blanked, *span)]
        starts, ends = [start for start, _ in spans], [end for _, end in spans]
        # A mark belongs to the text before it, except on a line that begins with a mark.
        cuts = [0, *ends[:-1]] if _PLACEHOLDER.match(text.lstrip()) else [0, *starts[1:]]
        pieces = [text[i:j] for i, j in zip(cuts, [*cuts[1:], len(text)], strict=True)]
        statements = [
            _statement(
                _tidy(_PLACEHOLDERS.sub("", piece)),
                [marks[int(number)] for number in _PLACEHOLDER.findall(piece)],
            )
            for piece in pieces
        ]
        worded = (each for each in statements if each.foreign or _WORD.search(each.text))
        return Line(row.prefix, tuple(worded))

    def _replace_mark(self, match: re.Match[str], marks: list[_Cited]) -> str:
        """Append what a mark, a link or a URL cites, and return a placeholder for it."""
        url = match["url"] or match["html"] or match["marked"] or match["target"] or ""
        if match["named"]:
            return match["named"]
        if (match["code"] and "://" not in match[0]) or (match["mark"] and self._is_code(match)):
            return match[0]
        cited: _Cited = ()
        if match["mark"]:
            cited = self._numbered_sources(match["mark"])
        elif not match["hedge"]:
            places = () if match["code"] else self._sources_at(url)
            cited = places or (url or match[0]).rstrip(_TRAILING)
        marks.append(cited)
        rest = url[len(url.rstrip(_TRAILING)) :] if match["url"] else ""
        return f"{match['label'] or match['code'] or ''}\ue000{len(marks) - 1}\ue001{rest}"

    def _numbered_sources(self, numbers: str) -> _Cited:
        """Return what numbers in brackets cite."""
        places: dict[int, None] = {}
        for first, last in _RANGE.findall(numbers):
            start, stop = int(first), min(int(last or first), int(first) + _MAX_CITED)
            for number in range(start, stop + 1):
                defined = self._defined.get(number)
                if isinstance(defined, str):
                    return defined
                place = self._numbered.get(number)
                places |= dict.fromkeys(defined or (() if place is None else (place,)))
        return tuple(places)

    def _is_code(self, match: re.Match[str]) -> bool:
        """Distinguish a list or an index of code from a mark, which may follow a word directly."""
        text = match.string
        before = text[max(0, match.start() - 100) : match.start()]
        if _BEFORE_CODE.search(before):
            return True
        name = re.search(r"[\w.]*\w$", before)
        if name is None:
            return False
        code = name[0] + match[0]
        return bool(_ATTRIBUTE.match(text, match.end())) or self._is_in_source(code)

    def _is_in_source(self, code: str) -> bool:
        """Return whether a source contains the text; False after about a second of searching."""
        self._searched += sum(map(len, self._texts))
        return self._searched <= _MAX_SEARCHED and any(code in text for text in self._texts)


def _blank_placeholder(match: re.Match[str]) -> str:
    """Return blanks for a placeholder, so that the text after it can begin a sentence."""
    return " " * len(match[0]) if match[1] is None else f"{' ' * (len(match[0]) - 1)}X"


def cited_urls(text: str) -> list[str]:
    """Return the URLs in an answer in order, without repetitions."""
    urls: dict[str, str] = {}
    for match in _TOKEN.finditer(text[:LONGEST]):
        url = match["url"] or match["marked"] or match["target"] or ""
        if url.lower().startswith(("http://", "https://")):
            url = url.rstrip(_TRAILING)
            urls.setdefault(address(url), url)
    return list(urls.values())


def address(url: str) -> str:
    """Normalize a URL for comparison: no fragment, no tracking parameters, no slash at the end."""
    try:
        normalized = urldefrag(url)[0]
    except ValueError:  # brackets without an IPv6 address
        return url
    normalized = re.sub(r"(?<=[?&])(?:utm_\w+|fbclid|gclid|ref)=[^&]*&?", "", normalized).rstrip(
        "?&/"
    )
    scheme, colon, rest = normalized.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme.lower()}{colon}{host.lower()}{slash}{path}".rstrip("/")


def _statement(text: str, marks: Sequence[_Cited]) -> Statement:
    foreign = tuple(each for each in marks if isinstance(each, str))
    places = dict.fromkeys(p for each in marks if not isinstance(each, str) for p in each)
    return Statement(text, tuple(places)[:_MAX_CITED], foreign)


def _paragraphs(rows: Sequence[str]) -> list[_Row]:
    """Join lines to paragraphs and items with their prefixes."""
    paragraphs: list[_Row] = []
    is_fenced = is_open = False
    for row in _with_cited_code(rows):
        if isinstance(row, _Row):
            paragraphs.append(row)
            is_open = False
        elif _is_fence(row):
            is_fenced, is_open = not is_fenced, False
        elif _REFERENCES.fullmatch(row):
            break
        elif _is_not_claim(row):
            is_open = False
            paragraphs += [_Row("", "")] if paragraphs and paragraphs[-1] != ("", "", "") else []
        else:
            match = _PREFIX.match(row)
            prefix = match[0] if match else ""
            body = row[len(prefix) :]
            if body.startswith("|"):
                body = row_text(body)
            if is_open and not prefix.strip() and not is_fenced:
                paragraphs[-1] = _Row(paragraphs[-1].prefix, f"{paragraphs[-1].text}\n{body}")
            else:
                paragraphs.append(_Row(prefix.replace("\t", "    "), body))
            is_open = not is_fenced
    return paragraphs


def _with_cited_code(rows: Sequence[str]) -> Iterator[str | _Row]:
    """Yield lines; a block of code with a line of marks below it becomes one row."""
    fences = [number for number, row in enumerate(rows) if _is_fence(row)]
    position = 0
    for start, end in zip(fences[::2], fences[1::2], strict=False):
        below = next((number for number in range(end + 1, len(rows)) if rows[number].strip()), end)
        if _MARKS_ALONE.fullmatch(rows[below]):
            yield from rows[position:start]
            yield _Row("", "\n".join(rows[start : end + 1]), rows[below])
            position = below + 1
    yield from rows[position:]


def _is_fence(row: str) -> bool:
    return row.lstrip().startswith(FENCES)


def _is_not_claim(row: str) -> bool:
    """Return whether a line is a heading, a rule, a lead-in or a reference, not a claim."""
    line = row.strip()
    leads_in = line.endswith(":") and "[" not in line and len(line) < _LEADS_IN
    # An item of an answer may end with a URL, too.
    is_entry = row.lstrip("-*+ \t").startswith("[") and _DEFINITION.match(row) is not None
    return leads_in or is_entry or bool(_HEADING.match(row)) or not _WORD.search(line)


def _tidy(text: str) -> str:
    """Normalize blanks, and remove those before a full stop and empty brackets."""
    # After a word, empty brackets are code: `heappop()`.
    text = " ".join(re.sub(r"(?<!\S)(?:\(\s*\)|\[\s*\])", "", text).split())
    text = re.sub(r"\s+([.,;:!?])(?=\s|$)", r"\1", text)
    bold = _BOLD.findall(text)  # an unpaired mark, whose pair is in another sentence
    return _BOLD.sub("", text) if len(bold) % 2 else text
