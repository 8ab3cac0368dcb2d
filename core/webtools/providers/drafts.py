"""What writes answers of its own from sources, and what it hands in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from webtools._internal.io.runtime import IO
from webtools.providers.protocols import Cost, SynthesisQuery
from webtools.results import Claim

__all__ = ["Draft", "Synthesizer"]


@dataclass(frozen=True, slots=True)
class Draft:
    """What a synthesizer wrote, before it is checked.

    Attributes:
        text: Prose or a list; `[n]` after a statement cites the source with that number. Empty when
            the sources do not answer the question.
        cost: What it cost, or None when that is not known.
        warnings: What the caller should know, a sentence each.
        claims: Instead of a text: statements with the URLs they cite. Their status is checked, not
            believed.
    """

    text: str
    cost: Cost | None = None
    warnings: list[str] = field(default_factory=list[str])
    claims: list[Claim] = field(default_factory=list[Claim])


class Synthesizer(Protocol):
    """Writes an answer from sources.

    Attributes:
        name: What results and the log call it.
    """

    @property
    def name(self) -> str:
        """What results and the log call it."""
        ...

    async def draft(self, query: SynthesisQuery, deadline: float, io: IO, /) -> Draft:
        """Answer the question from the sources; what goes wrong may be raised.

        `deadline` is on the clock of `io.now()`. Await methods of `io` only: in a blocking call
        nothing else can be waited for.
        """
        ...
