"""Use a store while interrupts arrive at any moment, in a separate process.

Whatever else looks into this process, such as a measurer of coverage, is interrupted as well.
"""

from __future__ import annotations

import random
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from sqlite3 import Connection

from webtools._internal.storage.sqlite_file import LEDGER
from webtools._internal.storage.sqlite_store import SqliteStore

ROUNDS = 500
PATIENCE = 10.0  # seconds for a call after an interrupt


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _count(db: Connection) -> int:
    return int(db.execute("SELECT coalesce(sum(calls), 0) FROM spend").fetchone()[0])


def _add(db: Connection) -> None:
    db.execute("INSERT OR IGNORE INTO spend VALUES ('2026-11-21', 0, 0)")
    db.execute("UPDATE spend SET calls = calls + 1")


def _use(store: SqliteStore) -> None:
    while True:
        store.read(_count)


def main(path: Path) -> int:
    """Interrupt the use of a store, and tell how many others could use it after that."""
    store = SqliteStore(path, LEDGER)
    signal.signal(signal.SIGALRM, _interrupt)
    for _ in range(ROUNDS):
        with suppress(KeyboardInterrupt):
            # Python drops an interrupt within a finalizer: then the next one, in a second.
            signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0001, 0.001), 1.0)
            _use(store)
        signal.setitimer(signal.ITIMER_REAL, 0)
        other = threading.Thread(target=store.write, args=(_add,), daemon=True)
        other.start()
        other.join(PATIENCE)
        if other.is_alive():
            break
    return store.read(_count) if not other.is_alive() else -1


if __name__ == "__main__":
    sys.stdout.write(f"{main(Path(sys.argv[1]))}\n")
