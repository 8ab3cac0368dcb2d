"""Cache entries on a Redis server, whose `maxmemory` bounds them.

Ages are computed from the time that the server has left for an entry, so no two clocks are
compared.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

from webtools._internal.storage.cache_entries import MAX_SHARE, CacheStats, Entry, checksum_of
from webtools._internal.storage.redis_store import PREFIX, Client, RedisStore

_MAX_BYTES = 2 * 1024 * 1024  # of an entry: reading a larger one would take too long
_MAX_HEADER = 64  # bytes
_HEADER = re.compile(rb"(\d{1,10}) (\d{1,15})\n", re.ASCII)  # checksum, milliseconds to live
_BATCH = 500


class RedisCache:
    """See `Cache`.

    Args:
        store: The server.
        ttl: Seconds for which an entry can be used, also one that exists already.
        max_bytes: Limit of the cache. A text that is larger than an eighth of it is not stored.
    """

    def __init__(self, store: RedisStore, *, ttl: float, max_bytes: int) -> None:
        self._store = store
        self._ttl = ttl
        self._max_entry_bytes = min(max_bytes // MAX_SHARE, _MAX_BYTES)

    def get(self, key: str, *, with_expired: bool = False) -> Entry | None:
        return self._store.use(lambda client: self._read(client, key, with_expired=with_expired))

    def _read(self, client: Client, key: str, *, with_expired: bool) -> Entry | None:
        pipe = client.pipeline(transaction=False)
        pipe.getrange(_name(key), 0, _MAX_HEADER + _MAX_BYTES)
        pipe.pttl(_name(key))
        value, remaining_ms = pipe.execute()
        header = _HEADER.match(value)
        if header is None or remaining_ms <= 0:
            return None
        data, age = value[header.end() :], _age(header, remaining_ms)
        if int(header[1]) != checksum_of(key, data) or (age >= self._ttl and not with_expired):
            return None
        try:
            return Entry(data.decode("utf-8", "surrogatepass"), time.time() - age)
        except UnicodeDecodeError:  # not one of ours
            return None

    def set(self, key: str, value: str, *, keep: float = 0.0) -> None:
        if self._ttl <= 0:
            return
        data = value.encode("utf-8", "surrogatepass")
        if len(data) > self._max_entry_bytes:
            self.delete(key)
            return
        ttl_ms = round((self._ttl + keep) * 1000)
        header = f"{checksum_of(key, data)} {ttl_ms}\n".encode()
        self._store.use(lambda client: client.set(_name(key), header + data, px=ttl_ms))

    def delete(self, key: str) -> None:
        self._store.use(lambda client: client.unlink(_name(key)))

    def stats(self) -> CacheStats:
        return self._store.use(self._read_stats)

    def _read_stats(self, client: Client) -> CacheStats:
        sizes, ages = list[int](), list[float]()
        for names in _batches(client):
            sizes += map(len, names)
            sizes += _reply_for_each(client, names, "STRLEN")
            headers = _reply_for_each(client, names, "GETRANGE", 0, _MAX_HEADER - 1)
            ages += map(_age, map(_HEADER.match, headers), _reply_for_each(client, names, "PTTL"))
        now = time.time()
        return CacheStats(
            entries=len(ages),
            bytes=sum(sizes),
            oldest=now - max(ages) if ages else None,
            newest=now - min(ages) if ages else None,
            expired=sum(age >= self._ttl for age in ages),
            path=self._store.place,
            max_bytes=int(client.info("memory")["maxmemory"]) or None,
        )

    def clear(self, scope: str = "") -> int:
        keys = f"{scope}:*" if scope else "*"
        count: int = self._store.use(
            lambda client: sum(client.unlink(*names) for names in _batches(client, keys))
        )
        return count


def _batches(client: Client, keys: str = "*") -> Iterator[list[bytes]]:
    """Yield the names of the entries with such keys in batches."""
    cursor = None
    while cursor != 0:
        cursor, names = client.scan(cursor or 0, match=f"{PREFIX}cache:{keys}", count=_BATCH)
        if names:
            yield names


def _reply_for_each(client: Client, names: list[bytes], command: str, *arguments: int) -> list[Any]:
    pipe = client.pipeline(transaction=False)
    for name in names:
        pipe.execute_command(command, name, *arguments)
    replies: list[Any] = pipe.execute()
    return replies


def _age(header: re.Match[bytes] | None, remaining_ms: int) -> float:
    """Return the seconds since an entry was stored; 0 for one that is not ours."""
    if header is None or remaining_ms <= 0:
        return 0.0
    return max(0, int(header[2]) - remaining_ms) / 1000


def _name(key: str) -> str:
    return f"{PREFIX}cache:{key}"
