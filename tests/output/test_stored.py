"""Saving whole outputs: private, repeatable, bounded, and silent about failure."""

from __future__ import annotations

import errno
import os
import re
import sys
import tempfile
import time
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from webtools import outputs
from webtools.outputs import save_output

if TYPE_CHECKING:
    from collections.abc import Callable

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="modes, owners and links of POSIX")
DAY = 24 * 60 * 60


@pytest.fixture(autouse=True)
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a temporary folder of the test's own, with housekeeping at every save."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("webtools.outputs._state", outputs.State(0))
    return tmp_path


def save_text(text: str) -> Path:
    path = save_output(text)
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
    assert save_text(text).read_bytes() == text.encode()


def test_lone_surrogates_are_kept_and_leave_the_rest_readable() -> None:
    text = "a\ud83db\ud83d\ude00é"
    path = save_text(text)
    assert path.read_text("utf-8", "surrogatepass") == text
    assert re.sub("\ufffd+", "?", path.read_text("utf-8", "replace")) == "a?b?é"


@posix_only
def test_only_the_user_can_read_a_saved_output(temp: Path) -> None:
    umask = os.umask(0)
    try:
        path = save_text("private")
    finally:
        os.umask(umask)
    assert path.parent == usual_folder(temp)
    assert (mode(path.parent), mode(path)) == (0o700, 0o600)


@posix_only
@pytest.mark.parametrize("loose", [0o750, 0o701, 0o720, 0o777])
def test_a_folder_that_others_can_enter_is_not_used(temp: Path, loose: int) -> None:
    usual_folder(temp).mkdir()
    usual_folder(temp).chmod(loose)
    path = save_text("private")
    assert path.parent != usual_folder(temp)
    assert (mode(path.parent), mode(path)) == (0o700, 0o600)
    assert not files_below(usual_folder(temp))


@posix_only
def test_a_link_to_a_folder_is_not_followed(temp: Path) -> None:
    target = temp / "target"
    target.mkdir(mode=0o700)
    usual_folder(temp).symlink_to(target)
    assert save_text("private").parent != usual_folder(temp)
    assert not files_below(target)


def test_a_file_is_deleted_after_a_day() -> None:
    old, young = save_text("old"), save_text("young")
    age(old, DAY + 60)
    age(young, DAY - 60)
    save_text("new")
    assert not old.exists()
    assert young.exists()


def test_the_oldest_files_make_room_for_the_new(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [save_text(letter * 100) for letter in "abc"]
    for path, seconds in zip(paths, [10, 30, 20], strict=True):
        age(path, seconds)
    monkeypatch.setattr("webtools.outputs._MAX_TOTAL", 250)
    newest = save_text("d" * 100)
    assert sorted(files_below(newest.parent)) == sorted([newest, paths[0]])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("step", [(Path, "mkdir"), (os, "open"), (Path, "replace")])
def test_a_failure_yields_none_and_leaves_nothing(
    temp: Path, monkeypatch: pytest.MonkeyPatch, step: tuple[object, str], number: int
) -> None:
    monkeypatch.setattr(*step, fail_with(number))
    assert save_output("text") is None
    monkeypatch.undo()
    assert not files_below(temp)


@posix_only
def test_a_disk_that_fills_up_midway_leaves_nothing(temp: Path) -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        path = save_output("x" * 1_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path is None
    assert not files_below(temp)


@posix_only
def test_nothing_is_written_through_a_link(temp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = temp / "victim"
    victim.touch()
    (save_text("text").parent / "guessed.tmp").symlink_to(victim)
    monkeypatch.setattr(tempfile, "_get_candidate_names", lambda: repeat("guessed"))
    assert save_output("other") is None
    assert victim.read_bytes() == b""


@posix_only
def test_a_folder_of_somebody_else_is_not_used(temp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    somebody = os.getuid() + 1
    (temp / f"webtools-{somebody}").mkdir(mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: somebody)
    path = save_output("private")
    assert path is not None
    assert Path(path).parent.name != f"webtools-{somebody}"
