"""One Redis server. Commands are not retried, and after a failure none is sent for a while.

So only the first call waits for a server in trouble. The client library is imported at first use.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeAlias, TypeVar
from urllib.parse import urlsplit

from webtools._internal.storage.redis_connections import bounded
from webtools._internal.storage.store_errors import StoreError
from webtools._internal.text.cleaning import one_line
from webtools._internal.text.redaction import redactor_for
from webtools._internal.text.web_urls import store_place
from webtools.errors import ConfigError

T = TypeVar("T")
Client: TypeAlias = Any  # the library leaves half of its types unknown

PREFIX = "webtools:1:"  # of keys; the number is the version of their values
PATIENCE = 0.5  # seconds to wait for a reply
LEDGER_PATIENCE = 2.0  # seconds: a call that the ledger cannot count is refused

_INSTALL = "pip install 'agent-webtools[redis]'"
_MIN_PAUSE, _MAX_PAUSE = 1.0, 5.0  # seconds without another command after a failure
_PAUSE_FACTOR = 6  # the pause in seconds for each second that the failure took
_MAX_MESSAGE = 200  # characters


class ServerError(StoreError):
    """The server does not respond, or refuses a command."""

    remedies = ("check storage.url and the server",)
    off = "Check storage.url and the server"

    def __init__(self, message: str, *, is_outage: bool = False) -> None:
        super().__init__(message)
        self.is_outage = is_outage


class _Failure(NamedTuple):
    message: str
    is_outage: bool
    until: float  # no command is sent before, on the monotonic clock


class RedisStore:
    """A server; nothing is connected before the first use.

    Args:
        url: Its URL, which can hold a password.

    Attributes:
        place: The URL without its login.
        id: Identifies the server in file names.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.place = store_place(url)
        self.id = hashlib.sha256(self.place.encode()).hexdigest()[:12]
        self._clients: dict[tuple[int, float], Client] = {}
        self._failure: _Failure | None = None

    def __repr__(self) -> str:
        """Leave out the login."""
        return f"RedisStore({self.place!r})"

    def use(self, work: Callable[[Client], T], *, patience: float = PATIENCE) -> T:
        """Call a function with a client, once.

        Args:
            work: The function.
            patience: Seconds to wait for each reply.

        Raises:
            StoreError: The server cannot be used.
        """
        redis: Any = import_module("redis")  # an extra
        start, failure = time.monotonic(), self._failure
        if failure is not None and start < failure.until:
            raise ServerError(failure.message, is_outage=failure.is_outage)
        try:
            return work(self._client(patience))
        except StoreError:
            raise
        except (redis.RedisError, OSError) as error:
            message = str(error) or type(error).__name__
            is_reply = isinstance(error, redis.ResponseError)
            is_outage = not isinstance(error, (redis.ResponseError, redis.AuthenticationError))
        except Exception:  # noqa: BLE001  a server can reply anything, and others write to it
            message = "its host name or its reply cannot be read"
            is_reply, is_outage = True, False
        # Outside the handler: the exceptions of the library can hold what was sent.
        message = self._explain(message)
        if not is_reply:
            now = time.monotonic()
            pause = min(_MIN_PAUSE + _PAUSE_FACTOR * (now - start), _MAX_PAUSE)
            self._failure = _Failure(message, is_outage, now + pause)
        raise ServerError(message, is_outage=is_outage)

    def take_notices(self) -> list[str]:
        """Return nothing: calls report the errors of a server themselves."""
        return []

    def close(self) -> None:
        """Close the connections; the next use connects again."""
        clients, self._clients = self._clients, {}
        for (process, _), client in clients.items():
            if process == os.getpid():
                client.close()

    def _client(self, patience: float) -> Client:
        # Per process: in a forked child, a thread of the parent may hold the client's lock.
        key = os.getpid(), patience
        client = self._clients.get(key)
        if client is None:
            client = self._clients.setdefault(key, _connect(self._url, patience))
        return client

    def _explain(self, message: str) -> str:
        clean = redactor_for(frozenset({self._url})).text
        text = one_line(clean(message)).partition(" script: ")[0]  # followed by the script's hash
        return f"{self.place} cannot be used: {text[:_MAX_MESSAGE].rstrip('. ')}"


def hashed(name: str) -> str:
    """Return a stand-in for a name in a key: names can hold addresses."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32]


def _connect(url: str, patience: float) -> Client:
    redis: Any = import_module("redis")
    client = redis.Redis.from_url(
        url,
        socket_timeout=patience,
        socket_connect_timeout=patience,
        # After a time-out, the command may have been carried out.
        retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0),
        protocol=2,
    )
    pool = client.connection_pool
    pool.connection_class = bounded(pool.connection_class, patience)
    if issubclass(pool.connection_class, redis.SSLConnection):
        pool.connection_kwargs["ssl_check_hostname"] = True  # not the default of older releases
    return client


def redis_store_at(url: str) -> RedisStore:
    """Return this process's store for a URL, always the same one.

    Raises:
        ConfigError: The extra is not installed.
    """
    if find_spec("redis") is None:
        raise ConfigError(
            f"storage.url {urlsplit(url).scheme}:// needs the extra redis: {_INSTALL}"
        )
    scheme, _, rest = url.partition("://")
    url = f"{scheme.lower()}://{rest}"  # as the library requires
    return _stores.get(url) or _stores.setdefault(url, RedisStore(url))


_stores: dict[str, RedisStore] = {}
