"""Single flight of all processes: one has the lease on some work, the others wait for the cache."""

from __future__ import annotations

from collections.abc import Callable
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
    leases = context.facilities.leases
    if leases is None or context.options.cache != "use":
        return (yield from make(None))[0]
    token, found = yield from _taken(context, leases, key, look, deadline)
    if found is not None:
        return found
    end = partial(_end, context, leases, key, token)
    try:
        value, is_kept = yield from make(partial(leases.set, token=token))
    except GeneratorExit:  # the call was cancelled, and no step is carried out any more
        in_own_thread(end, "webtools-lease")
        raise
    except WebToolsError:
        yield Offload(end)
        raise
    yield Offload(partial(end, is_kept=is_kept))
    return value


def _taken(
    context: CallContext,
    leases: Leases,
    key: str,
    look: Callable[[], Flow[T | None]],
    deadline: float,
) -> Flow[tuple[int, T | None]]:
    """Take the lease, 0 where the work is to be done without; or return what was cached."""
    pause = _FIRST_LOOK
    while True:
        token: int | None = yield Offload(partial(context.try_cache, partial(leases.take, key)))
        if token is None or token < 0:
            return 0, None
        if not token:
            now: float = yield Now()
            if now + pause >= deadline:
                raise RequestTimeoutError(_NOT_IN_TIME)
            yield Sleep(pause)
            pause = min(2 * pause, _LAST_LOOK)
        found = yield from look()
        if found is not None and token:
            yield Offload(partial(_end, context, leases, key, token, is_kept=True))
        if token or found is not None:
            return token, found


def _end(
    context: CallContext, leases: Leases, key: str, token: int, *, is_kept: bool = False
) -> None:
    if token:
        context.try_cache(partial(leases.end, key, token, is_kept=is_kept))
