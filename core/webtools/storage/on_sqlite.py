"""Ledger and states in the file of a SQLite store."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from dataclasses import astuple
from datetime import UTC, datetime

from webtools.storage.budget import Sum
from webtools.storage.circuit_breaker import FORGOTTEN_AFTER, Change, State
from webtools.storage.sqlite import Store

_LEDGER_PATIENCE = 2.0  # seconds: longer than others count, and short enough for a call to wait
_STATES_PATIENCE = 0.5  # seconds: a call is not to wait longer for the file than that

# Not `OR IGNORE`: that would also hide columns of another version that take a value.
_ADD_DAY = """
    INSERT INTO spend (day, micro_usd, calls) VALUES (?, 0, 0) ON CONFLICT (day) DO NOTHING
"""
_RESERVE = """
    UPDATE spend SET micro_usd = micro_usd + :cost, calls = calls + 1
    WHERE day = :day AND micro_usd + :cost <= :most_usd AND calls + 1 <= :most_calls
"""
_SETTLE = "UPDATE spend SET micro_usd = max(0, micro_usd + ?) WHERE day = ?"
_SUM = "SELECT micro_usd, calls FROM spend WHERE day = ?"

_READ = """
    SELECT failures, parks, parked_until, kind, reason, changed FROM health WHERE provider = ?
"""
_WRITE = """
    REPLACE INTO health (failures, parks, parked_until, kind, reason, changed, provider)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_DELETE = "DELETE FROM health WHERE provider = ?"
_TIDY = "DELETE FROM health WHERE max(changed, parked_until) < ?"


class SqliteLedger:
    """The sums of each day in a table; see `Ledger`.

    Args:
        store: The file.
        now: Gives the time in seconds since 1970.
    """

    def __init__(self, store: Store, *, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._now = now

    @property
    def place(self) -> object:
        """The file."""
        return self._store

    def take(self, cost: int, most: Sum) -> tuple[str, Sum | None]:
        """Add a call to today's sums, as `Ledger` says."""
        day = self._day()
        limits = {"most_usd": most.micro_usd, "most_calls": most.calls}

        def taken(db: sqlite3.Connection) -> Sum | None:
            db.execute(_ADD_DAY, (day,))
            count = db.execute(_RESERVE, {"day": day, "cost": cost, **limits}).rowcount
            return None if count else _sum(db, day)

        return day, self._store.write(taken, patience=_LEDGER_PATIENCE)

    def change(self, day: str, change: int) -> None:
        """Add to the sum of a day, as `Ledger` says."""
        counted = day or self._day()

        def changed(db: sqlite3.Connection) -> None:
            db.execute(_ADD_DAY, (counted,))
            db.execute(_SETTLE, (change, counted))

        self._store.write(changed, patience=_LEDGER_PATIENCE)

    def today(self) -> Sum:
        """Return what is spent today, as `Ledger` says."""
        day = self._day()
        return self._store.read(lambda db: _sum(db, day), patience=_LEDGER_PATIENCE)

    def _day(self) -> str:
        return datetime.fromtimestamp(self._now(), UTC).date().isoformat()


def _sum(db: sqlite3.Connection, day: str) -> Sum:
    rows = db.execute(_SUM, (day,)).fetchall()
    return Sum(*rows[0]) if rows else Sum(0, 0)


class SqliteStates:
    """What is known of the providers in trouble, in a table; see `States`.

    Args:
        store: The file.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, key: str) -> State | None:
        """Return the state of a provider, as `States` says."""
        return self._store.read(lambda db: _read(db, key), patience=_STATES_PATIENCE)

    def change(self, key: str, change: Change) -> State | None:
        """Replace a state, as `States` says."""

        def changed(db: sqlite3.Connection) -> State | None:
            stored = _read(db, key)
            after = change(stored)
            if after != stored:
                _write(db, key, after)
            return after

        return self._store.write(changed, patience=_STATES_PATIENCE)


def _read(db: sqlite3.Connection, key: str) -> State | None:
    rows = db.execute(_READ, (key,)).fetchall()
    return State(*rows[0]) if rows else None


def _write(db: sqlite3.Connection, key: str, state: State | None) -> None:
    if state is None:
        db.execute(_DELETE, (key,))
    else:
        db.execute(_TIDY, (state.changed - FORGOTTEN_AFTER,))
        db.execute(_WRITE, (*astuple(state), key))
