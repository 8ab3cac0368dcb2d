"""Whether a claim is in a source's own words: nothing else can be told to be true by comparing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from webtools.grounding.checking.facts import Facts
from webtools.grounding.checking.quantities import past_unit

# Words with their capitals, and signs; not quotes, brackets of footnotes, the dashes and the full
# stops of sentences. A hyphen, a full stop and `!` count at a word: `-rf`, `.NET`, `5!`, `10-20`.
_TOKEN = re.compile(
    r"\w+|[.!?](?=\w)|(?<=\d)!+|(?<=\d)\s[-–]\s(?=\d)|[-–]+(?![\s–-])|[^\w\s\"'`.…!?\[\]–—-]"  # noqa: RUF001
)
_QUESTION = re.compile(r"\?[\"')\]*_`»]*$")
_FREE = frozenset({"the", "that", "also"})  # a sentence says the same without them
_JOINING = frozenset({"and", "but", "while", "whereas", "however", "moreover", "furthermore"})
_BREAKS = frozenset(",;:")


def is_quoted(claim: Facts, sentences: Iterable[Facts]) -> bool:
    """Tell whether a claim is one of some sentences, whole: what is left out may take it back.

    All words and signs must be the same in the same order; a word such as `but` may join the claim
    to what precedes it. A question says nothing.
    """
    said = list(_tokens(claim))
    forms = [form for form in (_counted(said), _counted(_unjoined(said))) if form]
    return bool(forms) and any(
        _counted(list(_tokens(sentence))) in forms
        for sentence in sentences
        if not _QUESTION.search(sentence.source)
    )


def _unjoined(found: Sequence[str]) -> Sequence[str]:
    begin = next((at for at, word in enumerate(found) if word.lower() not in _JOINING), 0)
    return found[begin + (begin > 0 and found[begin] == ",") :]


def _counted(found: Sequence[str]) -> list[str]:
    """Leave out what says nothing; the first word of a sentence has a capital of no meaning."""
    words = [word[:1].lower() + word[1:] if at == 0 else word for at, word in enumerate(found)]
    kept = [word for word in words if word.lower() not in _FREE]
    while kept and kept[-1] in _BREAKS:
        kept.pop()
    return kept


def _tokens(text: Facts) -> Iterator[str]:
    """Give the words and signs, numbers in one spelling."""
    at = 0
    for number in sorted(text.quantities.numbers, key=lambda each: each.place):
        yield from _between(text.text, at, number.place)
        yield f"#{number.value} {number.unit}"
        at = past_unit(text.text, number)
    yield from _between(text.text, at, len(text.text))


def _between(text: str, start: int, stop: int) -> Iterator[str]:
    """Give the tokens that begin between two places; what follows tells whether a sign counts."""
    for match in _TOKEN.finditer(text, start):
        if match.start() >= stop:
            return
        yield match[0].strip().replace("–", "-")  # noqa: RUF001
