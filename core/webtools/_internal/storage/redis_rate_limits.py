"""Rate limits of all processes on a Redis server."""

from __future__ import annotations

from webtools._internal.io.pacing import Slot
from webtools._internal.storage.redis_store import PREFIX, Client, RedisStore, hashed

# KEYS: the end of the last slot, the slots that were given back. Times in microseconds.
_TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('(%.0f', now))
local returned = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
local start = tonumber(returned) or math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'))
local wait = start - now
if wait > tonumber(ARGV[2]) then return {-1, '0'} end
if returned then
    redis.call('ZREM', KEYS[2], returned)
else
    local free = start + tonumber(ARGV[1])
    local ms = math.ceil((free - now) / 1000) + 1
    redis.call('SET', KEYS[1], string.format('%.0f', free), 'PX', ms)
end
return {wait, string.format('%.0f', start)}
"""
_GIVE_BACK = """
redis.call('ZADD', KEYS[2], ARGV[1], ARGV[1])
redis.call('PEXPIRE', KEYS[2], 86400000)
"""


class RedisRateLimits:
    """Rate limits of all processes that use the server.

    Args:
        store: The server.
    """

    def __init__(self, store: RedisStore) -> None:
        self._store = store

    def reserve(self, name: str, interval: float, max_wait: float) -> float | None:
        """See `RateLimits.reserve`."""
        slot = self.take(name, interval, max_wait)
        return None if slot is None else slot.wait

    def take(self, name: str, interval: float, max_wait: float) -> Slot | None:
        """Reserve the next free slot, as `reserve` does, and return it."""
        max_wait_us = round(max_wait * 1e6)
        wait, start = self._store.use(
            lambda client: _take_slot(client, name, round(interval * 1e6), max_wait_us)
        )
        return Slot(wait / 1e6, start) if 0 <= wait <= max_wait_us else None

    def give_back(self, name: str, slot: Slot) -> None:
        """Let another request have a slot that is not used."""
        arguments = (round(slot.start),)
        self._store.use(lambda client: client.register_script(_GIVE_BACK)(_keys(name), arguments))


def _take_slot(client: Client, name: str, interval_us: int, max_wait_us: int) -> tuple[int, int]:
    wait, start = client.register_script(_TAKE)(_keys(name), (interval_us, max_wait_us))
    return int(wait), int(start)


def _keys(name: str) -> tuple[str, str]:
    key = f"{PREFIX}rate:{hashed(name)}"
    return key, f"{key}:returned"
