"""Pages are read in separate processes, which end in time and leave nothing behind."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from webtools import WebTools
from webtools._internal.pages import frames, processes, worker, workers
from webtools._internal.pages.processes import Alarm, Answer
from webtools._internal.pages.reading import Content, Source, read
from webtools._internal.pages.workers import Pool
from webtools.errors import ProviderError
from webtools_sandbox import SandboxServer

PAGE = (
    b"<html><head><title>Ferry</title></head><body><p>The ferry leaves at nine.</p></body></html>"
)
BOUNDED = "import faulthandler; faulthandler.dump_traceback_later(300, exit=True);"
# It takes ages, and holds the lock; when the tests are gone it ends all the same.
BUSY = f"{BOUNDED} import re; re.match('(a+)+$', 'a' * 60 + 'b')"
IDLE = f"{BOUNDED} import time; time.sleep(600)"


def source(body: bytes = PAGE, seconds: float = 120.0, kind: str = "text/html") -> Source:
    return Source(body, kind, "https://a.example/", "https://a.example/", seconds)


def read_apart(body: bytes = PAGE, seconds: float = 120.0, kind: str = "text/html") -> Content:
    return workers.read_apart(source(body, seconds, kind), Alarm())


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    pool = Pool()
    monkeypatch.setattr(workers, "_pool", pool)
    yield pool
    pool.close()


@pytest.fixture
def stuck(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> Pool:
    """Let processes start that are at work on their page for ever."""
    monkeypatch.setattr(processes, "_PROGRAM", STUCK)
    return pool


READY = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline());"
    "from webtools._internal.pages import frames;"
    "frames.write_answer(open(1, 'wb', buffering=0, closefd=False), {'is_last': False});"
)
STUCK, SLOW = READY + BUSY, READY + IDLE


def is_gone(pid: int) -> bool:
    """Tell whether a process has ended and left no zombie."""
    return not psutil.pid_exists(pid)


def until(subject: Any, seconds: float = 180.0) -> bool:
    end = time.monotonic() + seconds
    while not subject() and time.monotonic() < end:
        time.sleep(0.02)
    return bool(subject())


def all_busy(pool: Pool, count: int = 1) -> bool:
    """Tell whether so many processes have been taken by their readers, and none waits for one.

    A new process is idle until its reader wakes up; another reader that comes first
    takes it instead.
    """
    with pool._changed:
        return len(pool._workers) == count and not pool._idle


# --- the same result ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (PAGE, "text/html"),
        ("Grüße, 世界 \U0001f600\n\nplain".encode(), "text/plain; charset=utf-8"),
        (b"\x00\x01", "text/plain"),
        (b"", "text/html"),
        (b"\x89PNG\r\n", "text/html"),
        (b"%PDF-1.4 broken", "application/pdf"),
    ],
)
def test_a_page_read_apart_is_read_as_in_this_process(body: bytes, kind: str) -> None:
    outcomes: list[Any] = []
    for how in (read, lambda value: workers.read_apart(value, Alarm())):
        try:
            outcomes.append(how(source(body, kind=kind)))
        except ProviderError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("year", [1, 1449, 2500, 9456, 9999])
@pytest.mark.parametrize("time_of_day", ["", "T23:59:59Z", "T23:59:59-14:00", "T00:00:00+14:00"])
def test_a_date_in_an_impossible_year_is_no_date_of_a_page(year: int, time_of_day: str) -> None:
    meta = f"<meta property='article:published_time' content='{year:04}-12-31{time_of_day}'>"
    assert read(source(PAGE.replace(b"<title>", meta.encode() + b"<title>"))).published_at is None


# --- whatever the page -------------------------------------------------------------------------


def test_a_page_that_would_freeze_the_process_ends_in_time(stuck: Pool) -> None:
    start = time.monotonic()
    with pytest.raises(ProviderError, match=r"\b1 s\b"):
        read_apart(seconds=1.0)
    assert 0.9 < time.monotonic() - start < 20  # it would never end
    assert until(lambda: not stuck.processes)


def test_a_killed_process_affects_one_page(stuck: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[str] = []

    def fail() -> None:
        with pytest.raises(ProviderError) as caught:
            read_apart()
        failed.append(str(caught.value))

    thread = threading.Thread(target=fail)
    thread.start()
    assert until(lambda: all_busy(stuck))
    [first] = stuck.processes
    os.kill(first, signal.SIGKILL)
    thread.join(60)
    assert "(signal 9)" in failed[0]
    assert until(lambda: is_gone(first))
    monkeypatch.undo()
    monkeypatch.setattr(workers, "_pool", stuck)
    assert read_apart().title == "Ferry"


# --- no processes are left ---------------------------------------------------------------------


def run_script(
    tmp_path: Path, code: str, *flags: str, **env: str
) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(HEAD) + textwrap.dedent(code))
    return subprocess.run(
        [sys.executable, *flags, str(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **env},
    )


HEAD = """
    import os, signal, sys, threading, time
    from webtools.errors import ProviderError
    from webtools._internal.pages import workers
    from webtools._internal.pages.processes import Alarm
    from webtools._internal.pages.reading import Source
    def page(seconds=30.0, body=b"<html><title>Ferry</title><body><p>text</p></body></html>"):
        return workers.read_apart(Source(body, "text/html", seconds=seconds), Alarm())
"""


def test_an_unguarded_script_is_not_run_again_and_leaves_no_process(tmp_path: Path) -> None:
    code = """
        print("run")
        print(page().title, *workers.processes())
    """
    completed = run_script(tmp_path, code, "-W", "error")
    run, message = completed.stdout.splitlines()
    title, pid = message.split()
    assert (run, title, completed.stderr, completed.returncode) == ("run", "Ferry", "", 0)
    assert until(lambda: is_gone(int(pid)))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_a_process_ends_with_its_parent(tmp_path: Path) -> None:
    code = """
        page()
        print(*workers.processes(), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    completed = run_script(tmp_path, code)
    assert completed.returncode == -signal.SIGKILL
    assert until(lambda: not psutil.pid_exists(int(completed.stdout)))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_ctrl_c_ends_the_wait_for_a_page(tmp_path: Path) -> None:
    code = f"""
        from webtools._internal.pages import processes
        processes._PROGRAM = {STUCK!r}
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            page(50.0)
        except KeyboardInterrupt:
            print(time.monotonic() - start)
        import psutil
        for process in psutil.Process().children():  # one that was starting does not listen
            process.kill()
    """
    completed = run_script(tmp_path, code)
    assert completed.stderr == ""
    assert float(completed.stdout or 0) < 5  # half a second, and ten times as long again


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_reads_with_processes_of_its_own(tmp_path: Path) -> None:
    code = """
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        page()
        mine = workers.processes()
        child = os.fork()
        if not child:
            print(page().title, set(mine) & set(workers.processes()), flush=True)
            workers._close()
            os._exit(0)
        os.waitpid(child, 0)
        print(page().title, workers.processes() == mine)
    """
    completed = run_script(tmp_path, code)
    assert (completed.stdout, completed.stderr) == ("Ferry set()\nFerry True\n", "")


# --- where no process can be started -----------------------------------------------------------


@pytest.mark.parametrize("program", [None, "", "/nowhere/python", "/bin/true"])
def test_without_a_python_to_start_pages_are_read_in_this_process_with_a_warning(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, program: str | None
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    monkeypatch.setattr(sys, "_base_executable", program)
    monkeypatch.setattr(sys, "exec_prefix", "/nowhere")
    content = read_apart()
    assert (content.title, pool.processes) == ("Ferry", [])
    assert len(content.warnings) == 1
    assert read_apart().title == "Ferry"


SECRETS = [
    *("EXA_API_KEY", "DATABASE_URL", "REDIS_URL", "MYSQL_PWD", "GITHUB_PAT", "SOME_SETTING"),
    *("AWS_SESSION", "SENTRY_DSN", "HTTP_PROXY", "PGPASSFILE", "SSH_AUTH_SOCK", "PYTHONPATH"),
]


def test_only_what_python_needs_of_the_environment_reaches_the_process(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, "test-key-secret")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert read_apart().title == "Ferry"
    result = psutil.Process(pool.processes[0]).environ()
    assert result["LC_ALL"] == "C.UTF-8"
    assert "test-key-secret" not in result.values()
    assert not result.keys() & set(SECRETS)


@pytest.mark.parametrize("entry", ["", ".", "modules", "absolute"])
def test_modules_in_the_working_folder_are_not_run(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    folder = tmp_path / "modules" if entry == "modules" else tmp_path
    folder.mkdir(exist_ok=True)
    for name in ("trafilatura", "lxml", "pypdf", "charset_normalizer"):
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'was-run')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path) if entry == "absolute" else entry, *sys.path])
    assert read_apart().title == "Ferry"
    assert not (tmp_path / "was-run").exists()


# --- the program, in this process --------------------------------------------------------------


@pytest.fixture(autouse=True)
def _of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test process, which serves itself in some tests, be as large as it is."""
    monkeypatch.setattr(worker, "IDLE_MEMORY", 2**60)
    monkeypatch.setattr(worker, "_set_limit", lambda *_: None)


def serve(*sources: Source) -> list[Answer]:
    """Serve pages as the process does, and give its answers."""
    pages, answers = io.BytesIO(), io.BytesIO()
    for source in sources:
        frames.write_page(pages, source)
    pages.seek(0)
    worker.serve(pages, answers)
    answers.seek(0)
    return [Answer.model_validate_json(frame) for frame in iter(lambda: frames.read(answers), None)]


def test_the_program_answers_each_page_and_ends_with_its_input() -> None:
    ready, first, second = serve(source(), source(b""))
    assert ready == Answer(is_last=False)
    assert first.read().title == "Ferry"
    assert second.error
    assert not second.is_last


def test_an_internal_error_affects_one_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "read", lambda _: 1 // 0)
    [_, answer] = serve(source())
    assert "(ZeroDivisionError)" in str(answer.error)


@pytest.mark.skipif(sys.platform != "linux", reason="there are no such limits")
@pytest.mark.parametrize("size", [0, 500_000])
def test_a_page_gets_no_more_memory_than_its_size_allows(tmp_path: Path, size: int) -> None:
    code = f"""
        import resource
        from webtools._internal.pages import processes, worker
        from webtools._internal.pages.content import Content
        def read(source):
            late = threading.Thread(target=bytearray, args=(9,))  # as that of a time-out may be
            late.start()
            late.join()
            allowed = processes.memory_for(source.body)
            bytearray(allowed * 8 // 10)
            try:
                bytearray(allowed * 12 // 10)
            except MemoryError:
                return Content("refused")
        worker.read = read
        for _ in range(2):
            print(worker.answer_to(Source(bytes({size})))["content"]["text"])
    """
    completed = run_script(tmp_path, code, **processes.ONE_HEAP)
    assert (completed.stdout, completed.stderr) == ("refused\n" * 2, "")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such heaps")
def test_the_threads_of_a_process_share_one_heap(pool: Pool) -> None:
    assert pool.read(source(), Alarm()).title == "Ferry"
    [number] = pool.processes
    variables = Path(f"/proc/{number}/environ").read_bytes().split(b"\0")
    assert b"MALLOC_ARENA_MAX=1" in variables


@pytest.mark.parametrize("size", [10_000, 2_000_000, 7_000_000, 16_000_000])
def test_pages_read_at_the_same_time_share_the_memory(
    stuck: Pool, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(workers, "_LONG", 0.0)
    monkeypatch.setattr(stuck, "memory", 4 * 1024**3)
    most: list[int] = []

    def fail() -> None:
        with pytest.raises(ProviderError):
            read_apart(bytes(size), 3.0)

    threads = [threading.Thread(target=fail) for _ in range(12)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        with stuck._changed:
            busy = len(stuck._workers) - len(stuck._idle)
            idle = len(stuck._idle) + stuck._starting
        needed = processes.IDLE_MEMORY + processes.memory_for(bytes(size))
        most.append(busy * needed + idle * processes.IDLE_MEMORY)
        time.sleep(0.01)
    assert 0 < max(most) <= stuck.memory


@pytest.mark.parametrize("timeout_ms", [2000])
async def test_a_call_exceeds_its_time_by_a_fifth_at_most(
    stuck: Pool, webtools_sandbox: SandboxServer, timeout_ms: int
) -> None:
    host = webtools_sandbox.docs_url.split("/")[2]
    entry = {
        "name": "direct",
        "type": "direct",
        "timeoutMs": timeout_ms,
        "options": {"allowPrivateHosts": [host]},
    }
    config = {"providers": [entry], "cache": {"enabled": False}, "log": {"enabled": False}}
    with WebTools(config) as web:
        start = time.monotonic()
        with pytest.raises(ProviderError):
            await web.afetch([f"{webtools_sandbox.docs_url}/library/heapq.html"])
        assert time.monotonic() - start < 3 * timeout_ms / 1000  # ten times that fifth
    assert until(lambda: not stuck.processes)
