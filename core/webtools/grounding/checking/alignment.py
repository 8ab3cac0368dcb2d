"""Compares a claim with a sentence word by word, where it is nearly the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from webtools.grounding.checking import lexicon
from webtools.grounding.checking.facts import Facts

NEARLY = 0.75  # share of a claim's words that the sentence has in the same order
_SHORT = 2  # words that may be left out together and still turn a sentence round
_LONGEST = 150  # words


@dataclass(frozen=True, slots=True)
class Change:
    """What a claim made of a sentence.

    Attributes:
        closeness: Share of the claim's words that stand in the sentence in the same order.
        contrary: What turns the sentence round, in words; nothing when it still says the same.
        replaced: A word that stands in another one's place; nothing when there is none.
    """

    closeness: float = 0.0
    contrary: str = ""
    replaced: str = ""


def change(claim: Facts, sentence: Facts) -> Change:
    """Tell what was changed in a sentence to make a claim of it; nothing if it is another one."""
    mine, theirs = claim.sequence, sentence.sequence
    if not mine or len(mine) > _LONGEST or len(theirs) > _LONGEST:
        return Change()
    matcher = SequenceMatcher(None, theirs, mine, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    closeness = same / len(mine)
    if closeness < NEARLY:
        return Change(closeness)
    contrary = replaced = ""
    for what, start, stop, first, last in matcher.get_opcodes():
        if what == "equal":
            continue
        old, new = theirs[start:stop], mine[first:last]
        inside = start > 0 and stop < len(theirs)
        contrary = contrary or _turned(old, new, inside=inside)
        if what == "replace":
            replaced = replaced or _replaced(old, [each for each in new if each not in theirs])
    return Change(closeness, contrary, replaced)


def _turned(old: Sequence[str], new: Sequence[str], *, inside: bool) -> str:
    """Tell how a stretch turns the sentence round: by a negation, a number or an opposite."""
    denied, denies = _negation(old), _negation(new)
    left_out = denied and len(old) <= len(new) + _SHORT and (new or inside)
    if bool(denies) != bool(denied) and (denies or left_out):
        return f'does not say "{denies}"' if denies else f'says "{denied}"'
    strange = [each for each in new if each[0] == "#" and each not in old]
    if strange and any(each[0] == "#" for each in old):
        return f"has another number for {strange[0][1:]}"
    for mine in new:
        for theirs in old:
            if _are_opposed(mine, theirs):
                return f'has the opposite of "{mine}"'
    return ""


def _negation(stretch: Sequence[str]) -> str:
    return next((each for each in stretch if each in lexicon.NEGATIONS), "")


def _are_opposed(one: str, other: str) -> bool:
    sides = dict(lexicon.sides(one))
    return any(sides.get(group, side) != side for group, side in lexicon.sides(other))


def _replaced(old: Sequence[str], new: Sequence[str]) -> str:
    told = [each for each in new if lexicon.carries_meaning(each)]
    instead = [each for each in old if lexicon.carries_meaning(each)]
    return told[0] if told and instead else ""
