"""The registry of providers: ours, those that code registers, those that packages announce."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, get_args

from webtools._internal.io.locks import RLock
from webtools.errors import ConfigError
from webtools.providers.about import About, Account, Capability
from webtools.providers.protocols import (
    DocsProvider,
    DocsQuery,
    FetchProvider,
    PageProvider,
    PageQuery,
    Provider,
    Query,
    SearchProvider,
    SearchQuery,
    SummaryProvider,
    SummaryQuery,
    SynthesisProvider,
    SynthesisQuery,
)

GROUP = "webtools.providers"  # of entry points

# The functions of each thing that a provider can do; the first tells that it means to do it.
_FUNCTIONS: dict[str, tuple[str, ...]] = {
    "search": ("search_request", "search_price", "read_search", "native_filters"),
    "fetch": ("fetch_request", "fetch_price", "read_pages"),
    "summarize": ("summary_request", "summary_price", "read_summary"),
    "docs": ("lookup", "lookup_price"),
    "synthesize": ("synthesis_request", "synthesis_price", "read_synthesis"),
    "pages": ("pages", "fetch_price"),
}
_PRICES: dict[type[Query], str] = {
    SearchQuery: "search_price",
    PageQuery: "fetch_price",
    SummaryQuery: "summary_price",
    DocsQuery: "lookup_price",
    SynthesisQuery: "synthesis_price",
}


@dataclass(frozen=True, slots=True)
class Services:
    """A provider, once as a whole and once for each thing it can do.

    A provider fetches either with requests to its API (`fetch`) or in its own way (`pages`).
    """

    provider: Provider
    search: SearchProvider | None = None
    fetch: FetchProvider | None = None
    summarize: SummaryProvider | None = None
    docs: DocsProvider | None = None
    synthesize: SynthesisProvider | None = None
    pages: PageProvider | None = None

    @property
    def about(self) -> About:
        """The facts of the provider."""
        return self.provider.ABOUT

    def can(self, capability: Capability) -> bool:
        """Return whether the provider can do something; the fields bear the capabilities' names."""
        return bool(getattr(self, capability) or (capability == "fetch" and self.pages))

    def capabilities(self) -> tuple[Capability, ...]:
        """Name what the provider can do."""
        every: tuple[Capability, ...] = get_args(Capability)
        return tuple(name for name in every if self.can(name))

    def worst_cost(self, query: Query, account: Account) -> float:
        """Return the most that one call for a query may cost, in USD, by the price tables.

        Raises:
            TypeError: The provider takes no such query.
        """
        price: Callable[..., float] | None = getattr(self.provider, _PRICES[type(query)], None)
        if price is None:
            message = f"{self.about.name} takes no {type(query).__name__}"
            raise TypeError(message)
        return round(price(query, account), 6)


def services_of(provider: Any) -> Services:
    """Return what a module or an object can do, by the functions that it has.

    Raises:
        ConfigError: It has no `ABOUT`, or lacks a function of what it begins to do.
    """
    about: object = getattr(provider, "ABOUT", None)
    if not isinstance(about, About):
        raise ConfigError(f"{_name_of(provider)} is no provider: it has no ABOUT of type About.")
    able = [each for each, (first, *_) in _FUNCTIONS.items() if hasattr(provider, first)]
    wanted = ["read_error", *(name for each in able for name in _FUNCTIONS[each])]
    missing = [name for name in wanted if not callable(getattr(provider, name, None))]
    if missing or not able:
        lacks = ", ".join(missing) or "any of " + ", ".join(f for f, *_ in _FUNCTIONS.values())
        raise ConfigError(f'Provider "{about.name}" ({_name_of(provider)}) lacks {lacks}.')
    return Services(provider, **dict.fromkeys(able, provider))


def _name_of(provider: Any) -> str:
    return str(getattr(provider, "__name__", type(provider).__name__))


class Registry(Mapping[str, Services]):
    """Providers by type; a type that is unknown is looked for in the installed packages.

    Iterating lists ours, what was registered, and what was asked for by its type. Once an unknown
    type was asked for, `announced` names the rest; whoever reads the environment has all of them
    loaded, as only they know their variables.

    Args:
        ours: Types of ours; each is the module here of that name.
    """

    def __init__(self, ours: Sequence[str]) -> None:
        self._ours = ours
        self._loaded: dict[str, Services] = {}
        self._entry_points: dict[str, EntryPoint] | None = None
        self._broken: tuple[str, ...] | None = None  # unknown until all were loaded
        self._lock = RLock()

    def __getitem__(self, kind: str) -> Services:
        """Return the provider of a type.

        Raises:
            KeyError: There is none.
            ConfigError: An installed package announces it, but it cannot be used.
        """
        found = self._loaded.get(kind)
        return self._load(kind) if found is None else found

    def __iter__(self) -> Iterator[str]:
        """List these types."""
        return iter(dict.fromkeys((*self._ours, *self._loaded)))

    def __len__(self) -> int:
        """Count these types."""
        return len({*self._ours, *self._loaded})

    def register(self, provider: Any) -> Services:
        """Add a provider, a module or an object, for this process; the last of a type counts.

        Raises:
            ConfigError: It is no provider, or has the type of one of ours.
        """
        found = services_of(provider)
        name = found.about.name
        with self._lock:
            if name in self._ours and self[name].provider is not provider:
                raise ConfigError(f'Provider type "{name}" is built in; choose another name.')
            self._loaded[name] = found
        return found

    def forget(self, kind: str) -> None:
        """Remove a provider that was registered; ours stay."""
        with self._lock:
            if kind not in self._ours:
                self._loaded.pop(kind, None)

    def announced(self) -> tuple[str, ...]:
        """Name the types that installed packages announce, without loading any."""
        with self._lock:
            if self._entry_points is None:  # the scan takes long: 13 ms
                found = entry_points(group=GROUP)
                self._entry_points = {each.name: each for each in found}
            return tuple(name for name in self._entry_points if name not in self._ours)

    def load_announced(self) -> tuple[str, ...]:
        """Load all that installed packages announce; return a sentence for each that is broken."""
        with self._lock:
            if self._broken is None:
                self._broken = tuple(filter(None, map(self._fault_of, self.announced())))
            return self._broken

    def _fault_of(self, kind: str) -> str:
        try:
            self[kind]
        except ConfigError as error:
            return str(error)
        return ""

    def types(self) -> tuple[str, ...]:
        """Name every type that there is, loaded or announced."""
        return tuple(dict.fromkeys([*self, *self.announced()]))

    def _load(self, kind: str) -> Services:
        if kind in self._ours:
            module = import_module(f"{__package__}.{kind.replace('-', '_')}")
            return self._loaded.setdefault(kind, services_of(module))
        with self._lock:
            if kind not in self.announced() or self._entry_points is None:
                raise KeyError(kind)
            point = self._entry_points[kind]
            package = point.dist.name if point.dist else point.value
            found = services_of_entry_point(point, package)
            if found.about.name != kind:
                fault = f'announces it as "{kind}", but its ABOUT says "{found.about.name}"'
                raise ConfigError(f'Provider type "{kind}": package {package} {fault}.')
            return self._loaded.setdefault(kind, found)


def services_of_entry_point(point: EntryPoint, package: str) -> Services:
    """Load what an entry point names.

    Raises:
        ConfigError: It cannot be imported, or is no provider.
    """
    try:
        return services_of(point.load())
    except ConfigError as error:
        fault = str(error)
    except Exception as error:  # noqa: BLE001  # a package of somebody else may raise anything
        words = str(error).rstrip(".")
        fault = f"{point.value} cannot be imported ({type(error).__name__}: {words})"
    raise ConfigError(
        f'Provider type "{point.name}" of package {package} is broken: {fault.rstrip(".")}. '
        f"Update or remove {package}."
    )
