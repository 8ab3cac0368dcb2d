"""Cached answers on a Redis server, and the leases by which only one process gets each of them.

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
_HEAD = re.compile(rb"\d{1,20} (\d{1,10}) (\d{1,15})\n", re.ASCII)
_BATCH = 500
_LEASE_MS = 15_000  # for which others wait for who has a lease, and may have died
_VOID_MS = 1_000  # for which they are told that nothing comes of it

# An entry is `TOKEN CHECKSUM TTL_MS\\n` and the text.
_SET = """
local token = tonumber(ARGV[1])
if token > 0 then
    local held = tonumber(redis.call('GET', KEYS[2]) or '0') or 0
    local head = redis.call('GETRANGE', KEYS[1], 0, 63)
    local stored = tonumber(string.match(head, '^(%d+) %d+ %d+\\n') or '0')
    if held > token or stored > token then return 0 end
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
"""
_TAKE = """
local held = redis.call('GET', KEYS[1])
if held == 'void' then return -1 end
if held then return 0 end
local token = redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], token, 'PX', ARGV[1])
return token
"""
_END = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then redis.call('DEL', KEYS[1])
else redis.call('SET', KEYS[1], 'void', 'PX', ARGV[2]) end
return 1
"""


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
        self._set = server.script(_SET)

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

    def set(self, key: str, value: str, token: int = 0) -> None:
        """Store a text, if it is not too large.

        `token` is what `RedisLeases.take` gave: nothing is stored where another process has a later
        lease. 0 is for a text that was got without one.
        """
        data, ttl_ms = value.encode("utf-8", "surrogatepass"), round(self._ttl * 1000)
        if ttl_ms <= 0:
            return
        if len(data) > self._most:
            self._server.use(lambda client: client.unlink(_name(key)))
            return
        head = f"{token} {checksum_of(key, data)} {ttl_ms}\n".encode()
        keys = (f"cache:{key}", f"lease:{key}")
        self._server.use(lambda client: self._set(client, keys, token, head + data, ttl_ms))

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


class RedisLeases:
    """Who gets an answer that is not cached, for all processes; those without it wait.

    All of it raises `StoreError` where the server cannot be used.

    Args:
        server: Where they are given.
        cache: Where their holders store what they get.
    """

    def __init__(self, server: Server, cache: RedisCache) -> None:
        self._server = server
        self._cache = cache
        self._take, self._end = server.script(_TAKE), server.script(_END)

    def take(self, key: str) -> int:
        """Take the lease on a key.

        Returns:
            A token, larger than all before it; 0 where another has the lease, -1 where nothing to
            be shared came of the last one.
        """
        keys = (f"lease:{key}", "fence")
        return self._server.use(lambda client: int(self._take(client, keys, _LEASE_MS)))

    def set(self, key: str, value: str, token: int) -> None:
        """Store what came of the work, unless somebody has a later lease."""
        self._cache.set(key, value, token)

    def end(self, key: str, token: int, *, is_void: bool) -> None:
        """Return a lease, telling those who wait whether nothing to be shared came of it."""
        ms = _VOID_MS if is_void else 0
        self._server.use(lambda client: self._end(client, (f"lease:{key}",), token, ms))


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
