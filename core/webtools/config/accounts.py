"""The providers of the settings: which one serves a call, and the errors if none can."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from webtools._internal.http.proxies import NO_PROXIES, Proxies
from webtools._internal.io.pacing import Pacer
from webtools._internal.pages import INSTALL, missing_libraries
from webtools._internal.text.nested_texts import secrets_in
from webtools._internal.text.quoting import hint, listed, quote
from webtools._internal.text.redaction import Redactor, redactor_for
from webtools.config.config_file import CONFIG_VARIABLE, PLACEHOLDER, absolute
from webtools.config.config_messages import not_picklable
from webtools.config.config_models import Config, ProviderConfig, TopLevel, without_providers
from webtools.config.environment import ignored_variables
from webtools.config.first_steps import first_steps, keyless_abouts, keyless_titles
from webtools.config.paths import CODE, ENVIRONMENT, config_paths, file_of
from webtools.config.setting_values import KeySource
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.about import DIRECT
from webtools.providers.capabilities import CAPABILITIES
from webtools.providers.operator_domains import NO_DOMAINS, OperatorDomains

_INSTALL_READER = f"Or install the page reader, which needs no key: {INSTALL}"
DEFAULT_LIMIT = 5  # results per query, if neither the call nor the settings set it


def build(
    entry: ProviderConfig,
    pacer: Pacer | None,
    origin: str,
    proxies: Proxies = NO_PROXIES,
    domains: OperatorDomains = NO_DOMAINS,
) -> Account:
    """Return the account of an entry.

    Raises:
        ConfigError: The key is the placeholder of an example.
    """
    about = PROVIDERS[entry.type].about
    key = entry.api_key.get_secret_value() if entry.api_key else ""
    if _is_placeholder(key):
        message = (
            f"{origin}: the apiKey of {quote(entry.name)} is still the placeholder of the example. "
            f"Replace it with your {about.title} API key{_set_key(origin, entry.name)}."
        )
        raise ConfigError(message)
    return Account(
        name=entry.name,
        type=entry.type,
        base_url=entry.base_url or about.origin,
        api_key=entry.api_key,
        options=entry.options,
        timeout=entry.timeout_ms / 1000 if entry.timeout_ms else None,
        pacer=pacer,
        proxy=None if entry.goes_direct else entry.proxy,
        proxies=NO_PROXIES if entry.goes_direct else proxies,
        fetch_fallback=entry.fetch_fallback,
        domains=domains,
    )


def secrets_of(settings: TopLevel, entries: Iterable[ProviderConfig] = ()) -> set[str]:
    """Return the keys, proxies and passwords of settings, and of further entries."""
    url = settings.storage.full_url
    secrets = {url} if "@" in url else set[str]()
    for entry in (*settings.providers, *entries):
        proxy = None if entry.goes_direct else entry.proxy
        for value in secrets_in([entry.api_key, proxy, entry.options]):
            key = value.known() if isinstance(value, KeySource) else value.get_secret_value()
            if key and not _is_placeholder(key):
                secrets.add(key)
    return secrets


def _is_placeholder(key: str) -> bool:
    return bool(PLACEHOLDER.fullmatch(key)) or key.endswith("...")


@dataclass(frozen=True)
class Accounts:
    """The providers of the settings.

    Attributes:
        accounts: The providers, in the order of the settings.
        origin: The source of the settings: a path, "the code" or "the environment".
        config: The settings, with absolute paths. Without a key, it has no providers.
        warnings: Sentences about questionable settings.
        proxies: The proxies of the environment.
        environ: The environment, whose keys a config file hides.
        stand_ins: The providers that search without a key if no configured provider can. Empty
            unless the settings allow it.
        hidden: Further keys that are known, such as those that these settings replace.
        secrets: Strings that must not appear in any text, with those.
        redactor: Removes them from texts.
    """

    accounts: tuple[Account, ...]
    origin: str
    config: Config = field(default_factory=without_providers, repr=False, hash=False)  # holds dicts
    warnings: tuple[str, ...] = ()
    proxies: Proxies = NO_PROXIES
    stand_ins: tuple[Account, ...] = ()
    environ: Mapping[str, str] = field(
        repr=False, compare=False, default_factory=lambda: os.environ
    )
    hidden: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    secrets: frozenset[str] = field(init=False, repr=False, compare=False)
    redactor: Redactor = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Collect the secrets once, because all results are redacted."""
        secrets = self.hidden | self.proxies.secrets | secrets_of(self.config)
        secrets = secrets.union(*(account.secrets for account in self.accounts))
        object.__setattr__(self, "secrets", secrets)
        object.__setattr__(self, "redactor", redactor_for(secrets))

    @cached_property
    def keyless(self) -> Account:
        """The provider that fetches pages if no configured provider can."""
        return keyless_account(DIRECT, self.proxies, self.config.fetch.domains)

    @property
    def direct(self) -> Account:
        """The first configured provider of type `direct`, else the keyless one."""
        configured = (account for account in self.accounts if account.type == DIRECT)
        return next(configured, self.keyless)

    def select_fetcher(self, name: str | None = None) -> Account:
        """Choose the provider that fetches pages: a configured one, else the keyless one.

        Raises:
            ConfigError: As `select`, or the keyless one needs an extra that is not installed.
        """
        if name == DIRECT and self.named(name) is None:
            return self.keyless
        fetchers = [account for account in self.accounts if PROVIDERS[account.type].can("fetch")]
        if name or not all(_is_last_resort(account, "fetch") for account in fetchers):
            return self.select("fetch", name)
        if missing_libraries() is None:
            return self.keyless
        try:
            return self.select("fetch")
        except ConfigError as error:
            raise ConfigError(f"{error}\n{_INSTALL_READER}") from None

    def chain(self, capability: Capability, name: str | None = None) -> tuple[Account, ...]:
        """List the providers that may serve a call, in order.

        A named provider is the only one. For a fetch, each provider is followed by its own
        `fetchFallback`.

        Raises:
            ConfigError: As `select`.
        """
        is_fetch, capable = capability == "fetch", self.capable(capability)
        first = self.select_fetcher(name) if is_fetch else self._choose(capability, name, capable)
        if name:
            return (first,)
        chain = [first, *(capable if self.config.failover else ())]
        if is_fetch:
            pairs = [(account, self.fallback(account)) for account in chain]
            chain = [account for pair in pairs for account in pair if account is not None]
        return tuple({account.name: account for account in chain}.values())

    def fallback(self, account: Account) -> Account | None:
        """Return the provider that retries pages which an account could not fetch."""
        name = account.fetch_fallback
        return self.named(name) or self.keyless if name else None

    def named(self, name: str) -> Account | None:
        """Return the provider with a name, or None."""
        return next((account for account in self.accounts if account.name == name), None)

    def select(self, capability: Capability, name: str | None = None) -> Account:
        """Choose the provider for a call.

        Args:
            capability: What the call needs.
            name: Name of the provider. Default: the default provider if it has the capability, else
                the first that has it.

        Raises:
            ConfigError: No provider has the name or the capability.
        """
        return self._choose(capability, name, self.capable(capability))

    def _choose(self, capability: Capability, name: str | None, capable: list[Account]) -> Account:
        if name is not None and (self.accounts or capable or name not in PROVIDERS):
            return self._select_named(name, capability, capable)
        if not capable and self.origin == ENVIRONMENT:
            raise ConfigError(_key_not_set(capability))
        if not capable:
            remedy = f"{_remedy(capability)}{self.ignored_keys(capability)}"
            raise ConfigError(f"No provider in {self.origin} can {capability}. {remedy}")
        first, name = capable[0], self.config.default_provider
        default = next((account for account in capable if account.name == name), first)
        is_worse = _is_last_resort(default, capability) and not _is_last_resort(first, capability)
        return first if is_worse else default

    def capable(self, capability: Capability) -> list[Account]:
        """List the providers that have a capability: the configured ones, else the stand-ins.

        Those that have it only as a last resort are at the end.
        """
        accounts = [account for account in self.accounts if PROVIDERS[account.type].can(capability)]
        accounts = accounts or self.active_stand_ins(capability)
        accounts.sort(key=lambda account: _is_last_resort(account, capability))
        return accounts

    def active_stand_ins(self, capability: Capability) -> list[Account]:
        """List the stand-ins for a capability, if no configured provider has it."""
        if any(PROVIDERS[account.type].can(capability) for account in self.accounts):
            return []
        return [
            account
            for account in self.stand_ins
            if capability in PROVIDERS[account.type].about.keyless
        ]

    def ignored(self) -> list[tuple[str, str]]:
        """List the key variables that the config file hides, with the types that they would add."""
        if self.origin in {CODE, ENVIRONMENT}:
            return []
        return ignored_variables(self.environ, {account.type for account in self.accounts})

    def ignored_keys(self, capability: Capability | None = None, kind: str = "") -> str:
        """Return a line for each ignored variable of a type, or of types with a capability."""
        lines = [
            f"\n{sentence}"
            for (_, ignored_kind), sentence in zip(
                self.ignored(), self.ignored_sentences(), strict=True
            )
            if ignored_kind == kind or (capability and PROVIDERS[ignored_kind].can(capability))
        ]
        return "".join(lines)

    def ignored_sentences(self) -> list[str]:
        """Return a sentence for each ignored key variable, with the command that adds it."""
        option = [] if self.origin in self._default_paths() else ["--config", self.origin]
        return [
            f"{name} is set but ignored, because {self.origin} is in use. To add the provider: "
            f"{shlex.join(['webtools', 'config', 'add', kind, *option])}"
            for name, kind in self.ignored()
        ]

    def _default_paths(self) -> set[str]:
        path = self.environ.get(CONFIG_VARIABLE, "").strip()
        return {str(path) for path in config_paths()} | ({str(absolute(path))} if path else set())

    def _select_named(self, name: str, capability: Capability, capable: list[Account]) -> Account:
        accounts = {account.name: account for account in (*self.accounts, *capable)}
        account = accounts.get(name)
        if account is None:
            raise self._unknown_provider(name, capability, list(accounts))
        if account not in capable:
            names = listed(account.name for account in capable)
            remedy = f"Use one of: {names}." if capable else _remedy(capability)
            remedy += self.ignored_keys(capability)
            message = f"Provider {quote(name)} (type {account.type}) cannot {capability}. {remedy}"
            raise ConfigError(message, provider=name)
        return account

    def _unknown_provider(self, name: str, capability: Capability, names: list[str]) -> ConfigError:
        """Return the error for a name that no provider has."""
        alternatives = names or _types_with(capability)
        # Without the place of the settings, because the fault is the caller's.
        fault = f"No provider {quote(name)} is configured{hint(name, alternatives)}"
        message = f"{fault}. Known {'providers' if names else 'types'}: {listed(alternatives)}."
        if not names:
            message += f"\n{first_steps(alternatives, keyless_titles(capability))}"
        elif name in {kind for _, kind in self.ignored()}:
            message += self.ignored_keys(kind=name)
        elif self.origin == ENVIRONMENT and name in PROVIDERS:
            for variable in PROVIDERS[name].about.variables[:1]:
                message += f" Set {variable} to add it."
        return ConfigError(message)

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse, because a pickle would contain the keys."""
        raise not_picklable(type(self))


def _is_last_resort(account: Account, capability: Capability) -> bool:
    return capability in PROVIDERS[account.type].about.last_resort_for


def _types_with(capability: Capability) -> list[str]:
    # `direct` needs no entry.
    return [
        kind for kind, services in PROVIDERS.items() if services.can(capability) and kind != DIRECT
    ]


def _remedy(capability: Capability) -> str:
    types = listed(_types_with(capability))
    if not types:
        return "No provider type can."
    titles = keyless_titles(capability)
    keyless = f', or set "keyless" to true to use {titles} without a key' if titles else ""
    return f"Add a provider of one of these types: {types}{keyless}."


def keyless_notices(accounts: Accounts, names: Iterable[str]) -> list[str]:
    """Return a sentence for each stand-in among the providers that received the query."""
    types = {account.name: account.type for account in accounts.active_stand_ins("search")}
    return [
        f"{PROVIDERS[types[name]].about.title} was used without a key, because no configured "
        "provider can search and keyless is on."
        for name in names
        if name in types
    ]


def stand_ins(proxies: Proxies, domains: OperatorDomains = NO_DOMAINS) -> tuple[Account, ...]:
    """Return the accounts of the providers that work without a key and an entry."""
    return tuple(keyless_account(about.name, proxies, domains) for about in keyless_abouts())


def keyless_account(kind: str, proxies: Proxies, domains: OperatorDomains) -> Account:
    """Return the account of a provider that has no entry."""
    return build(ProviderConfig(name=kind, type=kind), None, "keyless", proxies, domains)


def _key_not_set(capability: Capability) -> str:
    """Return the message for a missing key, with everything that would fix it."""
    types = _types_with(capability)
    abouts = [PROVIDERS[kind].about for kind in types]
    recommended = (about for about in abouts if capability in about.recommended_for)
    about = next(recommended, abouts[0])
    return (
        f"{about.key_variables[0]} environment variable is not set. "
        f"Set it to your {about.title} API key to use {CAPABILITIES[capability].use}.\n"
        f"{first_steps(types, keyless_titles(capability))}"
    )


# --- their files -----------------------------------------------------------------------------


def _set_key(origin: str, name: str) -> str:
    if origin in {CODE, ENVIRONMENT}:
        return ""
    return f": `{shlex.join(['webtools', 'config', 'set-key', name, '--config', origin])}`"


def cache_path(accounts: Accounts) -> Path:
    """Return the path from which the names of the cache's and the budget's files are made."""
    return file_of("cache", accounts.config.cache.path, accounts.origin)


def output_owner(accounts: Accounts) -> str:
    """Identify the settings that saved outputs belong to."""
    place = f"{accounts.origin}\0{cache_path(accounts)}"
    return hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def log_path(accounts: Accounts) -> Path:
    """Return the file of the log."""
    return file_of("log", accounts.config.log.path, accounts.origin)


def written_log(accounts: Accounts) -> Path:
    """Return the file of the log.

    Raises:
        ConfigError: The log is turned off.
    """
    if accounts.config.log.enabled:
        return log_path(accounts)
    raise ConfigError(
        f"The log is turned off in {accounts.origin}. To record calls, set log.enabled to true."
    )
