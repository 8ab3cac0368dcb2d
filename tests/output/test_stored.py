"""Saving whole outputs: private, repeatable, bounded, and silent about failure."""

from __future__ import annotations

import errno
import getpass
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from webtools._internal.output import stored
from webtools._internal.output.stored import save

if TYPE_CHECKING:
    from collections.abc import Callable

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="modes, owners and links of POSIX")
DAY = 24 * 60 * 60


@pytest.fixture(autouse=True)
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a temporary folder of the test's own, with housekeeping at every save."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("webtools._internal.output.stored._state", stored.State(0))
    return tmp_path


def saved(text: str) -> Path:
    path = save(text)
    assert path is not None
    return Path(path)


def usual_folder(temp: Path) -> Path:
    return temp / f"webtools-{os.getuid()}"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def fail_with(number: int) -> Callable[..., NoReturn]:
    def fail(*_: object, **__: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("text", ["", "plain", "a\r\nb\rc\n\x00\u2028é€\U0001f600"])
def test_the_file_holds_the_text_to_the_byte(text: str) -> None:
    assert saved(text).read_bytes() == text.encode()


def test_lone_surrogates_are_kept_and_leave_the_rest_readable() -> None:
    text = "a\ud83db\ud83d\ude00é"
    path = saved(text)
    assert path.read_text("utf-8", "surrogatepass") == text
    assert re.sub("\ufffd+", "?", path.read_text("utf-8", "replace")) == "a?b?é"


def test_the_same_text_has_the_same_path() -> None:
    assert save("one") == save("one")
    assert save("one") != save("two")


def test_another_process_gives_the_same_path(temp: Path) -> None:
    code = "from webtools._internal.output.stored import save; print(save('one'))"
    core = str(Path(stored.__file__).parents[2])
    env = {**os.environ, "TMPDIR": str(temp), "PYTHONPATH": core}
    command = [sys.executable, "-c", code]
    other = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == save("one")


def test_a_file_that_was_altered_is_written_again() -> None:
    path = saved("right")
    path.write_text("wrong")
    assert saved("right").read_text() == "right"


@posix_only
def test_only_the_user_can_read_what_is_saved(temp: Path) -> None:
    umask = os.umask(0)
    try:
        path = saved("private")
    finally:
        os.umask(umask)
    assert path.parent == usual_folder(temp)
    assert (mode(path.parent), mode(path)) == (0o700, 0o600)


@posix_only
@pytest.mark.parametrize("loose", [0o750, 0o701, 0o720, 0o777])
def test_a_folder_that_others_can_enter_is_not_used(temp: Path, loose: int) -> None:
    usual_folder(temp).mkdir()
    usual_folder(temp).chmod(loose)
    path = saved("private")
    assert path.parent != usual_folder(temp)
    assert (mode(path.parent), mode(path)) == (0o700, 0o600)
    assert not files_below(usual_folder(temp))


@posix_only
def test_a_link_to_a_folder_is_not_followed(temp: Path) -> None:
    target = temp / "target"
    target.mkdir(mode=0o700)
    usual_folder(temp).symlink_to(target)
    assert saved("private").parent != usual_folder(temp)
    assert not files_below(target)


@posix_only
def test_a_dangling_link_or_a_file_in_the_way_is_not_used(temp: Path) -> None:
    usual_folder(temp).symlink_to(temp / "missing")
    assert saved("private").parent != usual_folder(temp)
    usual_folder(temp).unlink()
    usual_folder(temp).touch(mode=0o600)
    assert saved("private").parent != usual_folder(temp)


@posix_only
def test_a_folder_of_somebody_else_is_not_used(temp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    somebody = os.getuid() + 1
    (temp / f"webtools-{somebody}").mkdir(mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: somebody)
    path = save("private")
    assert path is not None
    assert Path(path).parent.name != f"webtools-{somebody}"


@posix_only
def test_the_folder_used_instead_is_kept_for_the_process(temp: Path) -> None:
    usual_folder(temp).symlink_to(temp)
    with ThreadPoolExecutor(8) as pool:
        folders = {path.parent for path in pool.map(saved, map(str, range(8)))}
    assert len(folders) == 1
    assert saved("1").parent in folders


@posix_only
def test_the_folder_used_instead_is_made_anew_when_it_is_gone(temp: Path) -> None:
    usual_folder(temp).symlink_to(temp)
    first = saved("text")
    first.unlink()
    first.parent.rmdir()
    assert saved("text").read_text() == "text"


def test_eight_threads_can_save_the_same_text(temp: Path) -> None:
    text = "same\n" * 100_000
    with ThreadPoolExecutor(8) as pool:
        paths = set(pool.map(saved, [text] * 64))
    assert [path.read_text() for path in paths] == [text]
    assert files_below(temp) == list(paths)


def test_eight_threads_can_save_different_texts(temp: Path) -> None:
    texts = [f"{number}\n" * 10_000 for number in range(64)]
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(saved, texts))
    assert [path.read_text() for path in paths] == texts
    assert sorted(files_below(temp)) == sorted(paths)


def test_a_file_is_deleted_after_a_day() -> None:
    old, young = saved("old"), saved("young")
    age(old, DAY + 60)
    age(young, DAY - 60)
    saved("new")
    assert not old.exists()
    assert young.exists()


def test_saving_again_restarts_the_day() -> None:
    path = saved("text")
    age(path, DAY + 60)
    saved("text")
    saved("other")
    assert path.exists()


def test_what_a_crash_left_behind_is_deleted_after_a_day() -> None:
    folder = saved("text").parent
    crashed, running = folder / "crashed.tmp", folder / "running.tmp"
    crashed.touch()
    running.touch()
    age(crashed, DAY + 60)
    saved("other")
    assert not crashed.exists()
    assert running.exists()


def test_the_oldest_files_make_room_for_the_new(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [saved(letter * 100) for letter in "abc"]
    for path, seconds in zip(paths, [10, 30, 20], strict=True):
        age(path, seconds)
    monkeypatch.setattr("webtools._internal.output.stored._MAX_TOTAL", 250)
    newest = saved("d" * 100)
    assert sorted(files_below(newest.parent)) == sorted([newest, paths[0]])


def test_the_file_just_written_stays_whatever_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webtools._internal.output.stored._MAX_TOTAL", 10)
    first = saved("a" * 100)
    second = saved("b" * 100)
    assert not first.exists()
    assert second.exists()


def test_a_file_still_being_written_does_not_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webtools._internal.output.stored._MAX_TOTAL", 10)
    running = saved("text").parent / "running.tmp"
    running.write_bytes(bytes(100))
    saved("other")
    assert running.exists()


@posix_only
def test_folders_and_links_are_left_alone(temp: Path) -> None:
    folder = saved("text").parent
    (folder / "folder").mkdir()
    (folder / "link").symlink_to(temp)
    then = time.time() - DAY - 60
    for path in folder.iterdir():
        os.utime(path, (then, then), follow_symlinks=False)
    saved("other")
    assert (folder / "folder").is_dir()
    assert (folder / "link").is_symlink()


def test_housekeeping_runs_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([1000.0, 1059.9, 1060.0, 1061.0])
    state = stored.State(60)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    assert [state.is_time_to_tidy() for _ in range(4)] == [True, False, True, False]


def test_between_two_rounds_of_housekeeping_nothing_is_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("webtools._internal.output.stored._state", stored.State(60))
    old = saved("old")
    age(old, DAY + 60)
    saved("new")
    assert old.exists()


def test_a_folder_that_cannot_be_listed_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "scandir", fail_with(errno.EACCES))
    assert saved("text").read_text() == "text"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("step", [(Path, "mkdir"), (os, "open"), (Path, "replace")])
def test_a_failure_yields_none_and_leaves_nothing(
    temp: Path, monkeypatch: pytest.MonkeyPatch, step: tuple[object, str], number: int
) -> None:
    monkeypatch.setattr(*step, fail_with(number))
    assert save("text") is None
    monkeypatch.undo()
    assert not files_below(temp)


def test_a_missing_temporary_folder_yields_none(
    temp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temp / "missing"))
    assert save("text") is None


@posix_only
def test_a_disk_that_fills_up_midway_leaves_nothing(temp: Path) -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        path = save("x" * 1_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path is None
    assert not files_below(temp)


@posix_only
def test_nothing_is_written_through_a_link(temp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = temp / "victim"
    victim.touch()
    (saved("text").parent / "guessed.tmp").symlink_to(victim)
    monkeypatch.setattr(tempfile, "_get_candidate_names", lambda: repeat("guessed"))
    assert save("other") is None
    assert victim.read_bytes() == b""


def test_a_file_that_another_call_holds_open_counts_as_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lose_the_race(_: Path, target: Path) -> NoReturn:
        target.write_text("text")
        raise PermissionError(errno.EACCES, "in use")

    monkeypatch.setattr(Path, "replace", lose_the_race)
    path = saved("text")
    assert list(path.parent.iterdir()) == [path]


def test_without_user_ids_the_folder_has_the_users_name(
    temp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "getuid")
    monkeypatch.setattr(getpass, "getuser", lambda: "Jo/../Doe")
    assert saved("text").parent == temp / "webtools-Jo____Doe"


@pytest.mark.parametrize("error", [ImportError, KeyError, OSError])
def test_a_user_without_a_name_still_has_a_folder(
    temp: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def unknown() -> NoReturn:
        raise error

    monkeypatch.delattr(os, "getuid")
    monkeypatch.setattr(getpass, "getuser", unknown)
    assert saved("text").parent == temp / "webtools-user"
