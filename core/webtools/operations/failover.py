"""Providers in turn: where one fails the next is asked, all of them within one deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from webtools.errors import (
    BadRequestError,
    InputError,
    ProviderError,
    QuotaError,
    RequestError,
    UnavailableError,
)
from webtools.flows.drivers import Flow, Now
from webtools.pipeline.accounting import timeout_of, usual_timeout
from webtools.pipeline.circuit_breaking import (
    CircuitOpenError,
    clock,
    not_needed,
    take_leave,
    words,
)
from webtools.providers import PROVIDERS, Account, Capability
from webtools.results import AskedProvider
from webtools.text.record import record

if TYPE_CHECKING:
    from webtools.pipeline.context import CallContext
    from webtools.storage.circuit_breaker import OpenCircuit

T = TypeVar("T")
Failure: TypeAlias = ProviderError | RequestError | InputError
Leave: TypeAlias = Callable[[], Flow[None]] | None

PATIENCE = 15.0  # seconds for a provider that another one can stand in for
_USUAL_TIMEOUT = 30.0
_LOOKING = 1.0  # seconds to look into cache and health on a busy machine
UNPRICED = "cost_usd leaves out requests that failed without telling whether they were charged."
# Refusals that say more of the provider than of the request: its plan lacks it, its API is
# elsewhere, or the request is longer than this one takes.
_ITS_OWN_LIMITS = frozenset({403, 404, 405, 410, 413, 414, 431})


@dataclass(slots=True, eq=False, repr=False)
class Tried:
    """What became of those who were to serve.

    Attributes:
        degraded: The providers that should have served, with the reason why they did not.
        skipped: Whom it is better not to call now.
        failures: The errors, by provider.
        answered: Who answered last, and be it that there is nothing.
    """

    degraded: dict[str, str] = field(default_factory=cast("Callable[[], dict[str, str]]", dict))
    skipped: dict[str, OpenCircuit] = field(
        default_factory=cast("Callable[[], dict[str, OpenCircuit]]", dict)
    )
    failures: dict[str, Failure] = field(
        default_factory=cast("Callable[[], dict[str, Failure]]", dict)
    )
    answered: Account | None = None

    @property
    def failure(self) -> Failure | None:
        """The failure of the first in line; that one does not take the request counts last."""
        errors = [self.failures[name] for name in self.degraded if name in self.failures]
        others = (error for error in errors if not isinstance(error, InputError))
        return next(others, errors[0] if errors else None)

    def pass_over(self, account: Account, circuit: OpenCircuit) -> None:
        """Note that a provider is skipped, as its circuit is open."""
        self.skipped[account.name] = circuit
        self.degraded[account.name] = words(circuit)

    def fail(self, account: Account, error: Failure) -> None:
        """Note that a provider failed."""
        self.degraded[account.name] = str(error)
        self.failures[account.name] = error

    def answer(self, account: Account) -> None:
        """Note that a provider answered."""
        self.answered = account
        self.degraded.pop(account.name, None)
        self.failures.pop(account.name, None)

    def error(self, context: CallContext, whom: str) -> Failure:
        """Make the error for a call that nobody served: the first one, and the reasons of all."""
        context.log("all_providers_failed", providers=dict(self.degraded))
        if self.failure is not None and len(self.degraded) == 1:
            return self.failure
        said = _each_once(self.degraded, self.failures)
        if self.failure is None:
            return self._all_skipped(whom, said)
        made = self.failure.with_message(f"All providers {whom} failed. {said}")
        assert isinstance(made, Failure)  # noqa: S101  # of the same class
        return made

    def _all_skipped(self, whom: str, said: str) -> UnavailableError:
        first = min(self.skipped.values(), key=lambda circuit: circuit.until)
        return UnavailableError(
            f"All providers {whom} are skipped for now, so none was asked. {said} Try again after "
            f"{clock(first)}, or configure another provider.",
            provider=first.provider,
            retry_after=float(max(0, round(first.until - time.time()))),
        )


@record
class Turns:
    """Whom to ask in which order, for what, and until when.

    Attributes:
        accounts: The providers in the order in which they are asked.
        capability_of: Tells what one is asked for.
        deadline: The end of the whole call.
        subject: The query or URL, for log and progress.
        goes_on: Tells whether a failure is one that another provider may not have.
        needs: Tells whether there is anything left to ask one for.
    """

    accounts: Sequence[Account]
    capability_of: Callable[[Account], Capability]
    deadline: float
    subject: str
    goes_on: Callable[[Failure], bool] = lambda _: True
    needs: Callable[[Account], bool] = lambda _: True


Attempt: TypeAlias = Callable[[Account, float, Leave], Flow[T | None]]


def in_turn(
    turns: Turns, tried: Tried, attempt: Attempt[T], context: CallContext
) -> Flow[T | None]:
    """Ask one provider after the other until an attempt brings something.

    An attempt is given the account, its end, and what raises `CircuitOpenError` for a skipped
    provider; it calls that before it sends anything.

    Returns:
        What the attempt brought; None when nobody brought anything, and then `tried` tells why.
    """
    left = ""
    for place, account in enumerate(turns.accounts):
        if not turns.needs(account):
            continue
        if left:
            context.moved_on(turns.subject, left, account.name)
        left = account.name
        now: float = yield Now()
        end = end_of_turn(account, turns, len(turns.accounts) - place - 1, now)
        leave = None if left in tried.skipped else partial(take_leave, account, context)
        found, goes_on = None, True
        try:
            found = yield from attempt(account, end, leave)
        except CircuitOpenError as error:
            tried.pass_over(account, error.circuit)
            continue
        except (ProviderError, RequestError, InputError) as error:
            tried.fail(account, error)
            goes_on = turns.goes_on(error)
        else:
            tried.answer(account)
        if context.services.health.has_failures(account):
            yield from not_needed(account, context)
        if found is not None or not goes_on:
            return found
    return None


def end_of_turn(account: Account, turns: Turns, others: int, now: float) -> float:
    """Leave time for those who come after, as far as there is any.

    None of them waits long for its turn unless the settings say how long this one may take.
    """
    own = timeout_of(account, turns.capability_of(account))
    if PROVIDERS[account.type].pages is None:  # its own time begins when it is asked
        own += _LOOKING
    if not others:
        return min(now + own, turns.deadline)
    patience = PATIENCE
    if account.timeout is None:
        patience *= own / _USUAL_TIMEOUT  # a summary takes longer than a search
        own = min(own, patience)
    half = (turns.deadline - now) / 2
    return min(now + own, max(turns.deadline - patience, now + half))


# --- plain calls -------------------------------------------------------------------------------


def asked(
    accounts: Sequence[Account], served: Collection[str], tries: Sequence[Tried]
) -> list[AskedProvider]:
    """List who was asked or passed over, and the first reason why each was left."""
    reasons: dict[str, str] = {}
    if len(served) == 1 and not any(tried.degraded for tried in tries):
        return [_alone(*served)]
    for tried in reversed(tries):
        reasons |= tried.degraded
    names = [each.name for each in accounts if each.name in served or each.name in reasons]
    return [
        AskedProvider(provider=name, served=name in served, reason=reasons.get(name))
        for name in names
    ]


@lru_cache(maxsize=64)  # the usual answer, and nobody can change it
def _alone(name: str) -> AskedProvider:
    return AskedProvider(provider=name, served=True)


def left_warnings(every: Sequence[AskedProvider]) -> list[str]:
    """Explain who did not serve and why, and who did."""
    served = " and ".join(f'"{each.provider}"' for each in every if each.served)
    return [
        f'{served} served where "{each.provider}" did not: {each.reason}'
        for each in every
        if each.reason is not None
    ]


def unpriced(context: CallContext, cost_usd: float | None) -> list[str]:
    """Warn that a price leaves something out, where it does."""
    return [UNPRICED] if context.is_unpriced and cost_usd else []


def first_to_serve(
    turns: Turns, tried: Tried, attempt: Attempt[T], context: CallContext
) -> Flow[T]:
    """Ask providers in turn; whoever is skipped is asked only if nobody else serves.

    A provider without any other is asked whatever is known of it.

    Raises:
        InputError: No provider takes such a request.
        ProviderError: Every provider failed or is skipped, or the request is wrong.
        RequestError: Every provider failed, the first one without an answer.
    """
    if len(turns.accounts) == 1:
        found = yield from attempt(turns.accounts[0], turns.deadline, None)
    else:
        found = yield from in_turn(turns, tried, attempt, context)
    if found is None and tried.answered is None and _may_go_on(turns, tried):
        found = yield from in_turn(skipped_turns(turns, tried), tried, attempt, context)
    if found is None:
        capability = turns.capability_of(turns.accounts[0])
        raise tried.error(context, f"that can {capability}")
    return found


def _may_go_on(turns: Turns, tried: Tried) -> bool:
    return all(map(turns.goes_on, tried.failures.values()))


def skipped_turns(turns: Turns, tried: Tried) -> Turns:
    """Keep those who were passed over: better one in trouble than none, and its error is exact."""
    return replace(turns, accounts=[each for each in turns.accounts if each.name in tried.skipped])


def may_be_its_own(error: Failure) -> bool:
    """Return whether a failure is one that another provider may not have.

    An `InputError` in a provider's turn is a limit of that provider's: what is wrong for all is
    refused before anybody's turn. The budget is everybody's.
    """
    if isinstance(error, QuotaError) and error.status is None:
        return False
    return not isinstance(error, BadRequestError) or error.status in _ITS_OWN_LIMITS


def end_of_call(accounts: Sequence[Account], capability: Capability, now: float) -> float:
    """Return the end of a call that may go on from one provider to the next."""
    usual = usual_timeout(capability)
    whole = max([account.timeout or usual for account in accounts])
    if len(accounts) > 1 and accounts[0].timeout is not None:
        whole = max(whole, accounts[0].timeout + PATIENCE)
    return now + whole


def _each_once(reasons: Mapping[str, str], failures: Mapping[str, Failure]) -> str:
    """Name each failure once: offline, all providers have the same but for their hosts."""
    alike: dict[str, dict[str, str]] = {}
    for name, reason in reasons.items():
        same = _of_all(reason, failures[name]) if name in failures else name
        alike.setdefault(same, {})[name] = reason
    return " ".join(
        f"{', '.join(group)}: {same if len(group) > 1 else ''.join(group.values())}"
        for same, group in alike.items()
    )


def _of_all(reason: str, error: Failure) -> str:
    host = error.unknown_host
    return reason.replace(host, "their host names") if host else reason
