"""Rate limits of all processes on a Redis server."""

from __future__ import annotations

from webtools._internal.storage.redis_store import PREFIX, RedisStore, hashed

_RESERVE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local start = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'))
local wait = start - now
if wait > tonumber(ARGV[2]) then return -1 end
local free = start + tonumber(ARGV[1])
redis.call('SET', KEYS[1], string.format('%.0f', free), 'PX', math.ceil((free - now) / 1000) + 1)
return wait
"""


class RateLimits:
    """Rate limits of all processes that use the server.

    Args:
        store: The server.
    """

    def __init__(self, store: RedisStore) -> None:
        self._store = store

    def reserve(self, name: str, interval: float, max_wait: float) -> float | None:
        """Reserve the next free slot.

        Args:
            name: What is limited, such as `host:example.com`.
            interval: Seconds from one slot to the next.
            max_wait: The most seconds to wait.

        Returns:
            The seconds to wait; None if they are more than `max_wait`: then nothing is reserved.

        Raises:
            StoreError: The store cannot be used.
        """
        keys = (f"{PREFIX}rate:{hashed(name)}",)
        micros = round(interval * 1e6), round(max_wait * 1e6)
        wait = self._store.use(lambda client: int(client.register_script(_RESERVE)(keys, micros)))
        return wait / 1e6 if 0 <= wait <= micros[1] else None
