# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Takes a draft apart: its lines, the claims in them, and what each claim cites."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from webtools.grounding.checking.prose import sentence_ends
from webtools.operations.research.rules import canonical
from webtools.providers.protocols import Source
from webtools.text.cleaning import without_controls

LONGEST_DRAFT = 50_000  # characters
_MOST_BRACKETS = 1000  # as each may open a mark, which takes far longer to read than a word
_MOST_CITED = 20  # sources in one mark

_PRIVATE = re.compile("[\ue000-\uf8ff]")
_URL = (
    r"(?:[a-z][a-z0-9+.-]{1,20}://|www\.|(?:mailto|javascript|data|tel):(?=\S))"
    r"[^\s<>\"'`{}|\\^\[\]]{0,2000}"
)
_BARE = re.compile(_URL, re.IGNORECASE)
_NUMBERS = (
    r"[\[【［]{1,2}\s{0,3}(?:\^|#|(?:sources?|refs?)\.?:?\s{1,3})?"
    r"(?P<numbers>\d{1,9}(?:\s{0,3}(?:[-–—,;&]|and|to)\s{0,3}\d{1,9}){0,40})"
    r"(?:†[^\]】\[]{0,80})?\s{0,3}[\]】］]{1,2}"
)
_TARGET = r"[^()\s]{0,2000}(?:\([^()\s]{0,500}\)[^()\s]{0,500})?"
_TOKEN = re.compile(
    rf"(?P<code>`[^`\n]{{1,500}}`)"
    rf"|!?{_NUMBERS}\((?P<marked>{_TARGET})\)"
    rf"|!?\[(?P<label>[^\[\]]{{0,500}})\]\((?P<target>{_TARGET})(?:\s[^()]{{0,200}})?\)"
    rf"|{_NUMBERS.replace('<numbers>', '<mark>')}"
    r"|(?P<html><\s{0,3}/?[a-z!][^<>]{0,500}\b(?:href|src|srcset|action|data|poster|url)\b"
    r"[^<>]{0,2000}>?)"
    rf"|<?(?P<url>{_URL})>?"
    r"|(?P<hedge>[(\[](?:uncertain|unverified)[)\]])",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d{1,9})(?:\s{0,3}(?:[-–—]|to)\s{0,3}(\d{1,9}))?", re.IGNORECASE)
_HOLDER = re.compile("\ue000(\\d{1,6})\ue001")
_HOLDERS = re.compile("(?:[\\s(]{0,9}\ue000\\d{1,6}\ue001[,;)]?)+")
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
    r"\s{0,9}(?:[-*+]\s)?\[\^?\d{1,9}\]:?\s.{0,500}?(?:https?://|www\.)\S{1,2000}\s*$"
)
_WORD = re.compile(r"[^\W_]")
_SPAN = re.compile(r"`[^`]*`")
# What is left between brackets and would pass for a citation: of marks within marks.
_LOOKALIKE = re.compile(r"(?<!\ue002)(?<!\ue002\[)[\[【［]\s*[\^#]?\s*\d[\d\s,;&–-]*[\]】］]")
_AS_IT_IS = "\ue002"  # stands before a list or an index of code, which cites nothing
_SUBSCRIPT = re.compile(r"(?<![\w\])])\[\s*\d+\s*\]")
_PLAIN_NUMBERS = re.compile(r"\[{1,2}[\d\s,]+\]{1,2}")
_NEAR = 200  # characters before a bracket that tell what it is
_CALLED = re.compile(r"[\w\])]\($")
_ATTACHED = re.compile(r"[A-Za-z0-9_\]]$")
_INDEXES = re.compile(r"(?:\[\d{1,9}\]){1,20}$")
_INDEXED = re.compile(r"(?<![A-Za-z0-9_.])[A-Za-z0-9_.]{1,100}(?:\[[\d\s,]{1,40}\]){1,9}")
_NO_NAME = re.compile(r"[^A-Za-z0-9_.]")
# A name that no sentence has: `x`, `sys.argv`, `max_size`.
_NAME = re.compile(r"[a-z]|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Za-z]\w*_\w*[A-Za-z0-9]", re.ASCII)
_GOES_ON = re.compile(r"(?:\ue002?\[\d{1,9}\]){0,9}(?:\s{0,3}[-+*/%]?={1,2}(?!=)|\.[a-z_])")
# An index that may be the citation of a claim that has no other one.
_INDEX = re.compile(rf"(?<=[A-Za-z0-9_\]])\ue002(\[[\d\s,]+\])(?!{_GOES_ON.pattern})")
_TRAILING = ".,;:!?)]}'\"*_，。）】」"


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a claim up to the marks after it, and the numbers of the sources they cite."""

    text: str
    cites: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a draft.

    Attributes:
        parts: Its text, cut at its marks.
        foreign: Addresses in it that are no source's.
        gap: What stands before it on its line: a blank, a line feed or nothing.
        hedged: Whether the draft itself calls it uncertain.
    """

    parts: tuple[Part, ...]
    foreign: tuple[str, ...]
    gap: str = ""
    hedged: bool = False

    @property
    def text(self) -> str:
        """The whole sentence without its marks."""
        return _tidy(" ".join(part.text for part in self.parts))

    @property
    def cites(self) -> tuple[int, ...]:
        """The numbers of all sources it cites, each once."""
        return tuple(dict.fromkeys(number for part in self.parts for number in part.cites))


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph or an item of a list: what it begins with, and its claims."""

    prefix: str
    claims: tuple[Claim, ...]


@dataclass
class _Found:
    """What a stretch of a draft cites."""

    numbers: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    foreign: dict[int, str] = field(default_factory=dict[int, str])
    hedges: set[int] = field(default_factory=set[int])
    count: int = 0

    def key(self) -> int:
        """Give the next holder's number."""
        self.count += 1
        return self.count


def _length(text: str) -> int:
    """Return how many characters of a draft are read."""
    brackets = re.finditer(r"[\[【［]", text[:LONGEST_DRAFT])
    beyond = next(islice(brackets, _MOST_BRACKETS, None), None)
    return min(len(text), LONGEST_DRAFT) if beyond is None else beyond.start()


class Reading:
    """A draft, read against its sources.

    Attributes:
        lines: Its paragraphs and items; an empty line stands for a blank one.
        is_cut: Whether it was too long to be read whole.
    """

    def __init__(self, text: str, sources: Sequence[Source]) -> None:
        self._numbers = frozenset(source.number for source in sources)
        self._urls: dict[str, list[int]] = {}
        for source in sources:
            for form in dict.fromkeys((source.url, canonical(source.url))):
                self._urls.setdefault(form, []).append(source.number)
        self._indexed = frozenset(each for s in sources for each in _indexed(s.text))
        self.length = _length(text)
        self.is_cut = len(text) > self.length
        text = _PRIVATE.sub("", without_controls(text[: self.length]))
        self.lines = [self._line(*row) for row in _rows(text)]

    def _line(self, prefix: str, text: str) -> Line:
        found = _Found()
        held = _TOKEN.sub(lambda match: self._held(match, found), text)
        held = _ASIDE.sub(r"(\1", held)
        starts = [0, *sentence_ends(held)]
        stops = [*starts[1:], len(held)]
        pieces = [held[start:stop] for start, stop in zip(starts, stops, strict=True)]
        claims = [self._claim(piece, found) for piece in _joined(pieces)]
        return Line(prefix, tuple(claim for claim in claims if claim is not None))

    def _held(self, match: re.Match[str], found: _Found) -> str:
        """Note what a mark, a link or a URL cites, and put a holder in its place."""
        if match["code"]:
            return self._code(match["code"], found)
        if match["mark"] and self._is_of_code(match):
            return f"{_AS_IT_IS}{match[0]}" if _is_plain(match) else match[0]
        key = found.key()
        address = match["url"] or match["html"] or match["marked"] or match["target"]
        if match["hedge"]:
            found.hedges.add(key)
        elif match["mark"]:
            found.numbers[key] = self._listed(match["mark"])
        elif cited := self._cited(address or ""):
            found.numbers[key] = cited
        else:
            found.foreign[key] = (address or match[0]).rstrip(_TRAILING)
        rest = ""
        if match["url"]:
            address = match["url"]
            rest = address[len(address.rstrip(_TRAILING)) :]
        label = match["label"] or ""
        return f"{label}\ue000{key}\ue001{rest}"

    def _code(self, code: str, found: _Found) -> str:
        """Keep code as it is, unless it holds what would pass for a citation or leads elsewhere."""
        urls = [url.rstrip(_TRAILING) for url in _BARE.findall(code)]
        strange = [url for url in urls if not self._cited(url)]
        marks = _SUBSCRIPT.finditer(code)
        if not strange and all(_is_list(code[: m.start()]) for m in marks):
            return code
        key = found.key()
        found.foreign[key] = strange[0] if strange else code
        return f"{code}\ue000{key}\ue001"

    def _cited(self, address: str) -> tuple[int, ...]:
        """Find the sources at an address, which may end in the full stop of a sentence."""
        for form in dict.fromkeys((address, address.rstrip(_TRAILING))):
            numbers = self._urls.get(form) or self._urls.get(canonical(form))
            if numbers:
                return tuple(numbers)
        return ()

    def _listed(self, marked: str) -> tuple[int, ...]:
        numbers: dict[int, None] = {}
        for first, last in _RANGE.findall(marked):
            start, stop = int(first), min(int(last or first), int(first) + _MOST_CITED)
            numbers |= dict.fromkeys(range(start, stop + 1))
        return tuple(number for number in numbers if number in self._numbers)

    def _is_of_code(self, match: re.Match[str]) -> bool:
        """Tell a list or an index of code from a citation, which may stand right after a word."""
        if not _PLAIN_NUMBERS.fullmatch(match[0]):
            return False
        before = match.string[max(0, match.start() - _NEAR) : match.start()]
        return self._is_index(before, match) if _ATTACHED.search(before) else _is_list(before)

    def _is_index(self, before: str, match: re.Match[str]) -> bool:
        """Tell whether a bracket right after a word is an index: that of a name in a source."""
        bare = _INDEXES.sub("", before)
        name = _NO_NAME.split(bare)[-1]
        if not name:
            return False
        if match["mark"] == "0" or _GOES_ON.match(match.string, match.end()):
            return True
        written = f"{name}{before[len(bare) :]}{match[0]}"
        is_written = written in self._indexed or not self._listed(match["mark"])
        return is_written and bool(_NAME.fullmatch(name))

    def _as_cited(self, match: re.Match[str], found: _Found) -> str:
        key = found.key()
        found.numbers[key] = self._listed(match[1])
        return f"\ue000{key}\ue001" if found.numbers[key] else match[0]

    def _claim(self, piece: str, found: _Found) -> Claim | None:
        gap = "\n" if "\n" in piece[: len(piece) - len(piece.lstrip())] else " "
        keys = [int(key) for key in _HOLDER.findall(piece)]
        if not any(found.numbers.get(key) for key in keys):
            piece = _INDEX.sub(lambda match: self._as_cited(match, found), piece)
        foreign = [found.foreign[key] for key in keys if key in found.foreign]
        claim = Claim(
            tuple(_parts(piece.strip(), found)), (), gap, not found.hedges.isdisjoint(keys)
        )
        if not _WORD.search(claim.text) and not foreign:
            return None
        foreign += _LOOKALIKE.findall(_SPAN.sub("", claim.text))
        parts = (Part(part.text.replace(_AS_IT_IS, ""), part.cites) for part in claim.parts)
        return replace(claim, parts=tuple(parts), foreign=tuple(foreign))


def _indexed(text: str) -> Iterator[str]:
    """Give the names with an index in a source's text: `x[1]` and `x[1][2]` for `x[1][2]`."""
    for match in _INDEXED.finditer(text):
        stops = (place for place, sign in enumerate(match[0], 1) if sign == "]")
        yield from (match[0][:stop] for stop in stops)


def _is_list(before: str) -> bool:
    """Tell whether what stands before a bracket makes it a list: `=`, a call, or one's comma."""
    bare = before[-_NEAR:].rstrip()
    if bare.endswith(","):
        bare = bare[: _opening(bare) + 1].removesuffix("[").rstrip()
    return bare.endswith("=") or bool(_CALLED.search(bare))


def _opening(text: str) -> int:
    """Find the last bracket that is not closed, or give -1."""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        depth += (text[place] in ")]") - (text[place] in "([")
        if depth < 0:
            return place
    return -1


def _is_plain(match: re.Match[str]) -> bool:
    """Tell whether a bracket cannot be taken for a mark, which stands alone or after a blank."""
    before = match.string[match.start() - 1]
    return "," in match["mark"] or not (before.isspace() or before.isdigit())


def _rows(text: str) -> list[tuple[str, str]]:
    """Cut a draft into paragraphs and items, each with what it begins with."""
    rows: list[tuple[str, str]] = []
    fenced = is_open = False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced, is_open = not fenced, False
            continue
        if _REFERENCES.fullmatch(line):
            break
        if not line.strip() or _is_silent(line):
            is_open = False
            rows += [("", "")] if rows and rows[-1] != ("", "") else []
            continue
        prefix = _PREFIX.match(line)
        begun = prefix[0] if prefix else ""
        body = line[len(begun) :]
        if is_open and not begun.strip() and not fenced:
            rows[-1] = (rows[-1][0], f"{rows[-1][1]}\n{body}")
        else:
            rows.append((begun.replace("\t", "    "), _without_bars(body)))
        is_open = not fenced
    return rows


def _without_bars(body: str) -> str:
    """Write a row of a table as text."""
    return body.strip("| ").replace(" | ", "; ") if body.startswith("|") else body


def _is_silent(line: str) -> bool:
    """Tell whether a line is a heading, a rule or an entry of a list of sources: no claim."""
    bare = line.strip()
    return bool(
        _HEADING.match(line)
        or _DEFINITION.match(line)
        or not _WORD.search(bare)
        or (bare.endswith(":") and "[" not in bare and len(bare) < 200)  # noqa: PLR2004  leads in
    )


def _joined(pieces: list[str]) -> list[str]:
    """Give marks that stand apart from a sentence to the one before, or to the first after."""
    joined: list[str] = []
    for piece in pieces:
        if joined and not _WORD.search(_HOLDER.sub("", piece)):
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def _parts(piece: str, found: _Found) -> list[Part]:
    """Cut a sentence at its marks; what precedes the first word or follows the last mark joins."""
    parts: list[Part] = []
    at = 0
    waiting: tuple[int, ...] = ()
    for group in _HOLDERS.finditer(piece):
        text = piece[at : group.start()]
        keys = [int(key) for key in _HOLDER.findall(group[0])]
        cites = (*waiting, *(n for key in keys for n in found.numbers.get(key, ())))
        at = group.end()
        if _WORD.search(text):
            parts.append(Part(_tidy(text), tuple(dict.fromkeys(cites))))
            waiting = ()
        else:
            waiting = cites
    rest = _tidy(piece[at:])
    if not _WORD.search(rest) and parts:
        parts[-1] = Part(_tidy(parts[-1].text + rest), (*parts[-1].cites, *waiting))
    elif rest:
        last = parts.pop() if parts else Part("", ())
        parts.append(Part(_tidy(f"{last.text} {rest}"), (*last.cites, *waiting)))
    return parts


def _tidy(text: str) -> str:
    """Fold blanks, and take out those before a full stop and brackets that held a mark alone."""
    # After a word they are code: `heappop()`.
    text = " ".join(re.sub(r"(?<!\S)(?:\(\s*\)|\[\s*\])", "", text).split())
    text = re.sub(r"\s+([.,;:!?])(?=\s|$)", r"\1", text)
    return text.replace("**", "") if text.count("**") % 2 else text
