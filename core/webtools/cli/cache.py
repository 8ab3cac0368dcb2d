"""`webtools cache stats` and `webtools cache clear`: the cache and the saved outputs."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic_core import from_json

from webtools._internal.display.short_texts import count, duration, size
from webtools._internal.pipeline.tape_lines import (
    name_on_tape,
    read_file,
    read_header,
    read_tape,
)
from webtools._internal.session.services import user_hash
from webtools._internal.session.state import read_state
from webtools._internal.storage.cache_entries import CacheStats
from webtools._internal.storage.sqlite_file import cache_file
from webtools._internal.storage.store_errors import StoreError
from webtools._internal.storage.stores import Stores, stores_for
from webtools.cli.printing import SUCCESS, report
from webtools.config import Accounts, Settings, cache_path
from webtools.config.accounts import output_owner
from webtools.errors import ConfigError, InputError
from webtools.outputs import Outputs, count_outputs, delete_outputs

_T = TypeVar("_T")


def run(options: Namespace) -> int:
    """Describe or delete the cache entries and the saved outputs.

    Raises:
        ConfigError: The settings are invalid, or the store cannot be used.
        InputError: The options contradict each other.
    """
    accounts = Settings(options.config).accounts()
    if options.user == "":
        raise InputError("--user has no name. To delete what is kept of all users, leave it out.")
    if options.user and options.action != "clear":
        raise InputError("--user needs the action clear.")
    if options.file and not options.user:
        raise InputError("--file needs --user.")
    if options.action == "stats":
        text, data = _describe_cache(accounts)
    elif options.user:
        text, data = _clear_user(accounts, options.user, [*map(Path, options.file)])
    else:
        text, data = _clear_cache(accounts)
    report(options, text, data)
    return SUCCESS


def _describe_cache(accounts: Accounts) -> tuple[str, dict[str, Any]]:
    stats, outputs = _cache_stats(accounts), count_outputs(output_owner(accounts))
    settings = accounts.config.cache
    data = {
        "path": str(stats.path),
        "enabled": settings.enabled,
        "ttl_ms": settings.ttl_ms,
        "entries": stats.entries,
        "expired": stats.expired,
        "bytes": stats.bytes,
        "max_bytes": stats.max_bytes,
        "oldest": _iso_time(stats.oldest),
        "newest": _iso_time(stats.newest),
        "saved_outputs": outputs.files,
        "saved_output_bytes": outputs.bytes,
    }
    expired = f", {stats.expired} of them expired" if stats.expired else ""
    limit = "" if stats.max_bytes is None else f" of at most {size(stats.max_bytes)}"
    rows = {
        "Server" if accounts.config.storage.url else "File": str(stats.path),
        "Entries": f"{stats.entries}{expired}",
        "Size": f"{size(stats.bytes)}{limit}",
    }
    if stats.oldest is not None and stats.newest is not None:
        rows |= {"Oldest": _time_and_age(stats.oldest), "Newest": _time_and_age(stats.newest)}
    rows |= {"In use": _explain_use(accounts), "Outputs": _outputs_text(outputs)}
    return "\n".join(f"{title + ':':<10}{text}" for title, text in rows.items()), data


def _clear_cache(accounts: Accounts) -> tuple[str, dict[str, Any]]:
    entries = _call_store(_open_stores(accounts).cache.clear) if _has_cache(accounts) else 0
    outputs = delete_outputs(output_owner(accounts))
    path = accounts.config.storage.url_without_login or cache_file(cache_path(accounts))
    text = f"Deleted {count(entries, 'cache entry', 'cache entries')} from {path}."
    if outputs.files:
        text += f"\nDeleted {_outputs_text(outputs)}."
    data = {
        "path": str(path),
        "deleted": entries,
        "deleted_outputs": outputs.files,
        "deleted_output_bytes": outputs.bytes,
    }
    return text, data


def _clear_user(accounts: Accounts, user: str, files: Sequence[Path]) -> tuple[str, dict[str, Any]]:
    """Delete the cache entries of a user's sessions, their spending, and tapes and states."""
    stores = _open_stores(accounts)
    name = user_hash(user, stores.ledger)
    for file in files:
        _check_file(file, user, name)
    for file in files:
        file.unlink()
    entries = _call_store(lambda: stores.cache.clear(name)) if _has_cache(accounts) else 0
    _call_store(stores.ledger.of_user(name).forget)
    deleted = count(entries, "cache entry", "cache entries")
    named = f", {count(len(files), 'file')}" if files else ""
    text = (
        f"Deleted {deleted}{named} and the spending of this user. Other tapes and states are where "
        "you have stored them. Saved outputs are deleted after a day."
    )
    return text, {"deleted": entries, "deleted_files": [str(file) for file in files]}


def _check_file(file: Path, user: str, hashed_user: str) -> None:
    """Refuse a file that is not a tape of this user alone, nor a state of this user.

    Raises:
        InputError: It is another file, or has something of another user.
    """
    data = read_file(file)
    try:
        read_header(file, data.partition(b"\n")[0])
    except InputError:
        try:
            state = read_state(from_json(data))
        except (ValueError, InputError):
            message = f"{file} is neither a tape nor a state, so nothing was deleted."
            raise InputError(message) from None
        state.check(state.id, hashed_user)
        return
    remedy = "Nothing was deleted. Check the name of the user, or delete the file itself."
    try:
        lines = read_tape(file)[1]
    except InputError as error:
        raise InputError(f"{error} {remedy}") from None
    calls = [line for line in lines if line.native is None]  # the others have no user
    if (lines and not calls) or any(call.user != name_on_tape(user) for call in calls):
        raise InputError(f"{file} has calls that this user has not made. {remedy}")


def _has_cache(accounts: Accounts) -> bool:
    return bool(accounts.config.storage.url) or cache_file(cache_path(accounts)).exists()


def _cache_stats(accounts: Accounts) -> CacheStats:
    """Return the statistics, without making a missing file."""
    if _has_cache(accounts):
        return _call_store(_open_stores(accounts).cache.stats)
    return CacheStats(
        entries=0,
        bytes=0,
        oldest=None,
        newest=None,
        expired=0,
        path=cache_file(cache_path(accounts)),
        max_bytes=accounts.config.cache.max_bytes,
    )


def _open_stores(accounts: Accounts) -> Stores:
    """Open the stores. The cache may have entries even if it is turned off now."""
    settings = accounts.config.cache
    return stores_for(
        cache_path(accounts),
        accounts.config.storage.full_url,
        ttl=settings.ttl_ms / 1000,
        max_bytes=settings.max_bytes,
    )


def _call_store(function: Callable[[], _T]) -> _T:
    try:
        return function()
    except StoreError as error:
        fault, remedy = str(error).rstrip("."), ", or ".join(error.remedies)
        is_outage = error.is_outage
    raise ConfigError(f"{fault}. {remedy[:1].upper()}{remedy[1:]}.", retryable=is_outage)


def _explain_use(accounts: Accounts) -> str:
    settings = accounts.config.cache
    if not settings.enabled:
        return f"no, it is turned off in {accounts.origin}"
    if not settings.ttl_ms:
        return f"no, cache.ttlMs is 0 in {accounts.origin}"
    return f"yes, for entries less than {duration(settings.ttl_ms / 1000)} old"


def _outputs_text(outputs: Outputs) -> str:
    return f"{count(outputs.files, 'saved output')}, {size(outputs.bytes)}"


def _time_and_age(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    age = max((datetime.now(UTC) - moment).total_seconds(), 0)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC, {duration(age)} ago"


def _iso_time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
