"""The registry of providers: built-in, registered in code, or announced by installed packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple, get_args

from webtools._internal.faults import Fault, with_fault
from webtools.errors import ConfigError
from webtools.providers.about import About, Account, Capability
from webtools.providers.capabilities import CAPABILITIES, PAGES, capability_of
from webtools.providers.protocols import (
    DocsProvider,
    FetchProvider,
    PageProvider,
    Provider,
    Query,
    SearchProvider,
    SummaryProvider,
    SynthesisProvider,
)

GROUP = "webtools.providers"  # of entry points


class Services(NamedTuple):
    """A provider, and the protocols that it supports.

    Attributes:
        provider: The provider.
        search: The provider if it can search, else None. The same applies to the others.
        fetch: The provider if it fetches pages with one request to its API.
        summarize: The provider if it can summarize.
        docs: The provider if it can search documentation.
        synthesize: The provider if it can write answers.
        pages: The provider if it fetches pages with requests of its own.
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
        """Return whether the provider has a capability."""
        return bool(getattr(self, capability) or (capability == "fetch" and self.pages))

    def capabilities(self) -> tuple[Capability, ...]:
        """List the capabilities of the provider."""
        capabilities: tuple[Capability, ...] = get_args(Capability)
        return tuple(capability for capability in capabilities if self.can(capability))

    def worst_cost(self, query: Query, account: Account) -> float:
        """Return the maximum cost of a call in USD, from the price list.

        Raises:
            TypeError: The provider does not support such queries.
        """
        name = CAPABILITIES[capability_of(query)].price
        price: Callable[..., float] | None = getattr(self.provider, name, None)
        if price is None:
            message = f"{self.about.name} takes no {type(query).__name__}"
            raise TypeError(message)
        return round(price(query, account), 6)


def read_provider(provider: Any) -> Services:
    """Check a module or an object, and return it with the protocols that it supports.

    Raises:
        ConfigError: It has no `ABOUT`, supports no protocol, or lacks functions of one.
    """
    about: object = getattr(provider, "ABOUT", None)
    name = str(getattr(provider, "__name__", type(provider).__name__))
    if not isinstance(about, About):
        raise ConfigError(f"{name} is not a provider: it has no ABOUT of type About.")
    functions: dict[str, tuple[str, ...]]
    functions = {name: facts.functions for name, facts in CAPABILITIES.items()}
    functions[PAGES] = (PAGES, CAPABILITIES["fetch"].price)
    protocols = [key for key, names in functions.items() if hasattr(provider, names[0])]
    required = ["read_error", *(name for key in protocols for name in functions[key])]
    missing = [name for name in required if not callable(getattr(provider, name, None))]
    if missing or not protocols:
        first_functions = ", ".join(names[0] for names in functions.values())
        lacks = ", ".join(missing) or f"any of {first_functions}"
        raise ConfigError(f'Provider "{about.name}" ({name}) lacks {lacks}.')
    return Services(provider, **dict.fromkeys(protocols, provider))


class Registry(Mapping[str, Services]):
    """Providers by type.

    Iterate over the registry to get the types of built-in providers, of registered providers, and
    of those from installed packages that are already loaded. Looking up another type searches the
    installed packages. `announced` lists their types without importing them, and `load_announced`
    imports them all.

    Args:
        built_in: The types of the built-in providers, in the order in which messages and docs list
            them. Each is a module of this package, which is imported at the first use.
    """

    def __init__(self, *built_in: str) -> None:
        self._built_in: dict[str, Services | None] = dict.fromkeys(built_in)
        self._added: dict[str, Services] = {}
        self._entry_points: dict[str, EntryPoint] | None = None
        self._broken: tuple[str, ...] | None = None  # None until all packages were loaded

    def __getitem__(self, kind: str) -> Services:
        """Return the provider of a type.

        Raises:
            KeyError: No provider has this type.
            ConfigError: An installed package announces the type, but its provider is broken.
        """
        if kind not in self._built_in:
            return self._added.get(kind) or self._load(kind)
        if (services := self._built_in[kind]) is None:
            module = import_module(f"webtools.providers.{kind.replace('-', '_')}")
            services = self._built_in[kind] = read_provider(module)
        return services

    def __iter__(self) -> Iterator[str]:
        """List the types of the built-in and the loaded providers."""
        return iter([*self._built_in, *self._added])

    def __len__(self) -> int:
        """Count the built-in and the loaded providers."""
        return len(self._built_in) + len(self._added)

    def register(self, provider: Any) -> Services:
        """Add a provider for this process. It replaces a registered one of the same type.

        Args:
            provider: A module, or an object with the same attributes.

        Raises:
            ConfigError: It is not a provider, or its type is built in.
        """
        services = read_provider(provider)
        name = services.about.name
        if name in self._built_in:
            if self[name].provider is not provider:
                raise ConfigError(f'Provider type "{name}" is built in; choose another name.')
            return services
        self._added[name] = services
        return services

    def forget(self, kind: str) -> None:
        """Remove a registered provider. Built-in providers stay."""
        self._added.pop(kind, None)

    def announced(self) -> tuple[str, ...]:
        """List the types that installed packages announce, without importing them."""
        return tuple(name for name in self._points() if name not in self._built_in)

    def _points(self) -> dict[str, EntryPoint]:
        if self._entry_points is None:  # the scan takes 13 ms
            self._entry_points = {point.name: point for point in entry_points(group=GROUP)}
        return self._entry_points

    def load_announced(self) -> tuple[str, ...]:
        """Load the providers of all installed packages. Return a message for each broken one."""
        if self._broken is None:
            self._broken = tuple(filter(None, map(self._load_fault, self.announced())))
        return self._broken

    def _load_fault(self, kind: str) -> str:
        try:
            self[kind]
        except ConfigError as error:
            return str(error)
        return ""

    def types(self) -> tuple[str, ...]:
        """List all types: built in, registered or announced."""
        return tuple(dict.fromkeys([*self, *self.announced()]))

    def _load(self, kind: str) -> Services:
        if kind not in self.announced():
            raise KeyError(kind)
        point = self._points()[kind]
        package = point.dist.name if point.dist else point.value
        services = _load_entry_point(point, package)
        if services.about.name != kind:
            fault = f'announces it as "{kind}", but its ABOUT says "{services.about.name}"'
            message = f'Provider type "{kind}": package {package} {fault}.'
            raise with_fault(ConfigError(message), Fault.BROKEN_PLUGIN)
        return self._added.setdefault(kind, services)  # another thread may have loaded it too


def _load_entry_point(point: EntryPoint, package: str) -> Services:
    """Load the provider of an entry point.

    Raises:
        ConfigError: It cannot be imported, or is not a provider.
    """
    try:
        return read_provider(point.load())
    except ConfigError as error:
        fault = str(error)
    except Exception as error:  # noqa: BLE001  # a package may raise anything
        fault = f"{point.value} cannot be imported ({type(error).__name__}: {error})"
    raise with_fault(
        ConfigError(
            f'Provider type "{point.name}" of package {package} is broken: {fault.rstrip(".")}. '
            f"Update or remove {package}.",
        ),
        Fault.BROKEN_PLUGIN,
    )
