"""Paths of the config file, the cache and the log."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import platformdirs

from webtools.config.parts import CacheConfig, LogConfig

CODE = "the code"
ENVIRONMENT = "the environment"
TAPE = "the tape"  # in place of settings that cannot be read
RECORD_VARIABLE, REPLAY_VARIABLE = "WEBTOOLS_RECORD", "WEBTOOLS_REPLAY"  # name tapes
MCP_TOKEN_VARIABLE = "WEBTOOLS_MCP_TOKEN"  # noqa: S105 - its name

_FileConfig = TypeVar("_FileConfig", CacheConfig, LogConfig)
Kind: TypeAlias = Literal["config", "cache", "log"]
_NAMES: dict[Kind, str] = {
    "config": "web-search.json",
    "cache": "webtools.sqlite3",
    "log": "web-search.ndjson",
}
# The user's folders depend on these, which a program or a test may change while it runs.
_POSIX = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
_WINDOWS = ("USERPROFILE", "APPDATA", "LOCALAPPDATA")
_VARIABLES = _POSIX if os.name == "posix" else (*_POSIX, *_WINDOWS)


def config_paths() -> tuple[Path, Path]:
    """Return the possible paths of the config file: in our folder, then in the pi agent's.

    For a user without a home folder they begin with `~`: show these, but do not open them.
    """
    return _config_paths(surroundings())


def with_absolute_path(part: _FileConfig, origin: str) -> _FileConfig:
    """Make the path of a part absolute, in case the working folder changes."""
    if part.path is None:
        return part
    return part.model_copy(update={"path": str(_resolved(part.path, origin))})


def clash(cache: CacheConfig, log: LogConfig, origin: str) -> str:
    """Explain which of the files are the same, or return ""."""
    config = os.path.normcase(origin)
    paths = {"cache.path": cache.path, "log.path": log.path}
    files = {key: os.path.normcase(os.path.normpath(path)) for key, path in paths.items() if path}
    for key, path in files.items():
        if path == config:
            return f"{key} is the config file itself. Choose another file"
    if len(files) > len({*files.values()}):
        return "cache.path and log.path are the same file. Choose two files"
    return ""


def file_of(kind: Kind, path: str | None, origin: str) -> Path:
    """Return the path of a file: from the settings, else in the user's folders.

    Args:
        kind: Which file.
        path: The path in the settings, relative to their file.
        origin: The source of the settings.
    """
    if path is None and _test_folder is not None:
        return _test_folder / _NAMES[kind]
    if path is None:
        return _users_file(kind, surroundings()) or _substitute() / _NAMES[kind]
    return _resolved(path, origin)


@contextmanager
def files_in(folder: Path) -> Generator[None]:
    """Put the cache and the log in a folder, unless the settings set a path."""
    global _test_folder  # noqa: PLW0603 - the files are those of a process
    previous, _test_folder = _test_folder, folder
    try:
        yield
    finally:
        _test_folder = previous


_test_folder: Path | None = None


def _resolved(path: str, origin: str) -> Path:
    # Path.expanduser() would raise for a user without a home folder.
    expanded = os.path.expanduser(path)  # noqa: PTH111
    if expanded.startswith(("~/", "~" + os.sep)):
        return _substitute() / Path(expanded).name
    folder = "" if origin in {CODE, ENVIRONMENT} else Path(origin).parent
    resolved = Path(folder, expanded)
    try:
        return resolved.absolute()
    except OSError:  # the working folder was deleted; opening the file will fail
        return resolved


def _substitute() -> Path:
    """Return the folder to use if there is no home folder."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    try:
        return Path(tempfile.gettempdir(), f"webtools-{user}")
    except OSError:  # no folder is writable; opening the file will fail
        return Path(os.sep)


def surroundings() -> tuple[object, ...]:
    """Return what the places of the files depend on, to detect changes."""
    return (_test_folder, *[os.environ.get(name) for name in _VARIABLES])


@lru_cache(maxsize=16)
def _config_paths(surroundings: tuple[object, ...]) -> tuple[Path, Path]:
    ours = _users_file("config", surroundings) or Path("~/.config/webtools", _NAMES["config"])
    theirs = os.path.expanduser("~/.pi/agent")  # noqa: PTH111 - as above
    return ours, Path(theirs, _NAMES["config"])


@lru_cache(maxsize=64)
def _users_file(kind: Kind, _: tuple[object, ...]) -> Path | None:
    find = {
        "config": platformdirs.user_config_dir,
        "cache": platformdirs.user_cache_dir,
        "log": platformdirs.user_log_dir,
    }[kind]
    try:
        folder = Path(find("webtools", appauthor=False))
    except RuntimeError:  # some versions raise it for a user without a home folder
        return None
    return folder / _NAMES[kind] if folder.is_absolute() else None
