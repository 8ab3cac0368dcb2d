"""Write a config file, add a provider to one, or change a key; nothing else writes one."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from webtools._internal.text.quoting import hint, listed, quote
from webtools.config.config_file import read_text, status
from webtools.config.settings import load
from webtools.errors import ConfigError

_PRIVATE_FOLDER = 0o700


def begin_config(path: Path, entry: dict[str, Any], *, force: bool = False) -> None:
    """Write a config file with one provider, which only the user may read.

    Args:
        path: The file; a folder that is missing is made.
        entry: The provider, as the file has it.
        force: Replace a file that is there.

    Raises:
        ConfigError: The entry is no valid one, or there is a file already.
        OSError: The file cannot be written.
    """
    text = _text({"defaultProvider": entry["name"], "providers": [entry]})
    load(text, str(path))
    if not force and (status(path) is not None or path.is_symlink()):
        raise ConfigError(f"{path}: there is a config file already; --force replaces it.")
    _write(path, text)


def add_entry(path: Path, entry: dict[str, Any]) -> None:
    """Add a provider to a config file; the rest of the file stays.

    Raises:
        ConfigError: The file or the entry is not valid, or the file has a provider of that name.
        OSError: The file cannot be written.
    """
    check_name(path, entry["name"])
    data = json.loads(read_text(path).removeprefix("\ufeff"))
    data["providers"].append(entry)
    changed = _text(data)
    load(changed, str(path))
    _write(path.resolve(), changed)


def check_name(path: Path, name: str) -> None:
    """Refuse a name that a provider in a config file has.

    Raises:
        ConfigError: The name is taken, or the file is not valid.
    """
    if name in [entry.name for entry in load(read_text(path), str(path)).providers]:
        raise ConfigError(f"{path}: there is a provider {quote(name)} already; choose a --name.")


def set_key(path: Path, name: str, key: str) -> None:
    """Change the key of one provider in a config file; all else in it stays.

    Raises:
        ConfigError: The file is no valid config, has no such provider, or the key can be none.
        OSError: The file cannot be written.
    """
    position = position_of(path, name)
    data = json.loads(read_text(path).removeprefix("\ufeff"))
    data["providers"][position]["apiKey"] = key
    changed = _text(data)
    load(changed, str(path))
    _write(path.resolve(), changed)


def position_of(path: Path, name: str) -> int:
    """Return which provider of a config file has a name, counted from 0.

    Raises:
        ConfigError: The file is no valid config, or has no such provider.
    """
    known = [each.name for each in load(read_text(path), str(path)).providers]
    if name not in known:
        fault = f"{path}: there is no provider {quote(name)}{hint(name, known)}"
        raise ConfigError(f"{fault}; known are: {listed(known)}.")
    return known.index(name)


def _text(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    """Put a file in place at one stroke: nobody sees a part of it, or may read it meanwhile."""
    path.parent.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    try:
        _replace(path, text)
    except OSError as error:
        error.filename = str(path)  # not the file that was to take its place
        raise


def _replace(path: Path, text: str) -> None:
    # As `mkstemp` makes it, the user alone may read and write it.
    descriptor, made = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(made).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(made).unlink()
        raise
