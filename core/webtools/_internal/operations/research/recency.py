"""The date filter that a question's words, or its command, set: what if nothing is so recent."""

from __future__ import annotations

from webtools._internal.operations.failover import Attempts
from webtools._internal.operations.research.chain import (
    Question,
    Retrieval,
    ask_in_order,
    found_nothing,
    retrieve,
    task_of,
)
from webtools._internal.operations.research.rules import time_word
from webtools._internal.pipeline.tool_call import Call
from webtools.providers import Account

_REMEDY = "recency_days (--recency-days on the command line) sets another age"


async def retrieve_recent(
    question: Question, chain: tuple[Account, ...], call: Call, deadline: float
) -> Retrieval:
    """Ask a chain; where words alone asked for recent sources and there is none, for any.

    Raises:
        InputError: No provider takes such a question.
        ProviderError: Every provider failed or is skipped.
        RequestError: Every provider failed, the first one without an answer.
    """
    found = await retrieve(question, chain, call, deadline)
    if question.recency_from in (None, "call"):
        return found
    if found.results:
        found.warnings += _few(question, found)
        return found
    filtered = [account for account in found.empty if takes_dates(account)]
    if not filtered:
        return found
    if question.recency_from == "words" and call.io.now() < deadline:
        return await _widened(question, filtered, call, deadline, found)
    found.warnings.insert(0, f"{_nothing(question)}; {_REMEDY}.")
    return found


def takes_dates(account: Account) -> bool:
    """Return whether a provider of a chain is given the date filter; documentation has no dates."""
    return task_of(account) == "search"


async def _widened(
    question: Question,
    accounts: list[Account],
    call: Call,
    deadline: float,
    narrow: Retrieval,
) -> Retrieval:
    """Ask those who found nothing once more, for sources of any age."""
    again = [account.name for account in accounts]
    call.log("widened", recency_days=question.recency_days, again=again)
    wide = Retrieval(
        attempts=Attempts(narrow.attempts.degraded, narrow.attempts.skipped),
        costs=narrow.costs,
        is_widened=True,
    )
    await ask_in_order(accounts, question._replace(since=None), call, deadline, wide)
    nothing = _nothing(question)
    if wide.results:
        told = [f"{nothing}, so sources of any age, or without a date, stand in; {_REMEDY}."]
        repeated = {*map(found_nothing, accounts)}
        told += [warning for warning in narrow.warnings if warning not in repeated]
    elif wide.attempts.last_response:
        told = [f"{nothing}, and nothing older either.", *narrow.warnings]
    else:
        told = [f"{nothing}; {_REMEDY}.", *narrow.warnings]
    wide.warnings[:0] = told
    return wide


def _few(question: Question, found: Retrieval) -> list[str]:
    """Explain why there are fewer than asked for, where it may be the filter."""
    is_short = len(found.results) < question.limit
    if question.recency_from != "words" or found.account is None or not is_short:
        return []
    told = f"{_says(question)}, so only sources from {_days(question)} were asked for; {_REMEDY}."
    return [told] if takes_dates(found.account) else []


def _nothing(question: Question) -> str:
    if question.recency_from == "command":
        return f"{question.command} found nothing from {_days(question)}"
    return f"{_says(question)}, but nothing from {_days(question)} was found"


def _says(question: Question) -> str:
    return f'The question says "{time_word(question.query)}"'


def _days(question: Question) -> str:
    return f"the last {question.recency_days} days"
