"""The question of a call, with the rules about time and number applied."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from webtools._internal.operations.research import rules
from webtools._internal.operations.research.chain import Question, RecencySource
from webtools.config import Accounts
from webtools.inputs.tool_inputs import MAX_RECENCY_DAYS, MAX_SOURCES, ResearchInput

DEFAULT_SOURCES = 5
SPARES = 3  # hits that stand in for those whose pages cannot be read


def moved_bounds(given: ResearchInput, question: Question) -> list[str]:
    """Name which bounds the arguments were moved to."""
    told: list[str] = []
    if given.limit and given.limit > question.limit:
        told = [f"limit {given.limit} is above what is allowed here; {question.limit} was used."]
    asked = _days_asked(given)
    if asked is not None and asked != question.recency_days:
        told.append(
            f"recency_days {asked} is not in 1 to {MAX_RECENCY_DAYS}; "
            f"{question.recency_days} was used."
        )
    return told


def _days_asked(given: ResearchInput) -> int | None:
    return given.recency_days or None


def question_of(given: ResearchInput, accounts: Accounts) -> Question:
    """Apply the rules about time and number."""
    days = rules.recency_days(_days_asked(given), given.query, given.command)
    most = min(accounts.config.max_results or MAX_SOURCES, MAX_SOURCES)
    return Question(
        query=given.query,
        command=given.command,
        limit=min(given.limit or accounts.config.max_results or DEFAULT_SOURCES, most),
        time_sensitive=rules.is_time_sensitive(given.query, given.command),
        recency_days=days,
        recency_from=_recency_from(given) if days else None,
        since=_days_ago(days) if days else None,
        spares=SPARES if given.command == "web-deep" else 0,
    )


def _days_ago(days: int) -> date:
    return datetime.now(UTC).date() - timedelta(days=days)


def _recency_from(given: ResearchInput) -> RecencySource:
    if _days_asked(given) is not None:
        return "call"
    return "command" if given.command == "web-news" else "words"
