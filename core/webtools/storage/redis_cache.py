"""Cached answers on a Redis server.

Ages are reckoned from what is left of an entry's time on the server, so that no two clocks are
compared. How much is cached altogether is the server's matter (`maxmemory`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress

from webtools.storage.cache import SHARE, CacheStats, Entry, checksum_of
from webtools.storage.redis_server import PREFIX, Client, Server

_MOST_BYTES = 2 * 1024 * 1024  # nor a larger one: reading it would take too long
_LONGEST_HEAD = 64  # bytes
_HEAD = re.compile(rb"(\d{1,10}) (\d{1,15})\n", re.ASCII)
_BATCH = 500


class RedisCache:
    """Texts by key; its methods are those of `Cache`, and so is what they raise.

    Args:
        server: Where they are kept.
        ttl: Seconds for which a text may be used; also those that are stored already.
        max_bytes: A text that takes more than an eighth of it is not kept.
    """

    def __init__(self, server: Server, *, ttl: float, max_bytes: int) -> None:
        self._server = server
        self._ttl = ttl
        self._most = min(max_bytes // SHARE, _MOST_BYTES)

    def get(self, key: str) -> Entry | None:
        """Return what is cached; None if that is nothing, too old or unreadable."""
        name = _name(key)

        def look_up(client: Client) -> Entry | None:
            both = client.pipeline(transaction=False)
            raw, left = both.getrange(name, 0, _LONGEST_HEAD + _MOST_BYTES).pttl(name).execute()
            return self._entry(key, raw, left) if left > 0 else None

        return self._server.use(look_up)

    def get_at_once(self, key: str) -> Entry | None:
        """Raise `BlockingIOError`: the way to a server may always take longer."""
        raise BlockingIOError(key)

    def _entry(self, key: str, raw: bytes, left_ms: int) -> Entry | None:
        head = _HEAD.match(raw)
        if head is None:  # not written by us
            return None
        data, age = raw[head.end() :], max(0, int(head[2]) - left_ms) / 1000
        if age >= self._ttl or int(head[1]) != checksum_of(key, data):
            return None
        with suppress(UnicodeDecodeError):
            return Entry(data.decode("utf-8", "surrogatepass"), time.time() - age)
        return None

    def set(self, key: str, value: str) -> None:
        """Store a text, if it is not too large."""
        data, ttl_ms = value.encode("utf-8", "surrogatepass"), round(self._ttl * 1000)
        if ttl_ms <= 0:
            return
        if len(data) > self._most:
            self._server.use(lambda client: client.unlink(_name(key)))
            return
        head = f"{checksum_of(key, data)} {ttl_ms}\n".encode()
        self._server.use(lambda client: client.set(_name(key), head + data, px=ttl_ms))

    def stats(self) -> CacheStats:
        """Count what is cached; takes the longer the more that is."""
        sizes, ages = [0], list[float]()

        def look(client: Client) -> int:
            for names in _batches(client):
                asked = client.pipeline(transaction=False)
                for name in names:
                    asked.strlen(name).getrange(name, 0, _LONGEST_HEAD - 1).pttl(name)
                each = iter(asked.execute())
                for name, size, start, left in zip(names, each, each, each, strict=False):
                    sizes.append(len(name) + size)
                    head = _HEAD.match(start)
                    ages.append((int(head[2]) - left) / 1000 if head and left > 0 else 0.0)
            return int(client.info("memory")["maxmemory"])

        most = self._server.use(look)
        now = time.time()
        oldest, newest = (now - max(ages), now - min(ages)) if ages else (None, None)
        expired = sum(age >= self._ttl for age in ages)
        return CacheStats(
            len(ages), sum(sizes), oldest, newest, expired, self._server.place, most or None
        )

    def clear(self) -> int:
        """Delete all entries, and tell how many there were."""

        def delete(client: Client) -> int:
            return sum(client.unlink(*names) for names in _batches(client))

        return self._server.use(delete)


def _batches(client: Client) -> Iterator[list[bytes]]:
    """Yield the names of all entries, some at a time."""
    names: list[bytes] = []
    for name in client.scan_iter(match=f"{PREFIX}cache:*", count=_BATCH):
        names.append(name)
        if len(names) == _BATCH:
            yield names
            names = []
    if names:
        yield names


def _name(key: str) -> str:
    return f"{PREFIX}cache:{key}"
