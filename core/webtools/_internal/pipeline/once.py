"""The cache, and single flight: equal calls at the same time share one request."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from math import inf
from typing import Any, Final, Generic, NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError

from webtools._internal.pipeline.single_flight import Flight
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.cache_entries import Cache, Entry
from webtools._internal.text.invisible import may_hide, without_invisible
from webtools._internal.text.redaction import Redactor
from webtools._internal.text.web_urls import is_web_url
from webtools.errors import RequestTimeoutError, WebToolsError

T = TypeVar("T")
_ABANDONED: Final = object()  # the outcome of a call that was canceled
_MIN_TIME_LEFT = 5.0  # seconds that a call needs to repeat work that was late in another call


class Cached(NamedTuple, Generic[T]):
    """A value, from the cache or new.

    Attributes:
        value: The value.
        stored_at: When it was cached; None for a new value.
        is_free: Whether it cost this call nothing: it was cached, or an equal call paid for it.
        expired_for: Seconds since it expired; negative if it has not.
    """

    value: T
    stored_at: datetime | None = None
    is_free: bool = False
    expired_for: float = -inf


class CacheFormat(NamedTuple, Generic[T]):
    """How one kind of value is cached.

    Attributes:
        adapter: Converts values to JSON and back.
        is_cacheable: Returns whether a value is worth keeping: neither empty nor partial.
        oldest_part: Returns when the oldest part of a value was fetched, if the value was made of
            cached parts. The value expires when this part does.
        urls: Returns the URLs of a value. A cache entry with an invalid URL is ignored.
        lifetime: Returns the seconds after which a value expires, if that is before all others do.
        kept_seconds: Returns the seconds for which a value is kept after it has expired.
    """

    adapter: TypeAdapter[T]
    is_cacheable: Callable[[T], bool]
    oldest_part: Callable[[T], datetime | None] = lambda _: None
    urls: Callable[[T], Iterable[str]] = lambda _: ()
    lifetime: Callable[[T], float | None] = lambda _: None
    kept_seconds: Callable[[T], float] = lambda _: 0.0


class CacheKey(NamedTuple, Generic[T]):
    """Identifies a value in the cache, and equal work in flight.

    Attributes:
        format: How the value is cached.
        hash: Equal for equal work.
        subject: The query or URL, for the log.
        provider: The provider's name, for the log.
    """

    format: CacheFormat[T]
    hash: str
    subject: str
    provider: str


@dataclass(slots=True)
class Slot(Generic[T]):
    """Where a block puts a value, unless the cache or an equal call has it.

    Attributes:
        cached: The value; None if the block has to make it.
    """

    cached: Cached[T] | None = None

    def fill(self, value: T) -> None:
        """Set a new value."""
        self.cached = Cached(value)

    @property
    def result(self) -> Cached[T]:
        """The value."""
        assert self.cached is not None  # noqa: S101  # the block has set it or raised
        return self.cached


@asynccontextmanager
async def once(
    call: Call, key: CacheKey[T] | None, deadline: float
) -> AsyncGenerator[Slot[T], None]:
    """Read the cache, or wait for an equal call of this process; else the block makes the value.

    A value that the block makes is cached::

        async with once(call, key, deadline) as slot:
            if slot.cached is None:
                slot.fill(await request())
        return slot.result

    Args:
        call: The call.
        key: Identifies the value. None: it is neither cached nor shared.
        deadline: When the block ends at the latest.

    Raises:
        WebToolsError: An equal call failed.
    """
    if key is None or call.cache is None:
        yield Slot()
        return
    [cached] = await read_cached(call, [key])
    if cached is not None:
        yield Slot(cached)
        return
    async with shared(call, key, deadline) as slot:
        is_new = slot.cached is None
        yield slot
        if is_new and slot.cached is not None:
            await store(call, [(key, slot.cached.value)])


@asynccontextmanager
async def shared(
    call: Call, key: CacheKey[Any], deadline: float
) -> AsyncGenerator[Slot[Any], None]:
    """Wait for an equal call of this process that is making a value; else the block makes it.

    If the other call was canceled, or had less time and was late, the block makes the value.

    Raises:
        WebToolsError: The other call failed.
    """
    call.write_log()
    flights = call.services.flights
    # Calls share only if they have the same cache mode and the same secrets. With another API key
    # or proxy, one call can succeed where the other fails.
    flight_key = (call.io.runtime_id(), key.hash, call.options.cache, call.accounts.redactor)
    flight, is_new = flights.join(flight_key, deadline, call.io.now())
    while not is_new:
        outcome = await _wait_for(flight, call, deadline)
        if outcome is not _ABANDONED and not _had_less_time(outcome, flight, deadline):
            call.log("shared", subject=key.subject, provider=key.provider)
            if isinstance(outcome, WebToolsError):
                # A copy: one error raised in several threads would mix up their tracebacks.
                raise outcome.with_message(str(outcome))
            yield Slot(Cached(outcome, is_free=True))
            return
        flight, is_new = flights.join(flight_key, deadline, call.io.now())
    slot, failure = Slot[Any](), None
    try:
        yield slot
    except WebToolsError as error:
        failure = error
        raise
    finally:
        value = _ABANDONED if slot.cached is None else slot.cached.value
        flights.finish(flight_key, flight, failure or value)


async def _wait_for(flight: Flight, call: Call, deadline: float) -> Any:
    try:
        return await call.io.wait(flight.outcome, deadline)
    except RequestTimeoutError:
        message = "An identical call is running and did not finish in time. Try again later."
    raise RequestTimeoutError(message)


def _had_less_time(outcome: Any, flight: Flight, deadline: float) -> bool:
    is_late = isinstance(outcome, RequestTimeoutError)
    return is_late and flight.deadline + _MIN_TIME_LEFT < deadline


async def read_cached(
    call: Call, keys: Sequence[CacheKey[T]], *, with_expired: bool = False
) -> list[Cached[T] | None]:
    """Return the cached value of each key, or None; expired ones only if the caller wants them."""
    cache = call.cache
    if cache is None or call.options.cache == "refresh":
        return [None] * len(keys)
    entries: list[Entry | None] = await call.io.call_blocking(
        lambda: [call.read_cache(cache, key.hash, with_expired=with_expired) for key in keys]
    )
    ttl = call.accounts.config.cache.ttl_ms / 1000
    parsed = [
        None if entry is None else _parse(key, entry, ttl)
        for key, entry in zip(keys, entries, strict=True)
    ]
    values = [
        cached if with_expired or (cached and cached.expired_for < 0) else None for cached in parsed
    ]
    for key, value in zip(keys, values, strict=True):
        cached = value if value and value.expired_for < 0 else None
        stored_at = cached.stored_at if cached else None
        age = round(time.time() - stored_at.timestamp()) if stored_at else None
        event = "cache_hit" if cached else "cache_miss"
        call.log(event, subject=key.subject, provider=key.provider, age_s=age)
    return values


def _parse(key: CacheKey[T], entry: Entry, ttl: float) -> Cached[T] | None:
    """Return the value of a cache entry; None if it is malformed, or a part of it has expired."""
    try:
        value = key.format.adapter.validate_json(entry.value)
    except ValidationError:  # cached by another version
        return None
    if not all(map(is_web_url, key.format.urls(value))):
        return None
    fetched_at = key.format.oldest_part(value)
    if fetched_at is not None and fetched_at.timestamp() < time.time() - ttl:
        return None
    lifetime = key.format.lifetime(value)
    expired_for = time.time() - entry.stored_at - (ttl if lifetime is None else min(ttl, lifetime))
    stored_at = datetime.fromtimestamp(entry.stored_at, UTC)
    return Cached(value, stored_at, is_free=True, expired_for=expired_for)


async def store(call: Call, values: Iterable[tuple[CacheKey[T], T]]) -> None:
    """Cache the values that are worth keeping."""
    cacheable = [(key, value) for key, value in values if key.format.is_cacheable(value)]
    if call.cache is not None and cacheable:
        await call.io.call_blocking(partial(_write, call, call.cache, cacheable))


async def forget(call: Call, keys: Sequence[CacheKey[Any]]) -> None:
    """Delete the cached values of some keys."""
    cache = call.cache
    if cache is None or not keys:
        return

    def delete() -> None:
        for key in keys:
            call.write_cache(cache, key.hash, None)

    await call.io.call_blocking(delete)


def _write(call: Call, cache: Cache, values: Sequence[tuple[CacheKey[T], T]]) -> None:
    redactor = call.accounts.redactor
    for key, value in values:
        text = key.format.adapter.dump_json(value).decode()
        if may_hide(text) and _hides_secret(text, redactor):
            continue
        clean = redactor.text(text)
        call.write_cache(cache, key.hash, clean, keep=key.format.kept_seconds(value))


def _hides_secret(text: str, redactor: Redactor) -> bool:
    """Return whether invisible characters split a secret, which only an attacker would do."""
    visible = without_invisible(text)
    return visible != text and redactor.text(visible) != visible
