"""`webtools config check --live`: call the store and each provider once."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from webtools import WebTools
from webtools._internal.display.short_texts import count
from webtools._internal.storage.store_errors import StoreError
from webtools._internal.storage.stores import stores_for
from webtools._internal.text.cleaning import one_line
from webtools._internal.text.quoting import quote
from webtools.cli.printing import tell
from webtools.config import ResearchConfig, Settings, cache_path
from webtools.config.accounts import Accounts
from webtools.config.config_models import Config, ProviderConfig, capabilities

_PAGE = "https://example.com/"  # reserved for examples (RFC 2606)
_LOOPBACK = "127.0.0.1:"
_CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "search": ("web_search", {"queries": ["python"], "limit": 1}),
    "docs": ("web_research", {"query": "python", "command": "web-docs", "limit": 1}),
    "fetch": ("web_fetch", {"urls": [_PAGE]}),
    "summarize": ("summarize", {"url": _PAGE}),
}


def check_live(path: Path | None) -> bool:
    """Call the store and the providers, print a line for each, and return whether all responded.

    Args:
        path: The config file in use. None: the environment.

    Raises:
        ConfigError: The settings are invalid.
    """
    accounts = Settings(path).accounts()
    entries = accounts.config.providers
    tell(f"Live: sends one small, paid call to {count(len(entries), 'provider')}.")
    changes = {"research": ResearchConfig(), "default_provider": None}
    # A config per provider, without failover to the others.
    configs = [
        accounts.config.model_copy(update={**changes, "providers": [entry]}) for entry in entries
    ]
    responses = [_check_store(accounts), *map(_check_provider, configs)]
    return all(responses)


def _check_store(accounts: Accounts) -> bool:
    """Read today's spending from the server, as a paid call does."""
    if not accounts.config.storage.url:
        return True
    stores = stores_for(cache_path(accounts), accounts.config.storage.full_url, ttl=0, max_bytes=0)
    start, fault = time.monotonic(), ""
    try:
        stores.ledger.today()
    except StoreError as error:
        fault = f"{str(error).rstrip('.')}; {', or '.join(error.remedies)}"
    outcome = fault or f"response in {(time.monotonic() - start) * 1000:.1f} ms"
    tell(f"Live store {accounts.config.storage.url_without_login}: {outcome}")
    return not fault


def _check_provider(config: Config) -> bool:
    [entry] = config.providers
    capability = next((name for name in capabilities(entry.type) if name in _CALLS), None)
    if capability is None:
        tell(f"Live {quote(entry.name)}: not called, because it works only with another provider")
        return True
    start = time.monotonic()
    with WebTools(config) as web:
        tool, arguments = _CALLS[capability]
        if capability == "fetch":
            arguments = {"urls": [_page_url(entry)]}
        result = web.call_tool(tool, arguments, cache="bypass")
    outcome = one_line(result.text)
    if not result.is_error:
        outcome = _success(entry, result.details, start)
    tell(f"Live {quote(entry.name)}: {outcome}")
    return not result.is_error


def _page_url(entry: ProviderConfig) -> str:
    """Return the page to fetch: one of the sandbox, if the entry allows it."""
    allowed: list[str] = getattr(entry.options, "allow_private_hosts", [])
    sandbox = next((host for host in allowed if host.startswith(_LOOPBACK)), "")
    return f"http://{sandbox}/docs/" if sandbox else _PAGE


def _success(entry: ProviderConfig, details: dict[str, Any], start: float) -> str:
    cost = details.get("meta", details).get("cost_usd")
    unknown = ", at an unknown price" if entry.api_key else ""  # free without a key
    price = unknown if cost is None else f", for {cost:g} USD"
    return f"response in {(time.monotonic() - start) * 1000:.0f} ms{price}"
