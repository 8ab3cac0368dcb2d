"""Circuit breakers: providers that are out of quota or keep failing are not called for a while.

A circuit stays open for longer each time in a row. Then it is half-open: one call of all processes
is let through as a trial. Its success closes the circuit, its failure opens it again. The states
are in the store, with a copy in memory that is used while the store cannot be.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

from webtools._internal.storage.circuit_states import (
    HALF_OPEN_TIME,
    Change,
    CircuitKind,
    CircuitStates,
    State,
    after_failure,
    after_success,
    after_unclear_trial,
    fault_of,
)
from webtools._internal.storage.store_errors import StoreError
from webtools.errors import WebToolsError

_SOUND_TIME = 1.0  # seconds for which a provider counts as sound without reading the store


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


@dataclass(frozen=True, slots=True)
class OpenCircuit:
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


class Health:
    """The circuit breakers of all providers.

    Args:
        states: Keeps their states.
        now: Returns the time in seconds since 1970.
    """

    def __init__(self, states: CircuitStates, *, now: Callable[[], float] = time.time) -> None:
        self._store = states
        self._now = now
        self._lock, self._pid = threading.Lock(), os.getpid()
        self._states: dict[str, State] = {}  # copies in memory
        self._unsaved: set[str] = set()  # keys whose state is in memory alone
        self._trials: dict[str, float] = {}  # the end of each trial of this process
        self._sound: dict[str, float] = {}  # when the store last had no state of a provider

    def open_circuit(self, account: _Account) -> OpenCircuit | None:
        """Return the open circuit of a provider; None lets one call through.

        If the circuit is half-open, that call is the trial. Its outcome must be reported with
        `succeeded` or `failed`; until then, or for a minute, the circuit is open for other calls.
        """
        key, now = row_of(account), self._now()
        state = self._look_up(key)
        if state is not None and state.openings and not state.is_open(now):
            state = self._half_open(key, now)
        return _open_circuit(account, state, now)

    def is_sound(self, account: _Account) -> bool:
        """Return whether a provider had no failures a moment ago; reads memory only."""
        key = row_of(account)
        return key not in self._states and self._now() - self._sound.get(key, 0.0) <= _SOUND_TIME

    def known(self, account: _Account) -> OpenCircuit | None:
        """Return the open circuit of a provider that will not be called; changes nothing."""
        return _open_circuit(account, self._look_up(row_of(account)), self._now())

    def has_failures(self, account: _Account) -> bool:
        """Return whether a success would change anything; reads memory only."""
        return row_of(account) in self._states

    def succeeded(self, account: _Account) -> None:
        """Note that a call succeeded."""
        key = row_of(account)
        if key in self._states:
            trial, now = self._end_trial(key), self._now()
            self._change(key, lambda state: after_success(state, now, trial))

    def failed(self, account: _Account, error: WebToolsError) -> None:
        """Note that a call failed; a fault of the request itself does not count."""
        key, now = row_of(account), self._now()
        fault = fault_of(error)
        trial = self._end_trial(key)
        if fault is not None:
            self._change(key, lambda state: after_failure(state, fault, now, trial))
        elif trial is not None:
            self._change(key, lambda state: after_unclear_trial(state, now, trial))

    def forget(self) -> None:
        """Drop what is in memory; the store is not changed."""
        with self._guard():
            self._states.clear()
            self._unsaved.clear()
            self._trials.clear()
            self._sound.clear()

    # --- trials --------------------------------------------------------------------------------

    def _half_open(self, key: str, now: float) -> State | None:
        """Take the trial and return None, or return the state if another call took it."""
        until = now + HALF_OPEN_TIME
        is_taken = False

        def take(state: State | None) -> State | None:
            nonlocal is_taken
            is_taken = state is not None and not state.is_open(now)
            return replace(state, until=until) if state and is_taken else state

        state = self._change(key, take)
        if not is_taken:
            return state
        with self._guard():
            self._trials[key] = until
        return None

    def _end_trial(self, key: str) -> float | None:
        with self._guard():
            return self._trials.pop(key, None)

    # --- store and memory ----------------------------------------------------------------------

    def _look_up(self, key: str) -> State | None:
        """Return the state in the store, or the one in memory if that was not saved."""
        if key not in self._unsaved:
            with suppress(StoreError):
                state = self._fresh(self._store.read(key))
                self._remember(key, state)
                if state is None:
                    self._sound[key] = self._now()
        return self._states.get(key)

    def _change(self, key: str, change: Change) -> State | None:
        """Change a state in one step, in memory alone if the store cannot be used."""
        try:
            state = self._store.change(key, lambda stored: self._changed(key, stored, change))
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
        if self._pid != os.getpid():  # another thread may have held the lock during the fork
            self._lock, self._pid = threading.Lock(), os.getpid()
            self._trials = {}  # the parent makes those calls
        return self._lock


def _open_circuit(account: _Account, state: State | None, now: float) -> OpenCircuit | None:
    if state is None or not state.is_open(now):
        return None
    kind: CircuitKind = "failing" if state.kind == "failing" else "quota"
    return OpenCircuit(account.name, state.until, kind, state.reason)


def row_of(account: _Account) -> str:
    """Return the key of a provider's state; another API key has another state."""
    return _row((account.name, account.type, account.base_url), account.secrets)


@lru_cache(maxsize=64)
def _row(place: tuple[str, ...], secrets: frozenset[str]) -> str:
    hashed = hashlib.sha256("\0".join([*place, *sorted(secrets)]).encode())
    return " ".join([*place, hashed.hexdigest()[:12]])
