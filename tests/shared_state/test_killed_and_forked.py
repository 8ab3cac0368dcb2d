"""Processes that are killed or forked while they use the shared SQLite file."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from forking import in_child, needs_fork

from webtools import QuotaError, WebTools
from webtools._internal.storage.sqlite_file import ledger_file
from webtools.providers import PROVIDERS

pytestmark = needs_fork

USD_PER_SEARCH = PROVIDERS["exa"].about.prices["auto"]
# No process reaches this budget, however fast it is.
USD_PER_DAY = 1_000_000.0
SPEND = """
import itertools, os, sys
sys.path.insert(0, "tests")
from tests.shared_state.test_killed_and_forked import client
web = client(sys.argv[1])
for number in itertools.count():
    web.search(f"{sys.argv[2]} {number}")
    os.write(1, b".")
"""


def respond(request: httpx.Request) -> httpx.Response:
    """Return the response of Exa to a search, without a price."""
    return httpx.Response(200, json={"results": [{"title": "T", "url": "https://a.example/"}]})


def client(path: str | Path, usd_per_day: float = USD_PER_DAY, url: str | None = None) -> WebTools:
    """Return a client whose cache and budget are in a file, or on a Redis server."""
    settings = {
        "providers": [{"name": "exa", "type": "exa", "apiKey": "test-key-0123456789"}],
        "cache": {"path": str(path)},
        "budget": {"usdPerDay": usd_per_day},
        "log": {"enabled": False},
        **({"storage": {"url": url}} if url else {}),
    }
    return WebTools(settings, transport=httpx.MockTransport(respond))


def assert_sound(path: Path) -> None:
    """Assert that the file is a complete database."""
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_killed_processes_leave_a_sound_file_and_no_unpaid_search(tmp_path: Path) -> None:
    path = tmp_path / "webtools.sqlite3"
    command = [sys.executable, "-c", SPEND, str(path)]
    searches = 0
    for turn in range(4):
        processes = [
            subprocess.Popen(
                [*command, f"{turn}-{number}"],
                bufsize=0,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for number in range(2)
        ]
        try:
            for process in processes:
                assert process.stdout is not None
                searches += len(process.stdout.read(1))
            time.sleep(0.1 * turn)
        finally:
            for process in processes:
                process.send_signal(signal.SIGKILL)
            outputs = [process.communicate() for process in processes]
        assert [errors for _, errors in outputs] == [b"", b""]
        searches += sum(len(dots) for dots, _ in outputs)
        assert_sound(ledger_file(path))
    with client(path) as web:
        spent = web.plan("anything").budget
        assert spent is not None
        assert spent.usd_today is not None
        assert searches
        assert spent.usd_today >= searches * USD_PER_SEARCH - 1e-6
        web.search("another")
        after = web.plan("anything").budget
        assert after is not None
        assert after.usd_today is not None
        assert after.usd_today > spent.usd_today


@pytest.mark.parametrize("store", ["sqlite", "redis"])
def test_children_forked_while_threads_search_can_search_too(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "webtools.sqlite3"
    url = request.getfixturevalue("own_redis").url if store == "redis" else None
    is_over = threading.Event()
    faults: list[BaseException] = []
    web = client(path, url=url)
    web.search("warm")  # a child cannot import what a thread was importing at the fork

    def search_on() -> None:
        number = 0
        try:
            while not is_over.is_set():
                web.search(f"{threading.get_ident()} {number}")
                number += 1
        except BaseException as error:  # noqa: BLE001
            faults.append(error)

    threads = [threading.Thread(target=search_on) for _ in range(3)]
    trace = threading.gettrace()
    threading.settrace(None)  # else a thread can hold a lock of coverage when a child begins
    for thread in threads:
        thread.start()
    threading.settrace(trace)
    try:
        codes = [in_child(lambda n=n: web.search(f"child {n}").results) for n in range(6)]
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert codes == [0] * 6
    assert faults == []
    web.close()
    if store == "sqlite":
        assert_sound(ledger_file(path))


def test_a_budget_that_is_used_up_stays_so_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "webtools.sqlite3"
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            SPEND.replace("client(sys.argv[1])", "client(sys.argv[1], 0.05)"),
            str(path),
            "q",
        ],
        stderr=subprocess.PIPE,
    )
    assert b"QuotaError" in process.communicate(timeout=120)[1]
    with client(path, 0.05) as web, pytest.raises(QuotaError):
        web.search("one more")
