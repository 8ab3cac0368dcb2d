"""An API call: a provider's turn to serve a query, and what it reserved in the budget."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.budget import Reservation
from webtools.errors import WebToolsError
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.capabilities import CAPABILITIES, capability_of, subject_of
from webtools.providers.protocols import Query


@dataclass(slots=True, eq=False, repr=False)
class ApiCall:
    """A provider's turn to serve a query, and its state.

    Attributes:
        call: The tool call that this is part of.
        account: The provider.
        query: The query, from which the price is computed.
        deadline: When it ends at the latest, on the clock of `io.now()`.
        obeys_circuit: Whether it is refused while the provider's circuit breaker is open.
        is_free: Whether its requests cost nothing and are not counted by the budget.
        allowed: Seconds until the deadline when it began, at most its time-out; None before.
        requests: Number of requests that were sent.
        reservation: What is reserved in the budget for the current request; None without a limit.
        is_unused: Whether nothing was sent for it that may be charged.
        result: What the provider returned. Its price is charged, and its size is logged.
    """

    call: Call
    account: Account
    query: Query
    deadline: float
    obeys_circuit: bool = False
    is_free: bool = False
    allowed: float | None = None
    requests: int = 0
    reservation: Reservation | None = None
    is_unused: bool = True
    result: Any = None

    @property
    def capability(self) -> Capability:
        """The kind of call."""
        return capability_of(self.query)

    @property
    def subject(self) -> str:
        """The query or URL that messages quote."""
        return subject_of(self.query)

    @property
    def is_paid(self) -> bool:
        """Whether a request may cost something."""
        return not self.is_free and self.worst_cost() > 0

    def worst_cost(self) -> float:
        """Return the maximum cost of a request in USD."""
        return PROVIDERS[self.account.type].worst_cost(self.query, self.account)

    @property
    def timeout(self) -> float:
        """Seconds for the whole call, waiting and retries included."""
        return timeout_of(self.account, self.capability)

    @property
    def seconds(self) -> float:
        """The time that the call had, for messages."""
        return round(self.timeout if self.allowed is None else self.allowed, 1)

    def begin(self, now: float) -> None:
        """Start the time-out."""
        self.deadline = min(self.deadline, now + self.timeout)
        self.allowed = max(0.0, self.deadline - now)

    async def reserve(self) -> None:
        """Reserve the price of a request: the first one, or one after another that may be charged.

        Raises:
            QuotaError: The budget does not allow it.
            ConfigError: The budget cannot be checked.
        """
        budget = self.call.services.budget
        if budget.active and not self.is_free:
            try:
                self.reservation = await self.call.io.call_blocking(
                    partial(budget.reserve, self.account.name, self.worst_cost()),
                    undo=budget.release,
                )
            except WebToolsError as error:
                self.call.log("budget_refused", provider=self.account.name, message=str(error))
                if not self.requests:
                    await self.call.io.call_blocking(self.release_trial)
                raise
        self.is_unused = True

    async def settle(self, usd: float | None) -> None:
        """Charge what the current request cost; None if that is unknown."""
        if self.call.charges is not None:
            cost = 0.0 if usd is None and not self.is_paid else usd
            self.call.charges.append((self.account.name, cost))
        if self.reservation is not None:
            settle = partial(self.call.services.budget.settle, self.reservation, usd)
            await self.call.io.call_blocking(settle)

    def give_back(self) -> None:
        """Give back what a call that ended early did not use."""
        if self.reservation is not None and self.is_unused:
            self.call.services.budget.release(self.reservation)
        self.release_trial()

    def release_trial(self) -> None:
        """Let another call be the trial of a half-open circuit, because this one sent nothing."""
        health = self.call.services.health
        if health.has_failures(self.account, self.capability):
            health.release_trial(self.account, self.capability)


def timeout_of(account: Account, capability: Capability) -> float:
    """Return the seconds that a whole call may take."""
    return account.timeout or CAPABILITIES[capability].timeout
