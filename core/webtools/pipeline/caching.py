"""Work done once: its result comes from the cache, from an equal call in flight, or done now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from webtools.flows.drivers import Flow, Offload
from webtools.pipeline.context import CallContext
from webtools.pipeline.single_flight import shared
from webtools.storage.cache import Entry
from webtools.storage.stores import Answers
from webtools.text.cleaning import is_web_url
from webtools.text.invisible import may_hide, without_invisible
from webtools.text.record import record
from webtools.text.redaction import Redactor

_LONGEST_REMEMBERED = 65_536  # characters of a cached text whose value stays at hand
_MOST_REMEMBERED = 64

T = TypeVar("T")
U = TypeVar("U")


@record
class Result(Generic[T]):
    """A result.

    Attributes:
        value: The result itself.
        at: When it was stored; None for one that was got just now.
        is_free: Whether this call spent nothing on it.
    """

    value: T
    at: datetime | None = None
    is_free: bool = False


@record
class Kind(Generic[T]):
    """What is cached of a kind of work, and when it is worth that.

    Attributes:
        adapter: Writes and reads it.
        is_whole: Tells what is neither empty nor partial.
        since: Gives the age of what was made from parts that were cached themselves.
        urls: Gives the addresses in it; a file is no proof that they are any.
        own: Gives a caller a value in which nothing that can be changed is another's; without it,
            a value is read anew each time.
    """

    adapter: TypeAdapter[T]
    is_whole: Callable[[T], bool]
    since: Callable[[T], datetime | None] = lambda _: None
    urls: Callable[[T], Iterable[str]] = lambda _: ()
    own: Callable[[T], T] | None = None


@record
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
    context: CallContext,
    work: Work[T],
    make: Callable[[], Flow[T]],
    deadline: float,
    leave: Callable[[], Flow[None]] | None = None,
) -> Flow[Result[T]]:
    """Return the cached result, or else do the work, or wait for who is doing it.

    Raises:
        WebToolsError: What the work raises, or what `leave` does, which is called before it.
    """
    if context.cache is not None:
        [found] = yield from read_cached(context, [work])
        if found is not None:
            return found
    if leave is not None:
        yield from leave()
    if context.cache is None:
        return Result((yield from make()))
    doing = partial(_done, context, work, make)
    result, by_other = yield from in_common(context, work, doing, deadline)
    return Result(result.value, result.at, is_free=result.is_free or by_other)


def _done(context: CallContext, work: Work[T], make: Callable[[], Flow[T]]) -> Flow[Result[T]]:
    """Do the work and cache its result."""
    value = yield from make()
    yield from cache_all(context, [(work, value)])
    return Result(value)


def in_common(
    context: CallContext, work: Work[Any], make: Callable[[], Flow[U]], deadline: float
) -> Flow[tuple[U, bool]]:
    """Do the work, or wait for who is doing it; the answer tells whether that was another call.

    Raises:
        WebToolsError: What the work raises, here or there.
    """
    context.write_log()
    # Who refreshes does not wait for work that may be made of what was cached; and the failure of
    # another key or proxy is nothing to a call that has its own.
    key = (work.key, context.options.cache, context.accounts.redactor)
    tell = partial(context.log, "shared", subject=work.subject, provider=work.provider)
    return shared(context.services.flights, key, make, deadline, tell)


def read_cached(context: CallContext, works: Sequence[Work[T]]) -> Flow[list[Result[T] | None]]:
    """Look results up, all at once; None for each that must be got."""
    cache = context.cache
    if cache is None or context.options.cache == "refresh":
        return [None] * len(works)
    keys = [work.key for work in works]
    entries: list[Entry | None] = yield Offload(
        lambda: [context.try_cache(partial(cache.get, key)) for key in keys],
        lambda: [cache.get_at_once(key) for key in keys],
    )
    oldest = time.time() - context.accounts.config.cache.ttl_ms / 1000
    found = [
        None if entry is None else _read(work, entry, oldest)
        for work, entry in zip(works, entries, strict=True)
    ]
    for work, result in zip(works, found, strict=True):
        age = round(time.time() - result.at.timestamp()) if result and result.at else None
        event = "cache_hit" if result else "cache_miss"
        context.log(event, subject=work.subject, provider=work.provider, age_s=age)
    return found


def _read(work: Work[T], entry: Entry, oldest: float) -> Result[T] | None:
    value = _value(work.kind, work.key, entry.value)
    since = None if value is None else work.kind.since(value)
    if value is None or (since is not None and since.timestamp() < oldest):
        return None
    return Result(value, datetime.fromtimestamp(entry.stored_at, UTC), is_free=True)


def _value(kind: Kind[T], key: str, text: str) -> T | None:
    """Read a cached text; what was read from the same one before is still at hand."""
    known = _memory.get(key)
    if known is not None and known[0] == text and kind.own is not None:
        return kind.own(known[1])
    try:
        value = kind.adapter.validate_json(text)
    except ValidationError:  # cached by another version
        return None
    if not all(map(is_web_url, kind.urls(value))):
        return None
    if kind.own is None or len(text) > _LONGEST_REMEMBERED:
        return value
    if len(_memory) >= _MOST_REMEMBERED:
        _memory.clear()
    _memory[key] = text, value
    return kind.own(value)


_memory: dict[str, tuple[str, Any]] = {}  # by key: a cached text, and what was read from it


def cache_all(context: CallContext, results: Iterable[tuple[Work[T], T]]) -> Flow[None]:
    """Cache the results that are worth it."""
    whole = [(work, value) for work, value in results if work.kind.is_whole(value)]
    if context.cache is not None and whole:
        yield Offload(partial(_set_all, context, context.cache, whole))


def _set_all(
    context: CallContext,
    cache: Answers,
    results: Iterable[tuple[Work[T], T]],
) -> None:
    redactor = context.accounts.redactor
    for work, value in results:
        data = work.kind.adapter.dump_json(value)
        text: str | None = data.decode()
        if may_hide(data) or redactor.may_be_in(data):
            text = _without_keys(data.decode(), redactor)
        if text is not None:
            context.try_cache(partial(cache.set, work.key, text))


def _without_keys(text: str, redactor: Redactor) -> str | None:
    """Take the keys out; None where invisible characters stand in one: only an enemy does that."""
    seen = without_invisible(text)
    return redactor.text(text) if seen is text or redactor.text(seen) == seen else None
