"""Failover: if a provider fails, the next one is called, all within one deadline.

There is one rule for search, fetch, summarize and research: after any error of a provider's turn,
the next provider is called. A provider that refuses the request for limits or options of its own
is no exception, whatever the status, and neither is a price that the budget does not allow, since
another provider can be cheaper. Arguments that no provider accepts are refused before any turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from webtools._internal.pipeline.api_call import ApiCall, timeout_of
from webtools._internal.pipeline.circuit_breaking import CircuitOpenError, retry_time
from webtools._internal.pipeline.cost import total
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.circuit_breaker import OpenCircuit
from webtools.errors import (
    InputError,
    ProviderError,
    QuotaError,
    RequestError,
    UnavailableError,
)
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.capabilities import CAPABILITIES, capability_of, subject_of
from webtools.providers.protocols import Cost, Query
from webtools.results import ProviderAttempt

Failure: TypeAlias = ProviderError | RequestError | InputError
FAILOVER_ERRORS = (ProviderError, RequestError, InputError)

PATIENCE = 15.0  # seconds for a provider without `timeoutMs` if another one can serve
_USUAL_TIMEOUT = CAPABILITIES["search"].timeout
_STORE_SECONDS = 1.0  # to read the cache and the circuit breaker on a busy machine
UNPRICED = "cost_usd does not include failed requests that may have been charged."


@dataclass(slots=True, eq=False)
class Failover:
    """The providers of one query, in order, until one of them serves it, and their outcomes.

    Iterate over it, and record the outcome of each call::

        for api_call in failover:
            try:
                response = await request(api_call)
            except FAILOVER_ERRORS as error:
                failover.record_failure(api_call, error)
            else:
                failover.record_response(api_call)
                return response
        raise failover.all_failed()

    Providers whose circuit breaker is open are skipped. If no other provider responds, they get
    their turns at the end.

    Attributes:
        call: The tool call.
        accounts: The providers in order. A single one is called even if its circuit is open.
        query_for: Returns the query for a provider; None if there is nothing left to request.
        deadline: The end of the whole call.
        clause: Says which providers, in errors: "of the chain", or "that can search".
        degraded: Why a provider failed or was skipped, by its name.
        skipped: The open circuit breakers of providers that were skipped, by their names.
        failures: The errors of providers that failed, by their names.
        has_response: Whether any provider responded, even with no results.
    """

    call: Call
    accounts: Sequence[Account]
    query_for: Callable[[Account], Query | None]
    deadline: float
    clause: str
    degraded: dict[str, str] = field(default_factory=dict[str, str])
    skipped: dict[str, OpenCircuit] = field(default_factory=dict[str, OpenCircuit])
    failures: dict[str, Failure] = field(default_factory=dict[str, Failure])
    has_response: bool = False

    def __iter__(self) -> Iterator[ApiCall]:
        """Yield the call of each provider in turn."""
        if len(self.accounts) == 1:
            yield from self.all_calls()
            return
        yield from self._calls(self.accounts, obeys_circuit=True)
        yield from self.calls_of_skipped()

    def all_calls(self) -> list[ApiCall]:
        """Return the calls of all providers, for callers that make them at the same time."""
        obeys_circuit = len(self.accounts) > 1
        queries = [(account, self.query_for(account)) for account in self.accounts]
        return [
            ApiCall(self.call, account, query, self.deadline, obeys_circuit)
            for account, query in queries
            if query is not None
        ]

    def calls_of_skipped(self) -> Iterator[ApiCall]:
        """Yield the calls of the providers that were skipped, if no other one responded."""
        if not self.has_response:
            skipped = [account for account in self.accounts if account.name in self.skipped]
            yield from self._calls(skipped, obeys_circuit=False)

    def _calls(self, accounts: Sequence[Account], *, obeys_circuit: bool) -> Iterator[ApiCall]:
        previous: Account | None = None
        for position, account in enumerate(accounts):
            query = self.query_for(account)
            if query is None:
                continue
            if previous is not None:
                self.call.report_failover(subject_of(query), previous.name, account.name)
            previous = account
            is_last = position == len(accounts) - 1
            deadline = self._end_of_turn(account, capability_of(query), is_last=is_last)
            yield ApiCall(self.call, account, query, deadline, obeys_circuit)

    def _end_of_turn(self, account: Account, capability: Capability, *, is_last: bool) -> float:
        """Return when a turn ends. Unless it is the last one, it leaves time for the others.

        They get `PATIENCE`, or half of the time left if that is less. A provider without a
        `timeoutMs` of its own has at most `PATIENCE` itself.
        """
        now = self.call.io.now()
        seconds = timeout_of(account, capability)
        if PROVIDERS[account.type].pages is None:  # an API's time-out starts with the request
            seconds += _STORE_SECONDS
        if is_last:
            return min(now + seconds, self.deadline)
        patience = PATIENCE
        if account.timeout is None:
            patience *= seconds / _USUAL_TIMEOUT  # a summary takes longer than a search
            seconds = min(seconds, patience)
        reserved = min(patience, (self.deadline - now) / 2)
        return min(now + seconds, self.deadline - reserved)

    def record_failure(self, api_call: ApiCall, error: Failure) -> None:
        """Record that a provider failed or was skipped; raise the error of a single provider."""
        if len(self.accounts) == 1:
            raise error
        name = api_call.account.name
        self.degraded[name] = str(error)
        if isinstance(error, CircuitOpenError):
            self.skipped[name] = error.circuit
        else:
            self.failures[name] = error

    def record_response(self, api_call: ApiCall, *, is_complete: bool = True) -> None:
        """Record that a provider responded, with all that was requested or only a part of it."""
        self.has_response |= is_complete
        self.degraded.pop(api_call.account.name, None)
        self.failures.pop(api_call.account.name, None)

    @property
    def first_error(self) -> Failure | None:
        """The first provider's error. "Unsupported request" errors rank last."""
        errors = [self.failures[name] for name in self.degraded if name in self.failures]
        errors.sort(key=lambda error: isinstance(error, InputError))
        return errors[0] if errors else None

    def all_failed(self) -> Failure:
        """Return the error of a call that no provider served: the first one, with all reasons."""
        self.call.log("all_providers_failed", providers=dict(self.degraded))
        error = self.first_error
        if error is not None and (len(self.degraded) == 1 or self._is_budget_used_up()):
            return error
        reasons = _join_reasons(self.degraded, self.failures, self.skipped.keys())
        if error is None:
            return self._all_skipped(reasons)
        joined = error.with_message(f"All providers {self.clause} failed. {reasons}")
        assert isinstance(joined, FAILOVER_ERRORS)  # noqa: S101  # of the same class
        return joined

    def _is_budget_used_up(self) -> bool:
        """Return whether no provider was called, because our own budget has refused each."""
        errors = self.failures.values()
        is_refused = all(isinstance(error, QuotaError) and error.is_own_budget for error in errors)
        return is_refused and not self.skipped

    def _all_skipped(self, reasons: str) -> UnavailableError:
        first = min(self.skipped.values(), key=lambda circuit: circuit.until)
        return UnavailableError(
            f"All providers {self.clause} are skipped for now. {reasons} Try again "
            f"after {retry_time(first)}, or configure another provider.",
            provider=first.provider,
            retry_after=float(max(0, round(first.until - time.time()))),
        )


def end_of_call(accounts: Sequence[Account], capability: Capability, call: Call) -> float:
    """Return the deadline of a call that these providers serve in order."""
    seconds = max(timeout_of(account, capability) for account in accounts)
    if len(accounts) > 1 and accounts[0].timeout is not None:
        seconds = max(seconds, accounts[0].timeout + PATIENCE)
    return min(call.io.now() + seconds, call.deadline)


def common_facts(
    call: Call,
    accounts: Sequence[Account],
    failovers: Sequence[Failover],
    *,
    served: Collection[str],
    costs: Iterable[Cost | None],
    oldest: datetime | None,
    is_cached: bool,
) -> tuple[dict[str, Any], list[str]]:
    """Return what all responses have in common: fields, and a warning if the cost is incomplete.

    Args:
        call: The call.
        accounts: The providers.
        failovers: The outcomes of calling them, by query.
        served: The names of those with results.
        costs: What their responses cost.
        oldest: When the oldest cached part was fetched; None if nothing was cached.
        is_cached: Whether all of the response was cached.
    """
    reasons: dict[str, str] = {}  # the first one of each provider
    for failover in reversed(failovers):
        reasons |= failover.degraded
    attempts = [
        ProviderAttempt(provider=name, served=name in served, reason=reasons.get(name))
        for name in (account.name for account in accounts)
        if name in served or name in reasons
    ]
    cost = total(costs)
    is_unpriced = call.is_unpriced and cost is not None
    facts = {
        "provider": next(attempt.provider for attempt in attempts if attempt.served),
        "attempts": attempts,
        "cost_usd": cost.usd if cost else None,
        "cost_is_estimate": is_unpriced or bool(cost and cost.is_estimate),
        "cache_hit": is_cached,
        "retrieved_at": oldest or datetime.now(UTC),
    }
    return facts, [UNPRICED] if is_unpriced else []


def failover_warnings(attempts: Sequence[ProviderAttempt]) -> list[str]:
    """Return warnings that name the providers that did not serve, and why."""
    names = [f'"{attempt.provider}"' for attempt in attempts if attempt.served]
    served = f"{' and '.join(names)} {'was' if len(names) == 1 else 'were'} used"
    return [
        f'{served} instead of "{attempt.provider}": {attempt.reason}'
        for attempt in attempts
        if attempt.reason is not None
    ]


def _join_reasons(
    reasons: Mapping[str, str], failures: Mapping[str, Failure], skipped: Collection[str]
) -> str:
    """Join the reasons, each once. Without a network they differ in the host names alone."""
    names_by_reason: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        error = failures.get(name)
        host = error.unknown_host if error else ""
        common_reason = reason.replace(host, "their host names") if host else reason
        names_by_reason.setdefault(common_reason, []).append(name)
    parts: list[str] = []
    for common_reason, names in names_by_reason.items():
        reason = common_reason if len(names) > 1 else reasons[names[0]]
        # The reason of a skip has the name.
        has_name = all(name in skipped and name not in failures for name in names)
        parts.append(reason if has_name else f"{', '.join(names)}: {reason}")
    return " ".join(parts)
