# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Find a claim in a text word for word: a whole sentence that stands there as a statement.

Word for word is character for character in Unicode's normal form C, white space aside. Of links the
words are compared, and marks of footnotes are passed over; nothing else is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from webtools.grounding.evidence import Evidence, Sentence, normal
from webtools.grounding.lexicon import ABBREVIATIONS, DENYING, TURNING
from webtools.grounding.sentences import begins_sentence, is_whole

_SHORT = 14  # words of a sentence that may be about the one beside it
_NOT_SO = re.compile(
    r"(?:none|nothing) of (?:this|that|it)\b"
    r"|(?:this|that|it)\b.{0,40}?(?:\bnot\b|n['’]t\b|\bfar from\b)"
    r".{0,20}\b(?:true|so|case|correct|right|happen\w*|accurate)\b"
    r"|(?:not|no)\b.{0,20}[.!]$|das stimmt nicht|ce n['’]est pas|no es (?:cierto|verdad)",
    re.IGNORECASE,
)
_LAST = re.compile(r"([^\s(\[\"'“‘«]{1,24})[.][\"'”’»)\]*_`]*$")
_VOWEL = re.compile(r"[aeiouyäöüáéíóúàèìòùâêîôû]|[^\x00-\x7f]")
_NEXT = re.compile(r"(?:\[\d{1,3}\])*\s*(\S+)")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_MARKS = (("“", "”"), ("«", "»"), ("「", "」"))
_TURNS = frozenset(("negation", "failure", "doubt", "condition", "asking"))


def quotation(claim: str, evidence: Evidence) -> Sentence | None:
    """Return the sentence of a text that a claim is, word for word."""
    for sentence in evidence.alike(normal(claim)):
        if is_statement(sentence, evidence):
            return sentence
    return None


def is_statement(sentence: Sentence, evidence: Evidence) -> bool:
    """Return whether a sentence is whole, and stated by the text itself."""
    text = evidence.text[sentence.start : sentence.end]
    return (
        sentence.kind in {"prose", "item"}
        and is_whole(text)
        and "?" not in text[-5:]
        and not _is_cut(text, sentence, evidence)
        and not denial(sentence, evidence)
        and not _is_in_quotation_marks(sentence, evidence)
    )


def _is_cut(text: str, sentence: Sentence, evidence: Evidence) -> bool:
    """Return whether what looks like the end of a sentence may be the dot of an abbreviation."""
    if not ends_with_abbreviation(text):
        return False
    following = _NEXT.match(evidence.text, sentence.end)
    if following is None or sentence is evidence.sentences[-1]:
        return True
    return "\n\n" not in following[0] and not begins_sentence(following[1])


def ends_with_abbreviation(text: str) -> bool:
    """Return whether the last word of a text, before a dot, may be an abbreviation."""
    match = _LAST.search(text)
    if match is None or match[1][-1].isdigit():
        return False
    word = match[1].lower()
    return (
        "." in word.rstrip(".")
        or len(word) == 1
        or word in ABBREVIATIONS
        or not _VOWEL.search(word)
    )


def denial(sentence: Sentence, evidence: Evidence) -> str:
    """Return what around a sentence keeps it from being a statement of the text."""
    if any(_denies(name) for name in sentence.path if "=" not in name):
        return f'it stands under "{sentence.path[-1]}"'
    number = sentence.number
    if any(_introduces(each) for each in _introductions(number, evidence)):
        return "it is introduced by what denies or doubts it"
    beside = [evidence.said(at) for at in (number - 1, number + 1)]
    if any(len(each.split()) <= _SHORT and _denies(each) for each in beside):
        return "the sentence beside it may deny it"
    if _NOT_SO.match(beside[1]):
        return "the next sentence denies it"
    return ""


def _denies(text: str) -> bool:
    return not DENYING.isdisjoint(word.lower() for word in _WORD.findall(text))


def _introductions(number: int, evidence: Evidence) -> Iterator[str]:
    """Return what ends with a colon before a sentence, or before the list that it stands in."""
    yield evidence.said(number - 1)
    at = number
    while at >= 0 and evidence.sentences[at].kind == "item":
        at -= 1
    if at >= 0 and at < number:
        yield evidence.said(at)


def _introduces(text: str) -> bool:
    words = {word.lower() for word in _WORD.findall(text)}
    turned = words & DENYING or any(TURNING.get(word) in _TURNS for word in words)
    leads_in = text.rstrip("*_ ").endswith((":", "：")) or "following" in words
    return leads_in and bool(turned)


def _is_in_quotation_marks(sentence: Sentence, evidence: Evidence) -> bool:
    """Return whether a quotation that began before a sentence goes on in it."""
    before = evidence.text[sentence.block : sentence.start]
    opened = any(before.count(one) > before.count(other) for one, other in _MARKS)
    return opened or before.count('"') % 2 == 1
