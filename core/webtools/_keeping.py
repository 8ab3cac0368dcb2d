"""Work whose result is kept: from the cache, from an equal call in flight, or done now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from webtools._context import CallContext
from webtools._flow import Flow, Offload
from webtools._sharing import shared
from webtools.cache import Cache, Entry

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    """A result.

    Attributes:
        value: The result itself.
        at: When it was stored; None for one that was got just now.
        is_free: Whether this call spent nothing on it.
    """

    value: T
    at: datetime | None = None
    is_free: bool = False


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """What is kept of a kind of work, and when it is worth keeping.

    Attributes:
        adapter: Writes and reads it.
        is_whole: Tells what is neither empty nor partial.
    """

    adapter: TypeAdapter[T]
    is_whole: Callable[[T], bool]


@dataclass(frozen=True, slots=True)
class Work(Generic[T]):
    """Work to be done at most once.

    Attributes:
        kind: What comes out of it.
        key: Equal for equal work.
        subject: The query or URL, for the log.
        provider: Name of who does it, for the log.
    """

    kind: Kind[T]
    key: str
    subject: str
    provider: str


def done_once(
    context: CallContext | None, work: Work[T], make: Callable[[], Flow[T]]
) -> Flow[Kept[T]]:
    """Give the kept result, or else do the work, or wait for who is doing it.

    Raises:
        WebToolsError: What the work raises.
    """
    if context is None or context.cache is None:
        return Kept((yield from make()))
    [found] = yield from kept_already(context, [work])
    if found is not None:
        return found
    flights = context.facilities.flights
    value, by_other = yield from shared(flights, work.key, lambda: _done(context, work, make))
    if by_other:
        context.log("shared", subject=work.subject, provider=work.provider)
    return Kept(value, is_free=by_other)


def kept_already(context: CallContext, works: Sequence[Work[T]]) -> Flow[list[Kept[T] | None]]:
    """Look results up, all at once; None for each that must be got."""
    cache = context.cache
    if cache is None or context.options.cache == "refresh":
        return [None] * len(works)
    entries: list[Entry | None] = yield Offload(lambda: [cache.get(work.key) for work in works])
    found = [_read(work.kind, entry) for work, entry in zip(works, entries, strict=True)]
    for work, kept in zip(works, found, strict=True):
        age = round(time.time() - kept.at.timestamp()) if kept and kept.at else None
        event = "cache_hit" if kept else "cache_miss"
        context.log(event, subject=work.subject, provider=work.provider, age_s=age)
    return found


def _read(kind: Kind[T], entry: Entry | None) -> Kept[T] | None:
    if entry is None:
        return None
    try:
        value = kind.adapter.validate_json(entry.value)
    except ValidationError:  # kept by another version
        return None
    return Kept(value, datetime.fromtimestamp(entry.stored_at, timezone.utc), is_free=True)


def keep_all(context: CallContext, results: Iterable[tuple[Work[T], T]]) -> Flow[None]:
    """Keep the results that are worth it."""
    cache = context.cache
    entries = [
        (work.key, context.redactor.text(work.kind.adapter.dump_json(value).decode()))
        for work, value in results
        if work.kind.is_whole(value)
    ]
    if cache is not None and entries:
        yield Offload(partial(_set_all, cache, entries))


def _set_all(cache: Cache, entries: Iterable[tuple[str, str]]) -> None:
    for key, text in entries:
        cache.set(key, text)


def _done(context: CallContext, work: Work[T], make: Callable[[], Flow[T]]) -> Flow[T]:
    value = yield from make()
    yield from keep_all(context, [(work, value)])
    return value


def oldest(kept: Sequence[Kept[Any]]) -> datetime | None:
    """Give the time of the oldest result, if all were kept."""
    times = [each.at for each in kept if each.at is not None]
    return min(times) if times and len(times) == len(kept) else None
