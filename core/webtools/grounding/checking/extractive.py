# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Answers in the sources' own words: the sentences that answer the question best, each cited."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from webtools.grounding.checking import lexicon
from webtools.grounding.checking.facts import plain
from webtools.grounding.checking.prose import blocks, sentences
from webtools.providers.protocols import Source
from webtools.text.cleaning import without_controls

LONGEST_READ = 60_000  # characters of one source
_MOST = 5
_MOST_OF_ONE = 3  # sentences of one source, where others have some too
_CANDIDATES = 60
_LEAST_WORDS, _MOST_WORDS = 6, 60
_LEAST_MATCH = 0.4  # share of the question's weight that a sentence must have
_WEAK = 0.5  # of the best score: what is left is not worth the reading
_REPEATED = 0.6  # how much likeness to a chosen sentence takes off
_MISSING = 0.5
_LETTERS = 0.6
_LINKED = 0.5

_NOISE = tuple(
    str.split(
        "cookie,subscribe,newsletter,sign in,sign up,log in,login,privacy policy,terms of use,"
        "terms of service,all rights reserved,enable javascript,click here,read more,share this,"
        "advertis,copyright,skip to ,accept all,follow us,table of contents,your email",
        ",",
    )
)
_ADDRESS = re.compile(r"\w{2,20}://|\bwww\.|\]\(")
_INDEXED = re.compile(r"[\[【［]\s*\^?\d")
_CODE = re.compile(r">>>|[{}\\|]|\w\(\)\.|=\s*[\[({\"']|;\s*$|\ue000")
_LEANING = re.compile(
    r"(?:it|its|this|that|these|those|they|their|he|she|his|her|however|but|and|also|so|such|then|"
    r"therefore|thus|otherwise|instead|for example|note)\b",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[([^\[\]]{0,500})\]\(")
_ASKING = frozenset(
    map(
        lexicon.stem,
        str.split("answer explain tell describe find compare question difference best much many"),
    )
)


@dataclass(eq=False, slots=True)
class _Sentence:
    text: str
    source: int
    place: int
    stems: frozenset[str]
    around: frozenset[str]  # the stems of the title and the heading
    order: list[str] = field(default_factory=list[str])
    score: float = 0.0


def extract(question: str, sources: Sequence[Source]) -> str:
    """Choose up to five sentences that answer a question, in the order of their sources.

    Returns:
        A line `Sentence. [n]` for each; nothing when no sentence has to do with the question.
    """
    asked = _asked(question)
    found = [each for source in sources for each in _sentences(source, frozenset(asked))]
    weights = _weights(asked, found)
    for each in found:
        each.score = _score(each, asked, weights)
    ranked = sorted((each for each in found if each.score > 0), key=lambda each: -each.score)
    chosen = _choose(ranked[:_CANDIDATES])
    numbers = {source.number: place for place, source in enumerate(sources)}
    chosen.sort(key=lambda each: (numbers[each.source], each.place))
    return "\n".join(f"{each.text} [{each.source}]" for each in chosen)


def _asked(question: str) -> list[str]:
    """Give the stems that a question is about; all of them when it has but such as say little."""
    found = list(dict.fromkeys(lexicon.stems(question)))
    telling = [
        each
        for each in found
        if (lexicon.carries_meaning(each) or each.isdecimal()) and each not in _ASKING
    ]
    return telling or [each for each in found if not lexicon.is_grammar(each)]


def _sentences(source: Source, asked: frozenset[str]) -> Iterator[_Sentence]:
    title = frozenset(lexicon.stems(source.title))
    around: dict[str, frozenset[str]] = {}
    place = 0
    for block in blocks(without_controls(source.text[:LONGEST_READ])):
        if block.kind not in {"prose", "item"} or _is_linked(block.text):
            continue
        if block.heading not in around:
            around[block.heading] = title | frozenset(lexicon.stems(block.heading))
        for text in sentences(plain(block.text)):
            place += 1
            if not _is_whole(text):
                continue
            order = lexicon.stems(text)
            stems, near = frozenset(order), around[block.heading]
            if asked.isdisjoint(stems) or _is_clean(text):  # the others count for rarity alone
                yield _Sentence(text, source.number, place, stems, near, order)


def _is_linked(text: str) -> bool:
    """Tell whether a block is mostly links, as menus are."""
    linked = sum(len(match[1]) for match in _LINK.finditer(text))
    return linked > _LINKED * len(plain(text))


def _is_whole(text: str) -> bool:
    """Tell whether a text looks like a sentence: its length, its beginning and its end."""
    if text[-1] not in ".!。！" and text[-2:-1] not in {".", "。"}:
        return False
    if lexicon.is_cjk(text):
        long_enough = 10 <= len(text) <= 200  # noqa: PLR2004  signs, of which some make a word
    else:
        long_enough = _LEAST_WORDS <= text.count(" ") + 1 <= _MOST_WORDS and len(text) < 600  # noqa: PLR2004
    begins = text[0].isalnum() or text[0] in "\"'`(«"
    return long_enough and begins and not text[0].islower()


def _is_clean(text: str) -> bool:
    """Tell whether a sentence is in words, about its subject, and holds no address or citation."""
    lower = text.lower()
    if sum(map(str.isalpha, text)) < _LETTERS * len(text) or any(map(lower.__contains__, _NOISE)):
        return False
    return not any(each.search(text) for each in (_ADDRESS, _INDEXED, _CODE))


def _weights(asked: Sequence[str], found: Sequence[_Sentence]) -> dict[str, float]:
    """Weigh what is asked for by its rarity in all sentences."""
    count = Counter(each for sentence in found for each in asked if each in sentence.stems)
    weights = {each: math.log(1 + len(found) / (1 + count[each])) for each in asked}
    # What no sentence has cannot set one above another; it still says that something is missing.
    return {each: weight * (1 if count[each] else _MISSING) for each, weight in weights.items()}


def _score(each: _Sentence, asked: Sequence[str], weights: dict[str, float]) -> float:
    own = sum(weights[word] for word in asked if word in each.stems)
    around = sum(weights[word] for word in asked if word in each.around and word not in each.stems)
    whole = sum(weights.values())
    least = _LEAST_MATCH if all(map(str.isascii, asked)) else _LEAST_MATCH / 2  # pairs of signs
    if not own or own + around / 2 < least * whole:
        return 0.0
    beside = len(set(pairwise(each.order)) & set(pairwise(asked)))
    score = own / whole + 0.3 * around / whole + 0.1 * min(beside, 2) + 0.1 / (1 + each.place / 10)
    if _LEANING.match(each.text):
        score *= 0.8
    return score * (0.85 if len(each.order) > 40 else 1.0)  # noqa: PLR2004  words tire


def _choose(ranked: Sequence[_Sentence]) -> list[_Sentence]:
    """Choose the best sentences that do not repeat each other, of two sources where there are."""
    left, chosen = list(ranked), list[_Sentence]()
    worth = _WEAK * ranked[0].score if ranked else 0.0
    while left and len(chosen) < _MOST:
        best = max(left, key=lambda each: _worth(each, chosen))
        if _worth(best, chosen) < worth:
            break
        left.remove(best)
        chosen.append(best)
    others = [each for each in left if _worth(each, chosen) and each.source != chosen[0].source]
    if len({each.source for each in chosen}) == 1 and others and others[0].score >= worth:
        chosen = [*chosen[: _MOST - 1], others[0]]
    return chosen


def _worth(each: _Sentence, chosen: Sequence[_Sentence]) -> float:
    alike = max((_likeness(each.stems, other.stems) for other in chosen), default=0.0)
    crowd = sum(other.source == each.source for other in chosen) >= _MOST_OF_ONE
    return each.score * (1 - _REPEATED * alike) * (0.7 if crowd else 1.0) * (alike < 0.8)  # noqa: PLR2004


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))
