"""How well a text bears out a claim: a number that is calibrated, and faults that no number mends.

The number is that of a logistic regression over how much of the claim's words the best one to three
neighbouring sentences have. `scripts/fit_claims.py` fitted it, and wrote `claim_weights.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from webtools.grounding.claim_weights import BIAS, DROPPED, SUPPORTED, WEIGHTS
from webtools.grounding.doubts import doubts
from webtools.grounding.evidence import Evidence, Sentence, Word, digits_of
from webtools.grounding.lexicon import AUXILIARIES, CONTRASTING, TELLING
from webtools.grounding.windows import DENIALS, Window, best_window, shown, turn_of
from webtools.results import ClaimStatus
from webtools.text.record import record

LONGEST = 1000  # characters of a claim
_COPIED = 0.7  # share of a claim's words that a near-copy has from a source in order
_CHANGED = 2  # words of a near-copy that are changed at most
_UNIT = 4  # letters of a unit whose case counts


@record
class Support:
    """How a text bears out a claim.

    Attributes:
        status: `supported`, `uncertain` or `unsupported`.
        score: The number that decides; its scale is that of log odds.
        reason: What is missing, in words; empty for what is supported.
        start: Where the best sentences begin in the text.
        end: Where they end.
        is_contradicted: Whether the text says otherwise, whoever else may judge.
    """

    status: ClaimStatus
    score: float
    reason: str = ""
    start: int = 0
    end: int = 0
    is_contradicted: bool = False


def support(claim: str, evidence: Evidence) -> Support:
    """Judge how a text bears out a claim."""
    if len(claim) > LONGEST:
        return Support("unsupported", -math.inf, "it is too long to be compared")
    window = best_window(claim, evidence)
    if window is None:
        return Support("unsupported", -math.inf, "the source has none of its words")
    score = score_of(window.features)
    used = [each for each in window.sentences if _adds(each, window)] or window.sentences[:1]
    start, end = used[0].start, used[-1].end
    changes = [_changes(window, each) for each in _alone_too(used)]
    found = (contradiction(window, each, evidence) for each in changes)
    if reason := next(filter(None, found), ""):
        return Support("unsupported", score, reason, start, end, is_contradicted=True)
    if score < DROPPED:
        return Support("unsupported", score, "the source has too few of its words", start, end)
    reason = next(doubts(claim, window, used, evidence), "") or _rebuilt(changes, window)
    if not reason and score < SUPPORTED:
        reason = "the source has not enough of its words together"
    return Support("uncertain" if reason else "supported", score, reason, start, end)


def score_of(features: dict[str, float]) -> float:
    """Return the log odds that a claim is borne out."""
    return BIAS + sum(weight * features[name] for name, weight in WEIGHTS.items())


def _adds(sentence: Sentence, window: Window) -> bool:
    """Return whether a sentence has a word of the claim that no other one of the window has."""
    others = [each.keys for each in window.sentences if each is not sentence]
    return any(not any(key in keys for keys in others) for key in sentence.keys & window.have)


# --- what speaks against it --------------------------------------------------------------------


def _alone_too(used: Sequence[Sentence]) -> list[Sequence[Sentence]]:
    """Return the sentences together, and each by itself: a copy of one differs from all of them."""
    return [used, *([each] for each in used)] if len(used) > 1 else [used]


def _rebuilt(changes: Sequence[Sequence[_Change]], window: Window) -> str:
    """Return what a claim makes of the words of its sentences that they do not say."""
    for number, each in enumerate(changes):
        found = next((told for change in each if (told := _contrasting(change))), "")
        if found and _is_copy(each, window):
            return found
        if _is_swapped(each):
            return "two of its words stand in each other's place"
        if number and any(_is_spliced(*pair) for pair in pairwise(each)):
            return "it states otherwise what the sentence states that it begins with"
    return ""


def _contrasting(change: _Change) -> str:
    """Return which word of grammar stands in place of one that means something else."""
    put, had = ([word for word in words if word.raw in CONTRASTING] for words in change[1:3])
    alike = {CONTRASTING[word.raw] for word in put} & {CONTRASTING[word.raw] for word in had}
    both = put and had and not alike and max(map(len, change[1:3])) <= _CHANGED
    return f'the source has "{shown(had)}" for its "{shown(put)}"' if both else ""


def _is_swapped(changes: Sequence[_Change]) -> bool:
    """Return whether a claim has two stretches of a sentence in each other's place."""
    pairs = {
        tuple(" ".join(word.key for word in words if word.tells) for words in each[1:3])
        for each in changes
        if each.tag == "replace"
    }
    return any(put and had and (had, put) in pairs for put, had in pairs)


def _is_spliced(before: _Change, change: _Change) -> bool:
    """Return whether a claim follows a sentence up to what is stated, and states other things."""
    same = sum(word.tells for word in before.put if before.tag == "equal")
    is_stated = same >= _CHANGED and before.put[-1].raw.lower() in AUXILIARIES
    return is_stated and all(any(word.tells for word in words) for words in change[1:3])


class _Change(NamedTuple):
    """Where a claim and its source differ between words that they share, or are alike."""

    tag: str
    put: Sequence[Word]
    had: Sequence[Word]
    is_edge: bool


def contradiction(window: Window, changes: Sequence[_Change], evidence: Evidence) -> str:
    """Return why a claim is false as far as words can show it; empty when they do not."""
    for word in window.claim:
        if word.kind == "number" and digits_of(word.key) not in evidence.digits:
            return f"the source does not have its number {word.raw}"
    if not _is_copy(changes, window):
        return ""
    for each in changes:
        if each.tag == "equal":
            found = _other_unit(each)
        else:
            found = _denied(each) or _replaced(each, window)
        if found:
            return found
    return ""


def _changes(window: Window, used: Sequence[Sentence]) -> list[_Change]:
    stated = [each for each in used if each.kind not in {"heading", "term"}] or used
    claim, source = window.claim, [word for each in stated for word in each.words]
    keys = [word.key for word in claim], [word.key for word in source]
    steps = SequenceMatcher(None, *keys, autojunk=False).get_opcodes()
    return [
        _Change(tag, claim[i:j], source[k:n], at in {0, len(steps) - 1})
        for at, (tag, i, j, k, n) in enumerate(steps)
    ]


def _is_copy(changes: Sequence[_Change], window: Window) -> bool:
    """Return whether a claim has most of its words from the source in order."""
    same = sum(word.tells for each in changes if each.tag == "equal" for word in each.put)
    return same >= max(2, _COPIED * len(window.telling))


def _denied(change: _Change) -> str:
    """Return what a near-copy denies, or does not deny any more."""
    put, had = ({turn_of(word): word.raw for word in words} for words in (change.put, change.had))
    for kind in sorted(DENIALS):
        if kind in put and kind not in had:
            return f'the source has no "{put[kind]}" there'
        if kind in had and kind not in put and not change.is_edge:
            return f'the source says "{had[kind]}" there'
    return ""


def _replaced(change: _Change, window: Window) -> str:
    """Return what a near-copy has in place of some words, where it did not only move them."""
    put, had = ([word for word in words if word.tells] for words in (change.put, change.had))
    if change.tag != "replace" or not put or max(len(put), len(had)) > _CHANGED:
        return ""
    if not had and not all(word.raw.lower() in TELLING for word in put):
        return ""
    strange = [word for word in put if not _is_moved(word, window)]
    return f'the source has "{shown(had)}" for its "{shown(strange)}"' if strange else ""


def _is_moved(word: Word, window: Window) -> bool:
    is_plain = word.kind == "word" and word.raw.lower() not in TELLING
    return is_plain and word.key in window.have


def _other_unit(change: _Change) -> str:
    """Return a unit that is written otherwise: `5 mW` is not `5 MW`."""
    for one, other in zip(change.put, change.had, strict=True):
        is_unit = one.kind == "number" and len(one.unit) <= _UNIT and one.unit != other.unit
        if is_unit and one.unit.lower() == other.unit.lower():
            return f"the source has {other.raw} {other.unit} for its {one.raw} {one.unit}"
    return ""
