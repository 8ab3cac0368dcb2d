"""Providers in order: where one fails the next serves, all within one deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from webtools._internal.pipeline.api_call import LONG_TIMEOUTS, TIMEOUT, ApiCall, timeout_of
from webtools._internal.pipeline.circuit_breaking import (
    CircuitOpenError,
    explain_circuit,
    retry_time,
)
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.circuit_breaker import OpenCircuit
from webtools.errors import (
    BadRequestError,
    InputError,
    ProviderError,
    QuotaError,
    RequestError,
    UnavailableError,
)
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.protocols import Query
from webtools.results import ProviderAttempt

Failure: TypeAlias = ProviderError | RequestError | InputError
FAILOVER_ERRORS = (ProviderError, RequestError, InputError)

PATIENCE = 15.0  # seconds for a provider that another one can replace
_LOOK_UP_SECONDS = 1.0  # for the cache and the circuit breaker, on a busy machine
UNPRICED = "cost_usd leaves out requests that failed without telling whether they were charged."
# Refusals that say more about the provider than about the request: its plan lacks the feature,
# its API has moved, or the request is longer than this provider takes.
_LIMITS_OF_ONE = frozenset({403, 404, 405, 410, 413, 414, 431})


@dataclass(frozen=True, slots=True)
class Turn:
    """A provider's turn.

    Attributes:
        account: The provider.
        deadline: When its turn ends.
        obeys_circuit: Whether the provider is skipped while its circuit breaker is open.
    """

    account: Account
    deadline: float
    obeys_circuit: bool

    def api_call(self, capability: Capability, subject: str, query: Query, call: Call) -> ApiCall:
        """Return the API call that serves a query in this turn."""
        return ApiCall(
            self.account, capability, subject, call, query, self.deadline, self.obeys_circuit
        )


@dataclass(slots=True, eq=False)
class Attempts:
    """What became of the providers.

    Attributes:
        degraded: Why a provider did not serve, by its name.
        skipped: The open circuit breakers, by the provider's name.
        failures: The errors, by the provider's name.
        last_response: The last provider that responded, even with no results.
    """

    degraded: dict[str, str] = field(default_factory=dict[str, str])
    skipped: dict[str, OpenCircuit] = field(default_factory=dict[str, OpenCircuit])
    failures: dict[str, Failure] = field(default_factory=dict[str, Failure])
    last_response: Account | None = None

    @property
    def first_error(self) -> Failure | None:
        """The first provider's error. "Unsupported request" errors rank last."""
        errors = [self.failures[name] for name in self.degraded if name in self.failures]
        errors.sort(key=lambda error: isinstance(error, InputError))
        return errors[0] if errors else None

    def record_skip(self, account: Account, circuit: OpenCircuit) -> None:
        """Record that a provider was skipped, because its circuit breaker is open."""
        self.skipped[account.name] = circuit
        self.degraded[account.name] = explain_circuit(circuit)

    def record_failure(self, account: Account, error: Failure) -> None:
        """Record that a provider failed, or was skipped."""
        if isinstance(error, CircuitOpenError):
            self.record_skip(account, error.circuit)
        else:
            self.degraded[account.name] = str(error)
            self.failures[account.name] = error

    def record_response(self, account: Account) -> None:
        """Record that a provider responded."""
        self.last_response = account
        self.degraded.pop(account.name, None)
        self.failures.pop(account.name, None)

    def all_failed(self, call: Call, which: str) -> Failure:
        """Return the error of a call that no provider served: the first, with all reasons."""
        call.log("all_providers_failed", providers=dict(self.degraded))
        error = self.first_error
        if error is not None and len(self.degraded) == 1:
            return error
        reasons = _join_reasons(self.degraded, self.failures)
        if error is None:
            return self._all_skipped(which, reasons)
        joined = error.with_message(f"All providers {which} failed. {reasons}")
        assert isinstance(joined, FAILOVER_ERRORS)  # noqa: S101  # of the same class
        return joined

    def _all_skipped(self, which: str, reasons: str) -> UnavailableError:
        first = min(self.skipped.values(), key=lambda circuit: circuit.until)
        return UnavailableError(
            f"All providers {which} are skipped for now, so none was asked. {reasons} Try again "
            f"after {retry_time(first)}, or configure another provider.",
            provider=first.provider,
            retry_after=float(max(0, round(first.until - time.time()))),
        )


@dataclass(slots=True, eq=False)
class Failover:
    """The providers of one query, in order, until one of them serves it.

    Iterate over it, and record what became of each turn::

        for turn in failover:
            try:
                result = await request(turn)
            except FAILOVER_ERRORS as error:
                failover.record_failure(turn.account, error)
            else:
                failover.record_response(turn.account)
                return result
        raise failover.all_failed("that can search")

    Providers whose circuit breaker is open are skipped. They get a turn at the end, if none of
    the others has responded.

    Attributes:
        call: The call.
        accounts: The providers in order. A single one is called whatever is known about it.
        capability: What they are asked for.
        deadline: The end of the whole call.
        subject: The query or URL, for the log and progress.
        may_continue: Whether another provider may succeed after an error.
        is_needed: Whether there is still anything to ask a provider for.
        attempts: What became of the providers.
    """

    call: Call
    accounts: Sequence[Account]
    capability: Capability
    deadline: float
    subject: str
    may_continue: Callable[[Failure], bool] = lambda _: True
    is_needed: Callable[[Account], bool] = lambda _: True
    attempts: Attempts = field(default_factory=Attempts)

    def __iter__(self) -> Iterator[Turn]:
        """Yield the turns of the providers until an error rules out the others."""
        if len(self.accounts) == 1:
            yield Turn(self.accounts[0], self.deadline, obeys_circuit=False)
            return
        yield from self.turns(self.accounts, obeys_circuit=True)
        if self.attempts.last_response is None:
            yield from self.turns(self.skipped_accounts(), obeys_circuit=False)

    def skipped_accounts(self) -> list[Account]:
        """Return the providers that were skipped, in order."""
        return [account for account in self.accounts if account.name in self.attempts.skipped]

    def turns(self, accounts: Sequence[Account], *, obeys_circuit: bool) -> Iterator[Turn]:
        """Yield the turns of some of the providers until an error rules out the others."""
        previous: Account | None = None
        for position, account in enumerate(accounts):
            if not all(map(self.may_continue, self.attempts.failures.values())):
                return
            if not self.is_needed(account):
                continue
            if previous is not None:
                self.call.moved_on(self.subject, previous.name, account.name)
            previous = account
            remaining = len(accounts) - position - 1
            yield Turn(account, self._end_of_turn(account, remaining), obeys_circuit)

    def _end_of_turn(self, account: Account, remaining: int) -> float:
        """Reserve part of the deadline for the remaining providers.

        None of them waits long for its turn unless the settings give this one more time.
        """
        now = self.call.io.now()
        seconds = timeout_of(account, self.capability)
        if PROVIDERS[account.type].pages is None:  # its time begins with its first request
            seconds += _LOOK_UP_SECONDS
        if not remaining:
            return min(now + seconds, self.deadline)
        patience = PATIENCE
        if account.timeout is None:
            patience *= seconds / TIMEOUT  # a summary takes longer than a search
            seconds = min(seconds, patience)
        half = (self.deadline - now) / 2
        return min(now + seconds, max(self.deadline - patience, now + half))

    def record_failure(self, account: Account, error: Failure) -> None:
        """Record that a provider failed or was skipped; raise the error of a single provider."""
        if len(self.accounts) == 1:
            raise error
        self.attempts.record_failure(account, error)

    def record_response(self, account: Account) -> None:
        """Record that a provider responded."""
        self.attempts.record_response(account)

    def all_failed(self) -> Failure:
        """Return the error of a call that no provider served."""
        return self.attempts.all_failed(self.call, f"that can {self.capability}")


def may_succeed_elsewhere(error: Failure) -> bool:
    """Return whether another provider may serve a request that failed with this error.

    An `InputError` during a provider's turn is a limit of that provider: what is wrong for all
    of them is refused before. The budget is shared by all.
    """
    if isinstance(error, QuotaError) and error.status is None:
        return False
    return not isinstance(error, BadRequestError) or error.status in _LIMITS_OF_ONE


def end_of_call(accounts: Sequence[Account], capability: Capability, now: float) -> float:
    """Return the deadline of a call that these providers serve in order."""
    usual = LONG_TIMEOUTS.get(capability, TIMEOUT)
    seconds = max(account.timeout or usual for account in accounts)
    if len(accounts) > 1 and accounts[0].timeout is not None:
        seconds = max(seconds, accounts[0].timeout + PATIENCE)
    return now + seconds


def list_attempts(
    accounts: Sequence[Account], served: Collection[str], attempts: Sequence[Attempts]
) -> list[ProviderAttempt]:
    """List the providers that were asked or skipped, each with the first reason it failed."""
    reasons: dict[str, str] = {}
    for each in reversed(attempts):
        reasons |= each.degraded
    names = [account.name for account in accounts]
    return [
        ProviderAttempt(provider=name, served=name in served, reason=reasons.get(name))
        for name in names
        if name in served or name in reasons
    ]


def failover_warnings(attempts: Sequence[ProviderAttempt]) -> list[str]:
    """Explain which providers did not serve and why, and which did instead."""
    served = " and ".join(f'"{attempt.provider}"' for attempt in attempts if attempt.served)
    return [
        f'{served} served where "{attempt.provider}" did not: {attempt.reason}'
        for attempt in attempts
        if attempt.reason is not None
    ]


def price_warnings(call: Call, cost_usd: float | None) -> list[str]:
    """Warn if the price of a call leaves something out."""
    return [UNPRICED] if call.is_unpriced and cost_usd else []


def _join_reasons(reasons: Mapping[str, str], failures: Mapping[str, Failure]) -> str:
    """Name each reason once: offline, all providers fail alike but for their host names."""
    groups: dict[str, dict[str, str]] = {}
    for name, reason in reasons.items():
        error = failures.get(name)
        host = error.unknown_host if error else ""
        alike = reason.replace(host, "their host names") if host else reason
        groups.setdefault(alike if error else name, {})[name] = reason
    return " ".join(
        f"{', '.join(group)}: {alike if len(group) > 1 else ''.join(group.values())}"
        for alike, group in groups.items()
    )
