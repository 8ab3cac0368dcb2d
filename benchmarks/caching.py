"""The cache beside the least that SQLite can do: one table, one connection, nothing checked."""

import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.report import QUICK, Row, paired, ratio
from webtools._internal.storage import sqlite_cache
from webtools._internal.storage.cache_entries import cache_key, checksum_of
from webtools._internal.storage.sqlite_cache import SqliteCache
from webtools._internal.storage.sqlite_store import SqliteStore

SIZES = (100, 10_000) if QUICK else (100, 10_000, 1_000_000)
SMALL = '{"results": ["' + "x" * 80 + '"]}'
PAGE = '{"results": ["' + "x" * 10_000 + '"]}'
BOUND = 2**40  # nothing is evicted, unless that is what is measured
CALLS = 200


class Raw:
    """What a kept connection does with two statements."""

    def __init__(self, path: Path) -> None:
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = NORMAL")
        self.db.execute("CREATE TABLE cache (key TEXT PRIMARY KEY, value BLOB, expires REAL)")

    def get(self, key: str) -> object:
        return self.db.execute("SELECT value, expires FROM cache WHERE key = ?", (key,)).fetchone()

    def set(self, key: str, value: str) -> None:
        row = (key, value.encode(), time.time() + 60)
        self.db.execute("INSERT OR REPLACE INTO cache VALUES (?, ?, ?)", row)

    def fill(self, count: int, value: str) -> None:
        self.db.execute("BEGIN")
        rows = ((cache_key(number), value.encode(), 2**40) for number in range(count))
        self.db.executemany("INSERT INTO cache VALUES (?, ?, ?)", rows)
        self.db.execute("COMMIT")


def rows() -> Iterator[Row]:
    """Measure `get` and `set` by number of entries, then a page's text, then a full cache."""
    flat: dict[str, list[float]] = {"get": [], "set": []}
    for count in SIZES:
        for name, pairs in _measure(count, SMALL):
            yield ratio(f"{name}, 100 B, {count:,} entries / raw SQLite", pairs, "µs", 5)
            flat[name].append(statistics.median(ours for ours, _ in pairs))
    for name, times in flat.items():
        yield _flatness(name, times)
    for name, pairs in _measure(SIZES[0], PAGE):
        yield ratio(f"{name}, 10 KB, {SIZES[0]} entries / raw SQLite", pairs, "µs", 5)
        if name == "get":
            yield _absolute("get, 10 KB: of the 100 µs of a whole hit", pairs)
    yield from _full()


def _measure(count: int, value: str) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    with tempfile.TemporaryDirectory() as folder:
        store, raw = SqliteStore(Path(folder, "ours")), Raw(Path(folder, "raw"))
        cache = SqliteCache(store, ttl=3600, max_bytes=BOUND)
        raw.fill(count, value)
        _fill(store, count, value)
        yield "get", paired(_each(cache.get, count), _each(raw.get, count), calls=CALLS)
        ours = _each(lambda key: cache.set(key, value), count)
        peer = _each(lambda key: raw.set(key, value), count)
        yield "set", paired(ours, peer, calls=CALLS)
        store.close()
        raw.db.close()


def _each(act: Callable[[str], object], count: int) -> Callable[[], object]:
    """Do it with another key each time, the same ones in every run."""
    chance = random.Random(1)
    keys = [cache_key(chance.randrange(count)) for _ in range(20 * CALLS)]
    turn = iter(keys * 2)
    return lambda: act(next(turn))


def _fill(store: SqliteStore, count: int, value: str) -> None:
    now, data = time.time(), value.encode()
    keys = map(cache_key, range(count))
    checked = ((key, checksum_of(key, data)) for key in keys)
    entries = ((key, now, now + 3600, len(data), checksum, data) for key, checksum in checked)
    store.write(lambda db: db.executemany(sqlite_cache._INSERT, entries))


def _flatness(name: str, times: list[float]) -> Row:
    value = times[-1] / times[0]
    what = f"{name}, 100 B: {SIZES[-1]:,} entries / {SIZES[0]}"
    return Row(what, f"{times[-1]:.0f} µs", f"{times[0]:.0f} µs", value, "≤ 3 ×", value <= 3)


def _absolute(what: str, pairs: list[tuple[float, float]]) -> Row:
    mine = statistics.median(ours for ours, _ in pairs)
    return Row(what, f"{mine:.0f} µs", "", mine / 100, "≤ 0.5 ×", mine <= 50)


def _full() -> Iterator[Row]:
    """Set new keys where each must make room, beside a cache with room."""
    with tempfile.TemporaryDirectory() as folder:
        stores = [SqliteStore(Path(folder, name)) for name in ("full", "roomy")]
        full = SqliteCache(stores[0], ttl=3600, max_bytes=200 * len(PAGE))
        roomy = SqliteCache(stores[1], ttl=3600, max_bytes=BOUND)
        new = iter(range(10**9))
        for _ in range(300):
            full.set(cache_key(next(new)), PAGE)
        pairs = paired(
            lambda: full.set(cache_key(next(new)), PAGE),
            lambda: roomy.set(cache_key(next(new)), PAGE),
            calls=CALLS,
        )
        yield ratio("set, 10 KB, new key, a full cache / one with room", pairs, "µs", 2)
        for store in stores:
            store.close()
