"""What is counted on a page, and figures with intervals over many pages."""

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.pages.readers import Reading

Counts = dict[str, tuple[float, float]]  # by measure: a part, and what it is a part of
_ROUNDS = 1000
_TARGETS = re.compile(r"\]\((?:[^()\s]|\([^()\s]*\))*\)")
_LINE_MARKS = re.compile(r"^\s*(?:[-*>]|#{1,6}|\d+\.|\||:)\s", re.MULTILINE)
_MARKS = re.compile(r"[*`\[\]|\\^~$]|!(?=\[)")


@dataclass(frozen=True)
class Sample:
    """A page, and how a reading of it is measured."""

    body: bytes
    url: str
    measure: Callable[[Reading], Counts]


@dataclass(frozen=True)
class Figure:
    """A ratio of sums over pages, with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Show percent of shares, and milliseconds as they are."""
        digits = 3 if self.value <= 1 else 1
        return f"{self.value:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


def figure(pages: Sequence[tuple[float, float]]) -> Figure:
    """Return the ratio, with a bootstrap over pages: parts of one page are not independent."""
    chance = random.Random(1)
    ratios = sorted(_ratio(chance.choices(pages, k=len(pages))) for _ in range(_ROUNDS))
    return Figure(_ratio(pages), ratios[_ROUNDS // 40], ratios[-_ROUNDS // 40])


def _ratio(pages: Sequence[tuple[float, float]]) -> float:
    return sum(part for part, _ in pages) / max(1e-9, sum(whole for _, whole in pages))


def plain(text: str) -> str:
    """Return the text without the marks of Markdown and the targets of links."""
    text = _LINE_MARKS.sub("", _TARGETS.sub("]", text))
    return " ".join(_MARKS.sub("", text).split())


def words(text: str) -> list[str]:
    """Return the words in lower case."""
    return re.findall(r"\w+", text.lower())


def overlap(text: str, gold: str, length: int = 1) -> tuple[int, int, int]:
    """Count the runs of words that are in both texts, in the first, and in the gold text."""
    first, second = (_runs(words(each), length) for each in (text, gold))
    return (first & second).total(), first.total(), second.total()


def _runs(sequence: list[str], length: int) -> "Counter[tuple[str, ...]]":
    starts = range(max(1, len(sequence) - length + 1)) if sequence else ()
    return Counter(tuple(sequence[at : at + length]) for at in starts)
