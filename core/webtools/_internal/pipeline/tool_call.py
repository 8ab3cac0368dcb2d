"""A call of a tool: its cache, budget, circuit breakers, log and progress."""

from __future__ import annotations

import itertools
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast, get_args

from webtools._internal.io.runtime import IO
from webtools._internal.logs.events import shared_log
from webtools._internal.logs.records import LOGGER, WARNINGS, emit, level_of, without_queries
from webtools._internal.pipeline.single_flight import Flights
from webtools._internal.storage.budget import Budget, SharedLedger, Sum, forget_spending
from webtools._internal.storage.cache_entries import Cache, Entry
from webtools._internal.storage.circuit_breaker import Change, Health, State
from webtools._internal.storage.store_errors import StoreError
from webtools._internal.storage.stores import Store, stores_for
from webtools._internal.text.invisible import visible
from webtools.choices import CacheMode
from webtools.config import Accounts, BudgetConfig, LogConfig, cache_path, log_path
from webtools.errors import InputError
from webtools.inputs.argument_values import shown
from webtools.progress import Progress, ProgressCallback, check_callback
from webtools.providers.protocols import ReportProgress

if TYPE_CHECKING:
    from webtools._internal.logs.events import Log
    from webtools._internal.pipeline.tape_lines import TapedCall
    from webtools._internal.storage.redis_rate_limits import RedisRateLimits
    from webtools.providers.drafts import Synthesizer


Event: TypeAlias = tuple[int, str, dict[str, Any]]  # time in ns since 1970, name, facts
_CACHE_MODES = get_args(CacheMode)


class CallServices(NamedTuple):
    """What calls with the same settings share.

    Attributes:
        limits: Rate limits that all processes share; None if each process has its own.
        ledger: The sums of each day.
    """

    stores: tuple[Store, ...]
    cache: Cache | None
    flights: Flights
    budget: Budget
    health: Health
    log: Log | None
    ledger: SharedLedger
    limits: RedisRateLimits | None = None


def call_services(accounts: Accounts) -> CallServices:
    """Return the services for some settings. Nothing is opened before it is used."""
    paths = cache_path(accounts), log_path(accounts)
    config = accounts.config
    key = (*paths, config.storage.key, config.cache, config.log, config.budget)
    return _services.get(key) or _services.setdefault(key, _make_services(accounts, *paths))


_services: dict[tuple[object, ...], CallServices] = {}  # by their settings


def forget_calls() -> None:
    """Close the stores, and forget the circuit breakers and spending of this process."""
    for services in _services.values():
        for store in services.stores:
            store.close()
        services.health.forget()
    forget_spending()


def _make_services(accounts: Accounts, cache_file: Path, log_file: Path) -> CallServices:
    cache, log, url = accounts.config.cache, accounts.config.log, accounts.config.storage.full_url
    stores = stores_for(cache_file, url, ttl=cache.ttl_ms / 1000, max_bytes=cache.max_bytes)
    keeps = cache.enabled and cache.ttl_ms > 0
    return CallServices(
        stores=stores.opened,
        cache=stores.cache if keeps else None,
        flights=Flights(),
        budget=Budget(stores.ledger, accounts.config.budget),
        health=Health(stores.circuits),
        log=_open_log(log, log_file) if log.enabled else None,
        limits=stores.rate_limits,
        ledger=stores.ledger,
    )


def _open_log(settings: LogConfig, path: Path) -> Log:
    return shared_log(
        path,
        max_bytes=settings.max_bytes,
        max_backups=settings.max_backups,
        rotate_check_ms=settings.rotate_check_ms,
        queries=settings.queries == "on",
    )


@dataclass(frozen=True, slots=True)
class CallOptions:
    """Options of a call that are not arguments of the tool.

    Attributes:
        cache: `use` cached responses, `refresh` them, or `bypass` the cache.
        progress: A plain function, called when part of the work is done.
        synthesizer: Writes the answer of a research call instead of the configured one.
        robots: Whether to obey robots.txt when reading pages ourselves.
        snippets: Whether to request snippets that the provider omits by default.
        timeout: Seconds for the whole call; None for `timeoutMs` of the settings.
    """

    cache: CacheMode = "use"
    progress: ProgressCallback | None = None
    synthesizer: Synthesizer | None = None
    robots: bool = False
    snippets: bool = False
    timeout: float | None = None

    def __post_init__(self) -> None:
        """Refuse an unknown value of `cache`, an async `progress` and an invalid `timeout`."""
        if self.timeout is not None and not _is_time(self.timeout):
            expected = "expected a number of seconds above 0"
            raise InputError(f"Invalid `timeout` {shown(self.timeout)}: {expected}.")
        if self.cache not in _CACHE_MODES:
            message = f"Invalid `cache` {shown(self.cache)}: expected use, refresh or bypass."
            raise InputError(message)
        if self.progress is not None:
            check_callback(self.progress)


def _is_time(value: object) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and 0 < value < inf  # type: ignore[operator]


@dataclass(slots=True, eq=False, repr=False)
class Call:
    """One call of a tool.

    Attributes:
        id: Its id in the log, in progress and in the result.
        tool: The tool's name.
        accounts: The settings.
        services: The cache, the budget and whatever else it shares with other calls.
        io: Its I/O: in this thread, or on the running event loop.
        options: The options of the caller.
        pending_events: Events that are not in the log yet.
        cache: The cache; None if this call bypasses it.
        read_fault: Why the cache could not be read.
        write_fault: Why the response could not be cached.
        is_unpriced: Whether a request failed whose cost is unknown.
        deadline: When the whole call ends at the latest, on the clock of `io.now()`.
        time_limit: What sets the deadline, for messages; empty without a time limit.
        as_seen: What an API gets instead of a URL whose fragment is applied here.
        find_seen: Returns what to open for a URL that was found for a question. Default: the URL.
        number_of: Returns the number of a source in texts for models. Default: by its position.
        charges: The provider and the cost of each request, None for an unknown cost. Default: not
            kept.
        taped: The recorded call that answers it; None for a call that is made.
        reader: Who may read its stored output: a user or a session. Default: all.
        user: The user of its session, as on a tape; see `name_on_tape`.
    """

    id: str
    tool: str
    accounts: Accounts
    services: CallServices
    io: IO
    options: CallOptions = field(default_factory=CallOptions)
    pending_events: deque[Event] = field(
        default_factory=cast("type[deque[Event]]", deque), repr=False
    )
    cache: Cache | None = None
    read_fault: StoreError | None = None
    write_fault: StoreError | None = None
    is_unpriced: bool = False
    deadline: float = inf
    time_limit: str = ""
    as_seen: Mapping[str, str] = field(default_factory=dict[str, str])
    find_seen: Callable[[str, str], str | None] | None = None
    number_of: Callable[[str], int] | None = None
    charges: list[tuple[str, float | None]] | None = None
    taped: TapedCall | None = None
    reader: str = ""
    user: str = ""

    @property
    def timeout(self) -> float | None:
        """Seconds for the whole call, or None."""
        if self.options.timeout is not None:
            return self.options.timeout
        timeout_ms = self.accounts.config.timeout_ms
        return timeout_ms / 1000 if timeout_ms else None

    def read_cache(self, cache: Cache, key: str, *, with_expired: bool = False) -> Entry | None:
        """Return a cache entry; None if the store fails. After a failure it is not read again."""
        if self.read_fault is None:
            try:
                return cache.get(key, with_expired=with_expired)
            except StoreError as error:
                self.read_fault = error
        return None

    def write_cache(self, cache: Cache, key: str, value: str | None, *, keep: float = 0.0) -> None:
        """Cache a value, or delete it; see `Cache.set`.

        Nothing is done if the store has failed. A full one can still be read.
        """
        if self.read_fault is None and self.write_fault is None:
            try:
                if value is None:
                    cache.delete(key)
                else:
                    cache.set(key, value, keep=keep)
            except StoreError as error:
                self.write_fault = error

    def store_warnings(self) -> list[str]:
        """Return warnings about faults of the store that the user has to fix.

        Temporary faults, such as a lock, are left out.
        """
        notices = [text for store in self.services.stores for text in store.take_notices()]
        fault = self.read_fault or self.write_fault
        if fault is not None and fault.off:
            effect = "The cache was not used" if self.read_fault else "The response was not cached"
            notices.append(f"{effect}, because {fault}. {fault.off}.")
        return notices

    def warnings(self) -> list[str]:
        """Return the warnings about the settings and the store."""
        return [*self.accounts.warnings, *self.store_warnings()]

    def log(self, event: str, **facts: Any) -> None:
        """Add an event to the log, which is written later. Facts that are None are left out."""
        if self.services.log is not None or LOGGER.isEnabledFor(level_of(event, facts)):
            if None in facts.values():
                facts = {name: value for name, value in facts.items() if value is not None}
            self.pending_events.append((time.time_ns(), event, facts))

    def write_log(self) -> None:
        """Write the pending events. Called at the end, and before anything that may take long."""
        if not self.pending_events:
            return
        log, events = self.services.log, list[Event]()
        with suppress(IndexError):  # another thread of the call can remove the last one
            while self.pending_events:
                events.append(self.pending_events.popleft())
        failures = [name for _, name, facts in events if "error" in facts or name in WARNINGS]
        if LOGGER.isEnabledFor(logging.WARNING if failures else logging.INFO):
            self._emit(events)
        if log is None or not events:
            return
        # The facts, not the lines: a long line is cut, perhaps inside a key.
        lines = (log.line(name, self.id, self._clean(facts), at=at) for at, name, facts in events)
        log.append(b"".join(lines))

    def _emit(self, events: Sequence[Event]) -> None:
        """Emit records of the standard `logging`, with queries if the log has them."""
        has_queries = self.accounts.config.log.queries == "on"
        for _, name, facts in events:
            logged = facts if has_queries else without_queries(facts)
            emit(name, self.tool, self.id, self._clean(logged))

    def _clean(self, facts: dict[str, Any]) -> dict[str, Any]:
        return self.accounts.redactor.clean(visible(facts))

    def report_failover(self, subject: str, previous: str, following: str) -> None:
        """Log and report that the next provider is called instead of one that failed."""
        self.log("moved_on", provider=following, instead_of=previous, subject=subject)
        if (report := self.options.progress) is not None:
            subject_text = self.accounts.redactor.text(f'from "{previous}" to "{following}"')
            report(Progress(self.tool, "falling back", 1, 1, subject_text, call_id=self.id))

    def begin_stage(self, stage: str, total: int) -> ReportProgress:
        """Report a stage with some parts. Call the result when a part is done or has failed."""
        report = self.options.progress
        if report is None:
            return lambda _subject, _failed: None
        report(Progress(self.tool, stage, 0, total, call_id=self.id))
        numbers: Iterator[int] = itertools.count(1)
        clean = self.accounts.redactor.text  # a subject can be a URL from a provider
        return lambda subject, failed: report(
            Progress(self.tool, stage, next(numbers), total, clean(subject), failed, self.id)
        )


class _NoStore:
    """A store, spend ledger and circuit states that keep nothing."""

    @property
    def store(self) -> _NoStore:
        return self

    def take_notices(self) -> list[str]:
        return []

    def close(self) -> None:
        pass

    def reserve(self, _cost: int, _limit: Sum) -> tuple[str, Sum | None]:
        return "", None

    def adjust(self, _day: str, _change: int, _calls: int = 0) -> None:
        pass

    def today(self) -> Sum:
        return Sum(0, 0)

    def of_user(self, _user: str) -> _NoStore:
        return self

    def forget(self) -> None:
        pass

    def secret(self) -> bytes:
        return b""

    def read(self, _key: str) -> State | None:
        return None

    def change(self, _key: str, _change: Change) -> State | None:
        return None


_NO_ACCOUNTS = Accounts((), "the code")


def detached(io: IO, accounts: Accounts = _NO_ACCOUNTS) -> Call:
    """Return a call for tests of providers: nothing is cached, counted or logged."""
    store = _NoStore()
    budget, health = Budget(store, BudgetConfig()), Health(store)
    services = CallServices((store,), None, Flights(), budget, health, log=None, ledger=store)
    return Call("", "", accounts, services, io)
