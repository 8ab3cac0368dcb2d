"""The states of circuit breakers: how a call changes them, and the protocol of what keeps them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

from webtools.errors import (
    AuthenticationError,
    QuotaError,
    RateLimitError,
    RequestError,
    RequestTimeoutError,
    ResponseFormatError,
    UnavailableError,
    WebToolsError,
)

CircuitKind: TypeAlias = Literal["quota", "failing"]

FORGOTTEN_AFTER = 86_400.0  # seconds after the last failure
HALF_OPEN_TIME = 60.0  # seconds in which the trial call is the only one

_OPEN_TIMES = (60.0, 120.0, 240.0, 480.0, 900.0)  # seconds, longer each time in a row
_MAX_OPEN_TIME = 86_400.0
_LATE_RESPONSES = 30.0  # seconds in which calls can end that began before the circuit opened
_FAILURES_IN_A_ROW = 3
_FIRST_FAILURE_STATUS = 400

# The reasons quote neither provider nor query: calls that did not fail themselves show them.
REJECTED_KEY = "it rejected the key"
_OPENING_AT_ONCE: dict[type[WebToolsError], str] = {
    QuotaError: "its quota is used up",
    RateLimitError: "it received too many requests",
    AuthenticationError: REJECTED_KEY,
}
_OPENING_IN_A_ROW: dict[type[WebToolsError], str] = {
    UnavailableError: "it is unavailable",
    RequestTimeoutError: "it did not respond in time",
    RequestError: "it did not respond",
    ResponseFormatError: "its responses could not be read",
}


@dataclass(frozen=True, slots=True)
class State:
    """The state of a provider that failed.

    Attributes:
        failures: Failures in a row.
        openings: Openings of its circuit in a row.
        until: When the circuit is half-open, or the trial over; 0 before the first opening.
        kind: See `OpenCircuit`.
        reason: See `OpenCircuit`.
        changed: When the state became this one.
    """

    failures: int
    openings: int
    until: float
    kind: str
    reason: str
    changed: float

    def is_open(self, now: float) -> bool:
        """Return whether the circuit is open, or a trial under way."""
        # A time beyond the longest was written while the clock was wrong.
        return now < self.until <= now + _MAX_OPEN_TIME + HALF_OPEN_TIME

    def is_forgotten(self, now: float) -> bool:
        """Return whether the failures were too long ago to count."""
        return max(self.changed, self.until) < now - FORGOTTEN_AFTER


Change: TypeAlias = Callable[["State | None"], "State | None"]


class CircuitStates(Protocol):
    """States by key, shared by all processes. Both methods raise `StoreError`."""

    def read(self, key: str, /) -> State | None:
        """Return a state; None for a provider without failures."""
        ...

    def change(self, key: str, change: Change, /) -> State | None:
        """Replace a state in one step by what `change` returns for it, and return the new one.

        `change` can be called more than once.
        """
        ...


@dataclass(frozen=True, slots=True)
class Fault:
    """What an error says about the provider, and the seconds that it asks to wait."""

    kind: CircuitKind
    reason: str
    wait: float


def fault_of(error: WebToolsError) -> Fault | None:
    """Return what an error says about the provider; None if it is about the request alone."""
    kind: CircuitKind = "quota" if isinstance(error, tuple(_OPENING_AT_ONCE)) else "failing"
    reasons = _OPENING_AT_ONCE if kind == "quota" else _OPENING_IN_A_ROW
    reason = next((text for type_, text in reasons.items() if isinstance(error, type_)), None)
    if reason is None or _is_no_fault(error):
        return None
    if error.status is not None:
        reason = f"{reason} (HTTP {error.status})"
    return Fault(kind, reason, error.retry_after or 0.0)


def _is_no_fault(error: WebToolsError) -> bool:
    """Return whether our own budget refused, or a good response has no content."""
    if isinstance(error, QuotaError):
        return error.status is None
    is_good = error.status is not None and error.status < _FIRST_FAILURE_STATUS
    return isinstance(error, UnavailableError) and is_good


def after_failure(state: State | None, fault: Fault, now: float, trial: float | None) -> State:
    """Return the state after a failed call.

    Args:
        state: The state before.
        fault: What failed.
        now: The time in seconds since 1970.
        trial: The end of the trial, if the call was one.
    """
    old = state or State(0, 0, 0.0, fault.kind, fault.reason, now)
    new = replace(old, kind=fault.kind, reason=fault.reason, changed=now)
    if old.is_open(now) and old.until != trial:  # the call began before it opened
        until = now + min(fault.wait, _MAX_OPEN_TIME)
        return replace(new, until=until) if until > old.until else old
    failures = old.failures + 1
    if fault.kind == "failing" and not old.openings and failures < _FAILURES_IN_A_ROW:
        return replace(new, failures=failures)
    seconds = _OPEN_TIMES[min(old.openings, len(_OPEN_TIMES) - 1)]
    until = now + min(max(seconds, fault.wait), _MAX_OPEN_TIME)
    return replace(new, failures=failures, openings=old.openings + 1, until=until)


def after_success(state: State | None, now: float, trial: float | None) -> State | None:
    """Return the state after a success: none, unless the call may have begun before the opening."""
    if state is None or state.kind == "failing" or state.until == trial:
        return None
    return state if state.is_open(now) and now - state.changed < _LATE_RESPONSES else None


def after_unclear_trial(state: State | None, now: float, trial: float) -> State | None:
    """Return the state after a trial that says nothing: the next call is the trial."""
    return replace(state, until=now) if state is not None and state.until == trial else state
