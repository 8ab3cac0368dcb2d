"""Looks hosts up, within a deadline that the operating system knows nothing of."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from webtools.errors import RequestError, RequestTimeoutError


def resolve(host: str, port: int, deadline: float) -> tuple[str, ...]:
    """Give the addresses of a host, the preferred ones first.

    Raises:
        RequestError: There is none.
        RequestTimeoutError: `deadline`, on the monotonic clock, passed.
    """
    found: SimpleQueue[tuple[str, ...] | RequestError] = SimpleQueue()
    # A daemon thread: a name server that is silent holds up neither the call nor the exit.
    work = partial(_put_addresses, found, host, port)
    threading.Thread(target=work, name="webtools-look-up", daemon=True).start()
    try:
        answer = found.get(timeout=_left(deadline))
    except Empty:
        raise _too_late(host) from None
    if isinstance(answer, RequestError):
        raise answer
    return answer


async def aresolve(host: str, port: int, deadline: float) -> tuple[str, ...]:
    """Do the same on the running event loop."""
    look_up = asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    looking = asyncio.ensure_future(look_up)
    try:
        await asyncio.wait({looking}, timeout=_left(deadline))
        if not looking.done():
            raise _too_late(host)
        return _addresses(looking.result())
    except (OSError, UnicodeError) as error:
        raise _unknown(host, error) from None
    finally:
        looking.cancel()


def _put_addresses(
    found: SimpleQueue[tuple[str, ...] | RequestError], host: str, port: int
) -> None:
    try:
        found.put(_addresses(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))
    except (OSError, UnicodeError) as error:
        found.put(_unknown(host, error))


def _addresses(found: list[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(each[4][0]) for each in found))


def _left(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())


def _unknown(host: str, error: Exception) -> RequestError:
    passing = getattr(error, "errno", None) == socket.EAI_AGAIN
    reason = getattr(error, "strerror", None) or error
    message = f'the host name "{host}" could not be looked up ({reason})'
    return RequestError(message, retryable=passing)


def _too_late(host: str) -> RequestTimeoutError:
    return RequestTimeoutError(f'the host name "{host}" could not be looked up in time')
