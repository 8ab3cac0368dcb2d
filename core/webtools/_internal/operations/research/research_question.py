"""The question of a research call."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal, TypeAlias

from webtools._internal.operations.research import rules
from webtools.choices import Command
from webtools.config import Accounts
from webtools.inputs.tool_inputs import MAX_RECENCY_DAYS, MAX_SOURCES, ResearchInput

DEFAULT_SOURCES = 5
SPARES = 3  # hits that replace those whose pages cannot be read


RecencySource: TypeAlias = Literal["call", "command", "words"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, with defaults and bounds applied.

    Attributes:
        query: The question.
        command: The kind of research.
        limit: Maximum number of sources.
        time_sensitive: Whether the answer depends on when it is asked.
        recency_days: Age in days up to which a source counts as recent, or None.
        recency_from: What set it: the caller, the command, or words of the question.
        since: Date of the oldest sources to request; None without a bound.
        spares: Number of hits beyond the limit that may replace others.
    """

    query: str
    command: Command
    limit: int
    time_sensitive: bool
    recency_days: int | None
    recency_from: RecencySource | None
    since: date | None
    spares: int = 0


def moved_bounds(arguments: ResearchInput, question: Question) -> list[str]:
    """Return warnings about arguments that were out of bounds."""
    warnings: list[str] = []
    limit, days = arguments.limit, arguments.recency_days
    if limit and limit > question.limit:
        warnings.append(f"limit {limit} is above the maximum; {question.limit} was used.")
    if days and days != question.recency_days:
        warnings.append(
            f"recency_days {days} is not from 1 to {MAX_RECENCY_DAYS}; "
            f"{question.recency_days} was used."
        )
    return warnings


def question_of(arguments: ResearchInput, accounts: Accounts) -> Question:
    """Return the question of a call."""
    days = rules.recency_days((arguments.recency_days or None), arguments.query, arguments.command)
    maximum = min(accounts.config.max_results or MAX_SOURCES, MAX_SOURCES)
    return Question(
        query=arguments.query,
        command=arguments.command,
        limit=min(arguments.limit or accounts.config.max_results or DEFAULT_SOURCES, maximum),
        time_sensitive=rules.is_time_sensitive(arguments.query, arguments.command),
        recency_days=days,
        recency_from=_recency_from(arguments) if days else None,
        since=datetime.now(UTC).date() - timedelta(days=days) if days else None,
        spares=SPARES if arguments.command == "web-deep" else 0,
    )


def _recency_from(arguments: ResearchInput) -> RecencySource:
    if arguments.recency_days:
        return "call"
    return "command" if arguments.command == "web-news" else "words"
