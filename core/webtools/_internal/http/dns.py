"""Look up hosts within a deadline, which the operating system does not support."""

from __future__ import annotations

import socket
import time
from concurrent.futures import Future
from functools import partial

from webtools._internal.http.threads import ThreadPool, start_in_thread
from webtools._internal.text.cleaning import one_line
from webtools.errors import RequestError, RequestTimeoutError

# A look-up that hangs keeps its thread until the system gives up. Others wait for a free one.
MAX_THREADS = 128
_pool = ThreadPool(MAX_THREADS)


def resolve(host: str, port: int, deadline: float) -> tuple[str, ...]:
    """Return the addresses of a host, the preferred ones first.

    Raises:
        RequestError: The host has no address.
        RequestTimeoutError: `deadline`, on the monotonic clock, passed.
    """
    future = look_up(host, port)
    try:
        return future.result(seconds_until(deadline))
    except TimeoutError:
        future.cancel()  # if it still waits for a thread
        raise too_late(host) from None


def look_up(host: str, port: int) -> Future[tuple[str, ...]]:
    """Start to look up a host in a thread that delays neither the call nor the exit."""
    try:
        return start_in_thread(partial(_addresses, host, port), _pool)
    except RuntimeError as error:
        raise _unknown(host, error) from None


def _addresses(host: str, port: int) -> tuple[str, ...]:
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except Exception as error:  # noqa: BLE001  # a patched `getaddrinfo` may raise anything
        fault = _unknown(host, error)
    else:
        return tuple(dict.fromkeys(str(info[4][0]) for info in infos))
    raise fault


def seconds_until(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())


def _unknown(host: str, error: Exception) -> RequestError:
    is_temporary = getattr(error, "errno", None) == socket.EAI_AGAIN
    reason = getattr(error, "strerror", None) or one_line(str(error)) or type(error).__name__
    name = _quoted(host)
    failure = RequestError(f"{name} could not be looked up ({reason})", retryable=is_temporary)
    failure.unknown_host = name
    return failure


def too_late(host: str) -> RequestTimeoutError:
    name = _quoted(host)
    failure = RequestTimeoutError(f"{name} could not be looked up in time")
    failure.unknown_host = name
    return failure


def _quoted(host: str) -> str:
    return f'the host name "{host}"'
