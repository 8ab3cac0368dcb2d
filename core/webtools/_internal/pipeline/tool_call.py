"""What a call has at hand beside its arguments: cache, budget, health, log and progress."""

from __future__ import annotations

import itertools
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast, get_args

from webtools._internal.io.runtime import IO
from webtools._internal.logs.events import shared_log
from webtools._internal.logs.records import LOGGER, LOUD, emit, level_of, without_queries
from webtools._internal.pipeline.single_flight import Flights
from webtools._internal.storage.budget import Budget, Sum, forget_spending
from webtools._internal.storage.cache_entries import Cache
from webtools._internal.storage.circuit_breaker import Health
from webtools._internal.storage.circuit_states import Change, State
from webtools._internal.storage.store_errors import StoreError
from webtools._internal.storage.stores import RateLimits, Store, stores_for
from webtools._internal.text.invisible import visible
from webtools.config import Accounts, BudgetConfig, LogConfig, cache_path, log_path
from webtools.errors import InputError
from webtools.inputs.argument_values import shown
from webtools.progress import Progress, ProgressCallback
from webtools.providers.protocols import ReportProgress

if TYPE_CHECKING:
    from webtools._internal.logs.events import Log
    from webtools.providers.drafts import Synthesizer

T = TypeVar("T")

_LONG_LINE = 2048  # bytes of the log
Event: TypeAlias = tuple[int, str, dict[str, Any]]  # nanoseconds since 1970, name, facts
CacheMode: TypeAlias = Literal["use", "refresh", "bypass"]
_CACHE_MODES = get_args(CacheMode)


@dataclass(frozen=True, slots=True)
class CallServices:
    """What the calls under the same settings share.

    Attributes:
        limits: Rate limits of all processes; None where each has its own.
    """

    store: Store
    cache: Cache | None
    flights: Flights
    budget: Budget
    health: Health
    log: Log | None
    limits: RateLimits | None = None


def call_services(accounts: Accounts) -> CallServices:
    """Return what the settings ask for; nothing is opened before it is used."""
    paths = cache_path(accounts), log_path(accounts)
    parts = accounts.config.cache, accounts.config.log, accounts.config.budget
    key = (*paths, accounts.config.storage.key, *(part.model_dump_json() for part in parts))
    return _known.get(key) or _known.setdefault(key, _make(accounts, *paths))


_known: dict[tuple[object, ...], CallServices] = {}  # by what the settings say of them


def forget_calls() -> None:
    """Close the stores and drop the circuit breakers and spending that this process remembers."""
    for services in _known.values():
        services.store.close()
        services.health.forget()
    forget_spending()


def _make(accounts: Accounts, cache_file: Path, log_file: Path) -> CallServices:
    cache, log, url = accounts.config.cache, accounts.config.log, accounts.config.storage.clear
    stores = stores_for(cache_file, url, ttl=cache.ttl_ms / 1000, max_bytes=cache.max_bytes)
    keeps = cache.enabled and cache.ttl_ms > 0
    return CallServices(
        store=stores.store,
        cache=stores.cache if keeps else None,
        flights=Flights(),
        budget=Budget(stores.ledger, accounts.config.budget),
        health=Health(stores.circuits),
        log=_log(log, log_file) if log.enabled else None,
        limits=stores.rate_limits,
    )


def _log(settings: LogConfig, path: Path) -> Log:
    return shared_log(
        path,
        max_bytes=settings.max_bytes,
        max_backups=settings.max_backups,
        rotate_check_ms=settings.rotate_check_ms,
        queries=settings.queries == "on",
    )


@dataclass(frozen=True, slots=True)
class CallOptions:
    """What the caller decides beside the arguments of the tool.

    Attributes:
        cache: `use` what is cached; `refresh` it by asking anew; `bypass` neither reads nor keeps.
        progress: Told whenever a part of the work is done.
        synthesizer: Writes the answer of a research call, in place of the configured one.
        snippets: Whether snippets are asked for where the provider leaves them out by default.
        robots: Whether pages that we read ourselves are read only where robots.txt allows it.
    """

    cache: CacheMode = "use"
    progress: ProgressCallback | None = None
    synthesizer: Synthesizer | None = None
    robots: bool = False
    snippets: bool = False

    def __post_init__(self) -> None:
        """Refuse an unknown value of `cache`."""
        if self.cache not in _CACHE_MODES:
            message = f"cache {shown(self.cache)} is not possible; give use, refresh or bypass."
            raise InputError(message)


@dataclass(slots=True, eq=False, repr=False)  # frozen, it would take thrice as long to make
class Call:
    """One call; only `noted` and what follows it ever change.

    Attributes:
        id: Its name in the log.
        tool: The tool's name.
        accounts: The settings in force.
        services: What it shares with other calls.
        io: Does what blocks: in this thread, or on the running event loop.
        options: What the caller decided.
        noted: What the log is yet to be told, and when it was: one go is quicker than many.
        cache: The cache, unless this call goes past it.
        cache_fault: Why the rest of this call goes without the cache.
        is_unpriced: Whether a request failed of which nobody knows what it cost.
    """

    id: str
    tool: str
    accounts: Accounts
    services: CallServices
    io: IO
    options: CallOptions = field(default_factory=CallOptions)
    noted: deque[Event] = field(default_factory=cast("type[deque[Event]]", deque), repr=False)
    cache: Cache | None = None
    cache_fault: StoreError | None = None
    is_unpriced: bool = False

    def try_cache(self, use: Callable[[], T]) -> T | None:
        """Use the cache; None from the first time on that its store cannot be used."""
        if self.cache_fault is None:
            try:
                return use()
            except StoreError as error:
                self.cache_fault = error
        return None

    def store_warnings(self) -> list[str]:
        """Describe what is wrong with the cache's store, where the user can and must put it right.

        What only lasts a while, such as a lock, costs a call no more than its cache.
        """
        notices = self.services.store.take_notices()
        if (fault := self.cache_fault) is not None and fault.off:
            notices.append(f"The cache was off for this call, as {fault}; {fault.off}.")
        return notices

    def warnings(self) -> list[str]:
        """Describe what is odd about the settings, and wrong with the store of the cache."""
        return [*self.accounts.warnings, *self.store_warnings()]

    def log(self, event: str, **facts: Any) -> None:
        """Note an event; facts that are None are left out, and none may change from now on."""
        if self.services.log is not None or LOGGER.isEnabledFor(level_of(event, facts)):
            if None in facts.values():
                facts = {name: value for name, value in facts.items() if value is not None}
            self.noted.append((time.time_ns(), event, facts))

    def write_log(self) -> None:
        """Write what was noted: at the end, and before anything that may take long."""
        if not self.noted:
            return
        log, events = self.services.log, list[Event]()
        with suppress(IndexError):  # the threads of a call may take at the same time
            while self.noted:
                events.append(self.noted.popleft())
        failures = [name for _, name, facts in events if "error" in facts or name in LOUD]
        if LOGGER.isEnabledFor(logging.WARNING if failures else logging.INFO):
            self._emit(events)
        if log is None or not events:
            return
        lines = [log.line(name, self.id, facts, at=at) for at, name, facts in events]
        written = b"".join(lines)
        # A line as long as that may have been cut, and end in half a key; what is not ASCII may
        # be an invisible character in the midst of one.
        is_odd = max(map(len, lines)) > _LONG_LINE or written.find(rb"\u") >= 0
        if is_odd or self.accounts.redactor.may_be_in(written):
            written = b"".join(
                log.line(name, self.id, self._clean(facts), at=at) for at, name, facts in events
            )
        log.append(written)

    def _emit(self, events: Sequence[Event]) -> None:
        """Emit records of the standard `logging`, with queries if the log has them."""
        has_queries = self.accounts.config.log.queries == "on"
        for _, name, facts in events:
            logged = facts if has_queries else without_queries(facts)
            emit(name, self.tool, self.id, self._clean(logged))

    def _clean(self, facts: dict[str, Any]) -> dict[str, Any]:
        return self.accounts.redactor.clean(visible(facts))

    def moved_on(self, subject: str, left: str, to: str) -> None:
        """Note in log and progress that the next provider is asked in place of one that failed."""
        self.log("moved_on", provider=to, instead_of=left, subject=subject)
        if (report := self.options.progress) is not None:
            told = self.accounts.redactor.text(f'from "{left}" to "{to}"')
            report(Progress(self.tool, "moving on", 1, 1, told))

    def parts(self, stage: str, total: int) -> ReportProgress:
        """Begin a stage of so many parts; call the answer with each that is done or has failed."""
        report = self.options.progress
        if report is None:
            return lambda _subject, _failed: None
        report(Progress(self.tool, stage, 0, total))
        done: Iterator[int] = itertools.count(1)
        clean = self.accounts.redactor.text  # a subject may be a URL that a provider gave
        return lambda subject, failed: report(
            Progress(self.tool, stage, next(done), total, clean(subject), failed)
        )


class _NoStore:
    """Store, spend ledger and circuit states of a call outside of any tool. It keeps nothing."""

    @property
    def store(self) -> _NoStore:
        return self

    def take_notices(self) -> list[str]:
        return []

    def close(self) -> None:
        pass

    def reserve(self, _cost: int, _limit: Sum) -> tuple[str, Sum | None]:
        return "", None

    def adjust(self, _day: str, _change: int) -> None:
        pass

    def today(self) -> Sum:
        return Sum(0, 0)

    def read(self, _key: str) -> State | None:
        return None

    def change(self, _key: str, _change: Change) -> State | None:
        return None


_NO_ACCOUNTS = Accounts((), "the code")


def detached(io: IO, accounts: Accounts = _NO_ACCOUNTS) -> Call:
    """Build a call outside of any tool: nothing is cached, counted or logged."""
    store = _NoStore()
    budget, health = Budget(store, BudgetConfig()), Health(store)
    services = CallServices(store, None, Flights(), budget, health, None)
    return Call("", "", accounts, services, io)
