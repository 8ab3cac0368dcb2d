"""Where the files of cache, log and config are."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from offline import accounts as accounts_with
from offline import entry

from webtools.config import (
    Accounts,
    CacheConfig,
    Settings,
    cache_path,
    log_path,
    paths,
)
from webtools.config.config_models import without_providers
from webtools.errors import ConfigError

PROVIDERS = [entry("exa")]


def accounts(**top: Any) -> Accounts:
    return accounts_with(*PROVIDERS, **top)


@pytest.fixture
def forgotten() -> Iterator[None]:
    """Nothing is kept of the folders from other tests, nor for them."""
    caches = (paths._users_file, paths._config_paths)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.fixture
def no_home(home: Path, forgotten: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without a home folder; the folder for temporary files."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise RuntimeError("could not determine the home directory")

    monkeypatch.setattr("os.path.expanduser", os.fspath)
    for name in ("user_config_dir", "user_cache_dir", "user_log_dir"):
        monkeypatch.setattr(f"platformdirs.{name}", refuse)
    monkeypatch.setattr(tempfile, "tempdir", str(home / "temp"))
    return home / "temp"


@pytest.mark.skipif(sys.platform != "linux", reason="the folders are the platform's")
def test_the_files_are_in_the_users_folders(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = accounts()
    assert cache_path(settings) == home / ".cache/webtools/webtools.sqlite3"
    assert log_path(settings) == home / ".local/state/webtools/log/web-search.ndjson"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "c"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "s"))
    assert cache_path(settings) == home / "c/webtools/webtools.sqlite3"
    assert log_path(settings) == home / "s/webtools/log/web-search.ndjson"
    monkeypatch.setenv("HOME", str(home / "other"))
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_path(settings) == home / "other/.cache/webtools/webtools.sqlite3"


@pytest.mark.parametrize("kind", ["cache", "log"])
def test_an_absolute_path_and_a_tilde_are_taken_as_they_are(home: Path, kind: str) -> None:
    find = {"cache": cache_path, "log": log_path}[kind]
    assert find(accounts(**{kind: {"path": "/tmp/x"}})) == Path("/tmp/x")
    assert find(accounts(**{kind: {"path": "~/d/x"}})) == home / "d/x"


@pytest.mark.parametrize("kind", ["cache", "log"])
def test_a_relative_path_is_taken_from_the_config_files_folder(
    home: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = home / "conf/web-search.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"providers": PROVIDERS, kind: {"path": "kept/x"}}))
    monkeypatch.chdir(home)
    find = {"cache": cache_path, "log": log_path}[kind]
    assert find(Settings("conf/web-search.json").accounts()) == home / "conf/kept/x"


def test_a_relative_path_in_code_is_taken_from_the_working_folder_and_stays(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    settings = accounts(cache={"path": "x"})
    (home / "elsewhere").mkdir()
    monkeypatch.chdir(home / "elsewhere")
    assert cache_path(settings) == home / "x"
    by_hand = Accounts((), "the code", without_providers(cache=CacheConfig(path="x")))
    assert cache_path(by_hand) == home / "elsewhere/x"


@pytest.mark.parametrize("key", ["cache", "log"])
def test_a_file_may_not_be_the_config_itself(tmp_path: Path, key: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"providers": PROVIDERS, key: {"path": "./c.json"}}))
    with pytest.raises(ConfigError, match=f"{path}: {key}.path "):
        Settings(path).accounts()


def test_cache_and_log_may_not_be_one_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cache\.path and log\.path"):
        accounts(cache={"path": str(tmp_path / "x")}, log={"path": f"{tmp_path}/y/../x"})


def test_a_user_without_a_home_folder_has_files_too(no_home: Path) -> None:
    folder = no_home / f"webtools-{os.getuid()}"
    settings = accounts()
    assert cache_path(settings) == folder / "webtools.sqlite3"
    assert log_path(settings) == folder / "web-search.ndjson"
    assert cache_path(accounts(cache={"path": "~/d/mine"})) == folder / "mine"
