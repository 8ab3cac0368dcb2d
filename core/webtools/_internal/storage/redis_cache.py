"""Cache entries on a Redis server, whose `maxmemory` bounds them.

Ages are computed from the time that the server has left for an entry, so no two clocks are
compared.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress

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
        max_bytes: A text above an eighth of it is not stored.
    """

    def __init__(self, store: RedisStore, *, ttl: float, max_bytes: int) -> None:
        self._store = store
        self._ttl = ttl
        self._max_bytes = min(max_bytes // MAX_SHARE, _MAX_BYTES)

    def get(self, key: str, *, with_expired: bool = False) -> Entry | None:
        name = _name(key)

        def get(client: Client) -> Entry | None:
            pipe = client.pipeline(transaction=False)
            raw, remaining = pipe.getrange(name, 0, _MAX_HEADER + _MAX_BYTES).pttl(name).execute()
            if remaining <= 0:
                return None
            return self._entry(key, raw, remaining, with_expired=with_expired)

        return self._store.use(get)

    def get_at_once(self, key: str, *, with_expired: bool = False) -> Entry | None:
        """Raise `BlockingIOError`: a server can always take longer."""
        raise BlockingIOError(key, with_expired)

    def _entry(
        self, key: str, raw: bytes, remaining_ms: int, *, with_expired: bool
    ) -> Entry | None:
        header = _HEADER.match(raw)
        if header is None:  # not one of ours
            return None
        data, age = raw[header.end() :], max(0, int(header[2]) - remaining_ms) / 1000
        is_expired = age >= self._ttl and not with_expired
        if is_expired or int(header[1]) != checksum_of(key, data):
            return None
        with suppress(UnicodeDecodeError):
            return Entry(data.decode("utf-8", "surrogatepass"), time.time() - age)
        return None

    def set(self, key: str, value: str, *, keep: float = 0.0) -> None:
        name, data = _name(key), value.encode("utf-8", "surrogatepass")
        if self._ttl <= 0:
            return
        ttl_ms = round((self._ttl + keep) * 1000)
        if len(data) > self._max_bytes:
            self._store.use(lambda client: client.unlink(name))
            return
        header = f"{checksum_of(key, data)} {ttl_ms}\n".encode()
        self._store.use(lambda client: client.set(name, header + data, px=ttl_ms))

    def delete(self, key: str) -> None:
        self._store.use(lambda client: client.unlink(_name(key)))

    def stats(self) -> CacheStats:
        sizes, ages = list[int](), list[float]()

        def count(client: Client) -> int:
            for names in _batches(client):
                pipe = client.pipeline(transaction=False)
                for name in names:
                    pipe.strlen(name).getrange(name, 0, _MAX_HEADER - 1).pttl(name)
                replies = pipe.execute()
                for name, size, start, remaining in zip(
                    names, replies[::3], replies[1::3], replies[2::3], strict=True
                ):
                    header = _HEADER.match(start)
                    age_ms = int(header[2]) - remaining if header and remaining > 0 else 0
                    sizes.append(len(name) + size)
                    ages.append(age_ms / 1000)
            return int(client.info("memory")["maxmemory"])

        max_bytes = self._store.use(count)
        now = time.time()
        return CacheStats(
            entries=len(ages),
            bytes=sum(sizes),
            oldest=now - max(ages) if ages else None,
            newest=now - min(ages) if ages else None,
            expired=sum(age >= self._ttl for age in ages),
            path=self._store.place,
            max_bytes=max_bytes or None,
        )

    def clear(self) -> int:
        def clear(client: Client) -> int:
            return sum(client.unlink(*names) for names in _batches(client))

        return self._store.use(clear)


def _batches(client: Client) -> Iterator[list[bytes]]:
    """Yield the names of all entries in batches."""
    cursor = None
    while cursor != 0:
        cursor, names = client.scan(cursor or 0, match=f"{PREFIX}cache:*", count=_BATCH)
        if names:
            yield names


def _name(key: str) -> str:
    return f"{PREFIX}cache:{key}"
