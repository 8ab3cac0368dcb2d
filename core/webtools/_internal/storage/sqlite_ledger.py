"""The spend ledger in a table."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from datetime import UTC, datetime

from webtools._internal.storage.budget import Sum
from webtools._internal.storage.sqlite_store import SqliteStore

_PATIENCE = 2.0  # seconds: more than for the cache, since a call that cannot be counted is refused

# Not `OR IGNORE`: that would also hide columns of another version that require a value.
_ADD_DAY = """
    INSERT INTO spend (day, micro_usd, calls) VALUES (?, 0, 0) ON CONFLICT (day) DO NOTHING
"""
_RESERVE = """
    UPDATE spend SET micro_usd = micro_usd + :cost, calls = calls + 1
    WHERE day = :day AND micro_usd + :cost <= :max_usd AND calls + 1 <= :max_calls
"""
_ADJUST = "UPDATE spend SET micro_usd = max(0, micro_usd + ?) WHERE day = ?"
_SUM = "SELECT micro_usd, calls FROM spend WHERE day = ?"


class SqliteLedger:
    """See `Ledger`.

    Args:
        store: The file.
        now: Returns the time in seconds since 1970.
    """

    def __init__(self, store: SqliteStore, *, now: Callable[[], float] = time.time) -> None:
        self.store = store
        self._now = now

    def reserve(self, cost: int, limit: Sum) -> tuple[str, Sum | None]:
        day = self._today()
        facts = {"day": day, "cost": cost, "max_usd": limit.micro_usd, "max_calls": limit.calls}

        def reserve(db: sqlite3.Connection) -> Sum | None:
            db.execute(_ADD_DAY, (day,))
            return None if db.execute(_RESERVE, facts).rowcount else _sum(db, day)

        return day, self.store.write(reserve, patience=_PATIENCE)

    def adjust(self, day: str, change: int) -> None:
        day = day or self._today()

        def adjust(db: sqlite3.Connection) -> None:
            db.execute(_ADD_DAY, (day,))
            db.execute(_ADJUST, (change, day))

        self.store.write(adjust, patience=_PATIENCE)

    def today(self) -> Sum:
        day = self._today()
        return self.store.read(lambda db: _sum(db, day), patience=_PATIENCE)

    def _today(self) -> str:
        return datetime.fromtimestamp(self._now(), UTC).date().isoformat()


def _sum(db: sqlite3.Connection, day: str) -> Sum:
    row = db.execute(_SUM, (day,)).fetchone()
    return Sum(*row) if row else Sum(0, 0)
