"""The pytest fixture `webtools_sandbox` isolates tests from each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from webtools import WebTools
from webtools._internal.storage.sqlite_file import cache_file
from webtools.errors import AuthenticationError, QuotaError
from webtools_sandbox import SandboxServer

pytestmark = pytest.mark.usefixtures("users_folder")


@pytest.fixture(scope="module")
def users_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return one home folder for all tests of this module, as in the tests of a user."""
    home = tmp_path_factory.mktemp("home")
    yield home
    assert list(home.rglob("*")) == []  # no test wrote to it


@pytest.fixture(autouse=True)
def _home(users_folder: Path, monkeypatch: pytest.MonkeyPatch, _own_folders: None) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(users_folder))


@pytest.fixture(scope="module")
def module_web(webtools_sandbox_server: SandboxServer) -> Iterator[WebTools]:
    with WebTools({**webtools_sandbox_server.config(), "cache": {}, "log": {}}) as web:
        yield web


@pytest.fixture(params=[1, 2])
def _twice() -> None:
    """Run a test twice. The second run fails if the first one had an effect."""


@pytest.mark.usefixtures("_twice")
def test_circuit_breakers_are_closed_before_the_next_test(webtools_sandbox: SandboxServer) -> None:
    with WebTools(webtools_sandbox.config()) as web:
        web.search(["zip file", "json decoder"])
    assert webtools_sandbox.stats()["requests"] == {"/exa/search": 2}
    webtools_sandbox.fault(provider="exa", status=401)
    with WebTools(webtools_sandbox.config()) as web, pytest.raises(AuthenticationError):
        web.search("json decoder", provider="exa")


@pytest.mark.usefixtures("_twice")
def test_cached_results_are_removed_before_the_next_test(
    webtools_sandbox: SandboxServer, module_web: WebTools
) -> None:
    assert not module_web.search("json decoder").cache_hit
    assert module_web.search("json decoder").cache_hit
    assert webtools_sandbox.stats()["requests"] == {"/exa/search": 1}


@pytest.mark.usefixtures("_twice")
@pytest.mark.parametrize("limit", ["callsPerDay", "callsPerProcess"])
def test_budgets_are_reset_before_the_next_test(
    webtools_sandbox: SandboxServer, limit: str
) -> None:
    with WebTools(webtools_sandbox.config() | {"budget": {limit: 1}}) as web:
        web.search("json decoder")
        with pytest.raises(QuotaError, match=limit):
            web.search("zip file")
    assert webtools_sandbox.stats()["requests"] == {"/exa/search": 1}


def test_a_cache_path_in_the_settings_is_used(
    webtools_sandbox: SandboxServer, tmp_path: Path
) -> None:
    path = tmp_path / "own.sqlite3"
    with WebTools(webtools_sandbox.config() | {"cache": {"path": str(path)}}) as web:
        web.search("json decoder")
    assert cache_file(path).exists()
