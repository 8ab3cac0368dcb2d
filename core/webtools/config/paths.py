"""Where the files are: the config, the cache and the log. Nothing is opened or made here."""

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

_Kept = TypeVar("_Kept", CacheConfig, LogConfig)
Kind: TypeAlias = Literal["config", "cache", "log"]
_NAMES: dict[Kind, str] = {
    "config": "web-search.json",
    "cache": "webtools.sqlite3",
    "log": "web-search.ndjson",
}
# What the user's folders depend on; a program, or a test, may change these while it runs.
_POSIX = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
_WINDOWS = ("USERPROFILE", "APPDATA", "LOCALAPPDATA")
_VARIABLES = _POSIX if os.name == "posix" else (*_POSIX, *_WINDOWS)


def config_paths() -> tuple[Path, Path]:
    """List where a config file is looked for: our own folder, then the pi agent's.

    Without a home folder they begin with `~`: good to be shown, never to be opened.
    """
    return _config_paths(_surroundings())


def settled(part: _Kept, origin: str) -> _Kept:
    """Make the path of a part absolute, so that a change of the working folder moves no file."""
    if part.path is None:
        return part
    return part.model_copy(update={"path": str(_resolved(part.path, origin))})


def clash(cache: CacheConfig, log: LogConfig, origin: str) -> str:
    """Name which of the files are one and the same, where the parts are settled; empty if none."""
    config = os.path.normcase(origin)
    kept = {"cache.path": cache.path, "log.path": log.path}
    files = {key: os.path.normcase(os.path.normpath(path)) for key, path in kept.items() if path}
    for key, path in files.items():
        if path == config:
            return f"{key} is this config file itself: name another file"
    if len(files) > len({*files.values()}):
        return "cache.path and log.path are one file: name two"
    return ""


def file_of(kind: Kind, path: str | None, origin: str) -> Path:
    """Return where a file is: as the settings say, else in the user's own folders.

    Args:
        kind: Which file.
        path: What the settings say; relative to their own file.
        origin: Where the settings are from.
    """
    if path is None and _test_folder is not None:
        return _test_folder / _NAMES[kind]
    if path is None:
        return _users_file(kind, _surroundings()) or _substitute() / _NAMES[kind]
    given = _as_path(path)
    return given if given.is_absolute() else _resolved(path, origin)


@contextmanager
def files_in(folder: Path) -> Generator[None]:
    """Keep the cache and the log in a folder, where the settings do not name a path."""
    global _test_folder  # noqa: PLW0603 - the files are those of a process
    previous, _test_folder = _test_folder, folder
    try:
        yield
    finally:
        _test_folder = previous


_test_folder: Path | None = None


def _resolved(path: str, origin: str) -> Path:
    # Unlike Path.expanduser(), this does not fail for a user without a home folder.
    expanded = os.path.expanduser(path)  # noqa: PTH111
    if expanded.startswith(("~/", "~" + os.sep)):
        return _substitute() / Path(expanded).name
    folder = "" if origin in {CODE, ENVIRONMENT} else Path(origin).parent
    found = Path(folder, expanded)
    try:
        return found.absolute()
    except OSError:  # the working folder is gone; whoever opens the file will say so
        return found


def _substitute() -> Path:
    """Name the folder that stands in for the user's own where there is no home folder."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    try:
        return Path(tempfile.gettempdir(), f"webtools-{user}")
    except OSError:  # no folder is writable; whoever opens the file will say so
        return Path(os.sep)


def _surroundings() -> tuple[str | None, ...]:
    return tuple(map(os.environ.get, _VARIABLES))


_as_path = lru_cache(maxsize=16)(Path)


@lru_cache(maxsize=16)
def _config_paths(surroundings: tuple[str | None, ...]) -> tuple[Path, Path]:
    ours = _users_file("config", surroundings) or Path("~/.config/webtools", _NAMES["config"])
    theirs = os.path.expanduser("~/.pi/agent")  # noqa: PTH111 - as above
    return ours, Path(theirs, _NAMES["config"])


@lru_cache(maxsize=64)
def _users_file(kind: Kind, _: tuple[str | None, ...]) -> Path | None:
    find = {
        "config": platformdirs.user_config_dir,
        "cache": platformdirs.user_cache_dir,
        "log": platformdirs.user_log_dir,
    }[kind]
    try:
        folder = Path(find("webtools", appauthor=False))
    except RuntimeError:  # what some versions say of a user without a home folder
        return None
    return folder / _NAMES[kind] if folder.is_absolute() else None
