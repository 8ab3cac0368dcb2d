"""Describe settings for `webtools config check`, without keys."""

from __future__ import annotations

import json
import os
import shlex
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from webtools._internal.display.short_texts import duration, size
from webtools._internal.http.proxies import Proxy
from webtools._internal.storage.redis_store import redis_store_at
from webtools._internal.storage.sqlite_file import cache_file
from webtools._internal.text.quoting import listed, quote
from webtools._internal.text.redaction import SHORTEST_LOGIN
from webtools._internal.text.web_urls import without_login
from webtools.config.accounts import DEFAULT_LIMIT, Accounts, cache_path, log_path
from webtools.config.config_models import TopLevel, capabilities
from webtools.config.environment import key_variables
from webtools.config.parts import BudgetConfig, FetchConfig, ResearchConfig
from webtools.config.paths import CODE, ENVIRONMENT, config_paths
from webtools.errors import ConfigError
from webtools.providers import Account
from webtools.providers.about import Options

_SYNTHESIS = "extractive for web-deep, off for the other commands (the defaults)"


def describe(accounts: Accounts, environ: Mapping[str, str]) -> list[str]:
    """Describe the settings in lines of text, without keys. See `config.check`."""
    origin = accounts.origin
    if origin == ENVIRONMENT:
        names = ", ".join(dict.fromkeys(name for name, _ in key_variables(environ))) or "no key"
        paths = " or ".join(str(path) for path in config_paths())
        origin = f"{origin} ({names}); no config file at {paths}"
    return [
        f"Source: {origin}",
        *map(_account_line, accounts.accounts),
        *map(_proxy_line, accounts.proxies.by_scheme),
        *_setting_lines(accounts),
        *(
            f"Warning: {text}"
            for text in (
                *accounts.warnings,
                *accounts.ignored_sentences(),
                *_short_passwords(accounts),
                *_exposure(accounts.origin),
                *_unusable_stores(accounts),
            )
        ),
    ]


def _setting_lines(accounts: Accounts) -> Iterator[str]:
    config = accounts.config
    lines = {
        "default_provider": [
            f"Default provider: {config.default_provider or 'not set (the first that can serve)'}"
        ],
        "max_results": [f"maxResults: {config.max_results or f'{DEFAULT_LIMIT} (the default)'}"],
        "timeout_ms": [f"timeoutMs: {config.timeout_ms or 'none for a whole call'}"],
        "fence": [f"Fence: {config.fence}"],
        "storage": [f"Storage: {_storage(accounts)}"],
        "cache": [f"Cache: {_cache(accounts)}"],
        "log": [f"Log: {_log(accounts)}"],
        "research": _research_lines(config.research),
        "budget": [f"Budget: {_budget(config.budget)}"],
        "fetch": _fetch_lines(config.fetch),
        "failover": [f"Failover: {'on' if config.failover else 'off'}"],
        "keyless": [f"Keyless search: {_keyless(accounts)}"],
        "providers": [],  # above
    }
    for described in lines.values():
        yield from described
    for name, info in TopLevel.model_fields.items():
        if name not in lines:
            yield f"{info.alias}: {getattr(config, name)}"


def _account_line(account: Account) -> str:
    abilities = ", ".join(capabilities(account.type))
    key = "present" if account.api_key else "none"
    name = quote(account.name)
    url = account.base_url or "no API"
    facts = [f"type {account.type}", abilities, url, f"key: {key}", *_account_settings(account)]
    return f"Provider {name}: {'; '.join(facts)}"


def _proxy_line(scheme_and_proxy: tuple[str, Proxy]) -> str:
    scheme, proxy = scheme_and_proxy
    urls = "all URLs" if scheme == "all" else f"{scheme} URLs"
    return f"Proxy for {urls}: {proxy.place}, set by {proxy.source}"


def _account_settings(account: Account) -> Iterator[str]:
    """Describe the settings of a provider, in the spelling of the file."""
    if account.timeout is not None:
        yield f"timeoutMs: {account.timeout * 1000:,g}"
    if account.pacer is not None:
        yield f"maxRequestsPerSecond: {account.pacer.per_second:g}"
    if account.proxy is not None:
        yield f"proxy: {without_login(account.proxy.get_secret_value())}"
    if account.fetch_fallback is not None:
        yield f"fetchFallback: {quote(account.fetch_fallback)}"
    options: Options = account.options
    for name, field in type(options).model_fields.items():
        value = getattr(options, name)
        if isinstance(value, SecretStr):
            yield f"{field.alias}: present"
        elif value != field.get_default(call_default_factory=True):
            yield f"{field.alias}: {json.dumps(value, default=str)}"


def _storage(accounts: Accounts) -> str:
    if place := accounts.config.storage.url_without_login:
        return f"{place}, shared by all processes that use it"
    return "a file on this machine"


def _cache(accounts: Accounts) -> str:
    cache = accounts.config.cache
    if not cache.enabled:
        return "off"
    age = duration(cache.ttl_ms / 1000)
    ttl = f"entries are used for {age}" if cache.ttl_ms else "not used (ttlMs is 0)"
    if accounts.config.storage.url:
        return f"in the storage; {ttl}"
    return f"{cache_file(cache_path(accounts))}; {ttl}; at most {size(cache.max_bytes)}"


def _log(accounts: Accounts) -> str:
    log = accounts.config.log
    if not log.enabled:
        return "off"
    files = f"{size(log.max_bytes)} per file, {log.max_backups} older files"
    return f"{log_path(accounts)}; queries: {log.queries}; {files}"


def _keyless(accounts: Accounts) -> str:
    if not accounts.stand_ins:
        return "off"
    names = listed(account.name for account in accounts.stand_ins)
    if not accounts.active_stand_ins("search"):
        return "on, but not used: a configured provider can search"
    return f"on; searches use {names}, because no configured provider can search"


def _research_lines(research: ResearchConfig) -> list[str]:
    chains = [f"Chain for {key}: {listed(names)}" for key, names in research.chain.items()]
    return [*chains, f"Synthesis: {research.synthesis or _SYNTHESIS}"]


_RESPECT = {
    "ignore": "read",
    "warn": "read with a warning",
    "obey": "not read by provider direct, which also obeys robots.txt",
}


def _fetch_lines(fetch: FetchConfig) -> list[str]:
    lists = {"only from": fetch.allow_domains, "never from": fetch.deny_domains}
    lines = [f"Pages are read {rule} {listed(hosts)}" for rule, hosts in lists.items() if hosts]
    effect = _RESPECT[fetch.respect or "warn"]
    return [*lines, f"Pages that AI models should not read according to their site: {effect}"]


def _budget(budget: BudgetConfig) -> str:
    limits = [
        f"{value:,{'d' if unit == 'calls' else '.15g'}} {unit} per {span}"
        for value, unit, span in (
            (budget.usd_per_day, "USD", "day"),
            (budget.calls_per_day, "calls", "day"),
            (budget.usd_per_process, "USD", "process"),
            (budget.calls_per_process, "calls", "process"),
        )
        if value is not None
    ]
    return ", ".join(limits) or "no limit"


def _short_passwords(accounts: Accounts) -> Iterator[str]:
    """Warn about passwords that are too short to be redacted on their own."""
    urls = {
        f"proxy of {quote(account.name)}": account.proxy.get_secret_value()
        for account in accounts.accounts
        if account.proxy
    }
    urls |= {"storage.url": accounts.config.storage.full_url} if accounts.config.storage.url else {}
    urls |= {proxy.source: proxy.url for _, proxy in accounts.proxies.by_scheme}
    for setting, url in urls.items():
        word = urlsplit(url).password or urlsplit(url).username
        if word and len(unquote(word)) < SHORTEST_LOGIN:
            yield (
                f"the password in {setting} has fewer than {SHORTEST_LOGIN} characters, so it is "
                "redacted only as part of the URL"
            )


def _unusable_stores(accounts: Accounts) -> Iterator[str]:
    """Warn of a cache and a log that cannot be written."""
    config = accounts.config
    if config.storage.url:
        try:
            redis_store_at(config.storage.full_url)
        except ConfigError as error:
            yield str(error)
    elif config.cache.enabled and not _is_writable(path := cache_file(cache_path(accounts))):
        yield f"{path} cannot be written, so responses are not cached"
    if config.log.enabled and not _is_writable(path := log_path(accounts)):
        yield f"{path} cannot be written, so calls are not logged"


def _is_writable(path: Path) -> bool:
    """Return whether a file, or its nearest existing parent folder, is writable."""
    existing = next(parent for parent in (path, *path.parents) if os.path.lexists(parent))
    return os.access(existing, os.W_OK) and (existing.is_dir() or existing == path)


def _exposure(origin: str) -> list[str]:
    is_file = origin not in {CODE, ENVIRONMENT} and os.name == "posix"
    if not is_file or not Path(origin).stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return []
    return [
        f"other users may open {origin}, which contains keys. Run: chmod 600 {shlex.quote(origin)}"
    ]
