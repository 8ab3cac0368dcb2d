"""One source as evidence: its passages, and whether they bear a claim out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlsplit

from webtools.grounding.checking import lexicon
from webtools.grounding.checking.alignment import NEARLY, Change, change
from webtools.grounding.checking.contradiction import contrary
from webtools.grounding.checking.facts import Facts, plain
from webtools.grounding.checking.names import names
from webtools.grounding.checking.prose import blocks, sentences
from webtools.grounding.checking.quotation import is_quoted
from webtools.providers.protocols import Source
from webtools.text.cleaning import without_controls

LONGEST_READ = 200_000  # characters of one source
LONGEST_CLAIM = 1_000  # characters; only a whole sentence of a source may be longer
_LONGEST_PIECE = 80  # words; a longer sentence is a list or a table, cut in pieces
_PIECE = 40
_CANDIDATES = 5  # passages that are looked at closely
_PARTLY = 0.45  # share of a claim's words that its passage has
_WIDE = 0.1  # more of them, where the passage has several sentences
_SHORT = 4  # words of a claim that must be there nearly all
_NEARLY_ALL = 0.75
_RUN_DROPPED = 4  # words in a row that the passage has not
_FEW = 2  # words: so short a claim must be there whole
_CJK_PARTLY = 0.6
_LIKELY = 0.6  # share from which a contrary sentence is about the same
_WINDOWS = ((1, 1), (0, 2), (1, 2), (2, 1), (0, 3))  # sentences before, and up to before which
_CLOSER = 0.01  # what the order of words adds to their share
_ROUNDING = 1e-9
_SENTENCE = 60  # words


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a claim is borne out: 2 is word for word, 1 perhaps, 0 no and -1 the contrary."""

    rank: int
    reason: str = ""
    share: float = 0.0

    @classmethod
    def no(cls, reason: str) -> Verdict:
        """Make the verdict on a claim that is not borne out."""
        return cls(0, reason)

    @property
    def is_kept(self) -> bool:
        """Whether the claim may be shown."""
        return self.rank > 0

    @property
    def is_certain(self) -> bool:
        """Whether it may be shown without a mark."""
        return self.rank > 1


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    heading: str
    is_whole: bool


class Evidence:
    """A source's text in sentences, with an index of their words."""

    def __init__(self, source: Source) -> None:
        self.number = source.number
        host = urlsplit(source.url).netloc if "[" not in source.url else ""
        self.title = plain(f"{without_controls(source.title)} {host}")
        self.pieces: list[_Piece] = []
        self._sentences: set[str] = set()
        self._read(source.text)
        self._facts: dict[tuple[int, int], Facts] = {}
        self._where: defaultdict[str, list[int]] = defaultdict(list)
        for index, piece in enumerate(self.pieces):
            for stemmed in set(lexicon.stems(piece.text)):
                self._where[stemmed].append(index)

    def _read(self, text: str) -> None:
        for block in blocks(without_controls(text[:LONGEST_READ])):
            for sentence in sentences(plain(block.text)):
                self._sentences.add(_exact(sentence))
                words = sentence.split(" ")
                is_whole = len(words) <= _LONGEST_PIECE
                step = len(words) if is_whole else _PIECE
                for start in range(0, len(words), step):
                    part = " ".join(words[start : start + step])
                    self.pieces.append(_Piece(part, block.heading, is_whole))

    @cached_property
    def small(self) -> frozenset[str]:
        """The stems of what is written with a small letter somewhere."""
        return frozenset(
            lexicon.stem(word)
            for piece in self.pieces
            for word in piece.text.split()
            if word.isalpha() and word.islower()
        )

    def has(self, claim: Facts) -> bool:
        """Tell whether a claim is a sentence as it is but for the full stop."""
        return _exact(claim.source) in self._sentences

    def quotes(self, claim: Facts, candidates: Sequence[int]) -> bool:
        """Tell whether a claim is in the words of one of the sentences."""
        whole = (index for index in candidates if self.pieces[index].is_whole)
        return is_quoted(claim, (self.facts(index, index + 1) for index in whole))

    def is_ordinary(self, stemmed: str) -> bool:
        """Tell whether a word is written with a small letter here."""
        return stemmed in self.small

    def candidates(self, claim: Facts) -> list[int]:
        """Give the sentences that share most with a claim, best first."""
        shared: defaultdict[int, float] = defaultdict(float)
        for stemmed in claim.all_stems:
            found = self._where.get(stemmed, ())
            weight = (0.1 if lexicon.is_grammar(stemmed) else 1) + 1 / (1 + len(found))
            for index in found:
                shared[index] += weight
        return sorted(shared, key=lambda index: (-shared[index], index))[:_CANDIDATES]

    def facts(self, start: int, stop: int) -> Facts:
        """Give what the sentences from `start` to before `stop` say."""
        key = max(0, start), min(stop, len(self.pieces))
        if key not in self._facts:
            self._facts[key] = Facts(" ".join(piece.text for piece in self.pieces[slice(*key)]))
        return self._facts[key]

    def context(self, index: int) -> Facts:
        """Give what stands over a sentence: the page's title and host, and the heading."""
        key = -1 - index, -1 - index
        if key not in self._facts:
            heading = self.pieces[index].heading.partition("(")[0]  # no list of parameters
            self._facts[key] = Facts(plain(f"{self.title} {heading}"))
        return self._facts[key]


def _exact(text: str) -> str:
    return text.strip().rstrip(".。").rstrip()


def support(claim: Facts, evidence: Evidence) -> Verdict:
    """Tell whether a source bears a claim out; only what is in its own words is certain."""
    if not claim.content and not claim.quantities.numbers:
        return Verdict.no("it says nothing that could be checked")
    if evidence.has(claim):
        return Verdict(2, share=1.0)
    if len(claim.source) > LONGEST_CLAIM:
        return Verdict.no("it is too long to be compared")
    candidates = evidence.candidates(claim)
    if evidence.quotes(claim, candidates):
        return Verdict(2, share=1.0)
    return _closest(claim, evidence, candidates)


def _closest(claim: Facts, evidence: Evidence, candidates: Sequence[int]) -> Verdict:
    """Tell whether some passage says about the same.

    A sentence that is nearly the claim decides. Otherwise the one with most of its words does: when
    that says the contrary, another one with fewer of them is no help.
    """
    changes = {each: _changed(claim, evidence, each) for each in candidates}
    closest = max((changed.closeness for changed in changes.values()), default=0.0)
    verdicts = [
        verdict
        for index, changed in changes.items()
        if closest < NEARLY or changed.closeness == closest
        for verdict in _judged(claim, evidence, index, changed)
    ]
    against = max((v for v in verdicts if v.rank < 0), key=lambda v: v.share, default=None)
    best = max(verdicts, key=lambda v: (v.rank, v.share), default=None)
    if best is None:
        return Verdict.no(f"source {evidence.number} has none of its words")
    if against is not None and against.share >= max(best.share, _LIKELY):
        return against
    return best if best.rank >= 0 else Verdict.no(best.reason)


def _changed(claim: Facts, evidence: Evidence, index: int) -> Change:
    """Compare a claim with a sentence; a word of the heading may stand for one of the sentence."""
    changed = change(claim, evidence.facts(index, index + 1))
    if changed.replaced in evidence.context(index).all_stems:
        return replace(changed, replaced="")
    return changed


def _judged(claim: Facts, evidence: Evidence, index: int, changed: Change) -> Iterator[Verdict]:
    """Judge a claim by a sentence, and by that with its neighbours unless it says the contrary."""
    alone = _compare(claim, evidence, index, (index, index + 1), changed)
    yield alone
    if alone.rank >= 0:
        for before, after in _WINDOWS:
            window = index - before, index + after
            wide = _compare(claim, evidence, index, window, changed)
            if wide.rank >= 0:  # what it has against the claim may stand in another sentence
                yield wide


def _compare(
    claim: Facts, evidence: Evidence, index: int, window: tuple[int, int], changed: Change
) -> Verdict:
    passage, context = evidence.facts(*window), evidence.context(index)
    known = passage.content | context.content | passage.all_stems
    bare = _share(claim, known)
    share = bare + changed.closeness * _CLOSER
    fault = (
        _strange_number(claim, passage)
        or _strange_date(claim, passage)
        or _strange_name(claim, passage, context, evidence)
    )
    if fault:
        rank = -1 if changed.replaced else 0  # it is the same sentence but for that
        return Verdict(rank, f"no passage of source {evidence.number} has {fault}", share)
    denied = contrary(claim, passage, evidence.is_ordinary) or changed.contrary
    if denied:
        return Verdict(-1, f"source {evidence.number} {denied}", share)
    if not _has_enough(claim, known, bare - _WIDE * (window[1] - window[0] > 1)):
        return Verdict(0, f"no passage of source {evidence.number} has enough of its words", share)
    if changed.replaced:
        instead = f'has another word for "{claim.word(changed.replaced)}"'
        return Verdict(1, f"source {evidence.number} {instead}", share)
    return Verdict(1, f"it is not in the words of source {evidence.number}", share)


def _has_enough(claim: Facts, known: frozenset[str], share: float) -> bool:
    """Tell whether a passage has enough of a claim's words, in all of its clauses."""
    count = len(claim.content)
    needed = 1.0 if count <= _FEW else _NEARLY_ALL if count <= _SHORT else _PARTLY
    if lexicon.is_cjk(claim.text):  # pairs of signs: those of endings are in every sentence
        needed, share = _CJK_PARTLY, share - _WIDE
    if share < needed - _ROUNDING or _longest_run(claim, known) >= _RUN_DROPPED:
        return False
    return not any(_is_added(clause, known) for clause in claim.clauses)


def _is_added(clause: Sequence[str], known: frozenset[str]) -> bool:
    """Tell whether a clause was added to a true claim, of which it may be the smaller part."""
    missing = sum(stemmed not in known for stemmed in clause)
    return missing > _FEW and missing >= _NEARLY_ALL * len(clause)


def _share(claim: Facts, known: frozenset[str]) -> float:
    if not claim.content:
        return 1.0
    return len(claim.content & known) / len(claim.content)


def _longest_run(claim: Facts, known: frozenset[str]) -> int:
    """Count the most words in a row that a passage has not: a detail that was added."""
    longest = run = 0
    for stemmed in claim.stems:
        if lexicon.carries_meaning(stemmed):
            run = 0 if stemmed in known else run + 1
            longest = max(longest, run)
    return longest


def _strange_number(claim: Facts, passage: Facts) -> str:
    """Find a number that a passage has not, or only with other words next to it."""
    numbers = passage.quantities.numbers
    years = passage.quantities.years
    for number in claim.numbers:
        same = [other for other in numbers if other.bears_out(number)]
        shown = claim.text[number.place : number.stop].strip()
        if not same and not (number.value in years and not number.unit):
            return f"its number {shown}"
        near = claim.near_number(number)
        if (
            near
            and same
            and not any(near & passage.near_number(other, _SENTENCE) for other in same)
        ):
            return f"its number {shown} with the same words"
    return ""


def _strange_date(claim: Facts, passage: Facts) -> str:
    years = passage.quantities.years
    told = [day for days in passage.quantities.dates for day in days]
    for days in claim.quantities.dates:
        if not any(day.bears_out(wanted, years) for wanted in days for day in told):
            first = days[0]
            parts = (first.year, first.month, first.day)
            return f"its date {'-'.join(f'{part:02d}' for part in parts if part)}"
    return ""


def _strange_name(claim: Facts, passage: Facts, context: Facts, evidence: Evidence) -> str:
    for name in names(claim.text, evidence.is_ordinary):
        if not _is_named(name, passage) and not _is_named(name, context):
            return f'its name "{name}"'
    return ""


def _is_named(name: str, text: Facts) -> bool:
    return f" {name} " in text.words or (" " not in name and lexicon.stem(name) in text.all_stems)
