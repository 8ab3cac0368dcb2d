# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Find the citations in a line of an answer: marks, links, URLs and names of sources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias
from urllib.parse import unquote, urldefrag, urlsplit

from webtools._internal.grounding.sentences import BEGINNING, is_whole
from webtools._internal.grounding.words import FUNCTION_WORDS

MAX_CITED = 20  # sources of a mark or a claim
_MAX_SEARCHED = 500_000_000  # characters of sources to search
_WINDOW = 300  # characters beside a link that decide whether it belongs to the sentence
_SHORTEST_SENTENCE = 4  # words
_SHORTEST_NAME = 8  # characters of a title that another text may begin with

URL = (
    r"(?:[a-z][a-z0-9+.-]{1,20}://|www\.|(?:mailto|javascript|data|tel):(?=\S))"
    r"[^\s<>\"'`{}|\\^\[\]]{0,2000}"
)
_KIND = (
    r"(?:\^|#|(?:sources?|refs?|references?|cite|citations?|docs?|documents?|results?|web|footnotes?)"
    r"[.:]?\s{0,3})?"
)
# Words for a source that are others elsewhere; they count if there is a source with the number.
_WEAK_KIND = (
    r"(?:(?:(?:web|search|tool)[ _-])?(?:sources?|src|refs?|docs?|documents?|results?|web|search"
    r"|news|links?|notes?|pages?|articles?|passages?|snippets?|chunks?|excerpts?|contexts?|ctx|evidence|quellen?"
    r"|fuentes?|fontes?|источник|来源|來源|資料|出典|출처)[.:_@-]?\s{0,3}|[SDRWN@](?=\d))"
)
_NUMBERS = (
    rf"(?:\\?[\[【［〔〖]){{1,2}}\s{{0,3}}(?:(?P<weak>{_WEAK_KIND})|{_KIND})"
    rf"(?P<mark>\d{{1,9}}(?:\s{{0,3}}(?:[-–—,;&]|(?:,\s?)?and|to)\s{{0,3}}{_KIND}\d{{1,9}}){{0,40}})"
    r"(?P<note>(?:\s?[:.,–—-]\s?|\s\()[^\W\d_][^\[\]\n]{0,100})?"
    r"(?P<part>:\d{1,4})?(?:†[^\]】\[]{0,80})?\^?\s{0,3}(?:\\?[\]】］〕〗]){1,2}(?!\()"
)
_TARGET = r"[^()\s]{0,2000}(?:\([^()\s]{0,500}\)[^()\s]{0,500})?"
_LINK = (  # its label may have brackets, one level deep, and a title may follow its target
    r"(?P<image>(?<![\w)`\"”'])!)?\[(?P<label>(?:[^\[\]\\]|\\.|\[[^\[\]]{0,200}\]){0,500})\]"
    rf"(?: (?=\(https?://))?\(\s{{0,9}}(?:<(?P<angled>[^<>\n]{{0,2000}})>|(?P<target>{_TARGET}))"
    r"(?:\s{1,9}(?:\"[^\"]{0,300}\"|'[^']{0,300}'|\([^()]{0,300}\)|[^()]{0,200}))?\s{0,9}\)"
)
_ANCHOR = (
    r"<a\s(?:[^<>]{0,500}\s)?href\s{0,3}=\s{0,3}[\"']?(?P<href>[^\"'\s<>]{0,2000})[^<>]{0,500}>"
    r"(?P<anchor>[^<>]{0,500})</a>"
)
TOKEN = re.compile(
    r"(?P<code>`[^`\n]{1,500}`)"
    r"|\^\[?(?P<caret>\d{1,3}(?:\s?,\s?\d{1,3}){0,9})\]?\^(?!\w)"
    rf"|{_LINK}|{_NUMBERS}"
    r"|\[(?P<named>[^\[\]]{1,300})\](?:\[(?P<key>[^\[\]]{0,100})\])?"
    rf"|{_ANCHOR}"
    r"|<(?P<tag>sup|ref|cite|source)>\s?(?P<tagged>\d{1,3}(?:\s?,\s?\d{1,3}){0,9})\s?</(?P=tag)>"
    r"|\((?:(?:see|cf\.?):?\s{1,3}|(?=[a-z]))"
    r"(?:sources?|src|refs?|references?|citations?|documents?|results?|quellen?)?[.:]?\s{0,3}(?P<aside>\d{1,3}(?:\s?(?:[,;&–-]|and)\s?(?:source\s)?\d{1,3}){0,9})\)"
    r"|(?P<html><\s{0,3}/?[a-z!][^<>]{0,500}\b(?:href|src|srcset|action|data|poster|url)\b"
    r"[^<>]{0,2000}>?)"
    rf"|<?(?P<url>{URL})>?"
    r"|(?<![^\s.!?*_])(?:(?:source|quelle)s?:|[—–])\s{0,3}(?!www)(?P<origin>[^\n\[\]()*_:/]{3,150}?)"
    r"\.?(?=[*_]{0,3}[ \t]*(?:\n|\Z))"
    r"|(?P<hedge>[(\[](?:uncertain|unverified)[)\]])"
    r"|\((?P<round>\d{1,3}(?:\s?,\s?\d{1,3}){0,9})\)|(?P<raised>[⁰¹²³⁴-⁹]{1,3}|[①-⑳❶-❿]{1,9})"
    r"|\{(?P<curly>\d{1,3}(?:\s?,\s?\d{1,3}){0,9})\}"
    r"|(?<=[\s.!?])\((?P<name>[^()\[\]\n/`]{2,200})\)",
    re.IGNORECASE,
)
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789") | {
    first + n: f"{n + 1}," for first, count in ((0x2460, 20), (0x2776, 10)) for n in range(count)
}
_RANGE = re.compile(
    rf"(\d{{1,9}})(?:\s{{0,3}}(?:[-–—]|to)\s{{0,3}}{_KIND}(\d{{1,9}}))?", re.IGNORECASE
)
_MARK_LABEL = re.compile(r"[\s\[\]\\^#†*_\d,;–-]*")
_MARK_CODE = re.compile(r"[\[【]\^?\d{1,9}[\]】]")
_FULL_STOP = re.compile(r"[.!?](?=\s|$)")
_BEFORE_NUMBER = re.compile(r"(?:[.!?…”\")`]|[^\W\d_]{3})$")  # not of `10 m²`
_PLACE = "\ue000\\d{1,6}\ue001"
PLACEHOLDER = re.compile("\ue000(\\d{1,6})\ue001")
_GROUP = re.compile(
    rf"{_PLACE}(?:[ \t,;|/&·]{{0,9}}\n?[ \t]{{0,9}}(?:(?:and|und)\s{{1,3}})?{_PLACE})*"
)
_BRACKETS = {"(": ")", "[": "]", "（": "）", "【": "】", "{": "}"}
_TIGHT = (  # enclose citations without blanks
    *((each, each) for each in ("***", "**", "__", "*", "_", "`")),
    *((f"<{tag}>", f"</{tag}>") for tag in ("sup", "cite", "small")),
)
NAMES = (
    r"(?:sources?|references?|refs?|citations?|links?|footnotes?|bibliography|quellen?|fuentes?|fontes?"
    r"|источники?|来源|來源|出典|출처)"
)
_LEAD_IN = re.compile(
    r"(?:^|(?<=[\s(\[（【*_.!?]))(?P<emphasis>[*_]{0,3})"
    rf"(?:see(?: also)?|cf\.?|via|{NAMES}|(?:read |learn )?more(?: info)?|further reading)"
    r"[*_]{0,2}\s{0,3}(?P<colon>[:：])?[*_]{0,2}\s*$",
    re.IGNORECASE,
)
_BEHIND_WORDS = (
    r"(?:according to|as (?:per|(?:reported|stated|noted|cited|seen) (?:in|by))|based on|per|from"
    rf"|see|via|{NAMES})\s{{0,3}}[:：]?"
)
_ASIDE_WORDS = re.compile(rf"[(（\[]\s*{_BEHIND_WORDS}\s*$", re.IGNORECASE)
_NAME_WORDS = re.compile(rf"\s*{_BEHIND_WORDS}\s+", re.IGNORECASE)
_PLACE_IN_SOURCE = re.compile(
    r"(?:p|pp|pages?|para|paras?|paragraphs?|lines?|sec|sections?|ch|chapters?|l)\.?\s?\d{1,6}"
    r"(?:\s?[,–-]\s?[lL]?\d{1,6})?",
    re.IGNORECASE,
)
_DATE = re.compile(r"(?:\w{3,9}\.? )?(?:\d{1,2},? )?\d{4}|\d{4}-\d\d-\d\d")
_SYMBOLS = "→➜➔🔗📎🔎^\ufe0f"
_ASIDE_START = re.compile(r"[(\[（]\s*([^()\[\]\ue000\n]{1,150})$")
_ASIDE_END = re.compile(
    r"(?:\s*[,;]?\s*(?:(?:accessed|retrieved|published|abgerufen)\b[^()\[\]\ue000\n]{0,40}"
    r"|\d[\d\s,./-]{0,12}))?\s*[)\]）]",
    re.IGNORECASE,
)
_DASH = re.compile(r"(?:^|\s)[–—-]{1,2}\s*$")
SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]*_`」』]{0,5}$")
# A bracket of code: after `=` or in a call, or between a name and `.name` or `=`.
_BEFORE_CODE = re.compile(r"(?:\w\(|=\s?)$")
_ATTRIBUTE = re.compile(r"\s{0,3}[-+*/%]?=(?!=)|\.[a-z_]")
_TRAILING = ".,;:!?)]}'\"*_，。）】」"

# What a mark cites: the indexes of sources, or an address or mark that belongs to none.
Cited: TypeAlias = tuple[int, ...] | str


class CitedSources:
    """The sources of an answer by number, URL and name, and the references of the answer.

    Attributes:
        defined: What a number or name of the answer's own references cites.
        listed: What its lists of sources cite.
        urls: The URLs that it cites, by normalized address.
    """

    def __init__(self, sources: Sequence[Any]) -> None:
        """Index sources by number, URL, title and host."""
        self.defined: dict[str, Cited] = {}
        self.listed: list[Cited] = []
        self.urls: dict[str, str] = {}
        self._texts: list[str] = [source.text for source in sources]
        self._searched = 0
        self._numbered: dict[int, int] = {}
        self._by_url: dict[str, list[int]] = {}
        self._by_name: dict[str, list[int]] = {}
        for place, source in enumerate(sources):
            self._numbered.setdefault(getattr(source, "number", place + 1), place)
            for form in dict.fromkeys((source.url, address(source.url))):
                self._by_url.setdefault(form, []).append(place)
            for name in dict.fromkeys((_name(source.title or ""), host_of(source.url))):
                self._by_name.setdefault(name, []).append(place)
        self._by_name.pop("", None)

    def at(self, url: str) -> Cited:
        """Return what a URL cites, and record that it is cited."""
        bare = trimmed(url)
        if bare.lower().startswith(("http://", "https://")):
            self.urls.setdefault(address(bare), bare)
        return self.find(url) or bare

    def find(self, url: str) -> tuple[int, ...]:
        """Return the sources with a URL, which may end in a full stop."""
        for form in dict.fromkeys((url, trimmed(url), url.rstrip(_TRAILING))):
            if places := self._by_url.get(form) or self._by_url.get(address(form)):
                return tuple(places)
        return ()

    def at_numbers(self, numbers: str) -> Cited:
        """Return what numbers in brackets cite."""
        places: dict[int, None] = {}
        for number in numbers_in(numbers):
            defined = self.defined.get(str(number))
            if isinstance(defined, str):
                return defined
            place = self._numbered.get(number)
            places |= dict.fromkeys(defined or (() if place is None else (place,)))
        return tuple(places) or f"[{numbers}]"

    def named(self, name: str) -> tuple[int, ...]:
        """Return the sources whose title or host is a name."""
        return tuple(self._by_name.get(_name(name), ()))

    def is_name(self, label: str, cited: Cited) -> bool:
        """Return whether the text of a link names its source, or says that it is one."""
        name = _name(label)
        if isinstance(cited, str) and name == host_of(cited):
            return True
        longer = (each for each in self._by_name if len(min(name, each, key=len)) >= _SHORTEST_NAME)
        return (
            name in self._by_name
            or re.fullmatch(NAMES, name) is not None
            or any(each.startswith(name) or name.startswith(each) for each in longer)
        )

    def contain(self, text: str) -> bool:
        """Return whether a source contains a text; False after about a second of searching."""
        self._searched += sum(map(len, self._texts))
        return self._searched <= _MAX_SEARCHED and any(text in each for each in self._texts)


class MarkedText:
    """A line of an answer whose citations are placeholders, and what each of them cites.

    Attributes:
        text: The line. The text of a link is in it only if it belongs to a sentence.
        marks: What each placeholder cites.
        labels: The text of each link; empty for other citations.
    """

    def __init__(self, text: str, sources: CitedSources) -> None:
        """Replace the citations of a line."""
        self._sources = sources
        self.marks: list[Cited] = []
        self.labels: list[str] = []
        self.tokens = TOKEN.sub(self._replace, text)
        self.text = self._settle(self.tokens)

    # --- what each citation cites ---------------------------------------------------------------

    def _mark(self, cited: Cited, label: str = "") -> str:
        self.marks.append(cited)
        self.labels.append(label)
        return f"\ue000{len(self.marks) - 1}\ue001"

    def _replace(self, match: re.Match[str]) -> str:
        """Return a placeholder for a citation; anything else stays."""
        if match["code"]:
            return self._replace_code(match)
        if match["label"] is not None or match["anchor"] is not None:
            return self._replace_link(match)
        if match["url"] or match["html"]:
            return self._replace_url(match)
        if match["origin"]:
            places = self._sources.named(match["origin"])
            return self._mark(places) if places else match[0]
        if match["named"] or match["name"]:
            return self._replace_name(match)
        return self._replace_number(match)

    def _replace_code(self, match: re.Match[str]) -> str:
        """Read a mark or a URL in code, unless a source has this code."""
        code, sources = match["code"].strip("`"), self._sources
        before = match.string[max(0, match.start() - 20) : match.start()].rstrip()
        is_mark = _MARK_CODE.fullmatch(code) is not None and SENTENCE_END.search(before) is not None
        if not (is_mark or "://" in code) or sources.contain(code):
            return match[0]
        if is_mark:
            return self._mark(sources.at_numbers(code))
        places = sources.find(code)
        return self._mark(places) if places else f"{match[0]}{self._mark(code)}"

    def _replace_link(self, match: re.Match[str]) -> str:
        url = match["angled"] or match["target"] or match["href"]
        cited = self._sources.at(url) if url else match[0]
        numbers = re.findall(r"\d+", match["label"] or match["anchor"] or "")
        is_place = url is not None and re.fullmatch(r"#[\w:.-]*|\d+|cite:\w*", url)
        if is_place and numbers and _MARK_LABEL.fullmatch(match["label"] or match["anchor"]):
            return self._mark(self._sources.at_numbers(",".join(numbers)))
        if match["image"]:
            return f"{match['label']}{self._mark(cited)}"
        label, text = match["label"] or match["anchor"] or "", match.string
        if _MARK_LABEL.fullmatch(label):  # `[1]` is a mark, unless a number of the sentence
            before, after = (
                text[max(0, match.start() - 12) : match.start()],
                text[match.end() :][:6],
            )
            label = label if self._sources.contain(f"{before}{label}{after}") else ""
        return self._mark(cited, label)

    def _replace_url(self, match: re.Match[str]) -> str:
        if match["html"]:
            return self._mark(trimmed(match["html"]))
        url = match["url"]
        rest = "" if match[0].endswith(">") else url[len(trimmed(url)) :]
        return f"{self._mark(self._sources.at(url))}{rest}"

    def _replace_name(self, match: re.Match[str]) -> str:
        """Read `[text][key]`, `[key][]`, `[key]`, `[Title]` and `(Title)`."""
        name, key = match["named"] or match["name"], match["key"]
        cited: Cited | None = self._sources.defined.get((key or name).strip("^ ").lower())
        if cited is None and key and key.isdigit() and not self._is_code(match):
            cited = self._sources.at_numbers(key)
        if cited is None and not key:
            bare = (
                name.strip().removeprefix("(").removesuffix(")")
                if name[:1] == "("
                else name.strip()
            )
            is_url = re.fullmatch(URL, bare, re.IGNORECASE) is not None
            cited = self._sources.at(bare) if is_url else self._named(name) or None
        if cited is None:
            return match[0]
        return self._mark(cited, "" if key is None else name)

    def _named(self, text: str) -> tuple[int, ...]:
        """Return the sources that a text names, such as `source: Title, host, 2026`."""
        names = dict.fromkeys((text, _NAME_WORDS.sub("", text, count=1)))
        for name in names:
            if places := self._sources.named(name):
                return places
            parts = [part for part in re.split(r"\s*[,;|]\s*", name) if not _DATE.fullmatch(part)]
            found = [self._sources.named(part) for part in parts]
            if found and all(found):
                return tuple(dict.fromkeys(place for places in found for place in places))
        return ()

    def _replace_number(self, match: re.Match[str]) -> str:
        """Read `[1]`; and `(1)`, `{1}`, `①`, `¹` and `^1^` if the references have these numbers."""
        if match["hedge"]:
            return self._mark(())
        if match["mark"]:
            return self._replace_mark(match)
        if match["aside"]:
            cited = self._sources.at_numbers(re.sub(r"[^\d,–-]+", ",", match["aside"]))
            return match[0] if isinstance(cited, str) else self._mark(cited)
        numbers = match["round"] or match["tagged"] or match["curly"] or match["caret"]
        numbers = numbers or match["raised"].translate(_RAISED).rstrip(",")
        before = match.string[max(0, match.start() - 4) : match.start()]
        is_behind = before[-1:].isspace() or _BEFORE_NUMBER.search(before)
        cited = self._sources.at_numbers(numbers)
        is_known = all(each.strip() in self._sources.defined for each in numbers.split(","))
        is_raised = bool(match["raised"] or match["caret"])
        ends_sentence = is_raised and _FULL_STOP.match(match.string, match.end())
        if not match["round"] and (ends_sentence or SENTENCE_END.search(before.rstrip())):
            is_known |= not isinstance(cited, str)
        return self._mark(cited) if is_known and is_behind else match[0]

    def _replace_mark(self, match: re.Match[str]) -> str:
        """Read `[1]`, `[snippet 1]` and `[1, p. 3]`."""
        cited = self._sources.at_numbers(match["mark"])
        note = (match["note"] or "").strip(" :.,–—-()")
        is_certain = not (match["weak"] or note) or not isinstance(cited, str)
        is_note = not note or _PLACE_IN_SOURCE.fullmatch(note) or self._named(note)
        if self._is_code(match) or not (is_certain and is_note):
            return match[0]
        return self._mark(() if match["part"] else cited)

    def _is_code(self, match: re.Match[str]) -> bool:
        """Distinguish a list or an index of code from a mark, which may follow a word directly."""
        text = match.string
        before = text[max(0, match.start() - 100) : match.start()]
        if _BEFORE_CODE.search(before):
            return True
        name = re.search(r"[\w.]*\w$", before)
        if name is None:
            return False
        is_attribute = _ATTRIBUTE.match(text, match.end()) is not None
        return is_attribute or self._sources.contain(name[0] + match[0])

    # --- the text around citations --------------------------------------------------------------

    def _settle(self, text: str) -> str:
        """Remove what belongs to citations, and restore the links within sentences."""
        parts: list[str] = []
        position = 0
        for match in _GROUP.finditer(text):
            if match.start() < position:
                continue
            start, end, is_aside = self._expand(text, match.start(), match.end(), position)
            numbers = [int(number) for number in PLACEHOLDER.findall(match[0])]
            if not is_aside and any(self.labels[number] for number in numbers):
                before = PLACEHOLDER.sub("", text[max(0, start - _WINDOW) : start])
                after = PLACEHOLDER.sub("", text[end : end + _WINDOW]).lstrip(" \t*_()[]")
                if self._belongs(_DASH.sub("", before.rstrip(" \t*_")), after, numbers):
                    restored = PLACEHOLDER.sub(
                        lambda each: f"{self.labels[int(each[1])]}{each[0]}", match[0]
                    )
                    parts += [text[position : match.start()], restored]
                    position = match.end()
                    continue
            before, after = text[position:start], text[end:]
            if not after.lstrip()[:1].islower() and (dash := _DASH.search(before)):
                before = before[: dash.start()]
            is_ended = not before.strip() or SENTENCE_END.search(before.rstrip()) is not None
            if is_ended and (sign := re.match(r"\s*[.,;:–—-]+(?=\s|$)", after[:20])):
                end += sign.end()
            parts += [before, *(f"\ue000{number}\ue001" for number in numbers)]
            position = end
        return "".join([*parts, text[position:]])

    def _expand(self, text: str, start: int, end: int, floor: int) -> tuple[int, int, bool]:
        """Return start and end with brackets, emphasis and words such as `see` and `Source:`.

        Returns:
            Start, end, and whether brackets or words show that this is a citation.
        """
        is_aside = False
        while True:
            left, right = text[max(floor, start - 160) : start], text[end : end + 80]
            bare_left, bare_right = left.rstrip(), right.lstrip()
            tight = [
                len(opening)
                for opening, closing in _TIGHT
                if left.endswith(opening) and right.startswith(closing)
                if not left[: -len(opening)][-1:].strip(" \t\n([（.!?<>")
            ]
            aside, aside_end = _ASIDE_START.search(left), _ASIDE_END.match(right)
            if (lead_in := _LEAD_IN.search(left)) and _stands_apart(left, lead_in):
                start -= len(left) - lead_in.start()
                end += len(lead_in["emphasis"]) if right.startswith(lead_in["emphasis"]) else 0
            elif bare_left and bare_left[-1] in _SYMBOLS:
                start -= len(left) - len(bare_left.rstrip(f"{_SYMBOLS} \t"))
            elif (words := _ASIDE_WORDS.search(left)) and bare_right[:1] in set(")）]"):
                start -= len(left) - words.start()
                end += len(right) - len(bare_right) + 1
            elif bare_left and bare_right.startswith(_BRACKETS.get(bare_left[-1], "\0")):
                start -= len(left) - len(bare_left) + 1
                end += len(right) - len(bare_right) + 1
            elif aside and aside_end and self._sources.named(aside[1].strip(' ,:;–—-*_"“”')):
                start -= len(left) - aside.start()
                end += aside_end.end()
            elif bare_left.endswith(("(", "[", "（")) and aside_end:
                start -= len(left) - len(bare_left) + 1
                end += aside_end.end()
            elif tight:
                size = tight[0]
                is_tag = left[-1] == ">"
                start, end = start - size, end + size + is_tag
                is_aside |= is_tag
                continue
            else:
                return start, end, is_aside
            is_aside = True

    def _belongs(self, before: str, after: str, numbers: Sequence[int]) -> bool:
        """Return whether the text of links is part of a sentence, and not the name of a source."""
        if not before or before.endswith("\n") or SENTENCE_END.search(before):
            return self._begins_sentence(before, after, numbers)
        if after and after[0] not in "\n.,;:!?|":
            return True
        return self._ends_sentence(before, after, numbers)

    def _begins_sentence(self, before: str, after: str, numbers: Sequence[int]) -> bool:
        labels = [self.labels[number] for number in numbers if self.labels[number]]
        if is_sentence(labels[0]):
            return True
        if not after or after[0] in "\n.,;:|–—-":
            return not before.strip() and after[:1] not in {":", "|", "–", "—", "-"}
        if after[0].islower() or self._sources.contain(f"{labels[-1]} {after[:12]}"):
            return True
        word = re.split(r"[\s,.:;]", after, maxsplit=1)[0].lower()
        return not (before.strip() or word in BEGINNING or self._sources.contain(after[:30]))

    def _ends_sentence(self, before: str, after: str, numbers: Sequence[int]) -> bool:
        contain, tail = self._sources.contain, before[-30:].lstrip()
        links = [(self.labels[n], self.marks[n]) for n in numbers if self.labels[n]]
        label = links[0][0]
        last_word = before.rsplit(maxsplit=1)[-1].strip('*_("“').lower()
        if contain(f"{tail} {label}"):
            return True
        if contain(f"{tail}{after[:1].strip()}"):
            return False
        if last_word in FUNCTION_WORDS:
            return True
        is_named = all(self._sources.is_name(*link) for link in links)
        return not is_named and (label[0].islower() or contain(label))


def _stands_apart(left: str, lead_in: re.Match[str]) -> bool:
    """Return whether words such as `see` introduce a citation and do not end a sentence."""
    before = left[: lead_in.start()].rstrip()
    return not before or lead_in["colon"] is not None or before[-1] in "([（【*_.!?…–—-"


def numbers_in(mark: str) -> list[int]:
    """Return the numbers in a mark, such as `1, 3-5`. A range has at most 21."""
    numbers: list[int] = []
    for first, last in _RANGE.findall(mark):
        start = int(first)
        end = max(start, int(last or first))
        numbers += range(start, min(end, start + MAX_CITED) + 1)
    return numbers


def is_sentence(text: str) -> bool:
    """Return whether a text looks like a sentence and not like a title."""
    words = text.strip()
    return is_whole(words) and len(words.split()) >= _SHORTEST_SENTENCE


def trimmed(url: str) -> str:
    """Return a URL without the punctuation of the sentence behind it."""
    while url and url[-1] in _TRAILING:
        if url[-1] == ")" and url.count("(") >= url.count(")"):
            break
        url = url[:-1]
    return url


def address(url: str) -> str:
    """Normalize a URL for comparison.

    Without its fragment, tracking parameters, `www.` and a slash at the end; HTTP is HTTPS.
    """
    try:
        normalized = urldefrag(url)[0]
    except ValueError:  # brackets without an IPv6 address
        return url
    normalized = re.sub(
        r"(?<=[?&])(?:utm_\w+|fbclid|gclid|srsltid|ref)=[^&]*&?", "", normalized
    ).rstrip("?&/")
    scheme, colon, rest = normalized.partition("://")
    host, slash, path = rest.partition("/")
    scheme, host = scheme.lower(), host.lower()
    if scheme in ("http", "https"):
        scheme, host = "https", host.removeprefix("www.")
    return f"{scheme}{colon}{host}{slash}{unquote(path)}".rstrip("/")


def host_of(url: str) -> str:
    """Return the host of a URL without `www.`; empty if it has none."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _name(text: str) -> str:
    """Normalize a title or a host for comparison."""
    return " ".join(text.strip(" \t\n*_`\"'“”‘’").lower().split()).removeprefix("www.")
