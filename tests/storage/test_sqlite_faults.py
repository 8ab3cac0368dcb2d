"""The SQLite file in trouble: foreign, corrupt, deleted, locked, of another version, forked."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import interrupting
import pytest
from store_types import ALL_TABLES, in_file

from webtools._internal.storage.budget import Sum
from webtools._internal.storage.sqlite_store import SqliteStore
from webtools._internal.storage.store_errors import ForeignFileError, StoreError
from webtools._internal.storage.stores import Stores

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="modes, links and forks of POSIX")
NO_LIMIT = Sum(10**12, 10**6)
NO_DATABASE = "it is not a SQLite database"
OTHER_DATABASE = "it is the database of another program"


def stores_at(path: Path) -> Stores:
    """Return a store of its own, as another process has it."""
    return in_file(SqliteStore(path, ALL_TABLES))


def spend(stores: Stores) -> None:
    stores.ledger.reserve(1, NO_LIMIT)


def spent(stores: Stores) -> int:
    return stores.ledger.today().calls


def fill(stores: Stores, size: int = 3000) -> None:
    for number in range(200):
        stores.cache.set(str(number), os.urandom(size // 2).hex())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "webtools.sqlite3"


@pytest.fixture
def stores(path: Path) -> Iterator[Stores]:
    stores = stores_at(path)
    yield stores
    stores.opened[0].close()


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def run(code: str, *arguments: object) -> str:
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", code, *map(str, arguments)]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (completed.returncode, completed.stderr) == (0, "")
    return completed.stdout


def query(path: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        return db.execute(statement).fetchall()


def is_healthy(path: Path) -> bool:
    return query(path, "PRAGMA integrity_check") == [("ok",)]


# --- privacy -----------------------------------------------------------------------------------


@posix_only
def test_the_folder_and_all_files_are_for_the_user_only(stores: Stores, path: Path) -> None:
    spend(stores)
    assert mode(path.parent) == 0o700
    files = {file.name: mode(file) for file in path.parent.iterdir()}
    suffixes = ("", "-shm", "-wal", ".lock")
    assert files == dict.fromkeys([f"webtools.sqlite3{suffix}" for suffix in suffixes], 0o600)


@posix_only
def test_a_file_that_others_may_read_is_made_private(stores: Stores, path: Path) -> None:
    spend(stores)
    stores.opened[0].close()
    path.chmod(0o644)
    path.parent.chmod(0o755)
    spend(stores)
    assert (mode(path), mode(beside(path, "-wal"))) == (0o600, 0o600)
    assert mode(path.parent) == 0o755, "an existing folder is not changed"


@posix_only
@pytest.mark.parametrize("link", ["folder", "file", "file that does not exist yet"])
def test_links_of_the_user_are_followed(tmp_path: Path, link: str) -> None:
    real = tmp_path / "real" / "webtools.sqlite3"
    path = tmp_path / "folder" / "webtools.sqlite3"
    real.parent.mkdir()
    if link == "folder":
        path.parent.symlink_to(real.parent)
    else:
        path.parent.mkdir()
        path.symlink_to(real)
        if link == "file":
            spend(stores_at(real))
    before = spent(stores_at(path))
    spend(stores_at(path))
    assert spent(stores_at(real)) == before + 1
    assert mode(real) == 0o600


@posix_only
@pytest.mark.parametrize("is_link", [True, False])
def test_a_file_or_link_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_link: bool
) -> None:
    foreign, path = tmp_path / "theirs", tmp_path / "webtools.sqlite3"
    (foreign if is_link else path).write_bytes(b"precious " * 100)
    if is_link:
        path.symlink_to(foreign)
    monkeypatch.setattr(os, "geteuid", lambda: path.lstat().st_uid + 1)
    with pytest.raises(StoreError, match="user"):
        spend(stores_at(path))
    assert path.read_bytes() == b"precious " * 100


# --- foreign files -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"my notes " * 1000, NO_DATABASE),
        (b"x", NO_DATABASE),
        (b"SQLite format 3\0", OTHER_DATABASE),
        (b"SQLite format 3\0" + b"\xff" * 5000, OTHER_DATABASE),
    ],
    ids=["text", "one byte", "short", "another application"],
)
def test_a_foreign_file_is_refused_and_not_changed(
    stores: Stores, path: Path, content: bytes, reason: str
) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    path.chmod(0o640)
    before = path.stat()
    for use in (spend, spent):
        with pytest.raises(ForeignFileError, match=rf"webtools\.sqlite3 cannot be used: {reason}"):
            use(stores)
    assert [file.name for file in path.parent.iterdir()] == [path.name], "nothing is beside it"
    assert path.read_bytes() == content
    after = path.stat()  # except the time of the last access
    assert (after[:7], after.st_mtime_ns) == (before[:7], before.st_mtime_ns)


@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize("is_locked", [False, True])
def test_a_database_of_another_program_is_not_changed(
    stores: Stores, path: Path, journal: str, *, is_locked: bool
) -> None:
    path.parent.mkdir()
    foreign = sqlite3.connect(path, isolation_level=None)
    foreign.execute(f"PRAGMA journal_mode = {journal}").fetchall()
    foreign.execute("CREATE TABLE bookmarks (url)")
    if is_locked:
        foreign.execute("BEGIN EXCLUSIVE")
    path.chmod(0o644)
    files = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.raises(ForeignFileError, match=OTHER_DATABASE):
        spend(stores)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == files
    assert mode(path) == 0o644
    foreign.close()


def test_a_file_that_became_foreign_while_it_was_open_is_not_moved(
    stores: Stores, path: Path
) -> None:
    fill(stores)
    stores.opened[0].close()
    assert spent(stores) == 0
    overwrite(path)
    content = path.read_bytes()
    with pytest.raises(ForeignFileError, match=NO_DATABASE):
        stores.cache.stats()
    assert path.read_bytes() == content
    assert not beside(path, ".corrupt").exists()


# --- corrupt files -----------------------------------------------------------------------------


def overwrite(path: Path, *, start: int = 0) -> None:
    """Break a file from another process: closing it here would drop the locks of SQLite."""
    code = "import os, sys; f = open(sys.argv[1], 'r+b'); f.seek(int(sys.argv[2])); "
    run(code + "f.write(os.urandom(max(9000, os.path.getsize(f.name)))); f.close()", path, start)


@pytest.mark.parametrize("broken", [slice(16, 68), slice(100, 5000)], ids=["header", "tables"])
def test_a_corrupt_file_is_moved_aside_and_reported_once(
    stores: Stores, path: Path, broken: slice
) -> None:
    spend(stores)
    stores.opened[0].close()
    content = bytearray(path.read_bytes())
    content[broken] = b"\xff" * (broken.stop - broken.start)
    path.write_bytes(content)
    assert stores.opened[0].take_notices() == []
    spend(stores)
    assert spent(stores) == 1
    assert is_healthy(path)
    assert beside(path, ".corrupt").read_bytes() == content
    [notice] = stores.opened[0].take_notices()
    assert str(path) in notice
    assert str(beside(path, ".corrupt")) in notice
    assert stores.opened[0].take_notices() == []


def test_only_the_first_corrupt_file_is_kept(stores: Stores, path: Path) -> None:
    contents: list[bytes] = []
    for _ in range(2):
        spend(stores)
        stores.opened[0].close()
        contents.append(path.read_bytes()[:100] + os.urandom(5000))
        path.write_bytes(contents[-1])
        spend(stores)
    assert beside(path, ".corrupt").read_bytes() == contents[0]
    assert spent(stores) == 1


@pytest.mark.parametrize("start", [100, 8192, 100_000])
def test_a_file_that_breaks_while_it_is_open_is_replaced(
    stores: Stores, path: Path, start: int
) -> None:
    fill(stores)
    stores.opened[0].close()
    assert spent(stores) == 0  # open again, with little of it in memory
    overwrite(path, start=start)
    assert stores.cache.stats().entries == 0
    spend(stores)
    assert spent(stores) == 1
    assert is_healthy(path)


def test_stores_that_share_a_corrupt_file_share_its_replacement(path: Path) -> None:
    several = [stores_at(path) for _ in range(8)]
    fill(several[0])
    several[0].opened[0].close()
    assert {spent(item) for item in several} == {0}
    overwrite(path, start=8192)
    with ThreadPoolExecutor(8) as threads:
        assert {stats.entries for stats in threads.map(lambda s: s.cache.stats(), several)} == {0}
        list(threads.map(spend, several))
    assert {spent(item) for item in several} == {8}
    assert is_healthy(path)


def test_a_file_that_another_process_replaced_is_not_moved_aside(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = stores_at(path), stores_at(path)
    fill(first)
    first.opened[0].close()
    assert (spent(first), spent(second)) == (0, 0)
    # As if it was replaced between the check of the path and the use.
    monkeypatch.setattr(SqliteStore, "_current_file", lambda store: store._file)
    overwrite(path, start=8192)
    assert first.cache.stats().entries == 0
    spend(first)
    assert second.cache.stats().entries == 0  # it still has the corrupt file open
    assert spent(second) == 1


# --- deleted files -----------------------------------------------------------------------------


@pytest.mark.parametrize("lost", ["file", "folder"])
def test_a_write_notices_that_the_file_was_deleted(stores: Stores, path: Path, lost: str) -> None:
    spend(stores)
    for file in path.parent.iterdir():
        file.unlink()
    if lost == "folder":
        path.parent.rmdir()
    spend(stores)
    assert spent(stores) == spent(stores_at(path)) == 1


@posix_only
def test_a_deleted_file_that_is_open_elsewhere_leaves_the_new_one_alone(path: Path) -> None:
    late, early = stores_at(path), stores_at(path)
    spend(late)
    path.unlink()
    spend(early)
    late.opened[0].close()  # as the last one on the old file
    assert beside(path, "-wal").exists()
    assert spent(early) == spent(stores_at(path)) == 1


# --- files that cannot be used -----------------------------------------------------------------


@pytest.mark.parametrize("kind", ["folder", "below a file", "no path"])
def test_a_path_that_cannot_be_a_file_is_an_error(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "file"
    file.touch()
    paths = {"folder": tmp_path, "below a file": file / "a" / "b", "no path": Path("a\0b")}
    stores = stores_at(paths[kind])
    uses: list[Callable[[], object]] = [
        lambda: spend(stores),
        lambda: spent(stores),
        lambda: stores.cache.get("key"),
        lambda: stores.cache.set("key", "value"),
        stores.cache.stats,
        stores.cache.clear,
        lambda: stores.circuits.read("exa"),
    ]
    for use in uses:
        with pytest.raises(StoreError, match="cannot be used: "):
            use()


def test_a_full_disk_is_an_error_that_passes(stores: Stores, path: Path) -> None:
    spend(stores)
    pages = "PRAGMA max_page_count = "
    stores.cache._store.read(lambda db: db.execute(f"{pages} 20").fetchall())  # type: ignore[attr-defined]
    with pytest.raises(StoreError, match="full"):
        fill(stores)
    stores.opened[0].close()
    spend(stores)
    assert spent(stores) == 2
    assert is_healthy(path)


# --- locked files ------------------------------------------------------------------------------


@pytest.fixture
def lock(stores: Stores, path: Path) -> Iterator[Callable[[str], sqlite3.Connection]]:
    """Lock the file in another connection."""
    spend(stores)
    stores.opened[0].close()
    other = sqlite3.connect(path, isolation_level=None)

    def lock(kind: str) -> sqlite3.Connection:
        if kind == "EXCLUSIVE":
            other.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        other.execute(f"BEGIN {kind}")
        return other

    yield lock
    other.close()


# --- interrupts, threads and forks -------------------------------------------------------------


@posix_only
def test_ctrl_c_at_any_moment_leaves_the_file_to_the_next_call(path: Path) -> None:
    script = [sys.executable, str(Path(interrupting.__file__)), str(path)]
    completed = subprocess.run(script, capture_output=True, text=True, timeout=120, check=False)
    assert (completed.stdout.strip(), completed.returncode) == (str(interrupting.ROUNDS), 0), (
        completed.stderr
    )


FORK = """
import os, sys, threading, time, warnings
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_sqlite_faults import beside, is_healthy, spend, spent
from webtools._internal.storage import sqlite_store
from webtools._internal.storage.store_errors import StoreError
from store_types import ALL_TABLES, in_file
warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads, as ours may be
path = Path(sys.argv[1])
stores = in_file(sqlite_store.store_at(path, ALL_TABLES))

def in_child(work):
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return child

def check(child):
    assert os.waitpid(child, 0)[1] == 0
"""


def forked(path: Path, code: str) -> None:
    run(FORK + code, path, Path(__file__).parent)


@posix_only
def test_a_forked_process_has_a_connection_and_locks_of_its_own(path: Path) -> None:
    forked(
        path,
        """
spend(stores)
ready, gate = os.pipe(), os.pipe()

def work():
    spend(stores)
    os.write(ready[1], b"x")
    os.read(gate[0], 1)
    assert beside(path, "-wal").exists(), "the parent deleted the child's log"
    spend(stores)
    assert spent(stores) == 4

child = in_child(work)
os.read(ready[0], 1)
spend(stores)
assert spent(stores) == 3
stores.opened[0].close()  # the last connection deletes the log, if it sees no lock of another one
os.write(gate[1], b"x")
check(child)
assert spent(stores) == 4
assert is_healthy(path)
""",
    )


@posix_only
def test_a_child_forked_during_a_use_leaves_the_file_to_its_parent(path: Path) -> None:
    forked(
        path,
        """
sqlite_store.FORK_PATIENCE = 0.1
spend(stores)
is_writing, is_over = threading.Event(), threading.Event()

def write(db):
    # More than SQLite's memory holds, so some of it is in the log. A child that closed the
    # connection would roll it back there.
    db.execute("CREATE TABLE large (value)")
    db.executemany("INSERT INTO large VALUES (zeroblob(1000))", [()] * 5000)
    is_writing.set()
    is_over.wait(30)
    db.execute("INSERT INTO large SELECT value FROM large")

thread = threading.Thread(target=stores.opened[0].write, args=(write,))
thread.start()
is_writing.wait(30)
child = os.fork()
if not child:
    try:
        spend(stores)
    except StoreError:
        sys.exit()
    os._exit(1)
check(child)
is_over.set()
thread.join()
spend(stores)
assert spent(stores) == 2
assert is_healthy(path)
""",
    )
