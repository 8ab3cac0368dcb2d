# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Look beside a sentence for what keeps it from being a statement of the text itself.

A sentence that is followed by `Nobody believes that`, or introduced by `Critics say:`, is whole,
and yet it is not what its text says. Any doubt will do, as what is quoted is taken for certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from webtools.grounding.evidence import Evidence, Sentence
from webtools.grounding.lexicon import DENYING, DISMISSING, IMAGINING, REPORTING, TURNING

_SHORT = 14  # words of a sentence that may be about the one beside it
_REMARK = 7  # words of one that has room for little beside "this" or "the claim"
_AROUND = 2000  # characters on either side of a quotation: a sentence has at most 1,500
_EXCLAMATION = 3  # words of one that has a word of denial or asks: "Not so.", "Really?"
_DENIES = frozenset(("negation", "failure"))
_DOUBTS = _DENIES | {"doubt", "condition", "asking"}
_TRUSTED = frozenset(("believe", "believes", "believed", "trust", "trusts"))
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_DIGIT = re.compile(r"\d")
_CODE = re.compile(r"`[^`]*`")
_CLAIM = (
    r"(?:claim|statement|report|story|storie|view|idea|belief|theory|theorie|rumou?r|account|notion"
    r"|allegation|assertion|truth|paper|study|article|accusation)s?\b"
)
_IS = (
    r"(?:is|was|were|has|had|never|turned|proved|did|does|do|could|can|may|might|would|cannot"
    r"|\w+n['’]t|(?:part )?of (?:this|it)|on|today|later)\b"
)
# What means the sentence before: `this` or `that` by itself, `the claim`, `so` and `it` at the end.
_REFERS = re.compile(
    rf"\b(?:this|that|th[eo]se|such|neither)\b(?=\W*$|,|\s+{_IS})"
    r"|\b(?:it|so|better|reverse)\W*$|(?<!^)\botherwise\b|\bthe (?:above|previous)\b"
    r"|^(?:\w+ )?so (?:they|people|he|she|some|many|the)\b"
    rf"|\b(?:the|this|that|these|those|such|her|his|their|its) (?:\w+ )?{_CLAIM}",
    re.IGNORECASE,
)
_LEADS_IN = re.compile(r"\bfollow(?:ing|s)\b|\b(?:this|so)\W*$", re.IGNORECASE)
_SAYS = re.compile(r"(?<!is )(?<!are )(?<!was )(?<!were )\b\w{3,20}ed$")  # "She testified"
# Next to nothing but a judgement: "It was a prank.", "They were lying."
_IS_ONE = re.compile(r"(?:it|they|he|she) (?:is|was|were) (?:an? )?[^\W\d]+\W*$", re.IGNORECASE)
# Phrases that deny what stands before them, whatever their words.
_NOT_SO = re.compile(
    r"(?:(?:but|yet|still|however|of course|actually|sadly|in (?:fact|reality|truth))\b,? ?)?(?:"
    r"(?:none|nothing|not a word) of (?:this|that|it)\b|.{0,40}\bother way (?:a?round|about)\b"
    r"|.{0,60}\bmade (?:\w+ )?up\W*$"
    r"|(?:this|that|it)\b.{0,40}?(?:\bnot\b|n['’]t\b|\bfar from\b|\bno longer\b|\bnever\b)"
    r".{0,20}\b(?:true|so|case|correct|right|happen\w*|accurate)\b"
    r"|(?:not|no|said no)\b.{0,20}[.!]$|nothing\b.{0,30}[.!]$|if only\b"
    r"|das stimmt (?:so )?nicht|ce n['’]est pas|no es (?:cierto|verdad)"
    r"|.{0,20}(?:間違|誤り|嘘|デマ|事実では|そうでは))",
    re.IGNORECASE,
)


def denial(sentence: Sentence, evidence: Evidence) -> str:
    """Return what around a sentence keeps it from being a statement of the text."""
    if any(_has(DENYING, name) for name in sentence.path if "=" not in name):
        return f'it stands under "{sentence.path[-1]}"'
    prose = sentence.kind == "prose"
    if any(_introduces(each, prose=prose) for each in _introductions(sentence.number, evidence)):
        return "it is introduced by what denies or doubts it, or by who says so"
    before, after = (_beside(evidence, sentence.number + step) for step in (-1, 1))
    if _dismisses(before) or _dismisses(after):
        return "the sentence beside it may deny it"
    return "the next sentence may deny it" if _comments(after) else ""


def is_denied(text: str, start: int, end: int) -> bool:
    """Return whether what stands around a stretch of a text may deny it; only that is read."""
    first = max(0, start - _AROUND)
    evidence = Evidence(text[first : end + _AROUND])
    own = [each for each in evidence.sentences if each.start + first < end]
    own = [each for each in own if each.end + first > start and each.kind in {"prose", "item"}]
    return any(denial(each, evidence) for each in (*own[:1], *own[-1:]))


def _beside(evidence: Evidence, number: int) -> str:
    """Return a sentence of prose without code; empty where there is none."""
    said = evidence.said(number)
    is_prose = said and evidence.sentences[number].kind in {"prose", "item", "heading"}
    return _CODE.sub("", said) if is_prose else ""


def _has(words: frozenset[str], text: str) -> bool:
    return not words.isdisjoint(map(str.lower, _WORD.findall(text)))


def _turns(kinds: frozenset[str], text: str) -> bool:
    return any(TURNING.get(word.lower()) in kinds for word in _WORD.findall(text))


def _is_short(text: str) -> bool:
    return len(text.split()) <= _SHORT


def _dismisses(text: str) -> bool:
    is_distrusted = _turns(_DENIES, text) and _has(_TRUSTED, text)
    return _is_short(text) and (_has(DISMISSING, text) or is_distrusted)


def _comments(text: str) -> bool:
    """Return whether a sentence may say of the one before it that it is not so."""
    words = [word.lower() for word in _WORD.findall(text)]
    if _NOT_SO.match(text) or _IS_ONE.match(text):
        return True
    if len(words) <= _EXCLAMATION and (text[-1:] in "?!" or not TURNING.keys().isdisjoint(words)):
        return bool(words)
    if not _is_short(text) or not _REFERS.search(text):
        return False
    is_remark = len(words) <= _REMARK and not _DIGIT.search(text)
    return is_remark or _turns(_DENIES | {"doubt"}, text) or _has(REPORTING, text)


def _introductions(number: int, evidence: Evidence) -> Iterator[str]:
    """Return what stands before a sentence, and before the list that it stands in."""
    yield evidence.said(number - 1)
    at = number
    while at >= 0 and evidence.sentences[at].kind == "item":
        at -= 1
    if at >= 0 and at < number:
        yield evidence.said(at)


def _introduces(text: str, *, prose: bool = False) -> bool:
    """Return whether a text leads in to what follows as no statement of its own.

    Before prose a colon does, but after a single word: `Everyone in the village was convinced:`.
    """
    told = _CODE.sub("", text)
    is_told = _has(DISMISSING | REPORTING | IMAGINING, told)
    if text.rstrip("*_ ").endswith((":", "：")):
        return is_told or _turns(_DOUBTS, told) or (prose and len(told.split()) > 1)
    leads_in = _is_short(told) and _LEADS_IN.search(told)
    return bool(leads_in) and (is_told or _turns(_DENIES, told))


def is_attributed(text: str) -> bool:
    """Return whether a sentence begins with who says so, and a colon: `Critics say: …`."""
    head, colon, _ = text.partition(": ")
    return bool(colon) and (_introduces(f"{head}:") or _SAYS.search(head) is not None)
