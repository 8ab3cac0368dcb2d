"""Answers from sources. A synthesizer drafts an answer, and each claim of it is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from webtools._internal.grounding.verification import Review
from webtools._internal.io.foreign import describe_error
from webtools._internal.io.runtime import IO
from webtools._internal.text.cleaning import one_line
from webtools.errors import WebToolsError
from webtools.formatting import NO_ANSWER
from webtools.providers.drafts import Draft, Synthesizer
from webtools.providers.protocols import Cost, Source, SynthesisQuery
from webtools.results import Claim, ResearchSynthesis, Verified

NOTHING_SHARED = "Every claim of the synthesis is unsupported by the sources it cites."
NOTHING_FOUND = NO_ANSWER
EMPTY = "EmptySynthesis"
NO_TEXT = "The sources have no text to answer from."


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a synthesis.

    Attributes:
        synthesizer: Name of the synthesizer.
        verified: The checked draft; None if there was none.
        cost: The cost; None if it is not known.
        warnings: Warnings, a sentence each.
        error: Why there is no answer, in a sentence; None if there is one.
        error_type: Name of the error's class; `EmptySynthesis` if no claim was kept.
        claims: The claims that were kept.
    """

    synthesizer: str
    verified: Verified | None = None
    cost: Cost | None = None
    warnings: list[str] = field(default_factory=list[str])
    error: str | None = None
    error_type: str | None = None
    claims: list[Claim] = field(default_factory=list[Claim])

    @property
    def synthesis(self) -> ResearchSynthesis | None:
        """The answer with its citations; None without an answer."""
        if self.error is not None or self.verified is None:
            return None
        verified = self.verified
        return ResearchSynthesis(
            summary=verified.summary, citations=verified.citations, claims=self.claims
        )


async def synthesize(
    synthesizer: Synthesizer, query: SynthesisQuery, deadline: float, io: IO
) -> Outcome:
    """Write an answer, and leave out its unsupported claims.

    A failure of the synthesizer is not raised, but part of the outcome.
    """
    name = _name(synthesizer)
    if not any(source.text.strip() for source in query.sources):
        return _failure(name, NO_TEXT)
    draft = await _draft(synthesizer, name, query, deadline, io)
    if isinstance(draft, Outcome):
        return draft
    if not (draft.claims or draft.text.strip()):
        return _failure(name, NOTHING_FOUND, draft=draft)
    verified: Verified = await io.call_blocking(partial(_verify, draft, query.sources), alone=True)
    if not verified.kept:
        return _failure(name, NOTHING_SHARED, draft=draft, verified=verified)
    claims = [claim for claim in verified.claims if claim.status != "unsupported"]
    return Outcome(name, verified, draft.cost, list(draft.warnings), claims=claims)


def _verify(draft: Draft, sources: Sequence[Source]) -> Verified:
    """Check a draft against the sources that it cites."""
    if draft.claims:
        return Review.of_claims(draft.claims, sources).verified()
    return Review.of_text(draft.text, sources).verified()


async def _draft(
    synthesizer: Synthesizer, name: str, query: SynthesisQuery, deadline: float, io: IO
) -> Draft | Outcome:
    try:
        draft: Any = await synthesizer.draft(query, deadline, io)
        return _check_draft(draft)
    except WebToolsError as error:
        cost = None if error.cost_usd is None else Cost(error.cost_usd, is_estimate=False)
        return Outcome(name, cost=cost, error=one_line(str(error)), error_type=type(error).__name__)
    except Exception as error:  # noqa: BLE001  # a synthesizer may be anyone's code
        return _failure(
            name, f"The synthesizer failed: {describe_error(error)}", type(error).__name__
        )


def _check_draft(draft: Any) -> Draft:
    """Return a draft without anything of a wrong type.

    Raises:
        TypeError: It is not a draft, or has no text.
    """
    if not isinstance(draft, Draft):
        message = f"it returned {type(draft).__name__} instead of a Draft"
        raise TypeError(message)
    text, cost, warnings = cast("tuple[Any, Any, Any]", (draft.text, draft.cost, draft.warnings))
    if not isinstance(text, str):
        message = f"its draft has {type(text).__name__} instead of a string"
        raise TypeError(message)
    lines = [one_line(warning) for warning in warnings if isinstance(warning, str)]
    return Draft(text, cost if isinstance(cost, Cost) else None, lines, list(draft.claims))


def _failure(
    name: str,
    error: str,
    kind: str = EMPTY,
    *,
    draft: Draft | None = None,
    verified: Verified | None = None,
) -> Outcome:
    cost = draft.cost if draft else None
    warnings = list(draft.warnings) if draft else []
    return Outcome(name, verified, cost, warnings, error, kind)


def _name(synthesizer: Synthesizer) -> str:
    name: Any = getattr(synthesizer, "name", None)
    return name if isinstance(name, str) and name else type(synthesizer).__name__
