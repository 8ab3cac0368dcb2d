"""Circuit breakers: providers that are out of quota or keep failing are not called for a while.

Faults of the account, such as a used-up quota, concern all its calls. Other failures concern one
capability: pages that cannot be fetched say nothing about searches.

A circuit stays open for longer each time in a row. Then it is half-open: one call of all processes
is let through as a trial. Its success closes the circuit, its failure opens it again. The states
are in the store, with a copy in memory that is used while the store cannot be.
"""

from __future__ import annotations

import hmac
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from typing import Annotated, Literal, NamedTuple, Protocol, TypeAlias

from pydantic import Field, FiniteFloat, TypeAdapter

from webtools._internal.storage.store_errors import StoreError
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
_MAX_OPEN_TIME = _OPEN_TIMES[-1]  # however long the provider asks to wait
_LATE_RESPONSES = 30.0  # seconds in which calls can end that began before the circuit opened
_FAILURES_IN_A_ROW = 3  # open the circuit of a provider that is failing
_FIRST_FAILURE_STATUS = 400
_SOUND_TIME = 1.0  # seconds for which a provider counts as sound without reading the store

# The reasons quote neither provider nor query: calls that did not fail themselves show them.
REJECTED_KEY = "it rejected the key"
_MEANINGS: dict[type[WebToolsError], tuple[CircuitKind, str]] = {
    QuotaError: ("quota", "its quota is used up"),
    RateLimitError: ("quota", "it received too many requests"),
    AuthenticationError: ("quota", REJECTED_KEY),
    UnavailableError: ("failing", "it is unavailable"),
    RequestTimeoutError: ("failing", "it did not respond in time"),
    RequestError: ("failing", "it did not respond"),
    ResponseFormatError: ("failing", "its responses could not be read"),
}


class State(NamedTuple):
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


_Count = Annotated[int, Field(ge=0, le=1_000_000)]
# The fields of a state, for stores: others can write to a server, and a file can be damaged.
STATE_FIELDS = TypeAdapter(tuple[_Count, _Count, FiniteFloat, str, str, FiniteFloat])

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


class _Account(Protocol):
    """What identifies a provider; with another key it is another one."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def base_url(self) -> str: ...
    @property
    def secrets(self) -> frozenset[str]: ...


class OpenCircuit(NamedTuple):
    """A provider that should not be called for now.

    Attributes:
        provider: Its name.
        until: When that ends, in seconds since 1970.
        kind: `quota` if calls cannot succeed: credit, rate or key; `failing` if they might.
        reason: What is wrong, in words that can follow "because".
    """

    provider: str
    until: float
    kind: CircuitKind
    reason: str


_lock = threading.RLock()  # held while a state in memory changes, and while the process forks
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )


class Health:
    """The circuit breakers of all providers.

    Args:
        states: Keeps their states.
    """

    def __init__(self, states: CircuitStates) -> None:
        self._store = states
        self.forget()

    def forget(self) -> None:
        """Drop what is in memory; the store is not changed."""
        self._states: dict[str, State] = {}  # copies in memory
        self._unsaved: set[str] = set()  # keys whose state is in memory alone
        # The end of each trial, by process: a forked one does not make the calls of its parent.
        self._trials: dict[tuple[int, str], float] = {}
        self._sound: dict[str, float] = {}  # when the store last had no state of a provider

    def open_circuit(self, account: _Account, capability: str) -> OpenCircuit | None:
        """Return the open circuit of a provider; None lets one call through.

        If the circuit is half-open, that call is the trial. Its outcome must be reported with
        `succeeded` or `failed`; until then, or for a minute, the circuit is open for other calls.
        """
        now = time.time()
        for key in _keys(account, capability):
            state = self._look_up(key)
            if state is not None and state.openings and not state.is_open(now):
                state = self._begin_trial(key, now)
            if (circuit := _open_circuit(account, state, now)) is not None:
                return circuit
        return None

    def known(self, account: _Account, capability: str) -> OpenCircuit | None:
        """Return the open circuit of a provider that will not be called; changes nothing."""
        states = map(self._look_up, _keys(account, capability))
        circuits = (_open_circuit(account, state, time.time()) for state in states)
        return next(filter(None, circuits), None)

    def is_sound(self, account: _Account, capability: str) -> bool:
        """Return whether a provider had no failures a moment ago; reads memory only."""
        oldest = time.time() - _SOUND_TIME
        return all(
            key not in self._states and self._sound.get(key, 0.0) >= oldest
            for key in _keys(account, capability)
        )

    def has_failures(self, account: _Account, capability: str) -> bool:
        """Return whether a success would change anything; reads memory only."""
        return any(key in self._states for key in _keys(account, capability))

    def succeeded(self, account: _Account, capability: str) -> None:
        """Note that a call succeeded."""
        for key in _keys(account, capability):
            if key in self._states:
                trial = self._end_trial(key)
                self._change(key, partial(_after_success, now=time.time(), trial=trial))

    def failed(self, account: _Account, capability: str, error: WebToolsError) -> None:
        """Note that a call failed; a fault of the request itself does not count."""
        failure = failure_of(error)
        if failure is not None:
            of_account, of_capability = _keys(account, capability)
            key = of_account if failure.kind == "quota" else of_capability
            trial = self._end_trial(key)
            change = partial(after_failure, failure=failure, now=time.time(), trial=trial)
            self._change(key, change)
        self.release_trial(account, capability)

    def release_trial(self, account: _Account, capability: str) -> None:
        """Let the next call be the trial, because one that may have been it has no outcome."""
        for key in _keys(account, capability):
            if (trial := self._end_trial(key)) is not None:
                self._change(key, partial(_after_unclear_trial, now=time.time(), trial=trial))

    def _begin_trial(self, key: str, now: float) -> State | None:
        """Take the trial and return None, or return the state if another call took it."""
        until = now + HALF_OPEN_TIME
        before: State | None = None

        def take(state: State | None) -> State | None:
            nonlocal before
            before = state
            is_free = state is not None and not state.is_open(now)
            return state._replace(until=until) if state and is_free else state

        state = self._change(key, take)
        if state is None or state == before:
            return state
        self._trials[os.getpid(), key] = until
        return None

    def _end_trial(self, key: str) -> float | None:
        return self._trials.pop((os.getpid(), key), None)

    # --- store and memory ----------------------------------------------------------------------

    def _look_up(self, key: str) -> State | None:
        """Return the state in the store, or the one in memory if that was not saved."""
        if key not in self._unsaved:
            with suppress(StoreError):
                state = _without_forgotten(self._store.read(key))
                self._remember(key, state)
                if state is None:
                    self._sound[key] = time.time()
        return self._states.get(key)

    def _change(self, key: str, change: Change) -> State | None:
        """Change a state in one step, in memory alone if the store cannot be used."""

        def change_stored(stored: State | None) -> State | None:
            is_unsaved = key in self._unsaved
            return change(self._states.get(key) if is_unsaved else _without_forgotten(stored))

        try:
            state = self._store.change(key, change_stored)
        except StoreError:
            with _lock:
                state = change(self._states.get(key))
                self._remember(key, state)
            if state is not None:
                self._unsaved.add(key)
        else:
            self._unsaved.discard(key)
            self._remember(key, state)
        return state

    def _remember(self, key: str, state: State | None) -> None:
        if state is not None:
            self._states[key] = state
        else:
            self._states.pop(key, None)
            self._unsaved.discard(key)


def _without_forgotten(state: State | None) -> State | None:
    return None if state is None or state.is_forgotten(time.time()) else state


def _open_circuit(account: _Account, state: State | None, now: float) -> OpenCircuit | None:
    if state is None or not state.is_open(now):
        return None
    kind: CircuitKind = "failing" if state.kind == "failing" else "quota"
    return OpenCircuit(account.name, state.until, kind, state.reason)


def row_of(account: _Account) -> str:
    """Identify a provider in a store; with another API key it is another one.

    The keys are hashed as the key of an HMAC, so that a guess cannot be looked up in a table.
    """
    return _row(f"{account.name} {account.type} {account.base_url}", account.secrets)


@lru_cache(maxsize=256)
def _row(place: str, secrets: frozenset[str]) -> str:
    secret = "\0".join(sorted(secrets)).encode("utf-8", "replace")
    digest = hmac.new(secret, place.encode("utf-8", "replace"), "sha256").hexdigest()
    return f"{place} {digest[:16]}"


def _keys(account: _Account, capability: str) -> tuple[str, str]:
    """Return the keys of the states of a provider's account and of one of its capabilities."""
    row = row_of(account)
    return row, f"{row} {capability}"


# --- how a call changes a state ------------------------------------------------------------------


class Failure(NamedTuple):
    """What an error says about the provider, and the seconds that it asks to wait."""

    kind: CircuitKind
    reason: str
    wait: float


def failure_of(error: WebToolsError) -> Failure | None:
    """Return what an error says about the provider; None if it is about the request alone."""
    meanings = (meaning for type_, meaning in _MEANINGS.items() if isinstance(error, type_))
    kind, reason = next(meanings, (None, ""))
    is_of_our_budget = isinstance(error, QuotaError) and error.status is None
    has_no_content = (
        isinstance(error, UnavailableError)
        and error.status is not None
        and error.status < _FIRST_FAILURE_STATUS
    )
    if kind is None or is_of_our_budget or has_no_content:
        return None
    if error.status is not None:
        reason = f"{reason} (HTTP {error.status})"
    return Failure(kind, reason, error.retry_after or 0.0)


def after_failure(
    state: State | None, *, failure: Failure, now: float, trial: float | None
) -> State:
    """Return the state after a failed call, which was a trial if `trial` is its end."""
    old = state or State(0, 0, 0.0, failure.kind, failure.reason, now)
    new = old._replace(kind=failure.kind, reason=failure.reason, changed=now)
    if old.is_open(now) and old.until != trial:  # the call began before it opened
        until = now + min(failure.wait, _MAX_OPEN_TIME)
        return new._replace(until=until) if until > old.until else old
    failures = old.failures + 1
    if failure.kind == "failing" and not old.openings and failures < _FAILURES_IN_A_ROW:
        return new._replace(failures=failures)
    seconds = _OPEN_TIMES[min(old.openings, len(_OPEN_TIMES) - 1)]
    until = now + min(max(seconds, failure.wait), _MAX_OPEN_TIME)
    return new._replace(failures=failures, openings=old.openings + 1, until=until)


def _after_success(state: State | None, *, now: float, trial: float | None) -> State | None:
    """Return the state after a success: none, unless the call may have begun before the opening."""
    if state is None or state.kind == "failing" or state.until == trial:
        return None
    return state if state.is_open(now) and now - state.changed < _LATE_RESPONSES else None


def _after_unclear_trial(state: State | None, *, now: float, trial: float) -> State | None:
    """Return the state after a trial that says nothing: the next call is the trial."""
    return state._replace(until=now) if state is not None and state.until == trial else state
