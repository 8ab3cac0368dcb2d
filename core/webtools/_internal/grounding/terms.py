"""The terms of a question, and their positions in a text.

A text is not split into words. Each stem is searched in the lower-cased text, and the letters
around it distinguish an inflected form from another word with the same beginning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from webtools._internal.grounding.words import (
    ASKING_WORDS,
    ENDINGS,
    FUNCTION_WORDS,
    STRIPPED,
)

_MAX_TERMS = 24
_SHORT, _LONG = 3, 5
_WORD = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W_]{0,24}")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f々]+")
_KATAKANA = re.compile(r"[\u30a0-\u30ff\uff66-\uff9f]+")
_CJK_CONTENT = re.compile(
    r"[\u30a0-\u30ff\uff66-\uff9f]+|[\u3400-\u9fff\uf900-\ufaff々]+"  # no hiragana
)
# Quantities: "how long" does not ask for the word "long".
_QUANTITY = re.compile(
    r"\b(?:how (?:long|often|old|tall|high|deep|far|big|large|fast|wide|heavy)"
    r"|wie (?:lange?|oft|alt|groß|hoch|tief|weit|breit|schnell|schwer)"
    r"|(?:combien|pendant combien) de temps|quelle (?:quantité|fréquence)"
    r"|cuánto tiempo|qué cantidad|quanto tempo)\b",
    re.IGNORECASE,
)
# Words of questions in Japanese and Chinese.
_CJK_ASKING = re.compile(
    r"何(?:曜日|年|月|日|時|人|回|分|冊|枚|個|つ|か|メートル)?|誰|教え|方法|違い|意味|理由|什么|怎么|怎样|哪里|哪个|哪些|为什么|多少|如何"
)
_IDENTIFIER = re.compile(
    r"`([^`\s][^`]{0,80})`"
    r"|(?<![\w-])(--?[A-Za-z][\w-]+|[A-Za-z]\w*(?:(?:::|[._])\w+)+(?:\(\))?|\w+\(\)|[.\\]\w{2,}"
    r"|[A-Za-z]+[a-z][A-Z]\w*|[A-Z]{3,}\w*|[A-Za-z]+\d\w*)",
    re.ASCII,
)
_TARGET = re.compile(r"\]\([^()\s]{1,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?\)")
_FENCE_INFO = re.compile(r"(?<=```)[^\n`]{1,200}$|(?<=~~~)[^\n~]{1,200}$", re.MULTILINE)
Hit = tuple[int, int, float]


def searchable(text: str) -> str:
    """Return a text in lower case at the same length.

    Link targets, and the language after a code fence, are blank: they are not words of the text.
    """
    lower = lowered(text)
    if "](" in lower:
        lower = _TARGET.sub(lambda match: "](" + " " * (len(match[0]) - 2), lower)
    if "```" in lower or "~~~" in lower:
        lower = _FENCE_INFO.sub(lambda match: " " * len(match[0]), lower)
    return lower


def lowered(text: str) -> str:
    """Return a text in lower case at the same length, so that positions stay the same."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := sign.lower()) == 1 else sign for sign in text)


def stems_of(question: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the stems of a question; an identifier in no lower-case text is split into parts.

    A stem is the common beginning of a word's forms, in lower case.
    """
    stems: dict[str, None] = {}
    for stem, parts in terms_of(question):
        is_present = not parts or any(stem in text for text in texts)
        stems |= dict.fromkeys((stem,) if is_present else parts)
    return tuple(stems)


@lru_cache(maxsize=256)
def terms_of(question: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the stems of a question in order, each with the parts of an identifier.

    Words that belong to the form of a question, and function words, count if there are no others.
    """
    subject: dict[str, tuple[str, ...]] = {}
    asking: dict[str, tuple[str, ...]] = {}
    function: dict[str, tuple[str, ...]] = {}
    remainder = _QUANTITY.sub(" ", question)
    for name in identifiers_of(question):
        parts = tuple(map(stem_of, _words(name)))
        if len(parts) > 1:
            remainder = remainder.replace(name, " ")
            subject.setdefault(lowered(name), parts)
    for word in _words(remainder):
        if word in FUNCTION_WORDS:
            function.setdefault(stem_of(word), ())
        else:
            (asking if word in ASKING_WORDS else subject).setdefault(stem_of(word), ())
    chosen = subject or asking or function
    return tuple(islice(chosen.items(), _MAX_TERMS))


def identifiers_of(question: str) -> tuple[str, ...]:
    """Return the identifiers in a question: `token_urlsafe`, `--depth`, `KeepAlive`."""
    names = (match[1] or match[2] for match in _IDENTIFIER.finditer(question))
    return tuple(dict.fromkeys(each.removesuffix("()") for each in names))


def _words(question: str) -> Iterator[str]:
    for match in _WORD.finditer(question):
        if _CJK.search(match[0]):
            yield from _cjk_words(match[0])
        else:
            for part in _CAMEL.split(match[0]):
                yield lowered(part)


def _cjk_words(text: str) -> Iterator[str]:
    """Yield words in katakana, pairs of Chinese characters, and words of other scripts."""
    bare = _CJK_ASKING.sub(" ", text)
    if not _CJK_CONTENT.search(bare):
        bare = text
    for run in _CJK_CONTENT.findall(bare) or _CJK.findall(bare):
        if _KATAKANA.fullmatch(run):
            yield run
        else:
            yield from (run[at : at + 2] for at in range(max(1, len(run) - 1)))
    for rest in _CJK.split(bare):
        if rest.strip():
            yield lowered(rest.strip())


@lru_cache(maxsize=4096)
def stem_of(word: str) -> str:
    """Return a word without its ending; short words and those with digits are unchanged."""
    if len(word) <= _SHORT or not word.isalpha() or _CJK.search(word):
        return word
    for ending in STRIPPED:
        if word.endswith(ending) and len(word) - len(ending) >= max(_SHORT, 4 - (len(ending) < 2)):  # noqa: PLR2004
            stem = word[: -len(ending)]
            doubled = len(stem) > _SHORT and stem[-1] == stem[-2] and stem[-1] not in "aeiouls"
            return stem[:-1] if doubled and len(ending) > 1 else stem
    return word


def find(stem: str, lower: str) -> Iterator[Hit]:
    """Yield the positions of a stem in a lower-cased text: start, end of the word, weight.

    The weight is 1 for a form of the word, 0.5 for a part of a longer one such as a compound.
    """
    size = len(stem)
    is_cjk = bool(_CJK.match(stem))
    position = lower.find(stem)
    while position >= 0:
        weight, end = (1.0, position + size) if is_cjk else _weigh(stem, lower, position)
        if weight:
            yield position, end, weight
        position = lower.find(stem, max(end, position + 1))


def _weigh(stem: str, lower: str, start: int) -> tuple[float, int]:
    """Return the weight of the word around a stem, and its end."""
    size = len(stem)
    stop = start + size
    end = _LETTERS.match(lower, stop).end()  # type: ignore[union-attr] # matches nothing too
    is_word_start = (
        start == 0 or not lower[start - 1].isalnum() or _CJK.match(lower[start - 1]) is not None
    )
    ending = lower[stop:end]
    if is_word_start and (not ending or (size >= _SHORT and _is_ending(stem, ending))):
        return 1.0, end
    return (0.5, end) if size >= _LONG else (0.0, end)


def _is_ending(stem: str, letters: str) -> bool:
    return letters in ENDINGS or (letters[0] == stem[-1] and letters[1:] in ENDINGS)
