"""States of circuit breakers on a Redis server."""

from __future__ import annotations

import json
import time
from contextlib import suppress

from pydantic import ValidationError

from webtools._internal.storage.circuit_breaker import (
    FORGOTTEN_AFTER,
    STATE_FIELDS,
    Change,
    State,
)
from webtools._internal.storage.redis_store import (
    PATIENCE,
    PREFIX,
    Client,
    RedisStore,
    ServerError,
    hashed,
)


class RedisCircuits:
    """See `CircuitStates`.

    Args:
        store: The server.
    """

    def __init__(self, store: RedisStore) -> None:
        self._store = store

    def read(self, key: str) -> State | None:
        return self._store.use(lambda client: _parse(client.get(_name(key))))

    def change(self, key: str, change: Change) -> State | None:
        deadline = time.monotonic() + PATIENCE

        def replace_state(pipe: Client) -> State | None:
            if time.monotonic() > deadline:
                raise ServerError(
                    f"{self._store.place} cannot be used: too many processes write the same key"
                )
            return _replace_state(pipe, _name(key), change)

        state: State | None = self._store.use(
            lambda client: client.transaction(replace_state, _name(key), value_from_callable=True)
        )
        return state


def _replace_state(pipe: Client, name: str, change: Change) -> State | None:
    before = _parse(pipe.get(name))
    after = change(before)
    if after != before:
        pipe.multi()
        if after is None:
            pipe.delete(name)
        else:
            pipe.set(name, json.dumps(after), ex=round(2 * FORGOTTEN_AFTER))
    return after


def _name(key: str) -> str:
    return f"{PREFIX}health:{hashed(key)}"


def _parse(raw: bytes | None) -> State | None:
    with suppress(ValidationError):  # not one of ours
        return None if raw is None else State(*STATE_FIELDS.validate_json(raw))
    return None
