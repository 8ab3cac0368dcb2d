"""The spend ledger in a table."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from webtools._internal.storage.budget import Sum
from webtools._internal.storage.sqlite_file import refuse_foreign
from webtools._internal.storage.sqlite_store import SqliteStore
from webtools._internal.storage.store_errors import StoreError

_PATIENCE = 2.0  # seconds: more than for the cache, since a call that cannot be counted is refused
_WRITE = """
    INSERT INTO spend (day, micro_usd, calls) VALUES (?, ?, ?)
    ON CONFLICT (day) DO UPDATE SET micro_usd = excluded.micro_usd, calls = excluded.calls
"""
_SUM = "SELECT micro_usd, calls FROM spend WHERE day = ?"
_ADD = "INSERT INTO spend (day, micro_usd, calls) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_NO_DAY = "secret"  # the row of the secret, which has two random numbers
_FORGET = "DELETE FROM spend WHERE day LIKE ? AND day < ?"
_KEPT_DAYS = 2  # of a user, since a call can end after midnight
_MAX = 2**62  # SQLite holds 63 bits


class SqliteLedger:
    """See `Ledger`.

    Args:
        store: The file.
        older: The file in which version 0.4 counts. What it has spent today is added to a new day.
        user: Hash of the user whose days are counted; empty for the days of all.
        now: Returns the time in seconds since 1970.
    """

    def __init__(
        self,
        store: SqliteStore,
        *,
        older: Path | None = None,
        user: str = "",
        now: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self._older = older
        self._user = user
        self._now = now

    def of_user(self, user: str) -> SqliteLedger:
        return SqliteLedger(self.store, user=user, now=self._now)

    def forget(self) -> None:
        self.store.write(lambda db: db.execute(_FORGET, (f"% {self._user}", "~")))

    def secret(self) -> bytes:
        row = self.store.read(lambda db: db.execute(_SUM, (_NO_DAY,)).fetchone())
        if row is None:
            numbers = secrets.randbelow(_MAX), secrets.randbelow(_MAX)
            self.store.write(lambda db: db.execute(_ADD, (_NO_DAY, *numbers)))
            row = self.store.read(lambda db: db.execute(_SUM, (_NO_DAY,)).fetchone())
        return repr(row).encode()

    def reserve(self, cost: int, limit: Sum) -> tuple[str, Sum | None]:
        day = self._today()
        return day, self.store.write(
            lambda db: self._add_call(db, day, cost, limit), patience=_PATIENCE
        )

    def _add_call(self, db: sqlite3.Connection, day: str, cost: int, limit: Sum) -> Sum | None:
        """Add a call if it fits, else return the sum so far."""
        spent = self._sum(db, day)
        micro_usd, calls = spent.micro_usd + cost, spent.calls + 1
        if micro_usd > limit.micro_usd or calls > limit.calls:
            return spent
        if self._user and not spent.calls:  # the first one of the day
            db.execute(_FORGET, (f"% {self._user}", self._date(-_KEPT_DAYS)))
        db.execute(_WRITE, (day, micro_usd, calls))
        return None

    def adjust(self, day: str, change: int, calls: int = 0) -> None:
        day = day or self._today()
        self.store.write(lambda db: self._change_sum(db, day, change, calls), patience=_PATIENCE)

    def _change_sum(self, db: sqlite3.Connection, day: str, change: int, calls: int) -> None:
        spent = self._sum(db, day)
        micro_usd, calls_left = max(0, spent.micro_usd + change), max(0, spent.calls - calls)
        db.execute(_WRITE, (day, micro_usd, calls_left))

    def today(self) -> Sum:
        day = self._today()
        return self.store.read(lambda db: self._sum(db, day), patience=_PATIENCE)

    def _today(self) -> str:
        return f"{self._date()} {self._user}".rstrip()

    def _date(self, days: int = 0) -> str:
        return datetime.fromtimestamp(self._now() + days * 86_400, UTC).date().isoformat()

    def _sum(self, db: sqlite3.Connection, day: str) -> Sum:
        row = db.execute(_SUM, (day,)).fetchone()
        if row is None:
            return _spent_by_older(self._older, day)
        if all(isinstance(number, int) and 0 <= number <= _MAX for number in row):
            return Sum(*row)
        raise StoreError(f"{self.store.path} cannot be used: its budget count is damaged")


def _spent_by_older(file: Path | None, day: str) -> Sum:
    """Return what an older version has spent in a day; nothing if its file cannot be read."""
    if file is not None and file.exists():
        with suppress(sqlite3.Error, TypeError, ValueError):
            refuse_foreign(file)
            address = f"{file.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(address, 0.5, uri=True)) as older:
                micro_usd, calls = older.execute(_SUM, (day,)).fetchone()
                return Sum(max(0, int(micro_usd)), max(0, int(calls)))
    return Sum(0, 0)
