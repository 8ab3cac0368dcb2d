"""Check an answer against the sources that it cites, claim by claim.

A claim is `quoted` if it is a whole sentence, list item, table row or cell, or block of code of a
cited source. Only a model of the caller makes a claim `supported`. Otherwise it is `uncertain`, or
`unsupported` if no cited source has a word of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from webtools._internal.grounding.citations import Answer, Line, Statement, readings_of
from webtools._internal.grounding.claim_context import objection
from webtools._internal.grounding.evidence import Evidence, facts_of, is_code, keys_of, plain
from webtools._internal.grounding.languages import differ
from webtools._internal.text.cleaning import one_line
from webtools.results import Claim, ClaimStatus, Passage, Quotation, Verified

UNCERTAIN = "(uncertain)"
SECONDS = 5.0  # for all comparisons of an answer; other claims are then uncertain
_NO_TIME = "there was no time left to compare it"
_NOT_QUOTED = "no cited source has it word for word"
_MOST_UNITS = 50  # equal units of a source, to check the context of
_MOST_REASONS = 10
_MOST_FACTS = 3  # missing numbers and names to report
_SHORTENED = 80
_VERBS = {"unsupported": "Left out", "uncertain": "Uncertain"}


class HasText(Protocol):
    """A source that an answer may cite; `[n]` refers to its `number`, or else its position."""

    @property
    def text(self) -> str:
        """The text."""
        ...

    @property
    def url(self) -> str:
        """The address."""
        ...

    @property
    def title(self) -> str:
        """The title."""
        ...


@dataclass(slots=True)
class Judged:
    """A statement of an answer with its status.

    Attributes:
        statement: The statement.
        status: Its status.
        citations: Index of each cited source, with its quotation.
        nearest: The closest passage.
        reasons: Reasons against it.
        is_open: Whether a verifier may judge it.
    """

    statement: Statement
    status: ClaimStatus
    citations: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    nearest: Passage | None = None
    reasons: list[str] = field(default_factory=list[str])
    is_open: bool = False


class Review:
    """The statements of an answer, checked against its sources."""

    def __init__(self, lines: Sequence[Line], sources: Sequence[HasText], read: int = 0) -> None:
        """Check every statement.

        Args:
            lines: The answer.
            sources: The sources that its statements cite by index.
            read: Characters of the answer that were read; 0 for all.
        """
        self.sources = sources
        self._deadline = time.monotonic() + SECONDS
        self._evidence: dict[int, Evidence] = {}
        self._characters_read = read
        self._lines: list[tuple[Line, list[Judged]]] = [
            (line, [self._check(each) for each in line.statements]) for line in lines
        ]

    @classmethod
    def of_text(cls, text: str, sources: Sequence[HasText]) -> Review:
        """Check every statement of an answer."""
        answer = Answer(text, sources)
        return cls(answer.lines, sources, answer.length if len(text) > answer.length else 0)

    @classmethod
    def of_claims(cls, claims: Sequence[Claim], sources: Sequence[HasText]) -> Review:
        """Check the claims of a synthesizer, which cite by URL."""
        places = {source.url: place for place, source in enumerate(sources)}
        lines: list[Line] = []
        for claim in claims:
            urls = dict.fromkeys(each.url for each in claim.citations)
            cites = tuple(places[url] for url in urls if url in places)
            statement = Statement(claim.text, cites)
            lines.append(Line(f"{claim.heading}:\n" if claim.heading else "", (statement,)))
        if any("\n" in claim.text for claim in claims):
            lines = [each for line in lines for each in (line, Line("", ()))]
        return cls(lines, sources)

    @property
    def judged(self) -> list[Judged]:
        """All statements in order."""
        return [each for _, judged in self._lines for each in judged]

    def evidence(self, place: int) -> Evidence:
        """Return a source as evidence; each source is parsed once."""
        if place not in self._evidence:
            source = self.sources[place]
            self._evidence[place] = Evidence(source.text, source.title or "")
        return self._evidence[place]

    def verified(self) -> Verified:
        """Return the summary and the status of every claim."""
        judged = self.judged
        supported = [each for each in judged if each.status != "unsupported"]
        urls = dict.fromkeys(self.sources[place].url for j in supported for place, _ in j.citations)
        numbers = {url: number for number, url in enumerate(urls, 1)}
        return Verified(
            summary=_join_lines([self._write(*line, numbers) for line in self._lines]),
            citations=list(urls),
            claims=[self._claim(each) for each in judged],
            dropped=len(judged) - len(supported),
            reasons=list(self._reasons())[:_MOST_REASONS],
        )

    # --- judging -------------------------------------------------------------------------------

    def _check(self, statement: Statement) -> Judged:
        # An address that is still in the text is part of the claim.
        if statement.foreign and (not statement.cites or "://" in statement.text):
            address = one_line(statement.foreign[0])[:_SHORTENED]
            reason = f"{address} is not among the sources, so it was not read"
            return Judged(statement, "unsupported", reasons=[reason])
        if not statement.cites:
            return Judged(statement, "unsupported", reasons=["it cites no source"])
        places = [place for place in statement.cites if self.sources[place].text.strip()]
        if not places:
            return Judged(statement, "unsupported", reasons=["the source was not read"])
        objections = list[str]()
        quotations = list[tuple[int, str]]()
        for reading in readings_of(statement.text):
            for place in places:
                if time.monotonic() > self._deadline and not quotations:
                    return _uncertain(statement, places, [_NO_TIME])
                evidence = self.evidence(place)
                units = evidence.units(reading)[:_MOST_UNITS]
                reasons = [objection(unit, evidence) for unit in units]
                if "" in reasons:
                    unit = units[reasons.index("")]
                    text = evidence.text[unit.start : unit.end]
                    quotations.append((place, text if is_code(reading) else plain(text)))
                objections += reasons
            if quotations:
                return Judged(replace(statement, text=reading), "quoted", quotations)
        return self._compare(statement, places, objections)

    def _compare(
        self, statement: Statement, places: Sequence[int], objections: Sequence[str]
    ) -> Judged:
        """Check a statement that is not quoted by its common words with the sources."""
        keys = keys_of(plain(statement.text))
        nearest = {
            place: match
            for place in places
            if (match := self.evidence(place).nearest(keys)) is not None
        }
        if not nearest:
            if any(self.evidence(place).is_cut for place in places):
                return _uncertain(
                    statement, places, ["the source is too long, so only a part was checked"]
                )
            foreign = [p for p in places if differ(statement.text, self.sources[p].text)]
            if foreign:
                return _uncertain(statement, foreign, ["the source is in another language"])
            reason = "the source has no word in common with it"
            return Judged(statement, "unsupported", reasons=[reason], is_open=True)
        place = max(nearest, key=lambda place: (nearest[place][1], -place))
        piece, share = nearest[place]
        evidence = self.evidence(place)
        start, end = evidence.passage(piece)
        judged = _uncertain(statement, list(nearest), objections[:1])
        judged.nearest = Passage(
            text=plain(evidence.text[start:end]),
            heading=" > ".join(piece.path),
            url=self.sources[place].url,
            score=share,
            offset=start,
        )
        if not objections:
            judged.reasons = [*self._missing_facts(statement.text, places)][:_MOST_FACTS]
        judged.reasons = judged.reasons or [_NOT_QUOTED]
        return judged

    def _missing_facts(self, claim: str, places: Sequence[int]) -> Iterator[str]:
        """Yield the numbers and names of a claim that no source has."""
        evidence = [self.evidence(place) for place in places]
        if is_code(claim) or any(each.is_cut for each in evidence):
            return
        for fact in dict.fromkeys(facts_of(claim)):
            if not any(fact.is_in(each) for each in evidence):
                yield f"the source lacks the {fact.kind} {fact.text}"

    # --- writing -------------------------------------------------------------------------------

    def _claim(self, judged: Judged) -> Claim:
        citations = [
            Quotation(
                url=self.sources[place].url,
                title=self.sources[place].title or "",
                quotation=quotation,
            )
            for place, quotation in judged.citations
        ]
        return Claim(
            text=judged.statement.text,
            status=judged.status,
            citations=citations,
            nearest=judged.nearest,
            reasons=judged.reasons,
        )

    def _write(self, line: Line, judged: Sequence[Judged], numbers: dict[str, int]) -> str:
        """Return a line without unsupported claims, or ""."""
        text = ""
        for each in judged:
            if each.status != "unsupported":
                cited_numbers = {numbers[self.sources[place].url] for place, _ in each.citations}
                marks = "".join(f"[{number}]" for number in sorted(cited_numbers))
                doubt = f" {UNCERTAIN}" if each.status == "uncertain" else ""
                gap = "\n" if is_code(each.statement.text) else " "
                text += f" {each.statement.text}{gap}{marks}{doubt}"
        return line.prefix + text.strip() if text else ""

    def _reasons(self) -> Iterator[str]:
        if self._characters_read:
            yield f"Only the first {self._characters_read} characters of the answer were checked."
        for each in self.judged:
            if verb := _VERBS.get(each.status):
                text = one_line(each.statement.text)
                if len(text) > _SHORTENED:
                    text = f"{text[: _SHORTENED - 1].rstrip()}…"
                yield f'{verb} "{text}": {"; ".join(each.reasons)}.'


def _uncertain(statement: Statement, cited: Sequence[int], reasons: Sequence[str]) -> Judged:
    citations = [(place, "") for place in cited]
    return Judged(statement, "uncertain", citations, reasons=[*reasons], is_open=True)


def _join_lines(lines: Sequence[str]) -> str:
    """Join lines; runs of blank lines become one, and those at the ends are removed."""
    result: list[str] = []
    for line in lines:
        if line or (result and result[-1]):
            result.append(line)
    return "\n".join(result).strip("\n")
