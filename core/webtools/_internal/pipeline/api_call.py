"""An API call: one request to a provider, or several with a common price and deadline."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.budget import Reservation
from webtools.providers import PROVIDERS, Account, Capability

TIMEOUT = 30.0  # seconds for a whole call, unless the provider's entry sets `timeoutMs`
LONG_TIMEOUTS: dict[Capability, float] = {"summarize": 120.0, "synthesize": 120.0}


@dataclass(slots=True, eq=False, repr=False)
class ApiCall:
    """A call of a provider's API, and its state. `metered` begins and ends it.

    Attributes:
        account: The provider.
        capability: The kind of call, which decides the time allowed.
        subject: The query or URL that messages quote.
        call: The tool call that this is part of.
        query: The whole query, from which the price is computed. A call without one is free.
        deadline: When it ends at the latest, on the clock of `io.now()`.
        obeys_circuit: Whether it is refused while the provider's circuit breaker is open.
        allowed: Seconds until the deadline when it began, at most its time-out; None before.
        requests: Number of requests that were sent.
        reservation: What is reserved in the budget for the current request; None without a limit.
        is_unused: Whether nothing was sent for it that may be charged.
        result: What the provider returned. Its price is charged, and its size is logged.
    """

    account: Account
    capability: Capability
    subject: str
    call: Call
    query: Any = None
    deadline: float = inf
    obeys_circuit: bool = False
    allowed: float | None = None
    requests: int = 0
    reservation: Reservation | None = None
    is_unused: bool = True
    result: Any = None

    @property
    def is_paid(self) -> bool:
        """Whether a request may cost something."""
        return self.query is not None and self.worst_cost() > 0

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


def timeout_of(account: Account, capability: Capability) -> float:
    """Return the seconds that a whole call may take."""
    return account.timeout or LONG_TIMEOUTS.get(capability, TIMEOUT)
