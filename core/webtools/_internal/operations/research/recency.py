"""Date filters from the command or the words of a question, which can leave no results."""

from __future__ import annotations

from dataclasses import replace

from webtools._internal.operations.research.chain import (
    Retrieval,
    call_in_order,
    capability_of,
    empty_warning,
    failover_of,
    retrieve,
)
from webtools._internal.operations.research.research_question import Question
from webtools._internal.operations.research.rules import time_word
from webtools._internal.pipeline.tool_call import Call
from webtools.providers import Account

_REMEDY = "Set recency_days (--recency-days on the command line) to change this."


async def retrieve_recent(
    question: Question, chain: tuple[Account, ...], call: Call, deadline: float
) -> Retrieval:
    """Retrieve sources. Without results, a date filter from words of the question is dropped.

    Raises:
        InputError: No provider accepts the question.
        ProviderError: Every provider failed or is skipped.
        RequestError: Every provider failed, the first one without a response.
    """
    retrieval = await retrieve(question, chain, call, deadline)
    if question.recency_from in (None, "call"):
        return retrieval
    if retrieval.results:
        retrieval.warnings += _few_results_warnings(question, retrieval)
        return retrieval
    filtered = [account for account in retrieval.empty if takes_dates(account)]
    if not filtered:
        return retrieval
    if question.recency_from == "words" and call.io.now() < deadline:
        return await _retrieve_any_age(question, filtered, call, deadline, retrieval)
    retrieval.warnings.insert(0, f"{_nothing_recent(question)}. {_REMEDY}")
    return retrieval


def takes_dates(account: Account) -> bool:
    """Return whether a provider gets the date filter. Documentation has no dates."""
    return capability_of(account) == "search"


async def _retrieve_any_age(
    question: Question,
    accounts: list[Account],
    call: Call,
    deadline: float,
    recent: Retrieval,
) -> Retrieval:
    """Call providers again, for sources of any age."""
    names = [account.name for account in accounts]
    call.log("widened", recency_days=question.recency_days, again=names)
    any_question = replace(question, since=None)
    failover = failover_of(any_question, accounts, call, deadline)
    failover.degraded = recent.failover.degraded
    any_age = Retrieval(failover, costs=recent.costs, is_widened=True)
    await call_in_order(failover, any_question, any_age)
    nothing = _nothing_recent(question)
    if any_age.results:
        warnings = [f"{nothing}. Sources of any age are used instead. {_REMEDY}"]
        repeated = {*map(empty_warning, accounts)}
        warnings += [warning for warning in recent.warnings if warning not in repeated]
    elif failover.has_response:
        warnings = [f"{nothing}, and no older one either.", *recent.warnings]
    else:
        warnings = [f"{nothing}. {_REMEDY}", *recent.warnings]
    any_age.warnings[:0] = warnings
    return any_age


def _few_results_warnings(question: Question, retrieval: Retrieval) -> list[str]:
    """Return a warning if the filter may be why there are fewer results than requested."""
    is_short = len(retrieval.results) < question.limit
    if question.recency_from != "words" or retrieval.account is None or not is_short:
        return []
    if not takes_dates(retrieval.account):
        return []
    warning = f"{_question_says(question)}, so only sources from {_period(question)} were requested"
    return [f"{warning}. {_REMEDY}"]


def _nothing_recent(question: Question) -> str:
    if question.recency_from == "command":
        return f"{question.command} found no source from {_period(question)}"
    return f"{_question_says(question)}, but no source from {_period(question)} was found"


def _question_says(question: Question) -> str:
    return f'The question says "{time_word(question.query)}"'


def _period(question: Question) -> str:
    return f"the last {question.recency_days} days"
