"""Where a claim and a passage contradict each other, judged by their words."""

from __future__ import annotations

import math
from collections.abc import Callable

from webtools.grounding.checking import lexicon
from webtools.grounding.checking.facts import Facts
from webtools.grounding.checking.names import proper

_DENIED = 2 / 3  # share of what a negation denies that makes the claim its contrary
_LEAST_PREFIXED = 4  # letters of a word that a prefix turns round


def contrary(claim: Facts, passage: Facts, is_ordinary: Callable[[str], bool]) -> str:
    """Find what only one of a claim and its passage denies, or where they say opposite things."""
    for reach in passage.denied:
        held = reach & claim.all_stems
        if len(held) >= math.ceil(len(reach) * _DENIED) and not _touches(reach, claim.denied):
            return f'denies "{claim.word(min(held))}"'
    for reach in claim.denied:
        if not _touches(reach, passage.denied):
            return f'does not deny "{claim.word(min(reach))}"'
    return (
        _opposite(claim, passage)
        or _turned_round(claim, passage)
        or _exchanged(claim, passage, is_ordinary)
    )


def _touches(reach: frozenset[str], others: list[frozenset[str]]) -> bool:
    return any(2 * len(reach & other) >= min(len(reach), len(other)) for other in others)


def _opposite(claim: Facts, passage: Facts) -> str:
    """Find a word whose opposite stands in its place, judged by the words next to both."""
    for mine in claim.opposed:
        same, other, opposite = 0, 0, ""
        for theirs in passage.opposed:
            shared = len(mine.near & theirs.near) if theirs.group == mine.group else 0
            if theirs.side == mine.side:
                same = max(same, shared)
            elif shared > other:
                other, opposite = shared, theirs.word
        if other > same:
            return f'has "{opposite}" for its "{mine.word}"'
    return ""


def _exchanged(claim: Facts, passage: Facts, is_ordinary: Callable[[str], bool]) -> str:
    """Find a name or a number that stands in the place of another one."""
    mine = proper(claim.text, is_ordinary)
    theirs = proper(passage.text, is_ordinary) if mine else []
    for name in mine:
        others = {other: passage.near_name(other) for other in theirs if other not in mine}
        if other := _instead(claim.near_name(name), passage.near_name(name), others):
            return f'has "{other}" for its "{name}"'
    told = {number.value for number in claim.quantities.numbers}
    numbers = passage.quantities.numbers
    for number in claim.numbers:
        same = [passage.near_number(each) for each in numbers if each.value == number.value]
        strange = {
            each.value: [passage.near_number(each)] for each in numbers if each.value not in told
        }
        if other := _instead([claim.near_number(number)], same, strange):
            return f"has {other} for its {number.value}"
    return ""


def _instead(
    mine: list[frozenset[str]], same: list[frozenset[str]], others: dict[str, list[frozenset[str]]]
) -> str:
    """Find which of others has more of the words next to it; nothing when it is the same one."""
    if not mine or not same:
        return ""
    needed = max(_shared(each, same) for each in mine)
    for other, places in others.items():
        if max(_shared(each, places) for each in mine) > max(needed, 1):
            return other
    return ""


def _shared(near: frozenset[str], places: list[frozenset[str]]) -> int:
    return max((len(near & place) for place in places), default=0)


def _turned_round(claim: Facts, passage: Facts) -> str:
    """Find `unsafe` where a passage has `safe`, or the other way round."""
    for word in sorted(claim.content - passage.all_stems):
        for prefix in lexicon.REVERSING:
            bare = word.removeprefix(prefix)
            if len(claim.word(word)) >= _LEAST_PREFIXED and prefix + word in passage.all_stems:
                return f'has the contrary of "{claim.word(word)}"'
            if bare != word and len(bare) >= _LEAST_PREFIXED and bare in passage.all_stems:
                return f'has the contrary of "{claim.word(word)}"'
    return ""
