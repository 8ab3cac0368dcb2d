"""The protocol of synthesizers, and the drafts that they return."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from webtools._internal.io.runtime import IO
from webtools.providers.protocols import Cost, SynthesisQuery

if TYPE_CHECKING:
    from webtools.results import Claim

__all__ = ["Draft", "SynthesisFunction", "Synthesizer", "SynthesizerLike"]


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer of a synthesizer, before its claims are checked.

    Attributes:
        text: Prose or a list. `[n]` after a statement cites the source with that number. Empty if
            the sources do not answer the question.
        cost: Cost of the answer, or None if unknown.
        warnings: Warnings, one sentence each.
        claims: Statements with the URLs that they cite, instead of a text. webtools checks them
            and ignores their `status`.
    """

    text: str
    cost: Cost | None = None
    warnings: list[str] = field(default_factory=list[str])
    claims: list[Claim] = field(default_factory=list)


class Synthesizer(Protocol):
    """Writes an answer from sources.

    Attributes:
        name: The name in results and in the log.
    """

    @property
    def name(self) -> str:
        """The name in results and in the log."""
        ...

    async def draft(self, query: SynthesisQuery, deadline: float, io: IO, /) -> Draft:
        """Answer the question from the sources. Any exception counts as a failure.

        `deadline` is on the clock of `io.now()`. Await only methods of `io`, because a blocking
        call cannot await anything else.
        """
        ...


class _HasPlainDraft(Protocol):
    """An object with a method `draft` that takes only the query."""

    def draft(self, query: SynthesisQuery, /) -> str | Draft | Awaitable[str | Draft]: ...


SynthesisFunction: TypeAlias = Callable[[SynthesisQuery], str | Draft | Awaitable[str | Draft]]
"""A blocking or async function that returns the answer as a text or a `Draft`."""

SynthesizerLike: TypeAlias = Synthesizer | _HasPlainDraft | SynthesisFunction
"""What `synthesis` accepts: a synthesizer, a function, or an object with such a method `draft`."""
