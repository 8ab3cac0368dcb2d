"""The protocol of synthesizers, and the drafts that they return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from webtools._internal.io.runtime import IO
from webtools.providers.protocols import Cost, SynthesisQuery
from webtools.results import Claim

__all__ = ["Draft", "Synthesizer"]


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer that a synthesizer wrote, before it is checked.

    Attributes:
        text: Prose or a list. `[n]` after a statement cites the source with that number. Empty if
            the sources do not answer the question.
        cost: The cost, or None if it is unknown.
        warnings: What the caller should know, a sentence each.
        claims: Instead of a text: statements with the URLs that they cite. webtools checks them and
            ignores their `status`.
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
        """Answer the question from the sources. It may raise any exception.

        `deadline` is on the clock of `io.now()`. Await only methods of `io`: a blocking call cannot
        wait for anything else.
        """
        ...
