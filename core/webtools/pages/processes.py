"""One process that reads pages: how it is started, asked, and ended."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from webtools.errors import ConfigError, ProviderError
from webtools.pages import frames
from webtools.pages.reading import Content, Source

START_SECONDS = 30.0
_LAST_WORDS = 0.5  # seconds that a process whose pipes are closed may take to end by itself
_END_SECONDS = 5.0  # for the system to bury a process that was killed
_SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|PROXY", re.IGNORECASE)
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?w?(?:\.exe)?", re.IGNORECASE)
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline());"
    "from webtools.pages.worker import main; main()"
)


class Alarm:
    """Ends the process that is at work on a page, when time is over or nobody wants it any more.

    Attributes:
        has_rung: Whether that was the case.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.has_rung = False

    def ring(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self.has_rung = True
            if self._process is not None:
                self._process.kill()

    def set_on(self, process: subprocess.Popen[bytes] | None) -> bool:
        """Choose the process to end, or none; False when it is too late for that."""
        with self._lock:
            self._process = process
            return not self.has_rung


class Worker:
    """One process.

    Attributes:
        process: The process.
        busy_since: When it began with the page at hand, on the monotonic clock.
        is_sound: Whether it can be given another page.
        idle_since: When it was done with the last.
    """

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(  # noqa: S603  # this Python, and a program of ours
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if not _may_be_secret(name)},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            process_group=None if sys.platform == "win32" else 0,  # Ctrl-C is not for it
        )
        self._pages = cast("IO[bytes]", self.process.stdin)
        self._answers = cast("IO[bytes]", self.process.stdout)
        self.busy_since = time.monotonic()
        self.idle_since = self.busy_since
        self.is_sound = False

    def start(self) -> None:
        """Wait until it is ready for pages.

        Raises:
            OSError: It is no Python that can read pages.
        """
        timer = timer_of(START_SECONDS, self.process.kill)
        try:
            self.is_sound = self._begin()
        finally:
            timer.cancel()
        if not self.is_sound:
            raise OSError("the process did not start")

    def _begin(self) -> bool:
        paths = [path for path in sys.path if isinstance(path, str)]  # pyright: ignore[reportUnnecessaryIsInstance]
        self._pages.write(json.dumps(paths).encode() + b"\n")
        frame = frames.read(self._answers)
        return frame is not None and frame[0].get("ready") is True

    def ask(self, source: Source, alarm: Alarm) -> frames.Frame | None:
        """Have a page read; None when the process ended over it."""
        self.is_sound = False
        self.busy_since = time.monotonic()
        frame = self._exchanged(source, alarm)
        if frame is not None:
            self.is_sound = alarm.set_on(None) and frame[0].get("is_last") is False
        self.idle_since = time.monotonic()
        return frame

    def _exchanged(self, source: Source, alarm: Alarm) -> frames.Frame | None:
        if not alarm.set_on(self.process):
            return None
        try:
            frames.write(self._pages, *frames.of_source(source))
            return frames.read(self._answers)
        except (OSError, ValueError):
            return None

    def crash(self) -> ProviderError:
        """Build the error for a page that ended the process."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_LAST_WORDS)
        self.close()
        code = self.process.returncode or 0
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return ProviderError(
            f"the page ended the process that was reading it ({how}); it may be damaged, or need "
            "too much memory; use another source"
        )

    def close(self) -> None:
        """End the process, and see it buried."""
        self.process.kill()
        self.forsake()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_END_SECONDS)

    def forsake(self) -> None:
        """Close our ends of the pipes; without another one the process ends."""
        for pipe in (self._pages, self._answers):
            with suppress(OSError):
                pipe.close()


def content_of(frame: frames.Frame) -> Content:
    """Read what a page says, or raise what is wrong with it."""
    head, _ = frame
    if "error" in head:
        raise (ConfigError if head.get("is_setup") else ProviderError)(str(head["error"]))
    return frames.to_content(frame)


def timer_of(seconds: float, work: Callable[[], object]) -> threading.Timer:
    """Start a timer that keeps nobody from ending."""
    timer = threading.Timer(seconds, work)
    timer.daemon = True
    timer.start()
    return timer


# --- starting ----------------------------------------------------------------------------------


def started() -> Worker | None:
    """Start a process with the first Python that can; None when none can."""
    for program in _programs():
        try:
            worker = Worker([program, *_flags(), "-c", _PROGRAM])
        except (OSError, ValueError):
            continue
        try:
            worker.start()
        except (OSError, ValueError, RuntimeError):
            worker.close()
        else:
            return worker
    return None


def _programs() -> list[str]:
    """List what may be the program of this Python; where that is embedded, it is another's."""
    if getattr(sys, "frozen", False):
        return []
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    home = Path(sys.exec_prefix)
    known = [sys.executable, getattr(sys, "_base_executable", None)]
    others = [str(home / "bin" / f"python{version}"), str(home / "python.exe")]
    named = [name for name in (*known, *others) if name and _PYTHON.fullmatch(Path(name).name)]
    return [name for name in dict.fromkeys(named) if os.access(name, os.X_OK)]


def _flags() -> list[str]:
    """Repeat the flags that decide on what Python finds; `-P` keeps the working folder out."""
    if sys.flags.isolated:
        return ["-I"]
    named = {"-E": sys.flags.ignore_environment, "-s": sys.flags.no_user_site}
    return ["-P", *(flag for flag, is_set in named.items() if is_set)]


def _may_be_secret(name: str) -> bool:
    """Return whether a variable of the environment may hold a key, which no page needs."""
    return _SECRET_NAME.search(name) is not None
