"""Holds a draft against its sources: what they do not bear out never gets a citation.

A claim is certain when it is a sentence of a source that it cites, word for word. It is kept, and
marked, when one passage of that source, a few sentences long, has all its numbers, dates and names,
denies and opposes nothing that the claim says, and has enough of its other words. This compares
words: it cannot understand them. So it rather marks a true claim in words of its own than lets a
false one pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from webtools.grounding.checking.drafts import Claim, Line, Part, Reading
from webtools.grounding.checking.evidence import Evidence, Verdict, support
from webtools.grounding.checking.facts import Facts, plain
from webtools.providers.protocols import Source
from webtools.text.cleaning import one_line

UNCERTAIN = "(uncertain)"
_MOST_REASONS = 10
_SHORTENED = 80
_LEAST_WORDS = 3  # that carry meaning, for a part of a sentence to stand by itself
_BEGINS_ANEW = frozenset(("the", "a", "an", "this", "these", "those", "its", "their"))
_JOINING = frozenset(("and", "but", "while", "whereas", "or", "although", "though", "yet"))


@dataclass(frozen=True, slots=True)
class Verified:
    """What is left of a draft.

    Attributes:
        summary: The claims that are borne out; `[n]` refers to the n-th of the citations.
        citations: URLs of sources, in the order in which they are first cited.
        kept: How many claims the summary has, the uncertain ones included.
        uncertain: How many of them are marked uncertain.
        dropped: How many claims are left out.
        reasons: Why claims were dropped or marked, a sentence each, at most ten.
    """

    summary: str
    citations: list[str] = field(default_factory=list[str])
    kept: int = 0
    uncertain: int = 0
    dropped: int = 0
    reasons: list[str] = field(default_factory=list[str])


def verify(text: str, sources: Sequence[Source]) -> Verified:
    """Keep the claims of a draft that the sources they cite bear out, and renumber the citations.

    Args:
        text: Prose or a list; `[n]` cites the source with that number.
        sources: What may be cited.
    """
    draft = Reading(text, sources)
    check = _Check(sources)
    lines = [check.line(line) for line in draft.lines]
    if draft.is_cut:
        check.reasons.insert(0, f"The draft was read up to {draft.length} characters.")
    return Verified(
        _joined(lines),
        check.citations,
        check.kept,
        check.uncertain,
        check.dropped,
        check.reasons[:_MOST_REASONS],
    )


class _Check:
    """Goes through the claims of one draft, and counts."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.citations: list[str] = []
        self.reasons: list[str] = []
        self.kept = self.uncertain = self.dropped = 0
        self._sources = {source.number: source for source in sources}
        self._evidence: dict[int, Evidence] = {}

    def line(self, line: Line) -> str:
        """Write a line again with what is left of it; nothing when no claim is."""
        kept = [(claim.gap, text) for claim in line.claims if (text := self._claim(claim))]
        written = "".join(gap + text for gap, text in kept).strip()
        return line.prefix + written if written else ""

    def _claim(self, claim: Claim) -> str:
        verdict, parts = self._judged(claim)
        if not parts:
            self.dropped += 1
            self._tell("Dropped", claim, verdict)
            return ""
        self.kept += 1
        written = " ".join(f"{part.text} {self._marks(part.cites)}" for part in parts)
        if verdict.is_certain and not claim.hedged:
            return written
        self.uncertain += 1
        self._tell("Uncertain", claim, verdict)
        return f"{written} {UNCERTAIN}"

    def _judged(self, claim: Claim) -> tuple[Verdict, list[Part]]:
        """Judge a claim as a whole, or by its parts where each stands by itself."""
        if claim.foreign:
            return Verdict.no(f"{one_line(claim.foreign[0])[:_SHORTENED]} is no source"), []
        if not claim.cites:
            return Verdict.no("it cites no source"), []
        parts = list(claim.parts)
        if not (len(parts) > 1 and all(map(_stands_alone, parts, range(len(parts))))):
            parts = [Part(claim.text, claim.cites)]
        judged = [self._part(part) for part in parts]
        worst = min((verdict for verdict, _ in judged), key=lambda verdict: verdict.rank)
        kept = [part for _, part in judged if part is not None]
        return worst, kept if len(kept) == len(parts) else []

    def _part(self, part: Part) -> tuple[Verdict, Part | None]:
        """Keep the citations that bear a part out: the certain ones if there are any."""
        claim = Facts(plain(part.text))
        verdicts = [(number, support(claim, self._evidence_of(number))) for number in part.cites]
        best = max((verdict for _, verdict in verdicts), key=lambda verdict: verdict.rank)
        if not best.is_kept:
            return best, None
        good = tuple(number for number, verdict in verdicts if verdict.rank == best.rank)
        return best, Part(part.text, good)

    def _evidence_of(self, number: int) -> Evidence:
        if number not in self._evidence:
            self._evidence[number] = Evidence(self._sources[number])
        return self._evidence[number]

    def _marks(self, cites: Sequence[int]) -> str:
        urls = dict.fromkeys(self._sources[number].url for number in cites)
        self.citations += [url for url in urls if url not in self.citations]
        return "".join(f"[{self.citations.index(url) + 1}]" for url in urls)

    def _tell(self, what: str, claim: Claim, verdict: Verdict) -> None:
        said = one_line(claim.text)
        said = said if len(said) <= _SHORTENED else f"{said[: _SHORTENED - 1].rstrip()}…"
        why = verdict.reason or "the draft says so"
        self.reasons.append(f'{what} "{said}": {why}.')


def _stands_alone(part: Part, place: int) -> bool:
    """Tell whether a part of a sentence can be checked without the rest: it has its own subject."""
    facts = Facts(plain(part.text))
    if not part.cites or len(facts.content) < _LEAST_WORDS:
        return False
    words = [word for word in part.text.strip(" ,;").split() if word.lower() not in _JOINING]
    first = words[0] if words else ""
    return place == 0 or first.lower() in _BEGINS_ANEW or first[:1].isupper()


def _joined(lines: Sequence[str]) -> str:
    """Put lines under each other; blank ones stand for one, and none at either end."""
    joined: list[str] = []
    for line in lines:
        if line or (joined and joined[-1]):
            joined.append(line)
    return "\n".join(joined).strip("\n")
