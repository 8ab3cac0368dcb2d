# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Read the claims of an answer, sentence by sentence, and the sources that each of them cites.

`[n]` cites the n-th source, or the URL with that number in the answer's own references. Links and
bare URLs cite the source with that URL. Citations on a line of their own cite for the paragraph or
the code above, and a list of sources for all sentences without a citation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from webtools._internal.grounding.blocks import FENCES
from webtools._internal.grounding.citation_marks import (
    MAX_CITED,
    NAMES,
    PLACEHOLDER,
    SENTENCE_END,
    TOKEN,
    URL,
    Cited,
    CitedSources,
    MarkedText,
    is_sentence,
    trimmed,
)
from webtools._internal.grounding.claim_context import is_denial
from webtools._internal.grounding.evidence import is_code, row_text
from webtools._internal.grounding.sentences import sentence_spans
from webtools._internal.text.cleaning import without_controls

LONGEST = 50_000  # characters of an answer
_MAX_BRACKETS = 1000  # in an answer, since each may open a mark, which is slow to read

# Marks of ChatGPT and Gemini that name no source, and tags of Claude and Cohere around a text.
_TURN = r"turn\d{1,4}[a-z]{4,10}\d{1,4}"
_UNKNOWN_MARK = re.compile(
    "\ue200[^\ue201]{0,300}\ue201"
    r"|:contentReference\[oaicite:\d{1,5}\](?:\{index=\d{1,5}\})?|\[cite_start\]"
    rf"|[\[【]?(?:cite)?{_TURN}(?:[,;]?\s?{_TURN}){{0,20}}(?:†[^\]】\[\n]{{0,80}}[\]】])?[\]】]?"
    r"|\[oaicite:\d{1,5}\]"
    r"|<(?:cite\s[^<>]{1,200}|co)>([^<>]{0,5000})</co?(?:ite)?(?:: ?[\d, ]{1,20})?>"
)
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_PLACEHOLDERS = re.compile("(?:\\s{0,9}\ue000\\d{1,6}\ue001)+")
_PLACEHOLDER_AND_LETTER = re.compile(r"\ue000\d{1,6}\ue001(?:(\s{0,3})[^\W\d_A-Z])?")
# `!` and `?` before a citation end a sentence also behind a name.
_CITED_END = re.compile(
    "[!?](?=[\"'”’»)*_]{0,5}\\s{0,3}(?:\ue000\\d{1,6}\ue001\\s{0,3})+(?![a-z\\s]))"
)
_PREFIX = re.compile(r"[ \t]{0,40}(?:>\s?){0,5}(?:(?:[-*+•‣]|\d{1,3}[.)])\s+)?")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)|\s{0,3}\*\*[^*\[.!?]{1,200}\*\*:?\s*$")
_REFERENCES = re.compile(
    rf"\W*(?:(?:list of |all )?{NAMES}|works cited|further reading)"
    r"(?:\s+(?:used|cited|consulted|list|(?:and|&|/)\s+\w+))?\W*",
    re.IGNORECASE,
)
_LEAD_INS = re.compile(
    rf"\b(?:{NAMES}|see also|see|cf|via|and|und|(?:read |learn )?more(?: info)?)\b", re.IGNORECASE
)
_DEFINITION = re.compile(r"\s{0,9}(?:[-*+]\s{1,3})?\[(?P<key>[^\[\]]{1,100})\]:\s")
_ENTRY_NUMBER = re.compile(
    r"\s{0,9}(?:[-*+]\s{1,3})?(?:\[\^?(\d{1,9})\]|\(?(\d{1,3})[.)]|([⁰¹²³⁴-⁹]{1,3}))"
)
_WORD = re.compile(r"[^\W_]")
_RULE = re.compile(r"\s*\|[\s|:]*-[\s|:-]*")
_LEADS_IN = 200  # characters of a line that ends with a colon and is not a claim
_BOLD = re.compile(r"(?<!\w)\*\*|\*\*(?!\w)")  # `2**10` is code
_WRAPPED = re.compile(r"(\*{1,3}|_{1,3})(?=[^\s*_])([^*\n]+?)(?<=[^\s*_])\1([.!?。]?)")
_EMPHASIS = re.compile(
    r"(?P<code>`[^`]*`)|(?<![\w*])(?P<mark>\*{1,3}|_)(?=[^\s*_])(?P<text>[^*\n]{1,500}?)"
    r"(?<=[^\s*_])(?P=mark)(?![\w*])"
)
_LABEL = re.compile(r"\*{1,2}([^*\n]{1,80})(?:\*{1,2}\s{0,3}[:–—-]|:\*{1,2})\s*(?=\S)")
_QUOTED = re.compile(r"[\"“„«](.+)[\"”“»]")


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
    """A paragraph or an item with its prefix, or a block of code.

    Attributes:
        prefix: The mark of an item or a quotation.
        text: The text.
        marks: Lines of citations right below.
    """

    prefix: str
    text: str
    marks: str = ""


class Answer:
    """An answer, with the addresses of its sources resolved.

    Attributes:
        lines: Its paragraphs and items; an empty line stands for a blank one.
        length: Number of characters that were read.
        urls: The URLs that it cites, in order.
    """

    def __init__(self, text: str, sources: Sequence[Any]) -> None:
        """Read an answer; the texts of its sources distinguish an index of code from a mark."""
        self._sources = CitedSources(sources)
        brackets = re.finditer(r"[\[【［]", text[:LONGEST])
        excess = next(islice(brackets, _MAX_BRACKETS, None), None)
        self.length = excess.start() if excess else min(len(text), LONGEST)
        unmarked = _UNKNOWN_MARK.sub(lambda mark: mark[1] or "", text[: self.length])
        rows = _PRIVATE.sub("", without_controls(unmarked)).splitlines()
        paragraphs = self._paragraphs(self._without_references(rows))
        lines = [self._code(row) if is_code(row.text) else self._line(row) for row in paragraphs]
        self.lines = [_citing(line, self._sources.listed) for line in lines]
        self.urls = list(self._sources.urls.values())

    # --- lists of sources -----------------------------------------------------------------------

    def _without_references(self, rows: Sequence[str]) -> list[str]:
        """Read the definitions and lists of sources, and return the other lines."""
        body: list[str] = []
        is_fenced = is_list = False
        key = ""
        for number, row in enumerate(rows):
            definition = _DEFINITION.match(row)
            if _is_fence(row) or is_fenced:
                is_fenced ^= _is_fence(row)
                is_list = False
            elif _REFERENCES.fullmatch(row):
                is_list, key = True, ""
                body.append("")
                continue
            elif is_list and (not row.strip() or self._is_entry(row, rows[number + 1 :])):
                if entry := definition or _ENTRY_NUMBER.match(row):
                    key = next(filter(None, entry.groups()))
                self._read_entry(row, key, is_listed=True)
                continue
            elif definition and (definition["key"].startswith("^") or _has_url(row)):
                self._read_entry(row[definition.end() :], definition["key"], is_listed=False)
                continue
            elif (entry := _ENTRY_NUMBER.match(row)) and self._is_bare_entry(row, entry):
                key = next(filter(None, entry.groups()))
                self._read_entry(row, key, is_listed=True)
                continue
            elif _is_header(row, rows[number + 1 : number + 2]):
                body.append("")
                continue
            else:
                is_list = False
            body.append(row)
        return body

    def _is_entry(self, row: str, below: Sequence[str]) -> bool:
        """Return whether a line in a list of sources is one of them, or the title of one."""
        words = PLACEHOLDER.sub("", MarkedText(row, self._sources).tokens).strip()
        is_item = bool(_ENTRY_NUMBER.match(row) or _prefix(row).strip())
        if is_sentence(words) and not (is_item and _has_url(row)):
            return False
        if is_item or _has_url(row) or self._sources.named(row):
            return True
        next_row = next((each for each in below if each.strip()), "")
        return _has_url(next_row) and not _WORD.search(TOKEN.sub("", next_row))

    def _is_bare_entry(self, row: str, entry: re.Match[str]) -> bool:
        """Return whether a numbered line outside of lists is a source, not a claim."""
        if not _has_url(row) or row.startswith("(", entry.end()):
            return False
        if self._is_citation(row):
            return True
        urls = list(re.finditer(URL, row, re.IGNORECASE))
        is_last = bool(urls) and not _WORD.search(row, urls[-1].end())
        return bool(entry[1]) and is_last and not is_sentence(TOKEN.sub("", row))

    def _read_entry(self, row: str, key: str, *, is_listed: bool) -> None:
        """Read what an entry of a list of sources, or a definition, cites."""
        title = row[len(_prefix(row)) :]
        urls = [
            match["angled"] or match["target"] or match["href"] or match["url"]
            for match in TOKEN.finditer(row)
        ]
        cited: list[Cited] = [self._sources.at(url) for url in urls if url]
        named = self._sources.named(title)
        for each in cited or ([named] if named else []):
            self._sources.defined.setdefault(_key(key), each)
            if is_listed:
                self._sources.listed.append(each)
        self._sources.defined.pop("", None)

    # --- paragraphs -----------------------------------------------------------------------------

    def _paragraphs(self, rows: Sequence[str]) -> list[_Row]:
        """Join lines to paragraphs and items with their prefixes."""
        paragraphs: list[_Row] = []
        is_open = False
        for row in self._with_code(rows):
            if isinstance(row, _Row):
                paragraphs.append(row)
                is_open = False
            elif _is_fence(row):
                is_open = False
            elif self._is_citation(row):
                if is_open:
                    above = paragraphs[-1]
                    paragraphs[-1] = above._replace(marks=f"{above.marks}\n{row}")
                else:
                    self._sources.listed += MarkedText(row, self._sources).marks
            elif _is_not_claim(row):
                is_open = False
                paragraphs += (
                    [_Row("", "")] if paragraphs and paragraphs[-1] != ("", "", "") else []
                )
            else:
                prefix = _prefix(row)
                body = row[len(prefix) :]
                is_table_row = body.startswith("|")
                if is_table_row:
                    body = row_text(body)
                if is_open and not prefix.strip() and not is_table_row:
                    above = paragraphs[-1]
                    paragraphs[-1] = above._replace(text=f"{above.text}\n{body}")
                else:
                    paragraphs.append(_Row(prefix.replace("\t", "    "), body))
                is_open = True
        return paragraphs

    def _with_code(self, rows: Sequence[str]) -> Iterator[str | _Row]:
        """Yield lines; a block of code becomes one row with the citations below it."""
        fences = [number for number, row in enumerate(rows) if _is_fence(row)]
        position = 0
        for start, end in zip(fences[::2], fences[1::2], strict=False):
            below = next((n for n in range(end + 1, len(rows)) if rows[n].strip()), end)
            yield from rows[position:start]
            is_cited = self._is_citation(rows[below])
            marks = rows[below] if is_cited else ""
            yield _Row("", "\n".join(rows[start : end + 1]), marks)
            position = below + 1 if is_cited else end + 1
        yield from rows[position:]

    def _is_citation(self, row: str) -> bool:
        """Return whether a line has citations and no claim. A sentence may be a link."""
        marked = MarkedText(row, self._sources)
        rest = PLACEHOLDER.sub("", marked.tokens[len(_prefix(row)) :])
        if not marked.marks or any(map(is_sentence, marked.labels)):
            return False
        title = rest.strip(" \t:–—-*_|")
        return not _WORD.search(_LEAD_INS.sub("", rest)) or bool(self._sources.named(title))

    # --- statements -----------------------------------------------------------------------------

    def _code(self, row: _Row) -> Line:
        """Return a block of code as one statement; URLs in it must be in a source."""
        marks = MarkedText(row.marks, self._sources).marks
        urls = (trimmed(found[0]) for found in re.finditer(URL, row.text, re.IGNORECASE))
        marks += [url for url in urls if not self._sources.contain(url)]
        return Line("", (_statement(row.text, marks),))

    def _line(self, row: _Row) -> Line:
        marked = MarkedText(row.text, self._sources)
        text = marked.text
        marked_ends = _CITED_END.sub(".", text)
        blanked = _PLACEHOLDER_AND_LETTER.sub(_blank_placeholder, marked_ends)
        spans = [span for span in sentence_spans(blanked) if _WORD.search(blanked, *span)]
        starts, ends = [start for start, _ in spans], [end for _, end in spans]
        # A mark belongs to the text before it, except on a line that begins with a mark.
        cuts = [0, *ends[:-1]] if PLACEHOLDER.match(text.lstrip()) else [0, *starts[1:]]
        pieces = [text[i:j] for i, j in zip(cuts, [*cuts[1:], len(text)], strict=True)]
        statements = [
            _statement(
                _tidy(piece), [marked.marks[int(number)] for number in PLACEHOLDER.findall(piece)]
            )
            for piece in pieces
        ]
        worded = tuple(each for each in statements if each.foreign or _WORD.search(each.text))
        return _citing(Line(row.prefix, worded), MarkedText(row.marks, self._sources).marks)


def _blank_placeholder(match: re.Match[str]) -> str:
    """Return blanks for a placeholder, so that the text after it can begin a sentence."""
    return " " * len(match[0]) if match[1] is None else f"{' ' * (len(match[0]) - 1)}X"


def cited_urls(text: str) -> list[str]:
    """Return the URLs that an answer cites in order, without repetitions."""
    return Answer(text, []).urls


def readings_of(text: str) -> list[str]:
    """Return a statement as it is, and without what an answer adds to a quotation.

    That is emphasis, a label in bold before it, and quotation marks.
    """
    readings = [text]
    if is_code(text):
        return readings
    label = _LABEL.match(text)
    if label and not is_denial(label[1]):
        readings.append(text[label.end() :])
    for reading in tuple(readings):
        bare = _EMPHASIS.sub(lambda match: match["code"] or match["text"], reading)
        quoted = _QUOTED.fullmatch(bare)
        readings += [bare, quoted[1]] if quoted else [bare]
    return list(dict.fromkeys(readings))


def _key(key: str) -> str:
    return key.strip("^ ").lower()


def _prefix(row: str) -> str:
    """Return the indentation and the mark of an item or quotation at the beginning of a line."""
    match = _PREFIX.match(row)
    return match[0] if match else ""


def _has_url(row: str) -> bool:
    return any(
        match["url"] or match["angled"] or match["target"] or match["href"]
        for match in TOKEN.finditer(row)
    )


def _is_header(row: str, below: Sequence[str]) -> bool:
    """Return whether a line is the header of a table that cites nothing."""
    is_row = row.lstrip().startswith("|") and TOKEN.search(row) is None
    return is_row and any(_RULE.fullmatch(each) for each in below)


def _citing(line: Line, marks: Sequence[Cited]) -> Line:
    """Return a line whose statements without a citation cite `marks`."""
    statements = tuple(
        each if each.cites or each.foreign else _statement(each.text, marks)
        for each in line.statements
    )
    return replace(line, statements=statements)


def _statement(text: str, marks: Sequence[Cited]) -> Statement:
    foreign = tuple(each for each in marks if isinstance(each, str))
    places = dict.fromkeys(p for each in marks if not isinstance(each, str) for p in each)
    return Statement(text, tuple(places)[:MAX_CITED], foreign)


def _is_fence(row: str) -> bool:
    return row.lstrip().startswith(FENCES)


def _is_not_claim(row: str) -> bool:
    """Return whether a line is a heading, a rule or a lead-in, not a claim."""
    line = row.strip()
    leads_in = line.endswith(":") and "[" not in line and len(line) < _LEADS_IN
    return leads_in or bool(_HEADING.match(row)) or not _WORD.search(line)


def _tidy(piece: str) -> str:
    """Remove citations and what they leave: blanks, empty brackets and cells, unpaired marks."""
    # After a word, empty brackets are code: `heappop()`.
    text = re.sub(r"(?<!\S)(?:\(\s*\)|\[\s*\])", "", _PLACEHOLDERS.sub("", piece))
    text = " ".join(text.split())
    text = re.sub(r"\s+([.,;:!?])(?=\s|$)", r"\1", text)
    text = re.sub(r"(?:\s*\|)+$|^(?:\|\s*)+|(\|)(?:\s*\|)+", r"\1", text)
    if "\ue000" in piece.rstrip()[-9:] and not SENTENCE_END.search(text):
        text = re.sub(r"[\s,:;–—]+$", "", text)
    bold = _BOLD.findall(text)  # an unpaired mark, whose pair is in another sentence
    text = _BOLD.sub("", text) if len(bold) % 2 else text
    for mark in ("*", "_"):
        if text.count(mark) == 1:
            text = text.removeprefix(mark).removesuffix(mark)
    wrapped = _WRAPPED.fullmatch(text)
    return f"{wrapped[2]}{wrapped[3]}" if wrapped else text
