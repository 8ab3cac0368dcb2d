"""Circuit breakers of the providers: open while one is out of quota or fails again and again.

A circuit stays open for longer each time in a row. Then it is half-open: a single call over all
processes is let through as a trial, whose success closes the circuit and whose failure opens it
again. What is known stands in the store, with a copy in memory that serves where the store cannot.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
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
from webtools.storage.errors import StoreError
from webtools.text.record import record

__all__ = ["FORGOTTEN_AFTER", "Change", "Health", "OpenCircuit", "State", "States", "row_of"]

CircuitKind: TypeAlias = Literal["quota", "failing"]

_LADDER = (60.0, 120.0, 240.0, 480.0, 900.0)  # seconds
_LONGEST_OPEN = 86_400.0
_HALF_OPEN_TIME = 60.0  # seconds in which no other call is let through
FORGOTTEN_AFTER = 86_400.0  # seconds after the last trouble
_LATE_ANSWERS = 30.0  # seconds in which calls may end that began before the circuit opened
_FAILURES_IN_A_ROW = 3
_FIRST_FAILURE_STATUS = 400
_MOMENT = 1.0  # seconds for which a circuit may be open for others, and a call here not know it

# Each says what is the matter without a word of the provider's or of the query: it is shown to
# calls that have nothing to do with the one that failed.
_AT_ONCE: dict[type[WebToolsError], str] = {
    QuotaError: "its quota is used up",
    RateLimitError: "it gets too many calls",
    AuthenticationError: "it does not accept the key",
}
_IN_A_ROW: dict[type[WebToolsError], str] = {
    UnavailableError: "it is in trouble",
    RequestTimeoutError: "it does not answer in time",
    RequestError: "it does not answer",
    ResponseFormatError: "its answers cannot be read",
}


class _Account(Protocol):
    """What tells providers apart: the same one under another key is another.

    Attributes:
        name: Name of its entry in the settings.
        type: Type of the provider.
        base_url: Origin of its API.
        secrets: Its keys.
    """

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def base_url(self) -> str: ...
    @property
    def secrets(self) -> frozenset[str]: ...


@record
class OpenCircuit:
    """A provider that should not be called for now.

    Attributes:
        provider: Its name.
        until: When that ends, in seconds since 1970.
        kind: `quota` when a call cannot succeed: credit, rate or key; `failing` when it might.
        reason: What is the matter, in words that go on after "because".
    """

    provider: str
    until: float
    kind: CircuitKind
    reason: str


@record
class State:
    """What is known of a provider in trouble.

    Attributes:
        failures: How many there were in a row.
        openings: How often its circuit opened in a row.
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
        # None is open for longer than the longest: the clock was wrong when such a one was written.
        return now < self.until <= now + _LONGEST_OPEN + _HALF_OPEN_TIME

    def is_forgotten(self, now: float) -> bool:
        """Return whether that was too long ago to count."""
        return max(self.changed, self.until) < now - FORGOTTEN_AFTER


@record
class _Fault:
    kind: CircuitKind
    reason: str
    wait: float


Change: TypeAlias = Callable[["State | None"], "State | None"]


class States(Protocol):
    """What is known of the providers in trouble, over all processes that share it."""

    def read(self, key: str) -> State | None:
        """Return the state of a provider; None for one that is in no trouble.

        Raises:
            StoreError: The states cannot be read.
        """
        ...

    def change(self, key: str, change: Change) -> State | None:
        """Replace a state by what `change` makes of it, at one stroke; it may be called again.

        Returns:
            The new state.

        Raises:
            StoreError: The states cannot be written.
        """
        ...


class Health:
    """Remembers which providers are in trouble.

    Args:
        states: Where it is remembered.
        now: Gives the time in seconds since 1970.
    """

    def __init__(self, states: States, *, now: Callable[[], float] = time.time) -> None:
        self._stored = states
        self._now = now
        self._lock, self._pid = threading.Lock(), os.getpid()
        self._states: dict[str, State] = {}  # of providers in trouble
        self._unsaved: set[str] = set()  # whose state the store has not
        self._trials: dict[str, float] = {}  # the end of each trial that was given here
        self._sound: dict[str, float] = {}  # when the store was last seen to say nothing of one

    def open_circuit(self, account: _Account) -> OpenCircuit | None:
        """Return the open circuit of a provider; None lets one call through.

        When the circuit is half-open that call is the trial: its outcome must be told with
        `succeeded` or `failed`, and until then, or for a minute, it stays open for all others.
        """
        key, now = row_of(account), self._now()
        state = self._look_up(key)
        if state is not None and state.openings and not state.is_open(now):
            state = self._half_open(key, now)
        return _open_circuit(account, state, now)

    def is_sound(self, account: _Account) -> bool:
        """Return whether a provider was in no trouble a moment ago; looks only into memory."""
        key = row_of(account)
        return key not in self._states and self._now() - self._sound.get(key, 0.0) <= _MOMENT

    def known(self, account: _Account) -> OpenCircuit | None:
        """Return the open circuit of a provider, and change nothing: for who will not call it."""
        return _open_circuit(account, self._look_up(row_of(account)), self._now())

    def has_failures(self, account: _Account) -> bool:
        """Return whether a success would change anything; looks only into memory."""
        return bool(self._states) and row_of(account) in self._states

    def succeeded(self, account: _Account) -> None:
        """Note that a call was answered well; quick for a healthy provider."""
        if not self._states:  # the usual case
            return
        key = row_of(account)
        if key in self._states:
            trial, now = self._end_trial(key), self._now()
            self._change(key, lambda state: _recovered(state, now, trial))

    def failed(self, account: _Account, error: WebToolsError) -> None:
        """Note that a call failed; a request that was wrong in itself does not count."""
        key, now = row_of(account), self._now()
        fault = _fault(error)
        trial = self._end_trial(key)
        if fault is not None:
            self._change(key, lambda state: _worsened(state, fault, now, trial))
        elif trial is not None:
            self._change(key, lambda state: _given_back(state, now, trial))

    def forget(self) -> None:
        """Drop the copies in memory; the store is not changed."""
        with self._guard():
            self._states.clear()
            self._unsaved.clear()
            self._trials.clear()
            self._sound.clear()

    # --- trials --------------------------------------------------------------------------------

    def _half_open(self, key: str, now: float) -> State | None:
        """Take the trial and return None, or the state where another call has taken it."""
        until = now + _HALF_OPEN_TIME
        taken = False

        def take(state: State | None) -> State | None:
            nonlocal taken
            taken = state is not None and not state.is_open(now)
            return replace(state, until=until) if state and taken else state

        state = self._change(key, take)
        if not taken:
            return state
        with self._guard():
            self._trials[key] = until
        return None

    def _end_trial(self, key: str) -> float | None:
        with self._guard():
            return self._trials.pop(key, None)

    # --- where it is kept ----------------------------------------------------------------------

    def _look_up(self, key: str) -> State | None:
        """Return what the store says, and remember it; memory speaks for what it could not save."""
        if key not in self._unsaved:
            with suppress(StoreError):
                found = self._fresh(self._stored.read(key))
                self._remember(key, found)
                if found is None:
                    self._sound[key] = self._now()
        return self._states.get(key)

    def _change(self, key: str, change: Change) -> State | None:
        """Change a state at one stroke, over all processes where the store allows it."""
        try:
            state = self._stored.change(key, lambda stored: self._changed(key, stored, change))
        except StoreError:
            with self._guard():
                state = change(self._states.get(key))
                self._remember(key, state)
            if state is not None:
                self._unsaved.add(key)
        else:
            self._unsaved.discard(key)
            self._remember(key, state)
        return state

    def _changed(self, key: str, stored: State | None, change: Change) -> State | None:
        return change(self._states.get(key) if key in self._unsaved else self._fresh(stored))

    def _fresh(self, state: State | None) -> State | None:
        return None if state is None or state.is_forgotten(self._now()) else state

    def _remember(self, key: str, state: State | None) -> None:
        if state is not None:
            self._states[key] = state
        else:
            self._states.pop(key, None)
            self._unsaved.discard(key)

    def _guard(self) -> threading.Lock:
        if self._pid != os.getpid():  # a fork may have happened while another thread held the lock
            self._lock, self._pid = threading.Lock(), os.getpid()
            self._trials = {}  # the parent makes those calls
        return self._lock


def _open_circuit(account: _Account, state: State | None, now: float) -> OpenCircuit | None:
    if state is None or not state.is_open(now):
        return None
    kind: CircuitKind = "failing" if state.kind == "failing" else "quota"
    return OpenCircuit(account.name, state.until, kind, state.reason)


def row_of(account: _Account) -> str:
    """Name a provider's row; it changes with the key, so that a new one is tried at once."""
    return _row((account.name, account.type, account.base_url), account.secrets)


@lru_cache(maxsize=64)
def _row(place: tuple[str, ...], secrets: frozenset[str]) -> str:
    hashed = hashlib.sha256("\0".join([*place, *sorted(secrets)]).encode())
    return " ".join([*place, hashed.hexdigest()[:12]])


# --- how a state goes on -----------------------------------------------------------------------


def _fault(error: WebToolsError) -> _Fault | None:
    """Describe what an error says about the provider; None when it is about the request alone."""
    kind: CircuitKind = "quota" if isinstance(error, tuple(_AT_ONCE)) else "failing"
    reasons = _AT_ONCE if kind == "quota" else _IN_A_ROW
    reason = next((words for each, words in reasons.items() if isinstance(error, each)), None)
    if reason is None or _is_answer(error):
        return None
    if error.status is not None:
        reason = f"{reason} (HTTP {error.status})"
    return _Fault(kind, reason, error.retry_after or 0.0)


def _is_answer(error: WebToolsError) -> bool:
    """Return whether no provider is to blame: for our own budget, an answer that holds nothing."""
    if isinstance(error, QuotaError):
        return error.status is None
    answered = error.status is not None and error.status < _FIRST_FAILURE_STATUS
    return isinstance(error, UnavailableError) and answered


def _worsened(state: State | None, fault: _Fault, now: float, trial: float | None) -> State:
    old = state or State(0, 0, 0.0, fault.kind, fault.reason, now)
    told = replace(old, kind=fault.kind, reason=fault.reason, changed=now)
    if old.is_open(now) and old.until != trial:  # the call began before it opened
        until = now + min(fault.wait, _LONGEST_OPEN)
        return replace(told, until=until) if until > old.until else old
    failures = old.failures + 1
    if fault.kind == "failing" and not old.openings and failures < _FAILURES_IN_A_ROW:
        return replace(told, failures=failures)
    rung = _LADDER[min(old.openings, len(_LADDER) - 1)]
    until = now + min(max(rung, fault.wait), _LONGEST_OPEN)
    return replace(told, failures=failures, openings=old.openings + 1, until=until)


def _recovered(state: State | None, now: float, trial: float | None) -> State | None:
    """End the trouble, unless the call may have begun before the quota was used up."""
    if state is None or state.kind == "failing" or state.until == trial:
        return None
    return state if state.is_open(now) and now - state.changed < _LATE_ANSWERS else None


def _given_back(state: State | None, now: float, trial: float) -> State | None:
    """Leave the trial to the next call: this one could not tell."""
    return replace(state, until=now) if state is not None and state.until == trial else state
