"""`webtools cache`: show or clear the cache and saved outputs."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from webtools._internal.display.short_texts import count, duration, size
from webtools._internal.storage.cache_entries import Cache, CacheStats
from webtools._internal.storage.sqlite_file import cache_file
from webtools._internal.storage.store_errors import StoreError
from webtools._internal.storage.stores import stores_for
from webtools.cli.printing import FINE, report
from webtools.config import Accounts, Settings, cache_path
from webtools.config.accounts import output_owner
from webtools.errors import ConfigError
from webtools.outputs import Outputs, count_outputs, delete_outputs

_T = TypeVar("_T")


def run(options: Namespace) -> int:
    """Describe or delete the cache entries and the saved outputs.

    Raises:
        ConfigError: The settings are invalid, or the store cannot be used.
    """
    accounts = Settings(options.config).accounts()
    text, data = _stats(accounts) if options.action == "stats" else _clear(accounts)
    report(options, text, data)
    return FINE


def _stats(accounts: Accounts) -> tuple[str, dict[str, Any]]:
    """Describe the cache, without creating a missing file."""
    path, settings = cache_file(cache_path(accounts)), accounts.config.cache
    stats = CacheStats(0, 0, None, None, 0, path, settings.max_bytes)
    if _cache_exists(accounts):
        stats = _call_store(_open_cache(accounts).stats)
    outputs = count_outputs(output_owner(accounts))
    data = {
        "path": str(stats.path),
        "enabled": settings.enabled,
        "ttl_ms": settings.ttl_ms,
        "entries": stats.entries,
        "expired": stats.expired,
        "bytes": stats.bytes,
        "max_bytes": stats.max_bytes,
        "oldest": _iso(stats.oldest),
        "newest": _iso(stats.newest),
        "saved_outputs": outputs.files,
        "saved_output_bytes": outputs.bytes,
    }
    lines = [*_lines(stats, accounts), f"Outputs:  {_outputs_text(outputs)}"]
    return "\n".join(lines), data


def _clear(accounts: Accounts) -> tuple[str, dict[str, Any]]:
    """Delete the cache entries and the outputs of these settings, and report how many."""
    path = accounts.config.storage.place or cache_file(cache_path(accounts))
    entries = _call_store(_open_cache(accounts).clear) if _cache_exists(accounts) else 0
    outputs = delete_outputs(output_owner(accounts))
    text = f"Deleted {count(entries, 'cache entry', 'cache entries')} from {path}."
    if outputs.files:
        text += f"\nDeleted {_outputs_text(outputs)}."
    data = {"path": str(path), "deleted": entries}
    data |= {"deleted_outputs": outputs.files, "deleted_output_bytes": outputs.bytes}
    return text, data


def _outputs_text(outputs: Outputs) -> str:
    return f"{count(outputs.files, 'saved output')}, {size(outputs.bytes)}"


def _cache_exists(accounts: Accounts) -> bool:
    return bool(accounts.config.storage.url) or cache_file(cache_path(accounts)).exists()


def _open_cache(accounts: Accounts) -> Cache:
    """Open the cache. It may have entries even if it is turned off now."""
    path, url, settings = cache_path(accounts), accounts.config.storage.clear, accounts.config.cache
    ttl = settings.ttl_ms / 1000
    return stores_for(path, url, ttl=ttl, max_bytes=settings.max_bytes).cache


def _call_store(function: Callable[[], _T]) -> _T:
    try:
        return function()
    except StoreError as error:
        fault, remedy = str(error).rstrip("."), ", or ".join(error.remedies)
        is_outage = error.is_outage
    raise ConfigError(f"{fault}. {remedy[:1].upper()}{remedy[1:]}.", retryable=is_outage)


def _lines(stats: CacheStats, accounts: Accounts) -> list[str]:
    expired = f", {stats.expired} of them expired" if stats.expired else ""
    limit = "" if stats.max_bytes is None else f" of at most {size(stats.max_bytes)}"
    lines = [
        f"{'Server: ' if accounts.config.storage.url else 'File:   '}  {stats.path}",
        f"Entries:  {stats.entries}{expired}",
        f"Size:     {size(stats.bytes)}{limit}",
    ]
    if stats.oldest is not None and stats.newest is not None:
        lines += [
            f"Oldest:   {_time_and_age(stats.oldest)}",
            f"Newest:   {_time_and_age(stats.newest)}",
        ]
    return [*lines, f"In use:   {_use(accounts)}"]


def _use(accounts: Accounts) -> str:
    settings = accounts.config.cache
    if not settings.enabled:
        return f"no, it is turned off in {accounts.origin}"
    if not settings.ttl_ms:
        return f"no, cache.ttlMs is 0 in {accounts.origin}"
    return f"yes, for entries less than {duration(settings.ttl_ms / 1000)} old"


def _time_and_age(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    age = max((datetime.now(UTC) - moment).total_seconds(), 0)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC, {duration(age)} ago"


def _iso(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
