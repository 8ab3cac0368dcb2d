# ruff: noqa: RUF001  signs of other scripts are what this reads
"""The names in a claim: of people and things, in code, in quotation marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from webtools.grounding.checking import lexicon

_CODE = re.compile(r"`([^`\n]{1,300})`")
_QUOTED = re.compile(
    r"\"([^\"\n]{1,300})\"|«([^»\n]{1,300})»|[„「『]([^“\"」』\n]{1,300})[“\"」』]"
)
_IDENTIFIER = re.compile(r"[\w.:]+")
_CHUNK = re.compile(r"[^\s,;=!?\"(){}\[\]<>|`«»„“。、，；：！？「」『』（）]+")
_BEGINS = re.compile(r"(?:^|[.!?:]\s|\n)[\s\"'(*`«„“\[]*$")
_INNER_CAPITAL = re.compile(r"[^\W\d_][a-z][A-Z]|^[a-z]+[A-Z]|[a-z][A-Z]")
_DOTTED = re.compile(r"[^\W\d_]\w*(?:\.|::)[^\W\d_]")
_MIXED = re.compile(r"[^\W\d_][-/]?\d|\d[^\W\d_]")
_MEASURED = re.compile(
    r"[-−+$€£¥]?\d[\d.:/–-]*(?:st|nd|rd|th|s|[^\W\d_]{0,3})?[%‰]?$", re.IGNORECASE
)
_CAPITAL = re.compile(r"\b[^\W\d_a-z]\w+")
_VERSION = re.compile(r"\bv(?=\d)")
# Endings of words that are hardly ever a name's: `Engineers`, `Setting`, `Slowly`.
_ORDINARY_END = re.compile(
    r"(?:ing|ly|tion|tions|ments?|ness|ers|ors|ists|ities|ity|ances?|ences?|ized|ised|ed|ies|"
    r"ables?|ways|ures?|ages?|ics|ants|ents|als|ives?)$"
)
_LEAST = 2


def names(text: str, known: Callable[[str], bool]) -> list[str]:
    """Give the names in a claim, each as its words in lower case with blanks between.

    A capital at the beginning of a sentence makes no name of a word that is ordinary: of one in
    the lists, or that `known` says the sources write with a small letter.
    """
    found: dict[str, None] = {}
    for match in _CODE.finditer(text):
        found |= dict.fromkeys(map(_key, _IDENTIFIER.findall(match[1])))
    text = _CODE.sub(_blank, text)
    for match in _QUOTED.finditer(text):
        found[_key(next(filter(None, match.groups()), ""))] = None
    for match in _CHUNK.finditer(_QUOTED.sub(_blank, text)):
        chunk = match[0].strip(".:'*_~#=&/\\-–—").removesuffix("'s").removesuffix("s'")
        begins = _BEGINS.search(text, max(0, match.start() - 12), match.start()) is not None
        for name in _named(chunk, begins=begins, known=known):
            found[_key(name)] = None
    return [name for name in found if name]


def proper(text: str, known: Callable[[str], bool]) -> list[str]:
    """Give the names in a text that are single words with a capital: of people, places, firms."""
    capitals = {word.lower() for word in _CAPITAL.findall(_CODE.sub(" ", text))}
    return [name for name in names(text, known) if name in capitals]


def _named(chunk: str, *, begins: bool, known: Callable[[str], bool]) -> Iterator[str]:
    if _is_code(chunk):
        yield chunk
        return
    parts = [part for part in re.split(r"[-–—/'&]", chunk) if part]
    for number, part in enumerate(parts):
        if _is_acronym(part):
            yield part[:-1] if part[-1] == "s" else part
        elif not (part[:1].isupper() and (len(part) > 1 or part not in "AI")):
            continue
        elif begins and number == 0:
            if not _is_ordinary(part, known):
                yield part
        elif not _is_listed(part):
            yield part


def _is_code(chunk: str) -> bool:
    if _MEASURED.match(chunk):
        return False
    marks = "_" in chunk or _INNER_CAPITAL.search(chunk) or _DOTTED.search(chunk)
    return bool(marks or _MIXED.search(chunk))


def _is_acronym(part: str) -> bool:
    letters = part.removesuffix("s")
    return len(letters) >= _LEAST and letters.isupper() and letters.isalpha()


def _is_ordinary(word: str, known: Callable[[str], bool]) -> bool:
    stemmed = lexicon.stem(word.lower())
    return _is_listed(word) or known(stemmed) or bool(_ORDINARY_END.search(word))


def _is_listed(word: str) -> bool:
    lower = word.lower()
    return (
        lower in lexicon.STOP
        or lower in lexicon.HOLLOW
        or lower in lexicon.ORDINARY
        or bool(lexicon.sides(lexicon.stem(lower)))
    )


def _key(name: str) -> str:
    return _VERSION.sub("", " ".join(lexicon.words(name)))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
