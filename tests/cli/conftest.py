from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli_calls import Cli, Done, Start

from webtools.cli import main
from webtools.cli.sandbox import trial_config, write_config

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without any setting, whose terminal has 80 columns."""
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.startswith(("WEB_SEARCH_", "PI_", "XDG_")):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("COLUMNS", "80")
    return folder


@pytest.fixture
def config(tmp_path: Path, webtools_sandbox: SandboxServer) -> str:
    path = tmp_path / "sandbox.json"
    path.write_text(json.dumps(webtools_sandbox.config()))
    path.chmod(0o600)
    return str(path)


@pytest.fixture
def trial(tmp_path: Path, webtools_sandbox: SandboxServer) -> str:
    """A config with a cache and a log beside it."""
    path = tmp_path / "trial.json"
    write_config(path, trial_config(webtools_sandbox, path))
    return str(path)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command in this process."""

    def call(*arguments: str) -> Done:
        code = main(arguments)
        return Done(code, *capsys.readouterr())

    return call


@pytest.fixture
def start() -> Iterator[Start]:
    """The command in a process of its own."""
    running: list[subprocess.Popen[str]] = []

    def call(*arguments: str, **options: Any) -> subprocess.Popen[str]:
        options = {"stdin": subprocess.DEVNULL, "stdout": -1, "stderr": -1, **options}
        process = subprocess.Popen(
            [sys.executable, "-m", "webtools", *arguments], encoding="utf-8", **options
        )
        running.append(process)
        return process

    yield call
    for process in running:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
