"""Looks hosts up, within a deadline that the operating system knows nothing of."""

from __future__ import annotations

import asyncio
import socket
import time
from concurrent.futures import Future
from functools import partial

from webtools._internal.http.threads import in_own_thread
from webtools._internal.text.cleaning import one_line
from webtools.errors import RequestError, RequestTimeoutError


def resolve(host: str, port: int, deadline: float) -> tuple[str, ...]:
    """Return the addresses of a host, the preferred ones first.

    Raises:
        RequestError: There is none.
        RequestTimeoutError: `deadline`, on the monotonic clock, passed.
    """
    try:
        return _look_up(host, port).result(_left(deadline))
    except TimeoutError:
        raise _too_late(host) from None


async def aresolve(host: str, port: int, deadline: float) -> tuple[str, ...]:
    """Do the same on the running event loop, whose default executor it leaves alone."""
    try:
        async with asyncio.timeout(_left(deadline)):
            return await asyncio.wrap_future(_look_up(host, port))
    except TimeoutError:
        raise _too_late(host) from None


def _look_up(host: str, port: int) -> Future[tuple[str, ...]]:
    """Begin to look a host up, in a thread that holds up neither the call nor the exit."""
    try:
        return in_own_thread(partial(_find, host, port), "webtools-look-up")
    except RuntimeError as error:
        raise _unknown(host, error) from None


def _find(host: str, port: int) -> tuple[str, ...]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except Exception as error:  # noqa: BLE001  # whatever stands in for the system may raise anything
        fault = _unknown(host, error)
    else:
        return tuple(dict.fromkeys(str(each[4][0]) for each in found))
    raise fault


def _left(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())


def _unknown(host: str, error: Exception) -> RequestError:
    passing = getattr(error, "errno", None) == socket.EAI_AGAIN
    reason = getattr(error, "strerror", None) or one_line(str(error)) or type(error).__name__
    named = _named(host)
    message = f"{named} could not be looked up ({reason})"
    return RequestError(message, retryable=passing, unknown_host=named)


def _too_late(host: str) -> RequestTimeoutError:
    named = _named(host)
    return RequestTimeoutError(f"{named} could not be looked up in time", unknown_host=named)


def _named(host: str) -> str:
    return f'the host name "{host}"'
