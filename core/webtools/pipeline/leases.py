"""Single flight of all processes: one has the lease on some work, the others wait for the cache."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, TypeAlias, TypeVar

from webtools.errors import RequestTimeoutError, WebToolsError
from webtools.flows.drivers import Flow, Now, Offload, Sleep
from webtools.http.threads import in_own_thread
from webtools.pipeline.context import CallContext
from webtools.storage.stores import Leases

T = TypeVar("T")
Put: TypeAlias = Callable[[str, str], Any]

_FIRST_LOOK, _LAST_LOOK = 0.02, 0.25  # seconds until a lease of another process is looked at again
_LONGEST_END = 0.5  # seconds
_NOT_IN_TIME = (
    "An identical call is under way in another process and brought no answer in time. Try again "
    "later."
)


def leased(
    context: CallContext,
    key: str,
    look: Callable[[], Flow[T | None]],
    make: Callable[[Put | None], Flow[tuple[T, bool]]],
    deadline: float,
) -> Flow[T]:
    """Do work under its lease, or return what another process has cached meanwhile.

    Who had the lease for too long stores nothing any more, as another process may have by then.

    Args:
        context: The call.
        key: Equal for equal work.
        look: Looks into the cache.
        make: Does the work and caches the result, through what it is given; returns that, and
            whether it is in the cache now.
        deadline: Until when to wait.

    Raises:
        WebToolsError: What the work raises, or what is waited for comes too late.
    """
    leases = context.services.leases
    if leases is None or context.options.cache != "use":
        return (yield from make(None))[0]
    lease = _Lease(context, leases, key)
    is_cached = True
    try:
        value = yield from _waited(lease, look, deadline)
        if value is None:
            value, is_cached = yield from make(lease.put)
    except WebToolsError:
        yield from _ended(lease, is_void=True)
        raise
    except BaseException:  # such as that the call was cancelled: no step is carried out any more
        _abandon(lease)
        raise
    yield from _ended(lease, is_void=not is_cached)
    return value


def _ended(lease: _Lease, *, is_void: bool) -> Flow[None]:
    try:
        yield Offload(partial(lease.end, is_void=is_void))
    except GeneratorExit:  # before a thread came to it
        _abandon(lease)
        raise


def _abandon(lease: _Lease) -> None:
    future = in_own_thread(lease.abandon, "webtools-lease")
    _ending.add(future)
    future.add_done_callback(_ending.discard)


_ending: set[Future[None]] = set()
# An interrupted process gives its leases back before it ends, or others would wait for it.
atexit.register(lambda: wait(list(_ending), _LONGEST_END))


def _waited(lease: _Lease, look: Callable[[], Flow[T | None]], deadline: float) -> Flow[T | None]:
    """Take the lease, or else wait; return what is cached by then, None where nothing is."""
    pause = _FIRST_LOOK
    while True:
        is_elsewhere: bool = yield Offload(lease.take)
        if is_elsewhere:
            now: float = yield Now()
            if now + pause >= deadline:
                raise RequestTimeoutError(_NOT_IN_TIME)
            yield Sleep(pause)
            pause = min(2 * pause, _LAST_LOOK)
        found = yield from look()
        if found is not None or not is_elsewhere:
            return found


class _Lease:
    """The lease of one call, which it may not get."""

    def __init__(self, context: CallContext, leases: Leases, key: str) -> None:
        self._context = context
        self._leases = leases
        self._key = key
        self._token = 0
        self._is_over = False

    def take(self) -> bool:
        """Try to take it, and return whether another process has it."""
        token = self._context.try_cache(partial(self._leases.take, self._key))
        self._token = max(0, token or 0)  # else the work is done without
        if self._is_over:
            self.end()
        return token == 0

    def put(self, key: str, value: str) -> None:
        """Cache what came of the work, unless the lease is another's by now."""
        self._leases.set(key, value, self._token)

    def end(self, *, is_void: bool = False) -> None:
        """Return it; where nothing to be shared came of it, the others need not wait."""
        token, self._token = self._token, 0
        if token:
            end = partial(self._leases.end, self._key, token, is_void=is_void)
            self._context.try_cache(end)

    def abandon(self) -> None:
        """Return it also where it is yet to come, from a thread that takes it just now."""
        self._is_over = True
        self.end()
