"""States of circuit breakers in a table."""

from __future__ import annotations

import sqlite3
from contextlib import suppress

from pydantic import ValidationError

from webtools._internal.storage.circuit_breaker import (
    FORGOTTEN_AFTER,
    STATE_FIELDS,
    Change,
    State,
)
from webtools._internal.storage.sqlite_store import SqliteStore

_PATIENCE = 0.5  # seconds that a call waits for the states

_READ = """
    SELECT failures, parks, parked_until, kind, reason, changed FROM health WHERE provider = ?
"""
_WRITE = """
    REPLACE INTO health (failures, parks, parked_until, kind, reason, changed, provider)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_DELETE = "DELETE FROM health WHERE provider = ?"
_DELETE_OLD = "DELETE FROM health WHERE max(changed, parked_until) < ?"


class SqliteCircuits:
    """See `CircuitStates`.

    Args:
        store: The file.
    """

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def read(self, key: str) -> State | None:
        return self._store.read(lambda db: _read(db, key), patience=_PATIENCE)

    def change(self, key: str, change: Change) -> State | None:
        return self._store.write(lambda db: _replace_state(db, key, change), patience=_PATIENCE)


def _replace_state(db: sqlite3.Connection, key: str, change: Change) -> State | None:
    before = _read(db, key)
    after = change(before)
    if after is None:
        db.execute(_DELETE, (key,))
    elif after != before:
        db.execute(_DELETE_OLD, (after.changed - FORGOTTEN_AFTER,))
        db.execute(_WRITE, (*after, key))
    return after


def _read(db: sqlite3.Connection, key: str) -> State | None:
    row = db.execute(_READ, (key,)).fetchone()
    with suppress(ValidationError):  # the file is damaged
        return State(*STATE_FIELDS.validate_python(row)) if row else None
    return None
