"""What all tests share: time that can be skipped, and the rules of recorded calls."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from offline import Clock
from recording import CassetteYaml, assert_played_whole, cassette_settings
from vcr import VCR
from vcr.cassette import Cassette


def pytest_configure(config: pytest.Config) -> None:
    # A shell that runs the tests in the background has them, and all that they start, ignore it.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]  # other people's clients would look for the sandbox behind it
    # A busy machine is no fault, and what is worth more examples says so itself.
    # The same examples in each run. `--hypothesis-profile random` tries others.
    settings.register_profile("random", deadline=None, max_examples=50)
    settings.register_profile("untimed", settings.get_profile("random"), derandomize=True)
    settings.load_profile(config.getoption("--hypothesis-profile") or "untimed")


_ABOUT_CONNECTIONS = {"http", "io"}
# The only reasons to skip a test with NO_SKIPPED_TESTS. Others are a missing program or package.
_GOOD_REASONS = {
    "root may write anywhere",
    "older ones write options otherwise",
    "these classes need older SDKs than other tests",
}


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With NO_SKIPPED_TESTS, fail a run that skipped a test for want of a program or package."""
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    if "NO_SKIPPED_TESTS" not in os.environ or reporter is None:
        return
    reasons = {reason_of(report) for report in reporter.stats.get("skipped", [])}
    if missing := sorted(reasons - _GOOD_REASONS):
        reporter.write_line(f"Tests were skipped: {'; '.join(missing)}.", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return why a test or a module was skipped."""
    _, _, reason = report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, "")
    return reason.removeprefix("Skipped: ")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name in _ABOUT_CONNECTIONS:
            item.add_marker(pytest.mark.filterwarnings("error::ResourceWarning"))


@pytest.fixture(scope="module", autouse=True)
def _collected(request: pytest.FixtureRequest) -> None:
    """Collect what tests of other modules left open, where it would be an error."""
    if request.path.parent.name in _ABOUT_CONNECTIONS:
        gc.collect()


def pytest_collection_finish() -> None:
    gc.freeze()  # frameworks and tests stay to the end: no collection needs to look at them again


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Time as the blocking driver sees it."""
    clock = Clock()
    monkeypatch.setattr("webtools._internal.io.blocking.time", clock)
    return clock


@pytest.fixture
def vcr_config() -> dict[str, Any]:
    return cassette_settings()


def pytest_recording_configure(config: pytest.Config, vcr: VCR) -> None:
    vcr.register_serializer("yaml", CassetteYaml())


@pytest.fixture(autouse=True)
def _cassette_is_played_whole(vcr: Cassette | None) -> Iterator[None]:
    yield
    if vcr is not None:
        assert_played_whole(vcr)


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test find what another one, or the user, has kept or logged."""
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


@pytest.fixture
def own_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is too long for an answer be saved where only this test looks."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
