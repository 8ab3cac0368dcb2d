"""The cache, and single flight: equal calls at the same time share one request."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, Generic, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from webtools._internal.pipeline.single_flight import Flight
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.cache_entries import Cache, Entry
from webtools._internal.text.cleaning import is_web_url
from webtools._internal.text.invisible import may_hide, without_invisible
from webtools._internal.text.redaction import Redactor
from webtools.errors import RequestTimeoutError, WebToolsError

T = TypeVar("T")
_ABANDONED: Final = object()
_MIN_TIME_LEFT = 5.0  # seconds; with less, a call does not repeat work that was late


@dataclass(frozen=True, slots=True)
class Cached(Generic[T]):
    """A value, from the cache or just made.

    Attributes:
        value: The value.
        stored_at: When it was cached; None for a value that was just made.
        is_free: Whether this call spent nothing on it.
    """

    value: T
    stored_at: datetime | None = None
    is_free: bool = False


@dataclass(frozen=True, slots=True)
class CacheFormat(Generic[T]):
    """How one kind of value is cached.

    Attributes:
        adapter: Writes and reads it.
        is_cacheable: Whether a value is worth keeping: neither empty nor partial.
        oldest_part: The time of the oldest cached part that a value was made of.
        urls: The URLs of a value. An entry with an invalid URL is ignored.
    """

    adapter: TypeAdapter[T]
    is_cacheable: Callable[[T], bool]
    oldest_part: Callable[[T], datetime | None] = lambda _: None
    urls: Callable[[T], Iterable[str]] = lambda _: ()


@dataclass(frozen=True, slots=True)
class CacheKey(Generic[T]):
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


async def once(
    call: Call, key: CacheKey[T], make: Callable[[], Awaitable[T]], deadline: float
) -> Cached[T]:
    """Return the cached value, or that of an equal call in flight, or make and cache it.

    Raises:
        WebToolsError: The value could not be made, here or in the other call.
    """
    if call.cache is None:
        return Cached(await make())
    [cached] = await read_cached(call, [key])
    if cached is not None:
        return cached

    async def make_and_store() -> T:
        value = await make()
        await store(call, [(key, value)])
        return value

    value, is_shared = await share(call, key, make_and_store, deadline)
    return Cached(value, is_free=is_shared)


async def share(
    call: Call, key: CacheKey[Any], make: Callable[[], Awaitable[T]], deadline: float
) -> tuple[T, bool]:
    """Make a value, or wait for an equal call of this process that is making it.

    If the other call was canceled, or had less time and was late, a waiting call makes the value.

    Returns:
        The value, and whether the other call made it.

    Raises:
        WebToolsError: The value could not be made, here or in the other call.
    """
    call.write_log()
    flights = call.services.flights
    # A call that refreshes the cache does not wait for one that uses it. With another key or proxy
    # a call may succeed, so the secrets are part of the key.
    flight_key = (call.io.runtime_id(), key.hash, call.options.cache, call.accounts.redactor)
    while True:
        flight, is_new = flights.join(flight_key, deadline, call.io.now())
        if is_new:
            break
        outcome = await _wait_for(flight, call, deadline)
        if outcome is _ABANDONED or _had_less_time(outcome, flight, deadline):
            continue
        call.log("shared", subject=key.subject, provider=key.provider)
        if isinstance(outcome, WebToolsError):
            # A copy: one error raised in several threads would mix up their tracebacks.
            raise outcome.with_message(str(outcome))
        return cast("T", outcome), True
    outcome = _ABANDONED
    try:
        value = outcome = await make()
    except WebToolsError as error:
        outcome = error
        raise
    finally:
        flights.land(flight_key, flight, outcome)
    return value, False


async def _wait_for(flight: Flight, call: Call, deadline: float) -> Any:
    try:
        return await call.io.wait(flight.outcome, deadline)
    except RequestTimeoutError:
        message = "An identical call is running and did not finish in time. Try again later."
    raise RequestTimeoutError(message)


def _had_less_time(outcome: Any, flight: Flight, deadline: float) -> bool:
    is_late = isinstance(outcome, RequestTimeoutError)
    return is_late and flight.until + _MIN_TIME_LEFT < deadline


async def read_cached(call: Call, keys: Sequence[CacheKey[T]]) -> list[Cached[T] | None]:
    """Return the cached value of each key, or None."""
    cache = call.cache
    if cache is None or call.options.cache == "refresh":
        return [None] * len(keys)
    entries: list[Entry | None] = await call.io.call_blocking(
        lambda: [call.try_cache(partial(cache.get, key.hash)) for key in keys],
        quick=lambda: [cache.get_at_once(key.hash) for key in keys],
    )
    oldest = time.time() - call.accounts.config.cache.ttl_ms / 1000
    values = [
        None if entry is None else _parse(key, entry, oldest)
        for key, entry in zip(keys, entries, strict=True)
    ]
    for key, cached in zip(keys, values, strict=True):
        stored_at = cached.stored_at if cached else None
        age = round(time.time() - stored_at.timestamp()) if stored_at else None
        event = "cache_hit" if cached else "cache_miss"
        call.log(event, subject=key.subject, provider=key.provider, age_s=age)
    return values


def _parse(key: CacheKey[T], entry: Entry, oldest: float) -> Cached[T] | None:
    try:
        value = key.format.adapter.validate_json(entry.value)
    except ValidationError:  # cached by another version
        return None
    if not all(map(is_web_url, key.format.urls(value))):
        return None
    made_at = key.format.oldest_part(value)
    if made_at is not None and made_at.timestamp() < oldest:
        return None
    return Cached(value, datetime.fromtimestamp(entry.stored_at, UTC), is_free=True)


async def store(call: Call, values: Iterable[tuple[CacheKey[T], T]]) -> None:
    """Cache the values that are worth keeping."""
    cacheable = [(key, value) for key, value in values if key.format.is_cacheable(value)]
    if call.cache is not None and cacheable:
        await call.io.call_blocking(partial(_write, call, call.cache, cacheable))


def _write(call: Call, cache: Cache, values: Sequence[tuple[CacheKey[T], T]]) -> None:
    redactor = call.accounts.redactor
    for key, value in values:
        data = key.format.adapter.dump_json(value)
        text: str | None = data.decode()
        if may_hide(data) or redactor.may_be_in(data):
            text = _without_secrets(data.decode(), redactor)
        if text is not None:
            call.try_cache(partial(cache.set, key.hash, text))


def _without_secrets(text: str, redactor: Redactor) -> str | None:
    """Redact a text; None if invisible characters split a key, as only an attacker would do."""
    visible = without_invisible(text)
    return redactor.text(text) if visible is text or redactor.text(visible) == visible else None
