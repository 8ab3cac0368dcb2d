"""The command as a process: pipes and Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING

import pytest
from cli_calls import Start

fcntl = pytest.importorskip("fcntl", reason="needs signals and terminals of POSIX")
termios = pytest.importorskip("termios", reason="needs signals and terminals of POSIX")

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer


def wait_until(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 180
    while not condition():
        assert time.monotonic() < limit, "nothing happened within 180 s"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("queries", "options"), [(["one"], ["--json"]), (["one", "two", "three"], [])]
)
def test_ctrl_c_during_a_request_ends_at_once_and_quietly(
    start: Start,
    config: str,
    webtools_sandbox: SandboxServer,
    queries: list[str],
    options: list[str],
) -> None:
    webtools_sandbox.fault(delay=300, times=None)
    process = start("search", *queries, "--config", config, *options)
    wait_until(lambda: sum(webtools_sandbox.stats()["requests"].values()) == len(queries))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=180)  # a fraction of a second on an idle machine
    assert (process.returncode, out, err) == (130, "", "")


def is_taken(pipe: IO[str]) -> bool:
    """Tell whether all that was written into a pipe has been read from it."""
    waiting = bytearray(4)
    fcntl.ioctl(pipe, termios.FIONREAD, waiting)
    return not any(waiting)


def test_ctrl_c_while_reading_stdin_is_quiet(start: Start) -> None:
    process = start("search", "-", stdin=subprocess.PIPE)
    stdin = process.stdin
    assert stdin is not None
    stdin.write("heap\n")
    stdin.flush()
    wait_until(lambda: is_taken(stdin))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=180)
    assert (process.returncode, err) == (130, "")


def test_a_closed_pipe_ends_it_quietly(start: Start, config: str) -> None:
    process = start("search", "heap", "--config", config)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait() == 141


def test_an_unreadable_byte_in_stdin_is_replaced(start: Start, config: str) -> None:
    process = start("search", "-", "--config", config, "--json", stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.buffer.write(b"heap \xff\n")  # type: ignore[attr-defined]
    out, err = process.communicate(timeout=180)
    assert (process.returncode, err) == (0, "")
    assert '"heap \ufffd"' in out
