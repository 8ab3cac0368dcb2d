"""Start, use and end a process that reads pages."""

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

from pydantic import BaseModel

from webtools._internal.faults import Fault, with_fault
from webtools._internal.pages import frames
from webtools._internal.pages.content import Content, Source
from webtools.errors import ConfigError, ProviderError

START_SECONDS = 30.0
IDLE_MEMORY = 512 * 1024 * 1024  # bytes that a process may keep between pages
_MEMORY_FOR_PAGE = 256 * 1024 * 1024  # bytes for any page,
_MEMORY_PER_BYTE = 256  # and for each of its bytes: more than hostile markup was seen to need
_MAX_MEMORY_FOR_PAGE = 5 * IDLE_MEMORY
# One heap for all threads. The thread of a time-out would have one of its own, which takes up to
# 128 MiB of what a page may use if it starts late.
ONE_HEAP = {"MALLOC_ARENA_MAX": "1"}  # with glibc
_EXIT_SECONDS = 0.5  # seconds for a process to exit after its pipe closed
_REAP_SECONDS = 5.0  # for a killed process to be reaped
_NEEDED = re.compile(  # environment variables by which Python starts and reads text
    r"LANG|LC_\w+|TZ|PATH|LD_LIBRARY_PATH|DYLD_LIBRARY_PATH|TMPDIR|TEMP|TMP|SYSTEMROOT|WINDIR"
    r"|PYTHONHOME|PYTHONUTF8|PYTHONIOENCODING|PYTHONHASHSEED|PYTHONDONTWRITEBYTECODE"
    r"|PYTHONPYCACHEPREFIX",
    re.IGNORECASE,
)
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?w?(?:\.exe)?", re.IGNORECASE)
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline());"
    "from webtools._internal.pages.worker import main; main()"
)


def memory_for(body: bytes) -> int:
    """Return how many bytes of memory the reading of a page may take."""
    return min(_MAX_MEMORY_FOR_PAGE, _MEMORY_FOR_PAGE + _MEMORY_PER_BYTE * len(body))


class Answer(BaseModel):
    """Answer of a process about a page; the first one says that the process is ready."""

    content: Content | None = None
    error: str = ""
    is_setup: bool = False
    fault: int = 0
    is_last: bool

    def read(self) -> Content:
        """Return the content, or raise the error."""
        if self.content is None:
            kind = ConfigError if self.is_setup else ProviderError
            raise with_fault(kind(self.error), Fault(self.fault))
        return self.content


class Alarm:
    """Kills the process that is reading a page, after a time-out or a cancellation.

    Attributes:
        has_rung: Whether `ring` was called.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.has_rung = False

    def ring(self) -> None:
        """Kill the process, if there is one."""
        with self._lock:
            self.has_rung = True
            if self._process is not None:
                self._process.kill()

    def set_process(self, process: subprocess.Popen[bytes] | None) -> bool:
        """Set the process to kill, or None; return False if the alarm has rung."""
        with self._lock:
            self._process = process
            return not self.has_rung


class Worker:
    """One process.

    Attributes:
        process: The process.
        since: When it began to read its page, on the monotonic clock.
        memory: Bytes that it may use.
        is_sound: Whether it can read another page.
    """

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(  # noqa: S603  # this Python with our program
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in os.environ if _NEEDED.fullmatch(name)}
            | ONE_HEAP,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            process_group=None if sys.platform == "win32" else 0,  # it must not get Ctrl-C
        )
        self._pages = cast("IO[bytes]", self.process.stdin)
        self._answers = cast("IO[bytes]", self.process.stdout)
        self.since = time.monotonic()
        self.memory = IDLE_MEMORY
        self.is_sound = False

    def start(self) -> None:
        """Wait until the process is ready.

        Raises:
            OSError: The process cannot read pages.
        """
        paths = _import_paths()
        timer = timer_of(START_SECONDS, self.process.kill)
        try:
            self._pages.write(json.dumps(paths).encode() + b"\n")
            self.is_sound = self._answer() is not None
        finally:
            timer.cancel()
        if not self.is_sound:
            raise OSError("the process did not start")

    def read(self, source: Source, alarm: Alarm) -> Answer | None:
        """Read a page; None if the process died."""
        self.is_sound, self.since = False, time.monotonic()
        answer = None
        if alarm.set_process(self.process):
            with suppress(OSError, ValueError):
                frames.write_page(self._pages, source)
                answer = self._answer()
        if answer is not None:
            self.is_sound = alarm.set_process(None) and not answer.is_last
        return answer

    def _answer(self) -> Answer | None:
        frame = frames.read(self._answers)
        return None if frame is None else Answer.model_validate_json(frame)

    def crash_error(self) -> ProviderError:
        """Return the error for a page on which the process died."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_EXIT_SECONDS)
        self.close()
        code = self.process.returncode or 0
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return ProviderError(
            f"the process that read the page crashed ({how}); the page may be damaged or need "
            "too much memory; use another source"
        )

    def close(self) -> None:
        """Kill the process and reap it."""
        self.process.kill()
        self.abandon()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_REAP_SECONDS)

    def abandon(self) -> None:
        """Close our ends of the pipes."""
        for pipe in (self._pages, self._answers):
            with suppress(OSError):
                pipe.close()


def timer_of(seconds: float, work: Callable[[], object]) -> threading.Timer:
    """Start a timer that does not keep the program alive."""
    timer = threading.Timer(seconds, work)
    timer.daemon = True
    timer.start()
    return timer


# --- starting ----------------------------------------------------------------------------------


def start_worker() -> Worker | None:
    """Start a process with the first Python that works, or return None."""
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
    """List candidates for Python's executable; `sys.executable` may be an embedding program."""
    if getattr(sys, "frozen", False):
        return []
    home, version = Path(sys.exec_prefix), sys.version_info
    executables = [sys.executable, getattr(sys, "_base_executable", None)]
    guesses = [home / "bin" / f"python{version.major}.{version.minor}", home / "python.exe"]
    names = [
        str(name)
        for name in (*executables, *guesses)
        if name and _PYTHON.fullmatch(Path(name).name)
    ]
    return [name for name in dict.fromkeys(names) if os.access(name, os.X_OK)]


def _import_paths() -> list[str]:
    """Return the folders that this Python imports from, without the working folder.

    Anyone may have put modules there. It stays if this package is in it.
    """
    working = {Path(os.path.realpath(os.curdir))} - {Path(__file__).resolve().parents[3]}
    paths = [path for path in sys.path if isinstance(path, str)]  # pyright: ignore[reportUnnecessaryIsInstance]
    return [
        path
        for path in paths
        if Path(path).is_absolute() and Path(os.path.realpath(path)) not in working
    ]


def _flags() -> list[str]:
    """Return this Python's flags for imports; `-P` excludes the working folder."""
    if sys.flags.isolated:
        return ["-I"]
    flags = {"-E": sys.flags.ignore_environment, "-s": sys.flags.no_user_site}
    return ["-P", *(flag for flag, is_set in flags.items() if is_set)]
