"""Looks hosts up, within a deadline that the operating system knows nothing of."""

from __future__ import annotations

import socket
import time
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeAlias

from webtools.errors import RequestError, RequestTimeoutError
from webtools.http.threads import in_own_thread
from webtools.text.cleaning import one_line

_Found: TypeAlias = tuple[str, ...] | RequestError


def resolve(host: str, port: int, deadline: float) -> tuple[str, ...]:
    """Return the addresses of a host, the preferred ones first.

    Raises:
        RequestError: There is none.
        RequestTimeoutError: `deadline`, on the monotonic clock, passed.
    """
    looking = _look_up(host, port)
    try:
        found = looking.result(_left(deadline))
    except TimeoutError:
        found = _too_late(host)
    return _given(found)


async def aresolve(host: str, port: int, deadline: float) -> tuple[str, ...]:
    """Do the same on the running event loop, whose default executor it leaves alone."""
    import asyncio  # noqa: PLC0415 - blocking calls do without

    looking = asyncio.wrap_future(_look_up(host, port))
    try:
        await asyncio.wait({looking}, timeout=_left(deadline))
        found = looking.result() if looking.done() else _too_late(host)
    finally:
        looking.cancel()
    return _given(found)


def _look_up(host: str, port: int) -> Future[_Found]:
    """Begin to look a host up, in a thread that holds up neither the call nor the exit."""
    try:
        return in_own_thread(partial(_find, host, port), "webtools-look-up")
    except RuntimeError as error:
        raise _unknown(host, error) from None


def _find(host: str, port: int) -> _Found:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except Exception as error:  # noqa: BLE001  # whatever stands in for the system may raise anything
        return _unknown(host, error)
    return _addresses(found)


def _given(found: _Found) -> tuple[str, ...]:
    if isinstance(found, RequestError):
        raise found
    return found


def _addresses(found: list[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(each[4][0]) for each in found))


def _left(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())


def _unknown(host: str, error: Exception) -> RequestError:
    passing = getattr(error, "errno", None) == socket.EAI_AGAIN
    reason = getattr(error, "strerror", None) or one_line(str(error)) or type(error).__name__
    message = f'the host name "{host}" could not be looked up ({reason})'
    return RequestError(message, retryable=passing)


def _too_late(host: str) -> RequestTimeoutError:
    return RequestTimeoutError(f'the host name "{host}" could not be looked up in time')
