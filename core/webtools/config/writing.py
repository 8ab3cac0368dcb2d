"""Write a config file, add a provider to it, or change a key."""

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
    """Write a config file with one provider, readable only by the user.

    Args:
        path: The file. Missing folders are created.
        entry: The provider, in the format of the file.
        force: Replace an existing file.

    Raises:
        ConfigError: The entry is invalid, or the file exists.
        OSError: The file cannot be written.
    """
    text = _text({"defaultProvider": entry["name"], "providers": [entry]})
    load(text, str(path))
    if not force and (status(path) is not None or path.is_symlink()):
        raise ConfigError(f"{path} already exists. Use --force to replace it.")
    _write(path, text)


def add_entry(path: Path, entry: dict[str, Any]) -> None:
    """Add a provider to a config file.

    Raises:
        ConfigError: The file or the entry is invalid, or the name exists.
        OSError: The file cannot be written.
    """
    check_name(path, entry["name"])
    data = json.loads(read_text(path).removeprefix("\ufeff"))
    data["providers"].append(entry)
    changed = _text(data)
    load(changed, str(path))
    _write(path.resolve(), changed)


def check_name(path: Path, name: str) -> None:
    """Check that no provider of a config file has a name.

    Raises:
        ConfigError: The name exists, or the file is invalid.
    """
    if name in [entry.name for entry in load(read_text(path), str(path)).providers]:
        raise ConfigError(
            f"{path} already has a provider {quote(name)}. Change its key with set-key, or choose "
            "another name with --name."
        )


def set_key(path: Path, name: str, key: str) -> None:
    """Change the key of a provider in a config file.

    Raises:
        ConfigError: The file or the key is invalid, or the provider does not exist.
        OSError: The file cannot be written.
    """
    position = find_provider(path, name)
    data = json.loads(read_text(path).removeprefix("\ufeff"))
    data["providers"][position]["apiKey"] = key
    changed = _text(data)
    load(changed, str(path))
    _write(path.resolve(), changed)


def find_provider(path: Path, name: str) -> int:
    """Return the index of the provider with a name in a config file.

    Raises:
        ConfigError: The file is invalid, or no provider has the name.
    """
    names = [entry.name for entry in load(read_text(path), str(path)).providers]
    if name not in names:
        fault = f"{path} has no provider {quote(name)}{hint(name, names)}"
        raise ConfigError(f"{fault}. Known providers: {listed(names)}.")
    return names.index(name)


def _text(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    """Replace a file atomically, readable only by the user."""
    path.parent.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    try:
        _replace(path, text)
    except OSError as error:
        error.filename = str(path)  # not the temporary file
        raise


def _replace(path: Path, text: str) -> None:
    # `mkstemp` creates a file that only the user may read.
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
