"""`webtools config check --live`: the store is asked, and each provider, at its price."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from webtools import WebTools
from webtools._internal.storage.store_errors import StoreError
from webtools._internal.storage.stores import stores_for
from webtools._internal.text.cleaning import one_line
from webtools._internal.text.quoting import quote
from webtools.cli.output import tell
from webtools.config import ResearchConfig, Settings, cache_path
from webtools.config.config_models import Config, ProviderConfig, capabilities

if TYPE_CHECKING:
    from pathlib import Path

    from webtools.config.accounts import Accounts

_PAGE = "https://example.com/"  # made for such calls (RFC 2606)
_LOOPBACK = "127.0.0.1:"
_CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "search": ("web_search", {"queries": ["python"], "limit": 1}),
    "docs": ("web_research", {"query": "python", "command": "web-docs", "limit": 1}),
    "fetch": ("web_fetch", {"urls": [_PAGE]}),
    "summarize": ("summarize", {"url": _PAGE}),
}


def check_live(path: Path | None) -> bool:
    """Ask store and providers once, print a line for each, and return whether all answered.

    Args:
        path: The config file in use; None for the environment.

    Raises:
        ConfigError: The settings are not valid.
    """
    accounts = Settings(path).accounts()
    entries = accounts.config.providers
    tell(f"Live: sends one small, paid call to each of {len(entries)} providers.")
    plain = {"research": ResearchConfig(), "default_provider": None}
    # Nobody answers in its place.
    alone = [accounts.config.model_copy(update={**plain, "providers": [each]}) for each in entries]
    answered = [_check_store(accounts), *map(_check_provider, alone)]  # also after one that failed
    return all(answered)


def _check_store(accounts: Accounts) -> bool:
    """Read today's sums where a server keeps them: what a call that costs something needs."""
    if not accounts.config.storage.url:
        return True
    stores = stores_for(cache_path(accounts), accounts.config.storage.clear, ttl=0, max_bytes=0)
    start, fault = time.monotonic(), ""
    try:
        stores.ledger.today()
    except StoreError as error:
        fault = f"{str(error).rstrip('.')}; {', or '.join(error.remedies)}"
    told = fault or f"answered in {(time.monotonic() - start) * 1000:.1f} ms"
    tell(f"Live store {accounts.config.storage.place}: {told}")
    return not fault


def _check_provider(config: Config) -> bool:
    [entry] = config.providers
    capability = next((each for each in capabilities(entry.type) if each in _CALLS), None)
    if capability is None:
        tell(f"Live {quote(entry.name)}: not called, as it serves no call alone")
        return True
    start = time.monotonic()
    with WebTools(config) as web:
        tool, arguments = _CALLS[capability]
        if capability == "fetch":
            arguments = {"urls": [_page_for(entry)]}
        result = web.call_tool(tool, arguments, cache="bypass")
    told = one_line(result.text) if result.is_error else _answer(entry, result.details, start)
    tell(f"Live {quote(entry.name)}: {told}")
    return not result.is_error


def _page_for(entry: ProviderConfig) -> str:
    """Return the page to read: one of the sandbox, where the entry may read such."""
    allowed: list[str] = getattr(entry.options, "allow_private_hosts", [])
    sandbox = next((each for each in allowed if each.startswith(_LOOPBACK)), "")
    return f"http://{sandbox}/docs/" if sandbox else _PAGE


def _answer(entry: ProviderConfig, details: dict[str, Any], start: float) -> str:
    cost = details.get("meta", details).get("cost_usd")
    unknown = ", at an unknown price" if entry.api_key else ""  # without a key nobody pays
    price = unknown if cost is None else f", for {cost:g} USD"
    return f"answered in {(time.monotonic() - start) * 1000:.0f} ms{price}"
