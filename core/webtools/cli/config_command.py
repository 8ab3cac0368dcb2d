"""`webtools config`: find, check, create and change the config file."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from getpass import getpass
from pathlib import Path
from typing import Any

from webtools._internal.display.short_texts import count, price
from webtools._internal.pipeline.tool_call import call_services
from webtools._internal.storage.sqlite_file import ledger_file
from webtools._internal.text.quoting import hint, quote
from webtools.cli.arguments import UsageError
from webtools.cli.live import check_live
from webtools.cli.printing import FAILED, SUCCESS, command, complain, tell
from webtools.config import EXAMPLE, Accounts, Settings, cache_path, check, config_paths
from webtools.config.config_file import CONFIG_VARIABLE, absolute, missing_file, status
from webtools.config.setting_values import checked_base_url, key_fault, usual_options
from webtools.config.settings import config_in_use
from webtools.config.writing import add_entry, begin_config, check_name, find_provider, set_key
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS

_PROG = "webtools config"
_RETRIES = 4  # after an invalid answer
_TAKE_NAME = {"init", "add", "set-key"}


def run(options: Namespace) -> int:
    """Run an action on the config file, and return the exit code."""
    if options.name is not None and options.action not in _TAKE_NAME:
        raise UsageError(f"unrecognized arguments: {options.name}", _PROG)
    if options.live and options.action != "check":
        raise UsageError("--live works only with check", _PROG)
    if options.entry_name and options.action != "add":
        raise UsageError("--name works only with add", _PROG)
    try:
        lines = _ACTIONS[options.action](options)
    except EOFError:
        raise UsageError("the input ended, so nothing was written", _PROG) from None
    if options.action == "example":
        print("\n".join(lines))
    else:
        tell("\n".join(lines), hanging=2)
    if options.live:
        return SUCCESS if check_live(_in_use(options)) else FAILED
    return SUCCESS


def _path(options: Namespace) -> list[str]:
    path = _in_use(options) or "no file, only environment variables"
    return [f"Belongs at: {config_paths()[0]}", f"In use: {path}"]


def _check(options: Namespace) -> list[str]:
    settings = Settings(options.config)
    lines = check(settings)
    index = next(i for i, line in enumerate(lines, 1) if line.startswith("Budget:"))
    return [*lines[:index], *_spent_today(settings.accounts()), *lines[index:]]


def _spent_today(accounts: Accounts) -> list[str]:
    """Describe what was spent today, if there is a budget per day."""
    limits = accounts.config.budget
    if limits.usd_per_day is None and limits.calls_per_day is None:
        return []
    path = cache_path(accounts)
    has_file = ledger_file(path).exists() or path.exists()  # the latter is that of version 0.4
    if not accounts.config.storage.url and not has_file:
        return [_spent(0.0, 0)]
    try:
        today = call_services(accounts).budget.spent().today
    except ConfigError as error:
        return [f"Warning: {accounts.redactor.text(str(error))}"]
    return [_spent(today.usd, today.calls)] if today else []


def _spent(usd: float, calls: int) -> str:
    return f"Spent today (UTC): {price(usd)}, {count(calls, 'call')}"


def _in_use(options: Namespace) -> Path | None:
    if options.config is None:
        return config_in_use(os.environ)
    path = absolute(options.config)
    if status(path) is None:
        raise missing_file(path)
    return path


def _init(options: Namespace) -> list[str]:
    name = options.config or os.environ.get(CONFIG_VARIABLE, "").strip()
    path = absolute(name) if name else config_paths()[0]
    if not path.is_absolute():
        raise ConfigError(
            "There is no home folder for the config file. Choose a path with --config."
        )
    if path.exists() and not options.force:  # before the user types a key
        raise ConfigError(f"{path} exists already. Use --force to replace it.")
    kind = _checked_type(options.type) if options.type else _until_valid(_ask_type)
    entry = _ask_entry(options.name or kind, kind)
    begin_config(path, entry, force=options.force)
    return _describe_written(options, path, entry)


def _add(options: Namespace) -> list[str]:
    if options.name is None:
        raise UsageError("TYPE is missing, as in: webtools config add exa", _PROG)
    kind = _checked_type(options.name)
    path = _in_use(options)
    if path is None:
        raise ConfigError(
            f"There is no config file yet. Create one with `{_PROG} init --type {kind}`."
        )
    name = options.entry_name or kind
    check_name(path, name)  # before the user types a key
    entry = _ask_entry(name, kind)
    add_entry(path, entry)
    return _describe_written(options, path, entry)


def _checked_type(kind: str) -> str:
    if kind not in PROVIDERS:
        types = PROVIDERS.types()
        fault = f"Unknown type {quote(kind)}{hint(kind, types)}"
        raise ConfigError(f"{fault}. Use one of {', '.join(types)}.")
    return kind


def _ask_entry(name: str, kind: str) -> dict[str, Any]:
    """Ask for the key and the URL of an entry."""
    about = PROVIDERS[kind].about
    entry: dict[str, Any] = {"name": name, "type": kind}
    if about.key_url and _is_terminal():
        print(f"Get a key at {about.key_url}", file=sys.stderr)
    ask_key = partial(_ask_key, about.title, is_required=about.needs_key)
    if about.key_variables and (key := _until_valid(ask_key)):
        entry["apiKey"] = key
    if about.url_variables:
        entry["baseUrl"] = _until_valid(partial(_ask_url, about.title))
    if options := usual_options(kind):
        entry["options"] = options
    return entry


def _describe_written(options: Namespace, path: Path, entry: dict[str, Any]) -> list[str]:
    kind = entry["type"]
    lines = [f"Written: {path}"]
    if PROVIDERS[kind].about.key_variables and "apiKey" not in entry:
        set_key_command = command(options, "config", "set-key", entry["name"])
        lines.append(f"{quote(entry['name'])} has no API key. To add one: {set_key_command}")
    return [*lines, f"Try it: {_next_steps(options, kind)}"]


def _next_steps(options: Namespace, kind: str) -> str:
    """Return commands that check an entry, free ones if possible."""
    if PROVIDERS[kind].search and PROVIDERS[kind].about.research != "never":
        steps = (command(options, "config", "check"), command(options, "plan", "QUESTION"))
        return "; ".join(steps)
    return command(options, "config", "check", "--live")


def _set_key(options: Namespace) -> list[str]:
    if options.name is None:
        raise UsageError("NAME is missing, as in: webtools config set-key exa", _PROG)
    path = _in_use(options)
    if path is None:
        raise ConfigError("There is no config file yet. Create one with `webtools config init`.")
    find_provider(path, options.name)  # before the user types a key
    ask_key = partial(_ask_key, f'provider "{options.name}"', is_required=True)
    set_key(path, options.name, _until_valid(ask_key))
    return [f"Written: {path}"]


def _until_valid(ask: Callable[[], str]) -> str:
    """Ask a person again after an invalid answer: the next one must not go to the shell."""
    for _ in range(_RETRIES if _is_terminal() else 0):
        try:
            return ask()
        except ConfigError as error:
            complain(str(error))
    return ask()


def _ask_type() -> str:
    """Ask for a type. The default is the first."""
    types = [*PROVIDERS.types()]
    names = ", ".join(types)
    if not _is_terminal():
        raise UsageError(f"--type is missing; use one of {names}", _PROG)
    return _checked_type(
        input(f"Type of the provider ({names}) [{types[0]}]: ").strip() or types[0]
    )


def _ask_key(owner: str, *, is_required: bool) -> str:
    """Ask for a key without showing it, or read it from a pipe."""
    key = getpass(f"API key of {owner} (not shown): ") if _is_terminal() else sys.stdin.readline()
    if is_required and not key.strip():
        raise ConfigError("The API key is empty. Type it, or pipe it to standard input.")
    key = key.strip()
    if key and (fault := key_fault(key)):
        raise ConfigError(f"The API key of {owner} {fault}.")
    return key


def _ask_url(title: str) -> str:
    """Ask for the address of the user's own instance, or read it from a pipe."""
    url = (input(f"URL of your {title}: ") if _is_terminal() else sys.stdin.readline()).strip()
    if not url:
        raise ConfigError(
            f"The URL of your {title} is empty. Type it, or pipe it to standard input."
        )
    try:
        return checked_base_url(url)
    except ValueError as error:
        fault = str(error)
    raise ConfigError(f"The baseUrl of your {title} {fault}.")


def _is_terminal() -> bool:
    return sys.stdin.isatty()


_ACTIONS: dict[str, Callable[[Namespace], list[str]]] = {
    "path": _path,
    "check": _check,
    "example": lambda _: [EXAMPLE],
    "init": _init,
    "add": _add,
    "set-key": _set_key,
}
