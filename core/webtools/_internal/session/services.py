"""What the calls of a session share: a budget within that of the settings, and perhaps a cache."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, replace

from webtools._internal.pipeline.single_flight import Flights
from webtools._internal.pipeline.tool_call import CallServices
from webtools._internal.session.options import SessionOptions
from webtools._internal.session.spending import Spending
from webtools._internal.storage.budget import Budget, LimitWords, SharedLedger
from webtools._internal.storage.cache_entries import Cache, CacheStats, Entry
from webtools._internal.storage.store_errors import StoreError
from webtools.errors import SESSION_LIMIT, ConfigError

_STORE_LETTERS = 8
_DAY = LimitWords(
    usd="usd_per_day",
    calls="",
    period="today (UTC) by this user",
    remedy="wait until 00:00 UTC",
    part="the session's ",
    code=SESSION_LIMIT,
)
_SESSION = replace(_DAY, usd="usd", period="in this session", remedy="answer with what you have")


@dataclass(frozen=True, slots=True)
class _Limits:
    usd_per_day: float | None
    usd_per_process: float | None
    calls_per_day: None = None
    calls_per_process: None = None


class ScopedCache:
    """A part of a cache, whose keys have a prefix. See `Cache`."""

    def __init__(self, cache: Cache, scope: str) -> None:
        self._cache, self._scope = cache, scope

    def get(self, key: str, *, with_expired: bool = False) -> Entry | None:
        return self._cache.get(f"{self._scope}:{key}", with_expired=with_expired)

    def set(self, key: str, value: str, *, keep: float = 0.0) -> None:
        self._cache.set(f"{self._scope}:{key}", value, keep=keep)

    def delete(self, key: str) -> None:
        self._cache.delete(f"{self._scope}:{key}")

    def stats(self) -> CacheStats:
        return self._cache.stats()

    def clear(self, scope: str = "") -> int:
        return self._cache.clear(scope or self._scope)


def user_hash(user: str, ledger: SharedLedger) -> str:
    """Return a name for a user from which the user cannot be guessed without the store.

    It begins with a name for the store.

    Raises:
        ConfigError: The store cannot be used.
    """
    try:
        secret = ledger.secret()
    except StoreError as error:
        raise ConfigError(
            f"The user of the session cannot be named: {error}. Check cache.path or storage.url."
        ) from None
    store = hashlib.sha256(secret).hexdigest()[:_STORE_LETTERS]
    name = hmac.new(secret, user.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]
    return f"{store}-{name}"


class SessionServices:
    """Makes the services of a session from those of the settings."""

    def __init__(self, options: SessionOptions, session_id: str, spending: Spending) -> None:
        self._options = options
        self._id_scope = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[
            :32
        ]
        self._spending = spending
        self._flights = Flights() if options.has_own_cache else None
        self._last: tuple[CallServices, CallServices] | None = None
        self.user = ""  # the hash, once it is known

    @property
    def counts_usd(self) -> bool:
        """Whether the budget of the session counts what its calls cost."""
        return self._options.usd is not None or self._options.usd_per_day is not None

    @property
    def reader(self) -> str:
        """Who may read stored outputs again, once the user is known: the user, or the session."""
        scope = f"user {self.user}" if self.user else f"session {self._id_scope}"
        return hashlib.sha256(scope.encode()).hexdigest()[:32]

    def known(self, services: CallServices) -> CallServices | None:
        """Return the services, if they were made from these before."""
        last = self._last
        return last[1] if last is not None and last[0] is services else None

    def make(self, services: CallServices) -> CallServices:
        """Return the services. Reads the store if the session has a user.

        Raises:
            ConfigError: The store cannot be used.
        """
        options, ledger = self._options, services.ledger
        if options.user:
            self.user = user_hash(options.user, ledger)
        budget = services.budget
        if self.counts_usd:
            budget = Budget(
                ledger.of_user(self.user),
                _Limits(options.usd_per_day, options.usd),
                owner=self._spending,
                outer=budget,
                day=_DAY,
                process=_SESSION,
            )
        cache = services.cache
        if cache is not None and options.has_own_cache:
            cache = ScopedCache(cache, self.user or self._id_scope)
        made = services._replace(
            budget=budget, cache=cache, flights=self._flights or services.flights
        )
        self._last = services, made
        return made
