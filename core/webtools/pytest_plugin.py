"""The pytest fixture `webtools_tape`: a test replays what was recorded once.

    def test_agent(webtools_tape):
        assert "lease" in run_agent("What is a DHCP lease?")
        assert webtools_tape.unused == []

`pytest --webtools-record=new` records calls that are not on the tape, and
`--webtools-record=all` records all calls again. Without it, every call is answered from the tape
`tapes/MODULE/TEST.jsonl` beside the test, without keys and a network; for a test in a class,
`CLASS.TEST.jsonl`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

__all__ = ["RecordedTest", "pytest_addoption", "webtools_tape"]

_LONGEST_NAME = 80  # characters of a file's name


@dataclass(frozen=True, slots=True)
class RecordedTest:
    """The tape of a test.

    Attributes:
        path: The file.
    """

    path: Path

    @property
    def unused(self) -> list[dict[str, Any]]:
        """The calls on the tape that the test has not made, with `line`, `tool` and `arguments`."""
        from webtools._internal.pipeline.tape import ambient_tape  # noqa: PLC0415  see below

        tape = ambient_tape()
        return [] if tape is None else [call.summary() for call in tape.unused()]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--webtools-record`."""
    parser.getgroup("webtools").addoption(
        "--webtools-record",
        choices=("none", "new", "all"),
        default="none",
        help="Tests with the fixture webtools_tape: replay all calls (none, the default), record "
        "those that are not on the tape (new), or record all again.",
    )


@pytest.fixture
def webtools_tape(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RecordedTest]:
    """Replay the calls of all `WebTools` of a test from its tape, or record them."""
    # Imported here: pytest loads this module in every run, also where no test needs a tape.
    from webtools._internal.pipeline.tape import (  # noqa: PLC0415
        ambient_tape,
        forget_ambient_tapes,
    )
    from webtools.config.paths import RECORD_VARIABLE, REPLAY_VARIABLE  # noqa: PLC0415

    classes = [node.name for node in request.node.listchain() if isinstance(node, pytest.Class)]
    name = _file_name(".".join([*classes, request.node.name]))
    path = request.path.parent / "tapes" / request.path.stem / name
    mode = request.config.getoption("--webtools-record")
    if mode == "none" and not path.exists():
        pytest.fail(f"{path} does not exist. Run pytest --webtools-record=new to record it.")
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode == "all":
        path.unlink(missing_ok=True)
    forget_ambient_tapes()
    for variable, is_used in (
        (RECORD_VARIABLE, mode != "none"),
        (REPLAY_VARIABLE, mode != "all"),
    ):
        monkeypatch.setenv(variable, str(path) if is_used else "")
    if (tape := ambient_tape()) is not None:
        tape.open()  # also for a test that makes no call
    yield RecordedTest(path)
    forget_ambient_tapes()


def _file_name(test: str) -> str:
    """Return a short name that differs between the parameters of a test."""
    name = re.sub(r"[^\w.-]", "_", test)
    if name != test or len(name) > _LONGEST_NAME:
        name = f"{name[:_LONGEST_NAME]}-{sha256(test.encode()).hexdigest()[:8]}"
    return f"{name}.jsonl"
