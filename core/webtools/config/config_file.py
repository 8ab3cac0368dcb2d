"""Read a config file without blocking on pipes or devices; an example of a valid one."""

from __future__ import annotations

import os
import re
import select
import shlex
import stat
from collections.abc import Iterable
from pathlib import Path

from webtools._internal.faults import Fault
from webtools.config.paths import CODE, config_paths
from webtools.errors import ConfigError

PLACEHOLDER = re.compile(r"YOUR_\S+_API_KEY")
EXAMPLE = """\
{"defaultProvider": "exa-main",
 "providers": [{"name": "exa-main", "type": "exa", "apiKey": "%s",
                "options": {"defaultSearchLimit": 5, "defaultFetchTextMaxCharacters": 12000,
                            "searchHighlights": true}}]}\
""".replace("%s", "YOUR_EXA_API_KEY")
"""A valid config file, for `webtools config example`."""

CONFIG_VARIABLE = "WEBTOOLS_CONFIG"  # names the config file

_MAX_BYTES = 1024 * 1024
_PIPE_TIMEOUT = 2.0  # seconds


def example_line(types: Iterable[str] = ("exa",)) -> str:
    """Return a minimal valid config file on one line, for messages.

    Args:
        types: The provider types that would help; Exa is preferred.
    """
    kind = min(types, key=lambda kind: kind != "exa")
    options = ', "options": {"searchHighlights": true}' if kind == "exa" else ""
    key = f"YOUR_{kind.upper()}_API_KEY"
    entry = f'{{"name": "{kind}", "type": "{kind}", "apiKey": "{key}"{options}}}'
    return f'{{"providers": [{entry}]}}'


def status(path: Path) -> os.stat_result | None:
    """Return the status of a file, or None if it does not exist.

    Raises:
        ConfigError: The status of the file cannot be read.
    """
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if not path.is_symlink():
            return None
        fault = "is a link to a file that does not exist"
    except (OSError, ValueError) as error:
        fault = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    raise settings_error(str(path), fault)


def read_text(path: Path) -> str:
    """Read a config file.

    Raises:
        ConfigError: It cannot be read, or is not UTF-8.
    """
    try:
        return _bytes(path).decode()
    except UnicodeDecodeError as error:
        fault = f"is not valid UTF-8 at byte {error.start + 1}; save it as UTF-8"
    except OSError as error:
        fault = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    raise settings_error(str(path), fault)


def _bytes(path: Path) -> bytes:
    """Read a file or a pipe, such as a shell's `<(...)`, of limited size."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISDIR(mode)):
        raise OSError(None, "it is not a regular file")
    content = b""
    with open(path, "rb", buffering=0, opener=_open_nonblocking) as file:
        while part := _next_part(file.fileno(), wait=stat.S_ISFIFO(mode)):
            content += part
            if len(content) > _MAX_BYTES:
                raise OSError(None, f"it is larger than {_MAX_BYTES // 1024} KiB")
    return content


def _open_nonblocking(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _next_part(file: int, *, wait: bool) -> bytes:
    if wait and not select.select([file], [], [], _PIPE_TIMEOUT)[0]:
        raise OSError(None, "the pipe sent no data")
    return os.read(file, 65_536)


def missing_file(path: Path, variable: str = "") -> ConfigError:
    """Return the error for a missing config file that the caller or a variable names."""
    origin = f"{path} (from {variable})" if variable else f"{path}"
    init = f"webtools config init --config {shlex.quote(str(path))}"
    return ConfigError(
        f"{origin} does not exist. Check the path, or create the file with `{init}`."
    )


def settings_error(origin: str, message: str, fault: Fault = Fault.NONE) -> ConfigError:
    """Return the error for invalid settings. For a file, it shows a valid example."""
    text = f"{origin}: {message.removesuffix('.')}."
    if origin != CODE and fault is not Fault.BROKEN_PLUGIN:
        paths = config_paths()
        place = f"A config file belongs at {paths[0]}. " if Path(origin) in paths else ""
        text += f"\n{place}A minimal valid example: {example_line()}"
    return ConfigError(text)


def absolute(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path, with `~` expanded."""
    if not os.fspath(path):
        raise ConfigError("The path of the config file is empty. Pass a path, or None.")
    # Path.expanduser() would raise for a user without a home folder.
    expanded = Path(os.path.expanduser(path))  # noqa: PTH111
    try:
        return expanded.absolute()
    except OSError:  # the working folder was deleted; opening the file will fail
        return expanded
