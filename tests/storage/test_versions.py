"""Versions side by side: each has its own cache, and all have one spend ledger."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from webtools import WebTools
from webtools._internal.pipeline import tool_call
from webtools._internal.pipeline.tool_call import forget_calls
from webtools._internal.storage import sqlite_file
from webtools._internal.storage.sqlite_file import cache_file, ledger_file
from webtools.errors import ConfigError, QuotaError

PAGE = "https://page.example/"
ANSWER = {"results": [{"id": PAGE, "url": PAGE, "title": "A page", "text": "words"}]}
OLD_TABLES = """
    CREATE TABLE cache (key TEXT PRIMARY KEY, value BLOB);
    CREATE TABLE spend (day TEXT PRIMARY KEY, micro_usd INTEGER NOT NULL, calls INTEGER NOT NULL);
    PRAGMA user_version = 2;
"""


class Machine:
    """A machine on which several versions of webtools run in turn."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.requests = 0
        self._monkeypatch = monkeypatch

    def search(self, query: str, *, version: int = 3, **budget: float) -> bool:
        """Search with a version in a process of its own, and return whether it was a cache hit."""
        forget_calls()
        self._monkeypatch.setattr(tool_call, "_services", {})
        schema = sqlite_file.CACHE._replace(version=version)
        self._monkeypatch.setattr(sqlite_file, "CACHE", schema)
        provider = {"name": "exa", "type": "exa", "apiKey": "test-key-of-exa"}
        cache = {"enabled": True, "path": str(self.path)}
        config: dict[str, Any] = {"providers": [provider], "cache": cache, "budget": budget}
        with WebTools(config, transport=httpx.MockTransport(self._respond)) as web:
            return web.search(query).cache_hit

    def _respond(self, _: httpx.Request) -> httpx.Response:
        self.requests += 1
        return httpx.Response(200, json=ANSWER)

    def run_older(self, usd: float, calls: int) -> None:
        """Let an older version, which uses the path itself, spend something today."""
        with closing(sqlite3.connect(self.path)) as db, db:
            db.execute(f"PRAGMA application_id = {int.from_bytes(b'webt')}")
            with suppress(sqlite3.OperationalError):
                db.executescript(OLD_TABLES)
            today = datetime.now(UTC).date().isoformat()
            db.execute("REPLACE INTO spend VALUES (?, ?, ?)", (today, round(usd * 1e6), calls))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path / "webtools.sqlite3", monkeypatch)


def test_no_version_empties_the_cache_of_another(machine: Machine) -> None:
    hits = [machine.search("apples", version=version) for version in (3, 4, 3, 4, 3, 4)]
    assert hits == [False, False, True, True, True, True]
    assert machine.requests == 2


@pytest.mark.parametrize("budget", [{"calls_per_day": 2}, {"usd_per_day": 0.015}])
def test_all_versions_spend_one_budget(machine: Machine, budget: dict[str, float]) -> None:
    for number in range(6):
        with suppress(QuotaError):
            machine.search(f"apples {number}", version=3 + number % 2, **budget)
    assert machine.requests == 2


@pytest.mark.parametrize(
    "change",
    [
        "PRAGMA user_version = 99",
        "ALTER TABLE spend ADD COLUMN note TEXT",
        "CREATE TABLE sessions (id)",
    ],
)
def test_a_later_version_may_add_to_the_ledger(machine: Machine, change: str) -> None:
    machine.search("apples", calls_per_day=1)
    forget_calls()
    with closing(sqlite3.connect(ledger_file(machine.path))) as db:
        db.execute(change)
    with pytest.raises(QuotaError):
        machine.search("pears", calls_per_day=1)
    assert machine.requests == 1


def test_nothing_is_spent_if_the_ledger_counts_in_another_way(machine: Machine) -> None:
    with closing(sqlite3.connect(ledger_file(machine.path))) as db:
        db.execute(f"PRAGMA application_id = {int.from_bytes(b'webt')}")
        db.execute("CREATE TABLE spend (day TEXT PRIMARY KEY, nano_usd INTEGER)")
    with pytest.raises(ConfigError):
        machine.search("apples", calls_per_day=1)
    assert machine.requests == 0


@pytest.mark.parametrize("value", ["'many'", "x'00'", "-5", "1.5", "9223372036854775807"])
def test_nothing_is_spent_if_the_ledger_is_damaged(machine: Machine, value: str) -> None:
    machine.search("apples", calls_per_day=100)
    forget_calls()
    with closing(sqlite3.connect(ledger_file(machine.path))) as db, db:
        db.execute(f"UPDATE spend SET micro_usd = {value}")
    with pytest.raises(ConfigError):
        machine.search("pears", calls_per_day=100)
    assert machine.requests == 1


def drop_table(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("DROP TABLE spend")


def overwrite(start: int) -> Callable[[Path], None]:
    return lambda path: (
        path.write_bytes(path.read_bytes()[:start] + b"\xff" * (path.stat().st_size - start))
        and None
    )


@pytest.mark.parametrize(
    "damage",
    [drop_table, overwrite(18), overwrite(100), overwrite(4096), lambda p: os.truncate(p, 5000)],
    ids=["no table", "header", "tables", "sums", "cut"],
)
def test_a_damaged_ledger_refuses_calls_and_is_kept_until_the_user_moves_it(
    machine: Machine, damage: Callable[[Path], None]
) -> None:
    machine.search("apples", calls_per_day=100)
    forget_calls()
    ledger = ledger_file(machine.path)
    damage(ledger)
    before = ledger.read_bytes()
    for query in ("pears", "plums"):
        with pytest.raises(ConfigError, match=re.escape(str(ledger))):
            machine.search(query, calls_per_day=100)
    assert (machine.requests, ledger.read_bytes()) == (1, before)
    ledger.rename(ledger.with_suffix(".old"))
    machine.search("pears", calls_per_day=100)
    assert machine.requests == 2


def test_what_an_older_version_spent_today_counts_and_its_file_stays(machine: Machine) -> None:
    machine.run_older(0.1, 3)
    before = machine.path.read_bytes()
    machine.search("apples", calls_per_day=4)
    with pytest.raises(QuotaError):
        machine.search("pears", calls_per_day=4)
    assert machine.requests == 1
    assert machine.path.read_bytes() == before


def write_text(path: Path) -> None:
    path.write_text("notes of a user\n" * 100)


def write_other_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE spend (day TEXT PRIMARY KEY, micro_usd INTEGER, calls INTEGER)")


@pytest.mark.parametrize("write", [write_text, write_other_database, Path.mkdir])
def test_whatever_is_at_the_path_itself_is_left_alone(
    machine: Machine, write: Callable[[Path], None]
) -> None:
    write(machine.path)
    before = b"" if machine.path.is_dir() else machine.path.read_bytes()
    machine.search("apples", calls_per_day=1)
    assert machine.requests == 1
    assert before == (b"" if machine.path.is_dir() else machine.path.read_bytes())
    assert cache_file(machine.path).exists()
