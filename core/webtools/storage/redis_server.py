"""A Redis server as this process sees it: asked without retries, and left alone while in trouble.

Nothing waits longer for it than a timeout, and only the first call does: for some seconds after a
failure all others are told at once. The client library is imported at the first use.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

from webtools.errors import ConfigError
from webtools.storage.errors import StoreError
from webtools.storage.redis_socket import bounded
from webtools.text.cleaning import one_line, store_place
from webtools.text.redaction import redactor_for

T = TypeVar("T")
Client: TypeAlias = Any  # the library leaves half of its types unknown

INSTALL = "pip install 'agent-webtools[redis]'"
PREFIX = "webtools:1:"  # of keys; the number is the version of their values
LEDGER_PREFIX = "webtools:1:"  # of the day's sums, the same in every version: none are forgotten
PATIENCE = 0.5  # seconds to wait for the server
LEDGER_PATIENCE = 2.0  # seconds for the budget: a call that it cannot count is refused

_LEAST_STUCK, _MOST_STUCK = 1.0, 5.0  # seconds without another try after a failure
_STUCK_FACTOR = 6  # by which it is longer for each second that was lost
_LONGEST_FAULT = 200  # characters


class ServerError(StoreError):
    """The server does not answer, or refuses what it is asked."""

    remedies = ("check storage.url and that server",)
    off = "check storage.url and that server"

    def __init__(self, message: str, *, is_outage: bool = False) -> None:
        super().__init__(message)
        self.is_outage = is_outage


class Server:
    """One server; nothing is connected before the first use.

    Args:
        url: Its URL, which may hold a password.

    Attributes:
        place: The URL without its login.
        id: Names the server in the names of files.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.place = store_place(url)
        self.id = hashlib.sha256(self.place.encode()).hexdigest()[:12]
        self._clients: dict[tuple[int, float], Client] = {}
        self._stuck_until = 0.0
        self._fault, self._is_outage = "", False

    def __repr__(self) -> str:
        """Name the place."""
        return f"Server({self.place!r})"

    def use(self, work: Callable[[Client], T], *, patience: float = PATIENCE) -> T:
        """Do some work with a client, once.

        Args:
            work: What to do.
            patience: Seconds to wait for each answer.

        Raises:
            ServerError: The server cannot be used.
        """
        redis = _library()
        start = time.monotonic()
        if start < self._stuck_until:
            raise ServerError(self._fault, is_outage=self._is_outage)
        try:
            return work(self._client(patience))
        except StoreError:
            raise
        except (redis.RedisError, OSError) as error:
            fault = self._explain(str(error) or type(error).__name__)
            is_answer = isinstance(error, redis.ResponseError)
            is_outage = not isinstance(error, (redis.ResponseError, redis.AuthenticationError))
        except Exception:  # noqa: BLE001  a server may answer anything, and others write there
            fault = self._explain("its name, or what it answers, cannot be read")
            is_answer, is_outage = True, False
        # Outside the handler: what the library raises may tell what was sent.
        self._fault, self._is_outage = fault, is_outage
        if not is_answer:
            now = time.monotonic()
            stuck = _LEAST_STUCK + _STUCK_FACTOR * (now - start)
            self._stuck_until = now + min(stuck, _MOST_STUCK)
        raise ServerError(fault, is_outage=is_outage)

    def script(self, text: str, prefix: str = "") -> Callable[..., Any]:
        """Return a function that runs a Lua script atomically on a client.

        It takes the client, the keys without their prefix, which is `PREFIX` unless named, and the
        arguments.
        """

        def run(client: Client, keys: tuple[str, ...], *arguments: Any) -> Any:
            names = [(prefix or PREFIX) + key for key in keys]
            # Which loads it where the server does not know it, as after a restart.
            return client.register_script(text)(names, arguments)

        return run

    def take_notices(self) -> list[str]:
        """Return what the user should know: a server in trouble is told of by the calls."""
        return []

    def close(self) -> None:
        """Close the connections; the next use connects again."""
        clients, self._clients = self._clients, {}
        for (process, _), client in clients.items():
            if process == os.getpid():
                client.close()

    def _client(self, patience: float) -> Client:
        # With the process: in a forked child, a thread of the parent may hold the client's lock.
        key = os.getpid(), patience
        known = self._clients.get(key)
        if known is None:
            known = self._clients.setdefault(key, _connect(self._url, patience))
        return known

    def _explain(self, fault: str) -> str:
        clean = redactor_for(frozenset({self._url})).text
        text = one_line(clean(fault)).partition(" script: ")[0]  # of ours, by its hash
        return f"{self.place} cannot be used: {text[:_LONGEST_FAULT].rstrip('. ')}"


def _library() -> Any:
    return import_module("redis")  # an extra, and 200 ms that few imports need


def _connect(url: str, patience: float) -> Client:
    redis = _library()
    client = redis.Redis.from_url(
        url,
        socket_timeout=patience,
        socket_connect_timeout=patience,
        # What timed out may have been done all the same.
        retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0),
        protocol=2,
    )
    pool = client.connection_pool
    pool.connection_class = bounded(pool.connection_class, patience)
    if issubclass(pool.connection_class, redis.SSLConnection):
        pool.connection_kwargs["ssl_check_hostname"] = True  # older releases do not of themselves
    return client


def server_at(url: str) -> Server:
    """Return this process's server of a URL, always the same one.

    Raises:
        ConfigError: The extra is not installed.
    """
    if find_spec("redis") is None:
        raise ConfigError(f"storage.url {urlsplit(url).scheme}:// needs the extra redis: {INSTALL}")
    scheme, _, rest = url.partition("://")
    url = f"{scheme.lower()}://{rest}"  # as the library wants it
    return _servers.get(url) or _servers.setdefault(url, Server(url))


_servers: dict[str, Server] = {}
