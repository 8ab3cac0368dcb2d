"""The file under the log: whole lines from many processes, a bounded size, and no fuss."""

from __future__ import annotations

import errno
import multiprocessing
import os
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from webtools._internal.logs import writer
from webtools._internal.logs.writer import LogFile, newest_lines

if TYPE_CHECKING:
    from collections.abc import Callable

if sys.platform == "win32":
    pytest.skip("renames open files, forks and locks as POSIX does", allow_module_level=True)

import fcntl

# Forking beside threads is what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "web-search.ndjson"


class Now:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Now:
    now = Now()
    monkeypatch.setattr(writer, "time", now)
    return now


def log_file(path: Path, max_bytes: int = 1000, max_backups: int = 3) -> LogFile:
    return LogFile(path, max_bytes=max_bytes, max_backups=max_backups, rotate_check_ms=30_000)


def backups(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir() if each.suffix != ".lock")


def lines(path: Path) -> list[bytes]:
    """Give all lines, oldest first."""
    return [line for line in newest_lines(path) if line][::-1]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def run_all(count: int, work: Callable[[int], None]) -> None:
    """Run the work in so many processes at once; each must end well."""
    processes = [FORK.Process(target=work, args=(number,)) for number in range(count)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * count


def test_the_file_and_its_folder_are_private(path: Path) -> None:
    file = log_file(path, max_bytes=1)
    file.append(b"a\n")
    file.append(b"b\n")
    assert mode(path.parent) == 0o700
    assert {mode(each) for each in path.parent.iterdir()} == {0o600}
    assert backups(path) == ["web-search.ndjson", "web-search.ndjson.1"]


def test_a_full_file_is_shifted_and_the_oldest_backup_deleted(path: Path) -> None:
    file = log_file(path, max_bytes=1, max_backups=3)
    for letter in b"abcdef":
        file.append(b"%c\n" % letter)
    assert [path.read_bytes(), *(Path(f"{path}.{n}").read_bytes() for n in (1, 2, 3))] == [
        b"f\n",
        b"e\n",
        b"d\n",
        b"c\n",
    ]
    assert len(backups(path)) == 4


def test_a_file_that_is_full_before_the_first_line_is_rotated_at_once(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"x" * 999 + b"\n")
    log_file(path).append(b"new\n")
    assert path.read_bytes() == b"new\n"


def test_a_burst_within_the_check_interval_exceeds_the_size_by_one_line_at_most(path: Path) -> None:
    file = log_file(path, max_bytes=1000, max_backups=300)
    for number in range(1000):
        file.append(b"%03d %s\n" % (number, b"x" * (number % 50)))
    sizes = [each.stat().st_size for each in path.parent.iterdir() if each.suffix != ".lock"]
    assert max(sizes) < 1000 + 55
    assert [int(line[:3]) for line in lines(path)] == list(range(1000))


def test_backups_beyond_a_lowered_setting_are_deleted(path: Path) -> None:
    before = log_file(path, max_bytes=1, max_backups=9)
    for _ in range(10):
        before.append(b"x\n")
    log_file(path, max_bytes=1, max_backups=2).append(b"y\n")
    assert backups(path) == [f"{path.name}{end}" for end in ("", ".1", ".2")]


def test_lines_of_many_processes_and_threads_are_whole_and_there_once(path: Path) -> None:
    def write(process: int) -> None:
        file = log_file(path, max_bytes=4096, max_backups=900)

        def write_lines(thread: int) -> None:
            for number in range(150):
                filler = b"x" * (number * 7 % 300)
                file.append(b"%d-%d-%d %s.\n" % (process, thread, number, filler))

        threads = [threading.Thread(target=write_lines, args=(n,)) for n in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    run_all(6, write)
    found = Counter(line.split()[0] for line in lines(path))
    assert set(found.values()) == {1}
    assert len(found) == 6 * 2 * 150
    assert all(line.endswith(b".") for line in lines(path))
    sizes = [each.stat().st_size for each in path.parent.iterdir() if each.suffix != ".lock"]
    assert max(sizes) < 4096 + 6 * 320
    assert min(sizes[1:], default=4096) > 0


def test_processes_that_find_it_full_at_the_same_moment_rotate_it_once(path: Path) -> None:
    files = [log_file(path, max_bytes=10) for _ in range(5)]
    for file in files:
        file._open(0.0)
    os.write(files[0]._fd, b"0123456789\n")
    for number, file in enumerate(files):
        file.append(b"%d\n" % number)
    assert backups(path) == ["web-search.ndjson", "web-search.ndjson.1"]
    assert lines(path) == [b"0123456789", b"0", b"1", b"2", b"3", b"4"]


def test_the_second_of_two_looks_again_when_it_has_the_lock(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = log_file(path, max_bytes=10), log_file(path, max_bytes=10)
    second.append(b"0123456789\n")
    try_lock = writer._try_lock

    def overtaken(fd: int) -> bool:
        monkeypatch.setattr(writer, "_try_lock", try_lock)
        first.append(b"first\n")
        return try_lock(fd)

    monkeypatch.setattr(writer, "_try_lock", overtaken)
    second.append(b"second\n")
    assert path.read_bytes() == b"first\nsecond\n"
    assert backups(path) == ["web-search.ndjson", "web-search.ndjson.1"]


def test_a_deleted_file_gets_no_further_line(path: Path) -> None:
    file = log_file(path)
    file.append(b"a\n")
    path.unlink()
    file.append(b"b\n")
    assert path.read_bytes() == b"b\n"


def test_a_deleted_folder_is_made_again(path: Path) -> None:
    file = log_file(path)
    file.append(b"a\n")
    path.unlink()
    path.parent.rmdir()
    file.append(b"b\n")
    assert path.read_bytes() == b"b\n"


def test_a_file_that_something_else_moved_is_left_after_the_check_interval(
    path: Path, now: Now
) -> None:
    file = log_file(path)
    file.append(b"a\n")
    moved = path.rename(path.with_name("moved"))
    file.append(b"b\n")
    now.sleep(30)
    file.append(b"c\n")
    assert (moved.read_bytes(), path.read_bytes()) == (b"a\nb\n", b"c\n")


def test_the_interval_passes_without_consequence_for_a_file_in_its_place(
    path: Path, now: Now
) -> None:
    file = log_file(path)
    file.append(b"a\n")
    now.sleep(31)
    file.append(b"b\n")
    assert path.read_bytes() == b"a\nb\n"


def test_a_line_that_a_crash_cut_short_is_ended_first(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"whole\ncut sh")
    log_file(path).append(b"next\n")
    assert path.read_bytes() == b"whole\ncut sh\nnext\n"


def test_an_unwritable_folder_is_no_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> NoReturn:
        raise PermissionError

    monkeypatch.setattr("os.open", refuse)
    log_file(path).append(b"a\n")
    assert not path.parent.exists()


def test_a_log_that_cannot_be_written_is_off_for_a_while(path: Path, now: Now) -> None:
    path.parent.write_text("a file where the folder should be")
    file = log_file(path)
    file.append(b"a\n")
    path.parent.unlink()
    file.append(b"b\n")
    assert not path.exists()
    now.sleep(31)
    file.append(b"c\n")
    assert path.read_bytes() == b"c\n"


def test_a_full_disk_turns_it_off_and_leaves_no_half_line_before_the_next(
    path: Path, now: Now, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = log_file(path)
    write = os.write
    monkeypatch.setattr("os.write", lambda fd, data: write(fd, data[:3]))
    file.append(b"12345\n")
    monkeypatch.setattr("os.write", write)
    file.append(b"lost\n")
    now.sleep(31)
    file.append(b"next\n")
    assert path.read_bytes() == b"123\nnext\n"


def test_a_path_that_cannot_be_is_no_error(tmp_path: Path) -> None:
    log_file(tmp_path / "a\0b").append(b"a\n")
    assert not list(tmp_path.iterdir())


def test_a_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"")
    path.parent.mkdir()
    path.symlink_to(target)
    log_file(path).append(b"a\n")
    assert target.read_bytes() == b""


def test_a_pipe_of_that_name_neither_blocks_nor_gets_anything(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    log_file(path).append(b"a\n")
    assert os.read(reader, 10) == b""
    os.close(reader)


def hold_lock(path: Path) -> int:
    fd = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)
    return fd


def test_while_a_process_sits_on_the_lock_the_log_goes_on_up_to_twice_its_size(
    path: Path, now: Now
) -> None:
    file = log_file(path, max_bytes=10)
    file.append(b"0123456789\n")
    held = hold_lock(path)
    start = now.seconds
    file.append(b"a\n")
    assert 0.9 < now.seconds - start < 1.1
    file.append(b"b\n")
    assert now.seconds - start < 1.1, "it must not wait at every line"
    assert backups(path) == ["web-search.ndjson"]
    os.close(held)
    now.sleep(6)
    file.append(b"c\n")
    assert (path.read_bytes(), Path(f"{path}.1").read_bytes()) == (b"c\n", b"0123456789\na\nb\n")


def test_who_waits_for_the_lock_goes_on_when_the_file_has_been_rotated(
    path: Path, now: Now, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = log_file(path, max_bytes=10)
    file.append(b"0123456789\n")
    held = hold_lock(path)
    monkeypatch.setattr(now, "sleep", lambda _: path.replace(f"{path}.1"))
    file.append(b"a\n")
    os.close(held)
    assert path.read_bytes() == b"a\n"
    assert backups(path) == ["web-search.ndjson", "web-search.ndjson.1"]


def test_a_file_that_cannot_be_rotated_stops_at_twice_its_size(path: Path, now: Now) -> None:
    file = log_file(path, max_bytes=100)
    file.append(b"x" * 99 + b"\n")
    held = hold_lock(path)
    for _ in range(100):
        file.append(b"y" * 9 + b"\n")
        now.sleep(0.5)
    assert path.stat().st_size == 200
    os.close(held)
    now.sleep(40)
    file.append(b"z\n")
    assert path.read_bytes() == b"z\n"


def test_a_rename_that_fails_loses_nothing(
    path: Path, now: Now, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_source: str, _target: str) -> NoReturn:
        raise PermissionError

    file = log_file(path, max_bytes=3)
    monkeypatch.setattr(writer, "_rename", refuse)
    file.append(b"aa\n")
    file.append(b"b\n")
    assert path.read_bytes() == b"aa\nb\n"


def test_a_file_system_without_locks_is_rotated_all_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(_fd: int, _how: int) -> NoReturn:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr("fcntl.flock", unsupported)
    file = log_file(path, max_bytes=1)
    file.append(b"a\n")
    file.append(b"b\n")
    assert path.read_bytes() == b"b\n"


def test_where_open_files_cannot_be_renamed_none_is_kept_open(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_KEEPS_OPEN", False)
    file = log_file(path, max_bytes=5)
    for letter in b"abcd":
        file.append(b"%c\n" % letter)
        assert file._fd < 0
    assert lines(path) == [b"a", b"b", b"c", b"d"]
    assert path.read_bytes() == b"d\n"


def test_closing_twice_is_no_error_and_the_next_line_opens_it_again(path: Path) -> None:
    file = log_file(path)
    file.append(b"a\n")
    fd = file._fd
    file.close()
    file.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)
    file.append(b"b\n")
    os.close(file._fd)  # somebody closes what is not theirs
    file.append(b"lost\n")
    assert path.read_bytes() == b"a\nb\n"


def test_a_fork_waits_until_no_thread_is_in_the_middle_of_a_line(path: Path) -> None:
    """Children that inherit a lock in use would stand still at their first line."""
    file = log_file(path, max_bytes=500, max_backups=2000)
    stop = threading.Event()

    def keep_writing() -> None:
        while not stop.is_set():
            file.append(b"parent\n")

    threads = [threading.Thread(target=keep_writing) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for number in range(12):
            run_all(1, lambda _, number=number: file.append(b"child %d\n" % number))  # type: ignore[misc]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    found = Counter(lines(path))
    assert [found[b"child %d" % number] for number in range(12)] == [1] * 12


def test_nothing_is_read_where_there_is_no_log(path: Path) -> None:
    assert list(newest_lines(path)) == []


def test_lines_longer_than_a_block_are_read_whole_and_endless_ones_dropped(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"first\n" + b"\0" * 300_000 + b"\n" + b"y" * 60_000 + b"\nlast\n")
    found = list(newest_lines(path))
    assert found[:3] == [b"", b"last", b"y" * 60_000]
    assert found[-1] == b"first"
    assert max(map(len, found)) <= 2 * 65_536


def test_a_rotation_while_reading_neither_hides_nor_repeats_a_line(path: Path) -> None:
    file = log_file(path, max_bytes=3, max_backups=9)
    for letter in b"abcdef":
        file.append(b"%c\n" % letter)
    reading = newest_lines(path)
    found = [next(reading), next(reading)]
    file.append(b"g\n")
    file.append(b"h\n")
    found += [line for line in reading if line]
    assert sorted(set(found) - {b""}) == sorted(line for line in found if line)
    assert set(b"abcdef") <= {line[0] for line in found if line}


def test_a_missing_backup_does_not_hide_the_older(path: Path) -> None:
    file = log_file(path, max_bytes=1, max_backups=9)
    for letter in b"abcd":
        file.append(b"%c\n" % letter)
    Path(f"{path}.2").unlink()
    assert lines(path) == [b"a", b"c", b"d"]


def test_what_is_no_file_is_passed_over_in_reading(path: Path) -> None:
    file = log_file(path)
    file.append(b"a\n")
    os.mkfifo(f"{path}.1")
    assert lines(path) == [b"a"]


def test_where_a_detector_forbids_writing_another_thread_writes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = log_file(path)
    here, write, done = threading.get_ident(), file._write, threading.Event()

    def watched(line: bytes) -> None:
        if threading.get_ident() == here:
            raise ZeroDivisionError
        write(line)
        done.set()

    monkeypatch.setattr(file, "_write", watched)
    file.append(b"a\n")
    assert done.wait(60)
    assert lines(path) == [b"a"]
