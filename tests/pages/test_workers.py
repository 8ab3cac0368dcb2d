"""Pages are read in processes that can be ended: in time, cleanly, and never the user's script."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from webtools import WebTools
from webtools._internal.pages import frames, processes, worker, workers
from webtools._internal.pages.processes import Alarm, Answer, Worker
from webtools._internal.pages.reading import Content, Source, read
from webtools._internal.pages.workers import Pool
from webtools.errors import ConfigError, Fault, ProviderError
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
    made = Pool()
    monkeypatch.setattr(workers, "_pool", made)
    yield made
    made.close()


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


def until(what: Any, seconds: float = 180.0) -> bool:
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    return bool(what())


def all_busy(pool: Pool, count: int = 1) -> bool:
    """Tell whether so many processes have been taken by their readers, and none waits for one.

    One that has started is idle until the reader that waits for it wakes up; whoever asks before
    takes it in that reader's place.
    """
    with pool._changed:
        return len(pool._all) == count and not pool._idle


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
    for how in (read, lambda given: workers.read_apart(given, Alarm())):
        try:
            outcomes.append(how(source(body, kind=kind)))
        except ProviderError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


def test_pages_in_turn_share_a_process(pool: Pool) -> None:
    read_apart()
    [first] = pool.processes
    for _ in range(3):
        assert read_apart().title == "Ferry"
    assert pool.processes == [first]


def test_a_program_that_uses_much_memory_keeps_its_process(tmp_path: Path) -> None:
    code = """
        much = bytearray(os.urandom(1024)) * 700_000
        page()
        first = workers.processes()
        page()
        print(len(first), workers.processes() == first)
    """
    done = run_script(tmp_path, code)
    assert (done.stdout, done.stderr) == ("1 True\n", "")


def test_the_process_starts_while_the_page_is_on_its_way(pool: Pool) -> None:
    workers.prepare()
    assert until(workers.processes)
    [first] = workers.processes()
    workers.prepare()
    read_apart()
    assert workers.processes() == [first]


def test_frames_keep_every_field_of_a_page() -> None:
    stream = io.BytesIO()
    frames.write_page(stream, source())
    content = Content("text \U0001f600", "t", "a", datetime(2026, 1, 2, tzinfo=UTC), ["odd"])
    frames.write_answer(stream, {"content": asdict(content), "is_last": True})
    stream.seek(0)
    assert frames.read_page(stream) == source()
    answer = Answer.model_validate_json(frames.read(stream) or b"")
    assert (answer.read(), answer.is_last) == (content, True)


@pytest.mark.parametrize("data", [b"", b"\0\0", b"\0\0\0\2{"])
def test_a_frame_that_was_cut_is_the_end(data: bytes) -> None:
    assert frames.read(io.BytesIO(data)) is None
    assert frames.read_page(io.BytesIO(data)) is None


def test_a_frame_that_is_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match="too large"):
        frames.read(io.BytesIO(b"\xff" * 8))


# --- whatever the page -------------------------------------------------------------------------


def test_a_page_that_would_freeze_the_process_ends_in_time(stuck: Pool) -> None:
    start = time.monotonic()
    with pytest.raises(ProviderError, match=r"\b1 s\b"):
        read_apart(seconds=1.0)
    assert 0.9 < time.monotonic() - start < 3.0
    assert until(lambda: not stuck.processes)


def test_no_thread_waits_while_a_hostile_page_is_read(stuck: Pool) -> None:
    alarm = Alarm()
    thread = threading.Thread(target=_quietly, args=(alarm,), daemon=True)
    longest = 0.0
    thread.start()
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        before = time.monotonic()
        time.sleep(0.001)
        longest = max(longest, time.monotonic() - before)
    alarm.ring()
    thread.join(60)
    assert longest < 0.5  # ten times 0.05 s; in the same process it is all of that second


def _quietly(alarm: Alarm) -> None:
    with pytest.raises(ProviderError):
        workers.read_apart(source(), alarm)


async def test_a_hostile_page_ends_in_time_without_blocking_the_loop(stuck: Pool) -> None:
    turns = 0
    task = asyncio.ensure_future(asyncio.to_thread(read_apart, seconds=1.0))
    while not task.done():
        await asyncio.sleep(0.01)
        turns += 1
    assert turns > 10
    with pytest.raises(ProviderError, match=r"\b1 s\b"):
        await task


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


def test_a_process_that_ended_while_idle_is_replaced(pool: Pool) -> None:
    read_apart()
    [first] = pool.processes
    os.kill(first, signal.SIGKILL)
    assert until(lambda: psutil.Process(first).status() == psutil.STATUS_ZOMBIE)
    assert read_apart().title == "Ferry"
    assert until(lambda: is_gone(first))


def test_slow_pages_delay_no_other_page(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_PROGRAM", SLOW)
    threads = [
        threading.Thread(target=_quietly, args=(Alarm(),), daemon=True)
        for _ in range(workers.PROCESSES)
    ]
    for thread in threads:
        thread.start()
    assert until(lambda: all_busy(pool, workers.PROCESSES))
    monkeypatch.undo()
    monkeypatch.setattr(workers, "_pool", pool)
    assert read_apart(seconds=120).title == "Ferry"


def test_a_reading_that_is_stopped_leaves_no_process_at_work(stuck: Pool) -> None:
    alarm = Alarm()
    thread = threading.Thread(target=_quietly, args=(alarm,))
    thread.start()
    assert until(lambda: all_busy(stuck))
    [first] = stuck.processes
    alarm.ring()
    thread.join(60)
    assert not thread.is_alive()
    assert until(lambda: is_gone(first))


def test_a_reading_that_was_stopped_before_does_not_begin(pool: Pool) -> None:
    alarm = Alarm()
    alarm.ring()
    assert not alarm.set_on(None)
    _quietly(alarm)


# --- no processes are left ---------------------------------------------------------------------


def test_idle_processes_end(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "IDLE_SECONDS", 0.2)
    read_apart()
    [first] = pool.processes
    assert until(lambda: is_gone(first))
    assert pool.processes == []
    assert read_apart().title == "Ferry"


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
    done = run_script(tmp_path, code, "-W", "error")
    run, said = done.stdout.splitlines()
    title, pid = said.split()
    assert (run, title, done.stderr, done.returncode) == ("run", "Ferry", "", 0)
    assert until(lambda: is_gone(int(pid)))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_a_process_ends_with_its_parent(tmp_path: Path) -> None:
    code = """
        page()
        print(*workers.processes(), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = run_script(tmp_path, code)
    assert done.returncode == -signal.SIGKILL
    assert until(lambda: not psutil.pid_exists(int(done.stdout)))


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
    """
    done = run_script(tmp_path, code)
    assert done.stderr == ""
    assert float(done.stdout or 0) < 5  # half a second, and ten times as long again


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
    done = run_script(tmp_path, code)
    assert (done.stdout, done.stderr) == ("Ferry set()\nFerry True\n", "")


@pytest.mark.parametrize("flags", [["-I", "-O"], ["-E", "-s", "-W", "error"]])
def test_the_flags_of_this_python_make_no_difference(tmp_path: Path, flags: list[str]) -> None:
    done = run_script(tmp_path, "print(page().warnings)", *flags)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_process_has_the_import_path_of_its_parent(tmp_path: Path) -> None:
    code = """
        sys.path.insert(0, os.path.join(os.getcwd(), "more"))
        del os.environ["PYTHONPATH"]
        try:
            page()
        except ProviderError as error:
            print(error)
    """
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "trafilatura.py").write_text("raise LookupError('it was found')\n")
    (tmp_path / "more" / "lxml.py").write_text("raise LookupError('it was found')\n")
    done = run_script(tmp_path, code, PYTHONPATH=str(tmp_path / "none"))
    assert "LookupError" in done.stdout
    assert done.stderr == ""


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


def test_a_frozen_program_is_not_started_as_a_python(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert processes._programs() == []
    assert read_apart().warnings


@pytest.mark.parametrize("program", ["import sys; sys.exit(3)", "print('hello')", "import nothing"])
def test_another_program_is_not_used_as_a_worker(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(processes, "_PROGRAM", program)
    assert read_apart().warnings
    assert pool.processes == []


def test_a_silent_program_is_abandoned(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "START_SECONDS", 0.2)
    monkeypatch.setattr(processes, "_PROGRAM", BUSY)
    assert read_apart().warnings


def test_without_a_thread_pages_are_read_in_this_process(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(workers, "in_own_thread", full)
    assert read_apart().warnings


def test_keys_of_the_environment_do_not_reach_the_process(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXA_API_KEY", "test-key-exa")
    monkeypatch.setenv("SOME_SETTING", "kept")
    read_apart()
    found = psutil.Process(pool.processes[0]).environ()
    assert found.get("SOME_SETTING") == "kept"
    assert "test-key-exa" not in found.values()


# --- the program, in this process --------------------------------------------------------------


@pytest.fixture(autouse=True)
def _of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test process, which serves itself in some tests, be as large as it is."""
    monkeypatch.setattr(worker, "MAX_RESIDENT", 2**60)


def asked(*sources: Source) -> list[Answer]:
    """Serve pages as the process does, and give its answers."""
    pages, answers = io.BytesIO(), io.BytesIO()
    for each in sources:
        frames.write_page(pages, each)
    pages.seek(0)
    worker.serve(pages, answers)
    answers.seek(0)
    return [Answer.model_validate_json(frame) for frame in iter(lambda: frames.read(answers), None)]


def test_the_program_answers_each_page_and_ends_with_its_input() -> None:
    ready, first, second = asked(source(), source(b""))
    assert ready == Answer(is_last=False)
    assert first.read().title == "Ferry"
    assert second.error
    assert not second.is_last


def test_the_fault_of_a_page_is_returned_by_the_process() -> None:
    missing = b"<title>404 Not Found</title><body><h1>Not Found</h1><p>No such page.</p></body>"
    *_, answered = asked(source(missing))
    with pytest.raises(ProviderError, match="no such page") as caught:
        answered.read()
    assert caught.value.fault is Fault.ADVISED


def test_an_internal_error_affects_one_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "read", lambda _: 1 // 0)
    [_, answer] = asked(source())
    assert "(ZeroDivisionError)" in str(answer.error)


def test_a_library_missing_in_the_process_is_a_config_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(_: Source) -> Content:
        raise ConfigError("install it")

    monkeypatch.setattr(worker, "read", missing)
    [_, answer] = asked(source())
    with pytest.raises(ConfigError, match="install it"):
        answer.read()


def test_a_process_that_grew_large_or_old_makes_room_for_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "MAX_PAGES", 2)
    assert [answer.is_last for answer in asked(*[source()] * 3)] == [False, False, True]
    monkeypatch.setattr(worker, "MAX_RESIDENT", 0)
    assert [answer.is_last for answer in asked(*[source()] * 3)] == [False, True]


def test_a_process_that_was_the_last_is_not_used_again(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_apart()
    [first] = pool.processes
    monkeypatch.setattr(Worker, "_answer", lambda _: Answer(error="x", is_last=True))
    with pytest.raises(ProviderError, match="^x$"):
        read_apart()
    assert until(lambda: is_gone(first))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_a_page_gets_no_more_memory_than_a_process_may_have(tmp_path: Path) -> None:
    code = """
        from webtools._internal.pages import worker
        worker._limit_resources()
        try:
            bytearray(2 * worker.MAX_MEMORY)
        except MemoryError:
            print("refused", os.nice(0) > 0)
    """
    done = run_script(tmp_path, code)
    assert (done.stdout, done.stderr) == ("refused True\n", "")


def test_an_orphan_ends_with_the_time_of_its_page(tmp_path: Path) -> None:
    code = """
        from webtools._internal.pages import worker
        with worker._limit_time(0.3):
            sum(range(10**12))
    """
    start = time.monotonic()
    done = run_script(tmp_path, code)
    assert (done.returncode, done.stdout) == (1, "")
    assert time.monotonic() - start < 30


def test_a_worker_can_be_closed_twice() -> None:
    made = Worker([sys.executable, "-c", BUSY])
    made.close()
    made.close()
    assert is_gone(made.process.pid)


def test_no_page_is_sent_after_the_deadline_or_to_an_ended_process() -> None:
    made = Worker([sys.executable, "-c", BUSY])
    late = Alarm()
    late.ring()
    try:
        assert made.ask(source(), late) is None
        assert made.process.poll() is None
    finally:
        made.close()
    assert made.ask(source(), Alarm()) is None
    assert not made.is_sound


def test_a_program_that_cannot_run_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_programs", lambda: ["/nowhere/python"])
    assert processes.start_worker() is None


def test_an_isolated_python_starts_isolated_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "sys", SimpleNamespace(flags=SimpleNamespace(isolated=1)))
    assert processes._flags() == ["-I"]


def test_a_process_started_after_the_end_is_ended(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Worker([sys.executable, "-c", BUSY])
    monkeypatch.setattr(workers, "start_worker", lambda: made)
    workers._close()
    pool._start_one()
    assert is_gone(made.process.pid)
    assert workers.processes() == []


def test_a_pool_that_is_closed_ends_its_processes(pool: Pool) -> None:
    read_apart()
    [first] = workers.processes()
    workers._close()
    assert until(lambda: is_gone(first))


def test_a_child_releases_the_processes_of_its_parent(pool: Pool) -> None:
    read_apart()
    [before] = pool._all
    workers._begin_in_child()  # `pool` puts the pool of the tests back
    try:
        assert workers.processes() == []
        assert before.process.poll() == 0  # which is not waited for
    finally:
        process = psutil.Process(before.process.pid)
        process.wait(60)  # its input has ended, and so does it


def test_the_program_keeps_what_libraries_print_from_its_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given, taken = tmp_path / "pages", tmp_path / "answers"
    with given.open("wb", buffering=0) as pages:
        frames.write_page(pages, source())
    ours = {0: os.open(given, os.O_RDONLY), 1: os.open(taken, os.O_WRONLY | os.O_CREAT)}
    steps: list[object] = []
    system = SimpleNamespace(
        dup=ours.__getitem__,
        dup2=lambda *pair: steps.append(pair),
        fdopen=os.fdopen,
        devnull=os.devnull,
        sysconf=getattr(os, "sysconf", None),
    )
    monkeypatch.setattr(worker, "os", system)
    monkeypatch.setattr(worker, "signal", SimpleNamespace(**SIGNALS, signal=lambda *_: None))
    monkeypatch.setattr(worker, "_limit_resources", lambda: steps.append("limited"))
    worker.main()
    assert steps == [(2, 1), "limited"]
    with taken.open("rb") as answers:
        assert frames.read(answers) == b'{"is_last": false}'
        answer = Answer.model_validate_json(frames.read(answers) or b"")
    assert answer.read().title == "Ferry"


SIGNALS = {"SIGINT": signal.SIGINT, "SIG_IGN": signal.SIG_IGN}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_a_process_bounds_its_memory_and_dumps_no_core(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource  # noqa: PLC0415 - of POSIX systems

    bounded: dict[int, int] = {}

    def bound(kind: int, limits: tuple[int, int]) -> None:
        bounded[kind] = limits[0]
        if kind == resource.RLIMIT_AS:
            raise ValueError  # which must not keep the other limit out

    monkeypatch.setattr(resource, "setrlimit", bound)
    monkeypatch.setattr(os, "nice", lambda _: 0)
    worker._limit_resources()
    assert bounded == {resource.RLIMIT_AS: worker.MAX_MEMORY, resource.RLIMIT_CORE: 0}


def test_without_a_figure_for_memory_there_is_no_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(*_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(worker, "open", missing, raising=False)
    assert worker._resident() == 0


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
