"""Whether a claim is in a source's own words: nothing else can be told to be true by comparing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from webtools._research import lexicon
from webtools._research.facts import Facts
from webtools._research.quantities import past_unit

# Words with their capitals, signs, and what parts a sentence; not hyphens, quotes and full stops.
_TOKEN = re.compile(r"\w+|!(?=\w)|[^\w\s\"'`.…!?\[\]–—-]")  # noqa: RUF001
_QUESTION = re.compile(r"\?[\"')\]*_`»]*$")
_FREE = frozenset({"the", "that", "also"})  # a sentence says the same without them
_JOINING = frozenset({"and", "but", "while", "whereas", "however", "moreover", "furthermore"})
_BREAKS = frozenset(",;:")
# What follows a comma and these adds to what was said; it does not take it back.
_ADDING = frozenset({"and", "which", "who", "whose", "whereas", "because"})
# Unless it has one of these.
_LIMITING = (
    lexicon.NEGATIONS
    | lexicon.SWEEPING
    | set(str.split("if unless except until but however although though"))
)


def is_quoted(claim: Facts, sentences: Iterable[Facts]) -> bool:
    """Tell whether a claim is one of some sentences, or what is left of one after a light cut.

    All words and signs of the claim must be there in the same order. A sentence may lose what is
    in brackets, and what follows its first comma or semicolon where that only adds to it. Its
    beginning stays: in `The son of Alpha won` it is not Alpha who won. A question says nothing.
    """
    said = _tokens(claim)
    for sentence in sentences:
        told = [] if _QUESTION.search(sentence.source) else _tokens(sentence)
        if said and (_begins(told, said) or _begins(_unbracketed(told), said)):
            return True
    return False


def _begins(told: Sequence[str], said: Sequence[str]) -> bool:
    if told[: len(said)] != said:
        return False
    rest = told[len(said) :]
    return not rest or (_BREAKS.isdisjoint(said) and _adds(rest))


def _adds(rest: Sequence[str]) -> bool:
    if not _LIMITING.isdisjoint(map(str.lower, rest)):
        return False
    return rest[0] == ";" or (rest[0] == "," and not _ADDING.isdisjoint(rest[1:2]))


def _unbracketed(told: Sequence[str]) -> list[str]:
    """Leave out what is in brackets, unless it limits what is said."""
    kept: list[str] = []
    depth = 0
    for word in told:
        depth += word == "("
        if not depth:
            kept.append(word)
        elif word.lower() in _LIMITING:
            return list(told)
        depth -= word == ")" and depth > 0
    return kept


def _tokens(text: Facts) -> list[str]:
    """Give the words and signs that count, numbers in one spelling."""
    found = [word for word in _all_tokens(text) if word.lower() not in _FREE]
    while found and found[-1] in _BREAKS:
        found.pop()
    begin = next((at for at, word in enumerate(found) if word.lower() not in _JOINING), 0)
    begin += bool(begin) and found[begin] == ","
    return [word.lower() if at == 0 else word for at, word in enumerate(found[begin:])]


def _all_tokens(text: Facts) -> Iterator[str]:
    at = 0
    for number in sorted(text.quantities.numbers, key=lambda each: each.place):
        yield from _TOKEN.findall(text.text, at, number.place)
        yield f"#{number.value} {number.unit}"
        at = past_unit(text.text, number)
    yield from _TOKEN.findall(text.text, at)
