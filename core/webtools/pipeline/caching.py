"""Work whose result is kept: from the cache, from an equal call in flight, or done now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from webtools.flows.drivers import Flow, Offload
from webtools.pipeline.context import CallContext
from webtools.pipeline.single_flight import shared
from webtools.storage.cache import Cache, Entry
from webtools.text.cleaning import is_web_url
from webtools.text.invisible import without_hidden
from webtools.text.redaction import Redactor

_LONGEST_REMEMBERED = 65_536  # characters of a kept text whose value stays at hand

T = TypeVar("T")
U = TypeVar("U")


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


@dataclass(frozen=True, slots=True, eq=False)
class Kind(Generic[T]):
    """What is kept of a kind of work, and when it is worth keeping.

    Attributes:
        adapter: Writes and reads it.
        is_whole: Tells what is neither empty nor partial.
        since: Gives the age of what was made from parts that were kept themselves.
        urls: Gives the addresses in it; a file is no proof that they are any.
        own: Gives a caller a value in which nothing that can be changed is another's; without it,
            a value is read anew each time.
    """

    adapter: TypeAdapter[T]
    is_whole: Callable[[T], bool]
    since: Callable[[T], datetime | None] = lambda _: None
    urls: Callable[[T], Iterable[str]] = lambda _: ()
    own: Callable[[T], T] | None = None


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
    context: CallContext | None,
    work: Work[T],
    make: Callable[[], Flow[T]],
    deadline: float,
    leave: Callable[[], Flow[None]] | None = None,
) -> Flow[Kept[T]]:
    """Give the kept result, or else do the work, or wait for who is doing it.

    Raises:
        WebToolsError: What the work raises, or what `leave` does, which is called before it.
    """
    if context is None or context.cache is None:
        if leave is not None:
            yield from leave()
        return Kept((yield from make()))
    [found] = yield from kept_already(context, [work])
    if found is not None:
        return found
    if leave is not None:
        yield from leave()
    value, by_other = yield from in_common(
        context, work, lambda: _done(context, work, make), deadline
    )
    return Kept(value, is_free=by_other)


def in_common(
    context: CallContext, work: Work[Any], make: Callable[[], Flow[U]], deadline: float
) -> Flow[tuple[U, bool]]:
    """Do the work, or wait for who is doing it; the answer tells whether that was another call.

    Raises:
        WebToolsError: What the work raises, here or there.
    """
    context.write_log()
    # Who refreshes does not wait for work that may be made of what was kept; and the failure of
    # another key or proxy is nothing to a call that has its own.
    key = (work.key, context.options.cache, context.redactor)
    tell = partial(context.log, "shared", subject=work.subject, provider=work.provider)
    return (yield from shared(context.facilities.flights, key, make, deadline, tell))


def kept_already(context: CallContext, works: Sequence[Work[T]]) -> Flow[list[Kept[T] | None]]:
    """Look results up, all at once; None for each that must be got."""
    cache = context.cache
    if cache is None or context.options.cache == "refresh":
        return [None] * len(works)
    keys = [work.key for work in works]
    entries: list[Entry | None] = yield Offload(
        partial(_get_all, context, cache, keys), lambda: [cache.get_at_once(key) for key in keys]
    )
    oldest = time.time() - context.accounts.cache.ttl_ms / 1000
    found = [_read(work.kind, each, oldest) for work, each in zip(works, entries, strict=True)]
    for work, kept in zip(works, found, strict=True):
        age = round(time.time() - kept.at.timestamp()) if kept and kept.at else None
        event = "cache_hit" if kept else "cache_miss"
        context.log(event, subject=work.subject, provider=work.provider, age_s=age)
    return found


def _read(kind: Kind[T], entry: Entry | None, oldest: float) -> Kept[T] | None:
    value = None if entry is None else _value(kind, entry.value)
    if entry is None or value is None:
        return None
    since = kind.since(value)
    if since is not None and since.timestamp() < oldest:
        return None
    return Kept(value, datetime.fromtimestamp(entry.stored_at, UTC), is_free=True)


def _value(kind: Kind[T], text: str) -> T | None:
    if kind.own is None or len(text) > _LONGEST_REMEMBERED:
        return _decoded(kind, text)
    known: T | None = _remembered(kind, text)
    return None if known is None else kind.own(known)


def _decoded(kind: Kind[T], text: str) -> T | None:
    try:
        value = kind.adapter.validate_json(text)
    except ValidationError:  # kept by another version
        return None
    return value if all(map(is_web_url, kind.urls(value))) else None


_remembered = lru_cache(maxsize=64)(_decoded)


def keep_all(context: CallContext, results: Iterable[tuple[Work[T], T]]) -> Flow[None]:
    """Keep the results that are worth it."""
    cache = context.cache
    whole = [(work, value) for work, value in results if work.kind.is_whole(value)]
    if cache is not None and whole:
        yield Offload(lambda: _set_all(context, cache, _entries(context, whole)))


def _entries(
    context: CallContext, results: Iterable[tuple[Work[T], T]]
) -> Iterator[tuple[str, str]]:
    for work, value in results:
        text = work.kind.adapter.dump_json(value).decode()
        if not _hides_key(text, context.redactor):
            yield work.key, context.redactor.text(text)


def _hides_key(text: str, redactor: Redactor) -> bool:
    """Tell whether a key stands there with hidden characters in it, as no one but an enemy does."""
    seen = without_hidden(text)
    return seen is not text and redactor.text(seen) != seen


def _get_all(context: CallContext, cache: Cache, keys: Iterable[str]) -> list[Entry | None]:
    return [context.try_cache(partial(cache.get, key)) for key in keys]


def _set_all(context: CallContext, cache: Cache, entries: Iterable[tuple[str, str]]) -> None:
    for key, text in entries:
        context.try_cache(partial(cache.set, key, text))


def _done(context: CallContext, work: Work[T], make: Callable[[], Flow[T]]) -> Flow[T]:
    value = yield from make()
    yield from keep_all(context, [(work, value)])
    return value
