"""A config file on the disk, and what a valid one looks like; no read of one hangs."""

from __future__ import annotations

import os
import select
import shlex
import stat
from pathlib import Path

from webtools.config.paths import CODE, config_paths
from webtools.errors import ConfigError

PLACEHOLDER = "YOUR_EXA_API_KEY"
EXAMPLE = """\
{"defaultProvider": "exa-main",
 "providers": [{"name": "exa-main", "type": "exa", "apiKey": "%s",
                "options": {"defaultSearchLimit": 5, "defaultFetchTextMaxCharacters": 12000,
                            "searchHighlights": true}}]}\
""".replace("%s", PLACEHOLDER)
"""A valid config file, for `webtools config example`."""
EXAMPLE_LINE = (
    '{"providers": [{"name": "exa", "type": "exa", "apiKey": "%s", '
    '"options": {"searchHighlights": true}}]}'
).replace("%s", PLACEHOLDER)
"""A minimal valid config file on one line, for messages."""

CONFIG_VARIABLE = "WEBTOOLS_CONFIG"  # names the config file

_LARGEST_FILE = 1024 * 1024  # bytes
_LONGEST_SILENCE = 2.0  # seconds that a pipe may let us wait


def status(path: Path) -> os.stat_result | None:
    """Look a file up; None when there is none.

    Raises:
        ConfigError: It is there and cannot be looked at.
    """
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if not path.is_symlink():
            return None
        fault = "is a link to a file that does not exist"
    except (OSError, ValueError) as error:
        fault = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    raise file_error(str(path), fault)


def read_text(path: Path) -> str:
    """Read a config file.

    Raises:
        ConfigError: It cannot be read, or is no UTF-8 text.
    """
    try:
        return _bytes(path).decode()
    except UnicodeDecodeError as error:
        fault = f"is not UTF-8: byte {error.start + 1} is wrong; save it as UTF-8"
    except OSError as error:
        fault = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    raise file_error(str(path), fault)


def _bytes(path: Path) -> bytes:
    """Read a file, or a pipe such as a shell makes; nothing endless, and no pipe that is silent."""
    kind = path.stat().st_mode
    if not (stat.S_ISREG(kind) or stat.S_ISFIFO(kind) or stat.S_ISDIR(kind)):
        raise OSError(None, "it is no regular file")
    found = b""
    with open(path, "rb", buffering=0, opener=_without_waiting) as file:
        while part := _next_part(file.fileno(), wait=stat.S_ISFIFO(kind)):
            found += part
            if len(found) > _LARGEST_FILE:
                raise OSError(None, f"it is larger than {_LARGEST_FILE // 1024} KiB")
    return found


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _next_part(file: int, *, wait: bool) -> bytes:
    if wait and not select.select([file], [], [], _LONGEST_SILENCE)[0]:
        raise OSError(None, "nothing comes out of the pipe")
    return os.read(file, 65_536)


def missing_file(path: Path, variable: str = "") -> ConfigError:
    """Return the error for a config file that was named, by a variable if any, and is missing."""
    origin = f"{path}, which {variable} names," if variable else f"{path}"
    init = f"webtools config init --config {shlex.quote(str(path))}"
    return ConfigError(f"{origin} does not exist. Check the path, or write the file with `{init}`.")


def file_error(origin: str, fault: str) -> ConfigError:
    """Describe a fault of the settings, for a file with its place and a valid example."""
    if origin == CODE:
        return ConfigError(f"{origin}: {fault}.")
    place = f"A config file belongs at {config_paths()[0]}."
    return ConfigError(f"{origin}: {fault}.\n{place} A minimal valid example: {EXAMPLE_LINE}")


def absolute(path: str | os.PathLike[str]) -> Path:
    """Resolve what a user wrote, `~` included; nothing is read."""
    if not os.fspath(path):
        raise ConfigError("the path of the config file is empty; name a file, or pass None")
    # Unlike Path.expanduser(), this does not fail for a user without a home folder.
    expanded = Path(os.path.expanduser(path))  # noqa: PTH111
    try:
        return expanded.absolute()
    except OSError:  # the working folder is gone; the call will say that the file is, too
        return expanded
