"""Check an answer against its sources, claim by claim; what they do not bear out is left out.

A claim is quoted when it is a whole sentence of a source that it cites, word for word. Else it is
supported, uncertain or unsupported, as `support.py` judges.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from webtools.grounding.citations import Answer, Line, Part, Statement
from webtools.grounding.evidence import Evidence
from webtools.grounding.quotations import is_code, quotation
from webtools.grounding.support import Support, support
from webtools.results import Claim, ClaimStatus, Quotation, Verified
from webtools.text.cleaning import one_line

UNCERTAIN = "(uncertain)"
RANKS: tuple[ClaimStatus, ...] = ("unsupported", "uncertain", "supported", "quoted")
SECONDS = 10.0  # for an answer to be compared; what is left then is uncertain
_NO_TIME = "there was no time left to compare it"
_MOST_REASONS = 10
_SHORTENED = 80
_VERBS = {"unsupported": "Dropped", "uncertain": "Uncertain"}


class HasText(Protocol):
    """What an answer may cite; its `number`, if it has one, is what `[n]` means."""

    @property
    def text(self) -> str:
        """What it says."""
        ...

    @property
    def url(self) -> str:
        """Its address."""
        ...

    @property
    def title(self) -> str:
        """What it is called."""
        ...


@dataclass(slots=True)
class Judged:
    """A statement of an answer with what was found out about it.

    Attributes:
        statement: The statement.
        status: What it is called.
        found: Places of the sources that bear it out, and where in their texts.
        reason: Why it is not called more; empty for what is certain.
        is_final: Whether no other judge may call it more.
    """

    statement: Statement
    status: ClaimStatus
    found: list[tuple[int, int, int]]
    reason: str = ""
    is_final: bool = False


class Review:
    """An answer under review.

    Attributes:
        judged: Its statements, as they stand on its lines.
    """

    def __init__(self, text: str, sources: Sequence[HasText]) -> None:
        """Read an answer and judge every statement of it."""
        self.sources = sources
        self._until = time.monotonic() + SECONDS
        self._evidence: dict[int, Evidence] = {}
        self._answer = Answer(text, sources)
        self._is_cut = len(text) > self._answer.length
        self._lines: list[tuple[Line, list[Judged]]] = [
            (line, [self._judged(each) for each in line.statements]) for line in self._answer.lines
        ]

    @property
    def judged(self) -> list[Judged]:
        """All statements in their order."""
        return [each for _, judged in self._lines for each in judged]

    def evidence(self, place: int) -> Evidence:
        """Return a source as evidence; it is read once."""
        if place not in self._evidence:
            self._evidence[place] = Evidence(self.sources[place].text, self._until)
        return self._evidence[place]

    def verified(self) -> Verified:
        """Return what is left, and the report on every claim."""
        urls = [
            self.sources[place].url
            for each in self.judged
            if each.status != "unsupported"
            for place, _, _ in each.found
        ]
        urls = list(dict.fromkeys(urls))
        judged = self.judged
        return Verified(
            summary=_joined([self._written(*line, urls) for line in self._lines]),
            citations=urls,
            claims=[self._claim(each) for each in judged],
            dropped=sum(each.status == "unsupported" for each in judged),
            reasons=list(self._reasons())[:_MOST_REASONS],
        )

    # --- judging -------------------------------------------------------------------------------

    def _judged(self, statement: Statement) -> Judged:
        if statement.foreign:
            reason = f"{one_line(statement.foreign[0])[:_SHORTENED]} is no source"
            return Judged(statement, "unsupported", [], reason, is_final=True)
        if not statement.cites:
            return Judged(statement, "unsupported", [], "it cites no source", is_final=True)
        if time.monotonic() > self._until:
            return Judged(statement, "uncertain", [], _NO_TIME)
        parts = [self._part(each) for each in statement.parts]
        worst = min(parts, key=lambda each: RANKS.index(each[0]))
        found = [where for _, places, _, _ in parts for where in places]
        if statement.is_hedged and RANKS.index(worst[0]) > RANKS.index("uncertain"):
            return Judged(statement, "uncertain", found, "the answer says so", is_final=True)
        return Judged(statement, worst[0], found, worst[2], is_final=worst[3])

    def _part(self, part: Part) -> tuple[ClaimStatus, list[tuple[int, int, int]], str, bool]:
        """Judge a part by each source it cites, and keep those that bear it out best."""
        found: list[tuple[int, Support]] = []
        for place in part.cites:
            if time.monotonic() > self._until:
                found.append((place, Support("uncertain", 0.0, _NO_TIME)))
            else:
                found.append((place, _support(part.text, self.evidence(place))))
        best = max((each for _, each in found), key=lambda each: RANKS.index(each.status))
        places = [(at, s.start, s.end) for at, s in found if s.status == best.status]
        return best.status, places, best.reason, all(s.is_contradicted for _, s in found)

    # --- writing -------------------------------------------------------------------------------

    def _claim(self, judged: Judged) -> Claim:
        citations = [
            Quotation(
                url=self.sources[place].url,
                title=self.sources[place].title or "",
                quotation=self.sources[place].text[start:end],
            )
            for place, start, end in judged.found
        ]
        status = judged.status
        shown = citations if status != "unsupported" else []
        return Claim(text=judged.statement.text, status=status, citations=shown)

    def _written(self, line: Line, judged: Sequence[Judged], urls: Sequence[str]) -> str:
        """Return a line with what is left of it; nothing when no claim is."""
        written = ""
        for each in judged:
            if each.status != "unsupported":
                numbers = {urls.index(self.sources[place].url) + 1 for place, _, _ in each.found}
                marks = "".join(f"[{number}]" for number in sorted(numbers))
                doubt = f" {UNCERTAIN}" if each.status == "uncertain" else ""
                gap = "\n" if is_code(each.statement.text) else " "
                written += f" {each.statement.text}{gap}{marks}{doubt}"
        return line.prefix + written.strip() if written else ""

    def _reasons(self) -> Iterator[str]:
        if self._is_cut:
            yield f"The answer was read up to {self._answer.length} characters."
        for each in self.judged:
            if verb := _VERBS.get(each.status):
                said = one_line(each.statement.text)
                if len(said) > _SHORTENED:
                    said = f"{said[: _SHORTENED - 1].rstrip()}…"
                yield f'{verb} "{said}": {each.reason}.'


def _support(claim: str, evidence: Evidence) -> Support:
    """Judge a claim by a text; what was read in part does not speak against it."""
    sentence = quotation(claim, evidence)
    if sentence is not None:
        return Support("quoted", 0.0, "", sentence.start, sentence.end)
    found = support(claim, evidence)
    if is_code(claim) and found.status != "unsupported":  # words do not tell what code does
        reason = "its source has other code, or may deny it"
        return replace(found, status="uncertain", reason=reason)
    if evidence.is_cut and found.status == "unsupported":
        return Support("uncertain", found.score, "its source was read in part: it is too long")
    return found


def verify(text: str, sources: Sequence[HasText]) -> Verified:
    """Check the claims of an answer against the sources that they cite.

    Args:
        text: Prose or a list, from any model; `[n]` cites the n-th source, links cite by URL.
        sources: What may be cited.
    """
    return Review(text, sources).verified()


def _joined(lines: Sequence[str]) -> str:
    """Put lines under each other; blank ones stand for one, and none at either end."""
    joined: list[str] = []
    for line in lines:
        if line or (joined and joined[-1]):
            joined.append(line)
    return "\n".join(joined).strip("\n")
