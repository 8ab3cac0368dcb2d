"""Which account serves a call, and what is said when none can."""

from __future__ import annotations

import hashlib
import os
import shlex
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from webtools._internal.http.proxies import NO_PROXIES, Proxies
from webtools._internal.pages import INSTALL
from webtools._internal.text.quoting import hint, listed, quote
from webtools._internal.text.redaction import Redactor, redactor_for
from webtools.config.config_file import CONFIG_VARIABLE, PLACEHOLDER, absolute
from webtools.config.config_messages import not_picklable
from webtools.config.config_models import Config, ProviderConfig, without_providers
from webtools.config.environment import ignored_variables
from webtools.config.first_steps import first_steps, keyless_abouts, keyless_titles
from webtools.config.paths import CODE, ENVIRONMENT, config_paths, file_of
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS, Account, Capability, direct
from webtools.providers.about import DIRECT
from webtools.providers.operator_domains import NO_DOMAINS, OperatorDomains

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from webtools.providers.about import Pacer

_USES: dict[Capability, str] = {
    "search": "web search",
    "fetch": "web fetch",
    "summarize": "summarize",
    "docs": "documentation search",
    "synthesize": "synthesis",
}

_KEYLESS = f"Or install what reads pages without any key: {INSTALL}"
DEFAULT_LIMIT = 5  # results per query where neither the call nor the settings say


def build(
    entry: ProviderConfig,
    pacer: Pacer | None,
    origin: str,
    proxies: Proxies = NO_PROXIES,
    domains: OperatorDomains = NO_DOMAINS,
) -> Account:
    """Make the account of an entry.

    Raises:
        ConfigError: The key is the example's.
    """
    about = PROVIDERS[entry.type].about
    key = entry.api_key.get_secret_value() if entry.api_key else ""
    if key == PLACEHOLDER or key.endswith("..."):
        message = (
            f"{origin}: the apiKey of {quote(entry.name)} is the placeholder of an example; "
            f"put your {about.title} API key there{_set_key(origin, entry.name)}."
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


@dataclass(frozen=True)
class Accounts:
    """The providers that the settings in force name.

    Attributes:
        accounts: The providers, in the order of the settings.
        origin: Where the settings are from: a file's path, "the code" or "the environment".
        config: What is set, with absolute paths; it has no providers where no key is set.
        warnings: What is odd about the settings, a sentence each.
        proxies: What the environment says of proxies.
        environ: The environment, whose keys a config file hides.
        stand_ins: Who searches without a key where no configured provider can; none unless the
            settings ask for that.
        secrets: All keys: what may never appear in a text.
        redactor: Takes them out of texts.
        choices: Whom `select` has chosen where nobody was asked for.
        chains: What `chain` has listed.
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
    secrets: frozenset[str] = field(init=False, repr=False, compare=False)
    redactor: Redactor = field(init=False, repr=False, compare=False)
    choices: dict[Capability, Account] = field(
        init=False, repr=False, compare=False, default_factory=dict[Capability, Account]
    )
    chains: dict[tuple[Capability, str | None], tuple[Account, ...]] = field(
        init=False,
        repr=False,
        compare=False,
        default_factory=dict[tuple[Capability, str | None], tuple[Account, ...]],
    )

    def __post_init__(self) -> None:
        """Collect the keys once; every answer is searched for them."""
        every = self.proxies.secrets.union(*(account.secrets for account in self.accounts))
        if "@" in self.config.storage.clear:
            every |= {self.config.storage.clear}
        object.__setattr__(self, "secrets", every)
        object.__setattr__(self, "redactor", redactor_for(every))

    @cached_property
    def keyless(self) -> Account:
        """Who fetches pages where no other can."""
        return replace(direct.IMPLICIT, proxies=self.proxies, domains=self.config.fetch.domains)

    def select_fetcher(self, name: str | None = None) -> Account:
        """Choose the provider that fetches pages: where none is to, the keyless one.

        Raises:
            ConfigError: As `select`; also when the extra that the keyless one needs is missing.
        """
        if name is None and "fetch" in self.choices:
            return self.choices["fetch"]
        if name == DIRECT and self.named(name) is None:
            return self.keyless
        if name or any(_serves_readily(each, "fetch") for each in self.accounts):
            return self.select("fetch", name)

        if direct.missing_libraries() is None:
            return self.keyless
        try:
            return self.select("fetch")
        except ConfigError as error:
            raise ConfigError(f"{error}\n{_KEYLESS}") from None

    def chain(self, capability: Capability, name: str | None = None) -> tuple[Account, ...]:
        """List who may serve a call, in order: whoever is chosen, then all others that can.

        Where pages are fetched, each is followed by its own `fetchFallback`. A provider that is
        asked for by name is the only one.

        Raises:
            ConfigError: As `select`.
        """
        known = self.chains.get((capability, name))
        if known is not None:
            return known
        is_fetch = capability == "fetch"
        first = self.select_fetcher(name) if is_fetch else self.select(capability, name)
        if name:
            return self.chains.setdefault((capability, name), (first,))
        every = [first, *(self.able(capability) if self.config.failover else ())]
        if is_fetch:
            pairs = ((each, self.fallback(each)) for each in every)
            every = [each for pair in pairs for each in pair if each is not None]
        chain = tuple({each.name: each for each in every}.values())
        return self.chains.setdefault((capability, name), chain)

    def fallback(self, account: Account) -> Account | None:
        """Return the provider that tries the pages which `account` could not fetch."""
        name = account.fetch_fallback
        return self.named(name) or self.keyless if name else None

    def named(self, name: str) -> Account | None:
        """Return the provider of that name, whatever it can do; None when there is none."""
        return next((account for account in self.accounts if account.name == name), None)

    def select(self, capability: Capability, name: str | None = None) -> Account:
        """Choose the provider for a call.

        Args:
            capability: What the call needs.
            name: The entry asked for; without, the default if it can, else the first that can.

        Raises:
            ConfigError: No entry has that name, or the one that has it cannot do the job, or
                no entry can.
        """
        if name is None and capability in self.choices:
            return self.choices[capability]
        able = self.able(capability)
        if name is not None and (self.accounts or able or name not in PROVIDERS):
            return self._able(name, capability, able)
        if not able and self.origin == ENVIRONMENT:
            raise ConfigError(_key_not_set(capability))
        if not able:
            remedy = f"{_remedy(capability)}{self.ignored_keys(capability)}"
            raise ConfigError(f"No provider in {self.origin} can {capability}; {remedy}")
        ready = [each for each in able if _serves_readily(each, capability)] or able
        default = self.config.default_provider
        chosen = next((account for account in ready if account.name == default), ready[0])
        return self.choices.setdefault(capability, chosen)

    def able(self, capability: Capability) -> list[Account]:
        """List who can serve, in order: of those configured, else of the stand-ins."""
        configured = [each for each in self.accounts if PROVIDERS[each.type].can(capability)]
        configured.sort(key=lambda each: not _serves_readily(each, capability))
        return configured or self.standing_in(capability)

    def standing_in(self, capability: Capability) -> list[Account]:
        """List the stand-ins for what no configured provider can."""
        if any(PROVIDERS[each.type].can(capability) for each in self.accounts):
            return []
        return [e for e in self.stand_ins if capability in PROVIDERS[e.type].about.keyless]

    def ignored(self) -> list[tuple[str, str]]:
        """List the key variables that the config file in use hides, with the types they would add.

        The list is empty where the settings come from the environment or from code.
        """
        if self.origin in {CODE, ENVIRONMENT}:
            return []
        return ignored_variables(self.environ, {account.type for account in self.accounts})

    def ignored_keys(self, capability: Capability | None = None, kind: str = "") -> str:
        """Describe the ignored key variables of providers that could serve, a line for each."""
        lines = [
            f"\n{sentence}"
            for (_, each), sentence in zip(self.ignored(), self.ignored_sentences(), strict=True)
            if each == kind or (capability and PROVIDERS[each].can(capability))
        ]
        return "".join(lines)

    def ignored_sentences(self) -> list[str]:
        """Return a sentence for each ignored key variable, with the command that adds it."""
        named = [] if self.origin in self._usual_places() else ["--config", self.origin]
        return [
            f"{name} is set but ignored, because {self.origin} is in use. To add the provider: "
            f"{shlex.join(['webtools', 'config', 'add', kind, *named])}"
            for name, kind in self.ignored()
        ]

    def _usual_places(self) -> set[str]:
        named = self.environ.get(CONFIG_VARIABLE, "").strip()
        return {str(path) for path in config_paths()} | ({str(absolute(named))} if named else set())

    def _able(self, name: str, capability: Capability, able: list[Account]) -> Account:
        chosen = next((each for each in (*self.accounts, *able) if each.name == name), None)
        if chosen is None:
            raise self._unknown(name, capability, able)
        if chosen not in able:
            names = listed(account.name for account in able)
            remedy = f"these can: {names}." if able else _remedy(capability)
            remedy += self.ignored_keys(capability)
            message = f"Provider {quote(name)} (type {chosen.type}) cannot {capability}; {remedy}"
            raise ConfigError(message, provider=name)
        return chosen

    def _unknown(self, name: str, capability: Capability, able: list[Account]) -> ConfigError:
        """Make the error for a name that no provider has, with those that there are or may be."""
        there = dict.fromkeys(account.name for account in (*self.accounts, *able))
        known = there or _types_for(capability)
        fault = f"No provider {quote(name)} in {self.origin}{hint(name, known)}"
        message = f"{fault}; known are: {listed(known)}."
        if not there:
            message += f"\n{first_steps(known, keyless_titles(capability))}"
        elif name in {kind for _, kind in self.ignored()}:
            message += self.ignored_keys(kind=name)
        elif self.origin == ENVIRONMENT and name in PROVIDERS:
            message += "".join(
                f" Set {each} to add it." for each in PROVIDERS[name].about.variables[:1]
            )
        return ConfigError(message)

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse: a pickle would hold the keys in clear."""
        raise not_picklable(type(self))


def _serves_readily(account: Account, capability: Capability) -> bool:
    """Return whether a provider serves before others have failed."""
    services = PROVIDERS[account.type]
    return services.can(capability) and capability not in services.about.last_resort_for


def _types_for(capability: Capability) -> list[str]:
    # Not the keyless one: it serves without an entry, wherever its extra is installed.
    able = (kind for kind, each in PROVIDERS.items() if each.can(capability))
    return [kind for kind in able if kind != DIRECT]


def _remedy(capability: Capability) -> str:
    types = listed(_types_for(capability))
    if not types:
        return "no type can yet."
    titles = keyless_titles(capability)
    keyless = f', or set "keyless" to true, which asks {titles} without a key' if titles else ""
    return f"add a provider of type {types}{keyless}."


def keyless_notices(accounts: Accounts, asked: Iterable[str]) -> list[str]:
    """Return a sentence for each of those asked that stood in, as it was sent the question."""
    types = {each.name: each.type for each in accounts.standing_in("search")}
    return [
        f"{PROVIDERS[types[name]].about.title} was asked, without a key: no configured provider "
        "can search, and keyless is on."
        for name in asked
        if name in types
    ]


def stand_ins(proxies: Proxies, domains: OperatorDomains = NO_DOMAINS) -> tuple[Account, ...]:
    """Make the accounts of those who serve without a key or an entry, in their order."""
    kinds = [about.name for about in keyless_abouts()]
    entries = (ProviderConfig(name=kind, type=kind) for kind in kinds)
    return tuple(build(each, None, "keyless", proxies, domains) for each in entries)


def _key_not_set(capability: Capability) -> str:
    """Describe what is missing, and below it all that would do."""
    able = _types_for(capability)
    abouts = [PROVIDERS[each].about for each in able]
    recommended = (each for each in abouts if capability in each.recommended_for)
    about = next(recommended, abouts[0])
    return (
        f"{about.key_variables[0]} environment variable is not set. "
        f"Set it to your {about.title} API key to use {_USES[capability]}.\n"
        f"{first_steps(able, keyless_titles(capability))}"
    )


# --- their files -----------------------------------------------------------------------------


def _set_key(origin: str, name: str) -> str:
    if origin in {CODE, ENVIRONMENT}:
        return ""
    return f", as `{shlex.join(['webtools', 'config', 'set-key', name, '--config', origin])}` does"


def cache_path(accounts: Accounts) -> Path:
    """Return the file that keeps answers, what was spent and the providers' health."""
    return file_of("cache", accounts.config.cache.path, accounts.origin)


def output_owner(accounts: Accounts) -> str:
    """Identify the settings that saved outputs belong to."""
    place = f"{accounts.origin}\0{cache_path(accounts)}"
    return hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def log_path(accounts: Accounts) -> Path:
    """Return the file that calls are written down in."""
    return file_of("log", accounts.config.log.path, accounts.origin)


def written_log(accounts: Accounts) -> Path:
    """Return the log, where one is written.

    Raises:
        ConfigError: It is turned off.
    """
    if accounts.config.log.enabled:
        return log_path(accounts)
    raise ConfigError(
        f"The log is turned off in {accounts.origin}, so nothing is known of any call; set "
        "log.enabled to true there, and call again."
    )
