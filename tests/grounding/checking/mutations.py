"""Ways to make a sentence false that leave most of its words, each for any sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations

from webtools.grounding.checking.facts import plain
from webtools.grounding.checking.prose import blocks, sentences

_NAME = re.compile(r"(?<=[a-z,] )[A-Z][A-Za-z]+(?: [A-Z][a-z]+)*")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*(?![\w])")
_WORD = re.compile(r"[A-Za-z']+")
_VERB = re.compile(
    r"\b(?:[a-z]{3,}ed|[a-z]{3,}[^s\W]s(?= (?:the|a|an|to|in|that|by|no|all|for|from|at|its)\b)|"
    r"(?<=will )[a-z]{3,}|(?<=can )[a-z]{3,})\b"
)
_TURNS = (
    "for|against", "since|until", "before|after", "to|from", "with|without", "in|outside", "on|off",
    "by|for", "was|will be", "was|was not", "is|may be", "is|is not", "are|were", "are|will be",
    "has|had", "can|cannot", "will|would", "must|may", "and|or", "more|less", "than|as", "all|no",
    "up|down", "over|under", "at most|at least", "a|no", "of|against", "first|last", "if|unless",
)  # fmt: skip


def prose(text: str) -> list[str]:
    """Give the sentences of a page that are sentences."""
    return [
        sentence
        for block in blocks(text)
        if block.kind in {"prose", "item"}
        for sentence in sentences(plain(block.text))
        if re.fullmatch(r"[A-Z].{30,300}[.]", sentence) and sentence.count(" ") > 5
    ]


def verbs(page: list[str]) -> list[str]:
    """Give the words of some sentences that look like verbs."""
    return list(dict.fromkeys(each for sentence in page for each in _VERB.findall(sentence)))


def _exchanged(sentence: str, pattern: re.Pattern[str]) -> Iterator[str]:
    for one, other in combinations(pattern.finditer(sentence), 2):
        if one[0] != other[0]:
            between = sentence[one.end() : other.start()]
            rest = sentence[other.end() :]
            yield f"{sentence[: one.start()]}{other[0]}{between}{one[0]}{rest}"


def names(sentence: str, _page: list[str], _title: str) -> Iterator[str]:
    """Exchange two names."""
    yield from _exchanged(sentence, _NAME)


def numbers(sentence: str, _page: list[str], _title: str) -> Iterator[str]:
    """Exchange two numbers."""
    yield from _exchanged(sentence, _NUMBER)


def sides(sentence: str, _page: list[str], _title: str) -> Iterator[str]:
    """Exchange what stands before and after a verb: who did it to whom."""
    for verb in _VERB.finditer(sentence):
        subject, found = sentence[: verb.start()].strip(), sentence[verb.end() :].strip(" .")
        if subject and found:
            yield f"{found[0].upper()}{found[1:]} {verb[0]} {subject[0].lower()}{subject[1:]}."


def other_verbs(sentence: str, page: list[str], _title: str) -> Iterator[str]:
    """Put another verb of the page in the place of one."""
    for verb in _VERB.finditer(sentence):
        alike = [each for each in verbs(page) if each[-1] == verb[0][-1] and each != verb[0]]
        for other in alike[:3]:
            yield f"{sentence[: verb.start()]}{other}{sentence[verb.end() :]}"


def turns(sentence: str, _page: list[str], _title: str) -> Iterator[str]:
    """Turn a preposition or an auxiliary."""
    for turn in _TURNS:
        for one, other in (turn.split("|"), turn.split("|")[::-1]):
            for match in re.finditer(rf"\b{one}\b", sentence):
                yield f"{sentence[: match.start()]}{other}{sentence[match.end() :]}"


def title_names(sentence: str, _page: list[str], title: str) -> Iterator[str]:
    """Put a name of the title in: instead of the beginning, of a name, and beside a word."""
    name = max(re.findall(r"\b[A-Z][a-z]+\b", title) or ["Vellmouth"], key=len)
    if name.lower() in sentence.lower():
        return
    words = sentence.split(" ")
    for at in (1, 2, 3):
        if words[at] != "of":
            yield " ".join([*words[:at], "of", name, *words[at:]])
            yield " ".join([name, *words[at:]])
    for match in _NAME.finditer(sentence):
        yield f"{sentence[: match.start()]}{name}{sentence[match.end() :]}"


def splices(sentence: str, page: list[str], _title: str) -> Iterator[str]:
    """Join what stands before a verb with what another sentence says from its verb on."""
    verb = _VERB.search(sentence)
    at = page.index(sentence)
    for other in page[max(0, at - 2) : at + 3]:
        found = _VERB.search(other)
        if verb and found and other != sentence and verb.start():
            yield sentence[: verb.start()] + other[found.start() :]


def late_beginnings(sentence: str, _page: list[str], _title: str) -> Iterator[str]:
    """Leave the beginning out: in `the son of Alpha won` it is not Alpha who won."""
    words = sentence.split(" ")
    for at in range(2, min(6, len(words) - 3)):
        yield " ".join([words[at].capitalize(), *words[at + 1 :]])


def gaps(sentence: str, _page: list[str], _title: str) -> Iterator[str]:
    """Leave some words out of the middle."""
    words = sentence.split(" ")
    for at in range(2, len(words) - 4, 2):
        yield " ".join(words[:at] + words[at + 3 :])


def tails(sentence: str, _page: list[str], _title: str) -> Iterator[str]:
    """Leave out what follows a comma or a semicolon: `, which is false` may stand there."""
    for match in re.finditer(r"[,;] ", sentence):
        yield f"{sentence[: match.start()]}."


def ends(sentence: str, _page: list[str], _title: str) -> Iterator[str]:
    """Leave the last words out."""
    words = sentence.split(" ")
    for at in range(len(words) - 1, 3, -1):
        yield f"{' '.join(words[:at]).rstrip(',;:')}."


def brackets(sentence: str, _page: list[str], _title: str) -> Iterator[str]:
    """Leave out what stands in brackets: it may be `allegedly`."""
    for match in re.finditer(r" \([^()]+\)", sentence):
        yield sentence[: match.start()] + sentence[match.end() :]


def signs(sentence: str, _page: list[str], _title: str) -> Iterator[str]:
    """Write a blank for a hyphen at a word, and add one before a word."""
    for match in re.finditer(r"-(?=\w)", sentence):
        yield f"{sentence[: match.start()]} {sentence[match.end() :]}"
    for match in re.finditer(r" (?=[a-z])", sentence):
        yield f"{sentence[: match.end()]}-{sentence[match.end() :]}"


KINDS: tuple[Callable[[str, list[str], str], Iterator[str]], ...] = (
    names, numbers, sides, other_verbs, turns, title_names, splices, late_beginnings, gaps,
    tails, ends, brackets, signs,
)  # fmt: skip
