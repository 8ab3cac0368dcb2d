# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Find a claim in a text word for word: a whole sentence that stands there as a statement.

Word for word is character for character in Unicode's normal form C, white space aside. Of links the
words are compared, and marks of footnotes are passed over; nothing else is. Code is a whole block
of code, line for line, wherever its margin is and however it is fenced.
"""

from __future__ import annotations

import re
from textwrap import dedent

from webtools.grounding.blocks import FENCES
from webtools.grounding.evidence import Evidence, Sentence, normal
from webtools.grounding.lexicon import ABBREVIATIONS
from webtools.grounding.neighbours import denial
from webtools.grounding.sentences import begins_sentence, is_whole

_LAST = re.compile(r"([^\s(\[\"'“‘«]{1,24})[.][\"'”’»)\]*_`]*$")
_VOWEL = re.compile(r"[aeiouyäöüáéíóúàèìòùâêîôû]|[^\x00-\x7f]")
_NEXT = re.compile(r"(?:\[\d{1,3}\])*\s*(\S+)")
_MARKS = (("“", "”"), ("«", "»"), ("「", "」"))


def quotation(claim: str, evidence: Evidence) -> Sentence | None:
    """Return the sentence of a text that a claim is, word for word."""
    if is_code(claim):
        return _code(claim, evidence)
    for sentence in evidence.alike(normal(claim)):
        if is_statement(sentence, evidence):
            return sentence
    return None


def is_code(claim: str) -> bool:
    """Return whether a claim is a block of code."""
    return claim.lstrip().startswith(FENCES)


def _code(claim: str, evidence: Evidence) -> Sentence | None:
    written = _at_margin(claim)
    for each in evidence.sentences:
        if each.kind == "code":
            start = evidence.text.rfind("\n", 0, each.start) + 1
            if _at_margin(evidence.text[start : each.end]) == written:
                return None if denial(each, evidence) else each
    return None


def _at_margin(code: str) -> list[str]:
    """Return the lines of code at the left margin, without its fences."""
    rows = code.expandtabs(4).strip("\n").splitlines()
    inner = rows[1:-1] if is_code(code) else rows
    return [row.rstrip() for row in dedent("\n".join(inner)).strip("\n").splitlines()]


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


def _is_in_quotation_marks(sentence: Sentence, evidence: Evidence) -> bool:
    """Return whether a quotation that began before a sentence goes on in it."""
    before = evidence.text[sentence.block : sentence.start]
    opened = any(before.count(one) > before.count(other) for one, other in _MARKS)
    return opened or before.count('"') % 2 == 1
