"""The file that all threads and processes share: private, whole or made anew, never in the way."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import interrupting
import psutil
import pytest

from webtools.storage import file as store_file
from webtools.storage import sqlite, tables
from webtools.storage.budget import Sum
from webtools.storage.on_sqlite import SqliteLedger
from webtools.storage.sqlite import ForeignFileError, Store, StoreError, store_at
from webtools.storage.tables import make_tables

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="modes, links and forks of POSIX")
DAY = "2026-11-21"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "webtools.sqlite3"


@pytest.fixture
def store(path: Path) -> Store:
    return Store(path)


@pytest.fixture
def _always_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "LOOK_INTERVAL", 0.0)


def spend(store: Store, calls: int = 1, **settings: float) -> None:
    def add(db: sqlite3.Connection) -> None:
        db.execute("INSERT OR IGNORE INTO spend VALUES (?, 0, 0)", (DAY,))
        db.execute("UPDATE spend SET calls = calls + ? WHERE day = ?", (calls, DAY))

    store.write(add, **settings)


def spent(store: Store) -> int:
    row = store.read(
        lambda db: db.execute("SELECT calls FROM spend WHERE day = ?", (DAY,)).fetchone()
    )
    return row[0] if row else 0


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def is_healthy(store: Store) -> bool:
    found = store.read(lambda db: db.execute("PRAGMA integrity_check").fetchall())
    return found == [("ok",)]


def run(code: str, *arguments: object) -> str:
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


# --- work --------------------------------------------------------------------------------------


def test_what_is_written_is_there_for_other_stores_of_the_file(store: Store, path: Path) -> None:
    spend(store, 3)
    assert spent(store) == spent(Store(path)) == 3


def test_nothing_is_opened_before_the_first_use(store: Store, path: Path) -> None:
    assert not path.parent.exists()


def test_a_write_that_raises_is_undone_and_raises_the_same(store: Store) -> None:
    def fail(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO spend VALUES (?, 1, 1)", (DAY,))
        raise LookupError("of the work")

    with pytest.raises(LookupError, match="of the work"):
        store.write(fail)
    assert spent(store) == 0
    assert len(store._open) == 1


def test_a_wrong_statement_is_an_error_and_nothing_is_lost(store: Store) -> None:
    spend(store)
    with pytest.raises(StoreError, match="no such column: price"):
        store.write(lambda db: db.execute("UPDATE spend SET price = 1"))
    assert spent(store) == 1


def test_a_connection_that_fails_is_not_used_again(store: Store) -> None:
    spend(store)
    with pytest.raises(StoreError, match="closed database"):
        store.read(lambda db: (db.close(), db.execute("SELECT 1")))
    assert spent(store) == 1


def calls_of(db: sqlite3.Connection) -> int:
    [calls] = db.execute("SELECT calls FROM spend").fetchone()
    return int(calls)


def test_a_file_that_is_open_is_read_at_once(store: Store) -> None:
    with pytest.raises(BlockingIOError):
        store.read_at_once(calls_of)
    spend(store, 3)
    assert store.read_at_once(calls_of) == 3
    store.close()
    with pytest.raises(BlockingIOError):
        store.read_at_once(calls_of)


def test_a_file_that_was_slow_is_not_read_at_once_for_a_while(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    spend(store)
    store.read_at_once(lambda _: time.sleep(2 * sqlite._SLOW))
    with pytest.raises(BlockingIOError):
        store.read_at_once(calls_of)
    assert spent(store) == 1  # whoever can wait reads on
    now = time.monotonic()
    monkeypatch.setattr("time.monotonic", lambda: now + sqlite._STUCK)
    assert store.read_at_once(calls_of) == 1


def test_an_error_is_left_to_who_can_wait(store: Store) -> None:
    spend(store)
    with pytest.raises(BlockingIOError):
        store.read_at_once(lambda db: db.execute("no SQL"))
    assert store.read_at_once(calls_of) == 1


def test_nothing_is_read_at_once_while_another_thread_has_the_turn(store: Store) -> None:
    spend(store)
    inside, leave = threading.Event(), threading.Event()
    with ThreadPoolExecutor() as threads:
        first = threads.submit(store.read, lambda _: (inside.set(), leave.wait(60)))
        assert inside.wait(60)
        with pytest.raises(BlockingIOError):
            store.read_at_once(calls_of)
        leave.set()
        first.result(10)
    assert spent(store) == 1


def test_one_file_has_one_store(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_stores", {})
    path.parent.mkdir()
    monkeypatch.chdir(path.parent)
    assert store_at(path) is store_at(Path(path.name)) is not store_at(beside(path, "2"))


def test_a_closed_store_opens_again(store: Store) -> None:
    spend(store)
    store.close()
    assert store._open == []
    assert spent(store) == 1


# --- interrupts --------------------------------------------------------------------------------


@posix_only
def test_ctrl_c_at_any_moment_leaves_the_file_to_the_next_call(path: Path) -> None:
    script = [sys.executable, str(Path(interrupting.__file__)), str(path)]
    done = subprocess.run(script, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.strip(), done.returncode) == (str(interrupting.ROUNDS), 0), done.stderr


def test_a_transaction_that_an_interrupted_call_left_open_is_dropped(store: Store) -> None:
    spend(store)
    store._open[0].execute("BEGIN")
    store._open[0].execute("UPDATE spend SET calls = 9")
    with pytest.raises(BlockingIOError):
        store.read_at_once(calls_of)
    assert spent(store) == 1
    spend(store)
    assert spent(store) == 2


# --- privacy -----------------------------------------------------------------------------------


@posix_only
def test_the_folder_and_all_files_are_for_the_user_only(store: Store, path: Path) -> None:
    spend(store)
    assert mode(path.parent) == 0o700
    files = {file.name: mode(file) for file in path.parent.iterdir()}
    suffixes = ("", "-shm", "-wal", ".lock")
    assert files == dict.fromkeys([f"webtools.sqlite3{suffix}" for suffix in suffixes], 0o600)


@posix_only
def test_a_file_that_others_may_read_is_made_private(store: Store, path: Path) -> None:
    spend(store)
    store.close()
    path.chmod(0o644)
    path.parent.chmod(0o755)
    spend(store)
    assert (mode(path), mode(beside(path, "-wal"))) == (0o600, 0o600)
    assert mode(path.parent) == 0o755, "an existing folder is the user's own affair"


@posix_only
@pytest.mark.parametrize("link", ["folder", "file", "file that is not there yet"])
def test_the_users_own_links_are_followed(tmp_path: Path, link: str) -> None:
    real = tmp_path / "real" / "webtools.sqlite3"
    path = tmp_path / "folder" / "webtools.sqlite3"
    real.parent.mkdir()
    if link == "folder":
        path.parent.symlink_to(real.parent)
    else:
        path.parent.mkdir()
        path.symlink_to(real)
        if link == "file":
            spend(Store(real))
    store = Store(path)
    before = spent(store)
    spend(store)
    assert spent(Store(real)) == before + 1
    assert path.parent.is_symlink() or path.is_symlink()
    assert mode(real) == mode(beside(real, "-wal")) == 0o600


@posix_only
@pytest.mark.parametrize("is_link", [True, False])
def test_a_file_or_link_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_link: bool
) -> None:
    theirs, path = tmp_path / "theirs", tmp_path / "webtools.sqlite3"
    (theirs if is_link else path).write_bytes(b"precious " * 100)
    if is_link:
        path.symlink_to(theirs)
    monkeypatch.setattr(os, "geteuid", lambda: path.lstat().st_uid + 1)
    with pytest.raises(StoreError, match="it belongs to another user"):
        spend(Store(path))
    assert path.read_bytes() == b"precious " * 100


# --- self-healing ------------------------------------------------------------------------------


def overwrite(path: Path, *, start: int = 0) -> None:
    """Break a file from another process, as whoever opens it here would drop its locks."""
    code = "import os, sys; f = open(sys.argv[1], 'r+b'); f.seek(int(sys.argv[2])); "
    run(code + "f.write(os.urandom(max(9000, os.path.getsize(f.name)))); f.close()", path, start)


def fill(store: Store) -> None:
    rows = [(str(number), os.urandom(3000)) for number in range(200)]
    statement = (
        "INSERT INTO cache (key, stored, expires, size, checksum, value) VALUES (?,0,0,0,0,?)"
    )
    store.write(lambda db: db.executemany(statement, rows))


def count(store: Store) -> int:
    rows = store.read(lambda db: db.execute("SELECT * FROM cache").fetchall())
    return len(rows)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"my notes " * 1000, "it is no SQLite database"),
        (b"x", "it is no SQLite database"),
        (b"SQLite format 3\0", "it is the database of another program"),
        (b"SQLite format 3\0" + b"\xff" * 5000, "it is the database of another program"),
    ],
    ids=["text", "one byte", "short", "another mark"],
)
def test_a_file_that_is_not_ours_is_refused_and_stays_as_it_is(
    store: Store, path: Path, content: bytes, reason: str
) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    path.chmod(0o640)
    before = path.stat()
    for use in (spend, spent):
        with pytest.raises(ForeignFileError, match=rf"webtools\.sqlite3 cannot be used: {reason}"):
            use(store)
    assert [file.name for file in path.parent.iterdir()] == [path.name], "nothing is made beside it"
    assert path.read_bytes() == content
    after = path.stat()  # but for the time of the last access: it was read
    assert (after[:7], after.st_mtime_ns) == (before[:7], before.st_mtime_ns)


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_of_another_program_stays_as_it_is(
    store: Store, path: Path, journal: str
) -> None:
    path.parent.mkdir()
    theirs = sqlite3.connect(path)
    theirs.execute(f"PRAGMA journal_mode = {journal}").fetchall()
    with theirs:
        theirs.execute("CREATE TABLE bookmarks (url)")
        theirs.execute("INSERT INTO bookmarks VALUES ('https://a.example')")
    path.chmod(0o644)
    files = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.raises(ForeignFileError, match="it is the database of another program"):
        spend(store)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == files
    assert (path.stat().st_mode & 0o777) == 0o644
    assert theirs.execute("SELECT * FROM bookmarks").fetchall() == [("https://a.example",)]
    theirs.close()


def test_a_database_that_somebody_keeps_locked_is_refused_without_waiting(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.parent.mkdir()
    theirs = sqlite3.connect(path, isolation_level=None)
    theirs.execute("CREATE TABLE bookmarks (url)")
    theirs.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(sqlite, "_connect", None)  # which would wait
    with pytest.raises(ForeignFileError, match="it is the database of another program"):
        spend(store)
    theirs.close()


def test_a_file_that_became_somebody_elses_while_it_was_open_is_not_put_aside(
    store: Store, path: Path
) -> None:
    fill(store)
    store.close()
    assert spent(store) == 0
    overwrite(path)
    content = path.read_bytes()
    with pytest.raises(ForeignFileError, match="it is no SQLite database"):
        count(store)
    assert path.read_bytes() == content
    assert not beside(path, ".corrupt").exists()


def test_another_program_that_was_first_keeps_its_file(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE bookmarks (url)")
    theirs.close()
    monkeypatch.setattr(sqlite, "refuse_foreign", lambda _: None)  # looked too early
    with pytest.raises(ForeignFileError, match="it is the database of another program"):
        spend(store)
    with sqlite3.connect(path) as theirs:
        assert theirs.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    theirs.close()


def test_an_empty_file_is_taken(store: Store, path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    spend(store)
    assert spent(store) == 1


def test_a_new_file_is_marked_as_ours_before_anything_is_in_it(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(*_: object) -> None:
        raise OSError("killed")

    monkeypatch.setattr(sqlite, "make_tables", end)
    with pytest.raises(StoreError, match="killed"):
        spend(store)
    assert path.read_bytes()[68:72] == b"webt"
    monkeypatch.undo()
    spend(Store(path))


@pytest.mark.parametrize("broken", [slice(16, 68), slice(100, 5000)], ids=["header", "tables"])
def test_a_corrupt_file_of_ours_is_put_aside_and_that_is_said_once(
    store: Store, path: Path, broken: slice
) -> None:
    spend(store)
    store.close()
    content = bytearray(path.read_bytes())
    content[broken] = b"\xff" * (broken.stop - broken.start)
    path.write_bytes(content)
    assert store.take_notices() == []
    spend(store)
    assert spent(store) == 1
    assert is_healthy(store)
    assert beside(path, ".corrupt").read_bytes() == content
    [notice] = store.take_notices()
    assert notice.startswith(f"{path} was corrupt and is replaced by a new file")
    assert notice.endswith(f"the old file is {beside(path, '.corrupt')}.")
    assert store.take_notices() == []


def test_only_the_first_corrupt_file_is_kept(store: Store, path: Path) -> None:
    contents: list[bytes] = []
    for _ in range(2):
        spend(store)
        store.close()
        contents.append(path.read_bytes()[:100] + os.urandom(5000))
        path.write_bytes(contents[-1])
        spend(store)
    assert beside(path, ".corrupt").read_bytes() == contents[0]
    assert spent(store) == 1


@pytest.mark.parametrize("start", [100, 8192, 100_000])
def test_a_file_that_breaks_while_it_is_open_is_replaced(
    store: Store, path: Path, start: int
) -> None:
    fill(store)
    store.close()
    assert spent(store) == 0  # open again, and little of it in memory
    overwrite(path, start=start)
    assert count(store) == 0
    spend(store)
    assert spent(store) == 1
    assert is_healthy(store)


def test_all_who_notice_at_once_go_on_with_the_same_new_file(path: Path) -> None:
    stores = [Store(path) for _ in range(8)]
    fill(stores[0])
    stores[0].close()
    assert {spent(store) for store in stores} == {0}
    overwrite(path, start=8192)
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(count, stores)) == {0}
        list(threads.map(spend, stores))
    assert {spent(store) for store in stores} == {8}
    assert is_healthy(stores[0])


NOTICING = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from test_store import Store, count, is_healthy, spend, spent
store = Store(Path(sys.argv[1]))
spent(store)
print("open", flush=True)
input()
assert count(store) == 0
print("noticed", flush=True)
input()
spend(store)
print("spent", flush=True)
input()
assert spent(store) == 4, spent(store)
assert is_healthy(store)
"""


def test_all_processes_go_on_with_the_same_new_file(store: Store, path: Path) -> None:
    fill(store)
    store.close()
    command = [sys.executable, "-W", "error", "-c", NOTICING, path, "-", Path(__file__).parent]
    pipe = subprocess.PIPE
    several = [
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) for _ in range(4)
    ]
    try:
        for word in ("open", "noticed", "spent"):
            for process in several:
                assert process.stdout is not None
                assert process.stdout.readline() == f"{word}\n", process.communicate()
            if word == "open":
                overwrite(path, start=8192)
            for process in several:
                assert process.stdin is not None
                process.stdin.write("\n")
                process.stdin.flush()
        assert [process.communicate(timeout=60) for process in several] == [("", "")] * 4
        assert [process.returncode for process in several] == [0] * 4
    finally:
        for process in several:
            process.kill()
            process.wait(60)


def test_only_the_corrupt_file_is_replaced_not_its_successor(store: Store, path: Path) -> None:
    spend(store)
    store._replace((0, 0))
    store._replace(None)
    assert spent(Store(path)) == 1


def test_a_file_that_cannot_be_put_aside_is_an_error(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("not allowed")

    fill(store)
    store.close()
    assert spent(store) == 0
    overwrite(path, start=8192)
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(StoreError, match="not allowed"):
        count(store)


@pytest.mark.parametrize("lost", ["file", "folder"])
def test_a_write_notices_that_its_file_was_deleted(store: Store, path: Path, lost: str) -> None:
    spend(store)
    for file in path.parent.iterdir():
        file.unlink()
    if lost == "folder":
        path.parent.rmdir()
    spend(store)
    assert spent(store) == spent(Store(path)) == 1


@pytest.mark.usefixtures("_always_looking")
def test_a_read_notices_that_its_file_was_deleted(store: Store, path: Path) -> None:
    spend(store)
    path.unlink()
    assert spent(store) == 0
    spend(store)
    assert is_healthy(store)


def test_a_read_looks_for_its_file_from_time_to_time_only(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    spend(store)
    looks: list[Path] = []
    monkeypatch.setattr(sqlite, "file_id", looks.append)
    for _ in range(100):
        spent(store)
    assert len(looks) <= 1


@posix_only
def test_whoever_has_a_replaced_file_open_leaves_the_new_one_alone(path: Path) -> None:
    late, early = Store(path), Store(path)
    spend(late)
    path.unlink()
    spend(early, 5)
    late.close()  # as the last one on the old file
    assert beside(path, "-wal").exists()
    assert spent(early) == spent(Store(path)) == 5


CACHE_ENTRY = "INSERT INTO cache VALUES (1, 'key', 0, 0, 1, 0, 'x')"


def test_of_another_versions_tables_only_what_was_spent_is_kept(store: Store, path: Path) -> None:
    spend(store, 3)
    store.write(lambda db: db.execute(CACHE_ENTRY))
    store.read(lambda db: db.execute("PRAGMA user_version = 99"))
    store.read(lambda db: db.execute("CREATE TABLE other (a)"))
    store.close()
    assert spent(store) == 3
    assert store.read(lambda db: db.execute("SELECT * FROM cache").fetchall()) == []
    with pytest.raises(StoreError, match="no such table: other"):
        store.read(lambda db: db.execute("SELECT * FROM other"))
    [notice] = store.take_notices()
    assert notice.startswith(f"{path} was made by another version of webtools")


@pytest.mark.parametrize("column", ["", ", note TEXT", ", weight INTEGER NOT NULL DEFAULT 1"])
def test_two_versions_that_alternate_on_one_file_share_one_allowance(
    path: Path, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    columns = tables._TABLES["spend"]
    limit, taken = Sum(1_000_000, 3), 0
    for number in range(8):
        monkeypatch.setattr(tables, "_VERSION", number % 2 + 1)
        other = f"{columns[:-1]}{column})" if number % 2 else columns
        monkeypatch.setitem(tables._TABLES, "spend", other)
        store = Store(path)
        _, spent = SqliteLedger(store).take(100_000, limit)
        taken += spent is None
        store.close()
    assert taken == 3


@pytest.mark.parametrize(
    "columns",
    [
        "(day TEXT PRIMARY KEY, nano_usd INTEGER)",
        "(day TEXT PRIMARY KEY, micro_usd INTEGER, calls INTEGER, account TEXT NOT NULL)",
    ],
)
def test_nothing_is_spent_where_another_version_counts_otherwise(path: Path, columns: str) -> None:
    store = Store(path)
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"CREATE TABLE spend {columns}")
        db.execute("PRAGMA user_version = 99")
        db.execute(f"PRAGMA application_id = {store_file._APPLICATION}")
    with pytest.raises(StoreError):
        SqliteLedger(store).take(1, Sum(1_000_000, 100))
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT sql FROM sqlite_master WHERE name = 'spend'").fetchone()


def test_tables_that_vanish_while_the_file_is_open_are_made_anew(store: Store, path: Path) -> None:
    spend(store)
    store.write(lambda db: db.execute("DROP TABLE spend"))
    spend(store, 2)
    assert spent(store) == 2
    assert store.take_notices() == []


def test_stores_that_make_the_tables_at_once_make_them_once(path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(spend, [Store(path) for _ in range(8)]))
    assert spent(Store(path)) == 8


def test_tables_that_another_process_made_first_are_kept(store: Store) -> None:
    spend(store)
    store.write(make_tables)
    assert spent(store) == 1


# --- a file that cannot be used ----------------------------------------------------------------


@pytest.mark.parametrize("kind", ["folder", "below a file", "no path"])
def test_a_path_that_cannot_be_a_file_is_an_error(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "file"
    file.touch()
    paths = {"folder": tmp_path, "below a file": file / "a" / "b", "no path": Path("a\0b")}
    for use in (spend, spent):
        with pytest.raises(StoreError, match="cannot be used: "):
            use(Store(paths[kind]))


@posix_only
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_an_error(store: Store, path: Path) -> None:
    path.parent.mkdir(mode=0o500)
    with pytest.raises(StoreError, match="Permission denied"):
        spend(store)


def test_a_full_disk_is_an_error_that_passes(store: Store) -> None:
    def limit(db: sqlite3.Connection, pages: int) -> None:
        db.execute(f"PRAGMA max_page_count = {pages}").fetchall()

    def fill_up(db: sqlite3.Connection) -> None:
        limit(db, 20)
        try:
            db.execute("INSERT INTO spend VALUES (?, 1, 1)", ("x" * 500_000,))
        finally:
            limit(db, 2**30)

    spend(store)
    with pytest.raises(StoreError, match="full"):
        store.write(fill_up)
    spend(store)
    assert spent(store) == 2
    assert is_healthy(store)


def test_a_write_does_not_wait_longer_than_its_patience(store: Store, path: Path) -> None:
    spend(store)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    start = time.monotonic()
    with pytest.raises(StoreError, match="database is locked"):
        spend(store, patience=0.2)
    assert 0.2 <= time.monotonic() - start < 10
    assert spent(store) == 1, "who reads is not in anybody's way"
    other.execute("COMMIT")
    spend(store)
    other.close()


def test_a_write_waits_until_others_have_written(store: Store, path: Path) -> None:
    spend(store)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.2, other.close).start()
    spend(store)
    assert spent(store) == 2


def test_a_write_waits_for_the_one_of_another_thread(store: Store) -> None:
    inside, leave = threading.Event(), threading.Event()
    with ThreadPoolExecutor() as threads:
        first = threads.submit(store.write, lambda _: (inside.set(), leave.wait(60)))
        assert inside.wait(60)
        second = threads.submit(spend, store, patience=0.01)
        time.sleep(0.05)
        assert not second.done()
        leave.set()
        first.result(10)
        second.result(10)


def test_a_file_that_is_locked_as_a_whole_is_an_error_that_passes(store: Store, path: Path) -> None:
    spend(store)
    store.close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    other.execute("BEGIN EXCLUSIVE")
    for use in (store.read, store.write):
        with pytest.raises(StoreError, match="database is locked"):
            use(lambda _: None, patience=0.1)
    other.close()
    assert spent(store) == 1


@posix_only
def test_a_file_that_somebody_opens_for_ever_is_an_error(store: Store, path: Path) -> None:
    path.parent.mkdir()
    with store_file.opening_alone(path):
        with pytest.raises(StoreError, match="another process is opening it for too long"):
            spend(store, patience=0.1)
    spend(store)


@posix_only
def test_a_file_system_without_locks_is_used_without(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    spend(store)
    assert spent(store) == 1


def test_without_the_locks_of_posix_a_file_is_opened_without(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    spec = spec_from_file_location("webtools._store_file_elsewhere", store_file.__file__)
    assert spec is not None
    assert spec.loader is not None
    elsewhere = module_from_spec(spec)
    spec.loader.exec_module(elsewhere)
    path.parent.mkdir()
    with elsewhere.opening_alone(path), elsewhere.opening_alone(path):
        assert beside(path, ".lock").exists()


# --- threads and processes ---------------------------------------------------------------------


def in_threads(number: int, act: Callable[[], None]) -> None:
    threads = [threading.Thread(target=act) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


def test_thousands_of_short_threads_leave_no_connections_behind(store: Store) -> None:
    spend(store)
    before = psutil.Process().num_fds()
    for _ in range(50):
        in_threads(40, lambda: random.choice([spend, spent, spent])(store))
    assert psutil.Process().num_fds() <= before


def test_many_threads_take_turns(store: Store) -> None:
    in_threads(100, lambda: spend(store))
    assert spent(store) == 100


def test_a_use_within_a_write_is_an_error_that_undoes_it(store: Store) -> None:
    spend(store)
    with pytest.raises(StoreError, match="closed database"):
        store.write(lambda db: (db.execute("UPDATE spend SET calls = 9"), spent(store)))
    assert spent(store) == 1


def test_a_store_that_is_dropped_or_outlives_the_program_leaves_no_open_file() -> None:
    code = """
import gc, sys, tempfile
from pathlib import Path
from webtools.storage.sqlite import Store, store_at
with tempfile.TemporaryDirectory() as folder:
    Store(Path(folder, "a")).read(lambda db: None)
    gc.collect()
    store_at(Path(folder, "b")).read(lambda db: None)
"""
    assert run(code) == ""


FORK = """
import os, sys, threading, time, warnings
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_store import Store, beside, is_healthy, spend, spent
warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads, as ours may be
path = Path(sys.argv[1])
store = Store(path)

def in_child(work):
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException as error:
            print(error, file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return child

def check(child):
    assert os.waitpid(child, 0)[1] == 0
"""


def forked(path: Path, code: str) -> None:
    run(FORK + code, path, Path(__file__).parent)


@posix_only
def test_a_forked_process_has_connections_and_locks_of_its_own(path: Path) -> None:
    forked(
        path,
        """
spend(store)
ready, gate = os.pipe(), os.pipe()

def work():
    spend(store)
    os.write(ready[1], b"x")
    os.read(gate[0], 1)
    assert beside(path, "-wal").exists(), "the parent took the child's log away"
    spend(store)
    assert spent(store) == 4

child = in_child(work)
os.read(ready[0], 1)
spend(store)
assert spent(store) == 3
store.close()  # the last connection of a file deletes its log, if no lock tells of another
os.write(gate[1], b"x")
check(child)
assert spent(store) == 4
assert is_healthy(store)
""",
    )


@posix_only
def test_a_fork_waits_for_threads_in_the_middle_of_a_write(path: Path) -> None:
    forked(
        path,
        """
is_over = threading.Event()

def keep_spending():
    while not is_over.is_set():
        spend(store)
        spent(store)

threads = [threading.Thread(target=keep_spending) for _ in range(4)]
for thread in threads:
    thread.start()
children = []
for _ in range(8):
    children.append(in_child(lambda: spend(store)))
    time.sleep(0.05)
for child in children:
    check(child)
is_over.set()
for thread in threads:
    thread.join()
assert is_healthy(store)
""",
    )


@posix_only
def test_a_fork_that_could_not_wait_leaves_the_child_without_the_file(path: Path) -> None:
    forked(
        path,
        """
from webtools.storage import sqlite, tables
from webtools.storage.budget import Sum
from webtools.storage.sqlite import StoreError
sqlite.FORK_PATIENCE = 0.05
inside, leave = threading.Event(), threading.Event()
thread = threading.Thread(target=lambda: store.read(lambda db: (inside.set(), leave.wait(60))))
thread.start()
inside.wait()

def work():
    try:
        spend(store)
    except StoreError as error:
        assert "in use when this process forked" in str(error)
    else:
        raise AssertionError("it used what belongs to its parent")

check(in_child(work))
leave.set()
thread.join()
spend(store)
""",
    )


def test_no_connection_is_open_or_given_while_the_process_forks(store: Store) -> None:
    spend(store)
    with ThreadPoolExecutor() as threads:
        sqlite._each(Store.pause)
        try:
            assert store._open == []
            waiting = threads.submit(spent, store)
            time.sleep(0.05)
            assert not waiting.done()
        finally:
            sqlite._each(Store.resume)
        assert waiting.result(10) == 1


def test_a_child_goes_on_with_connections_of_its_own(store: Store) -> None:
    spend(store)
    store.pause()
    store.resume_in_child()
    assert spent(store) == 1


def test_a_connection_that_was_in_use_while_the_parent_forked_is_neither_used_nor_closed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    inherited: list[sqlite3.Connection] = []
    monkeypatch.setattr(sqlite, "_inherited", inherited)
    spend(store)
    store.resume_in_child()  # without a pause
    with pytest.raises(StoreError, match="in use when this process forked"):
        spent(store)
    [connection] = inherited
    assert connection.execute("SELECT calls FROM spend").fetchone() == (1,)
    connection.close()


def test_the_log_is_emptied_when_it_is_large(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(20):
        fill(store)
        store.write(lambda db: db.execute("DELETE FROM cache"))
    assert beside(path, "-wal").stat().st_size < 2 * sqlite._LOG_BYTES


def test_a_deleted_log_holds_nobody_up(store: Store, path: Path) -> None:
    spend(store)
    beside(path, "-wal").unlink()
    spend(store)
    assert spent(store) == 2


def test_a_log_that_somebody_reads_is_emptied_later_and_holds_nobody_up(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_LOG_BYTES", 100_000)
    monkeypatch.setattr(sqlite, "_CUT_INTERVAL", 600.0)
    spend(store)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM spend").fetchall()
    start = time.monotonic()
    fill(store)
    for _ in range(50):
        spend(store)
    assert time.monotonic() - start < 5, "waited fifty times"
    assert beside(path, "-wal").stat().st_size > 100_000
    reader.close()
    monkeypatch.setattr(store, "_next_cut", 0.0)
    spend(store)
    assert beside(path, "-wal").stat().st_size == 0


# --- a file that stays locked ------------------------------------------------------------------


@pytest.fixture
def waits(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that each use of the store may wait that finds it locked."""
    remaining, seen, starts = store._remaining, list[float](), set[float]()

    def noted(patience: float, start: float) -> float:
        found = remaining(patience, start)
        if start not in starts:
            starts.add(start)
            seen.append(found)
        return found

    monkeypatch.setattr(store, "_remaining", noted)
    return seen


@pytest.fixture
def locked(store: Store, path: Path, request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep the file locked, as a whole or for who writes."""
    spend(store)
    store.close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    other.execute(f"BEGIN {request.param}")
    yield
    other.close()


@pytest.mark.parametrize("locked", ["EXCLUSIVE", "IMMEDIATE"], indirect=True)
@pytest.mark.usefixtures("locked")
def test_a_file_that_stays_locked_is_waited_for_only_once(store: Store, waits: list[float]) -> None:
    for _ in range(3):
        with pytest.raises(StoreError, match="locked"):
            spend(store, patience=0.3)
    assert waits[0] > sqlite._BRIEF >= max(waits[1:])


@pytest.mark.parametrize("locked", ["EXCLUSIVE"], indirect=True)
@pytest.mark.usefixtures("locked")
def test_who_has_more_patience_waits_for_the_rest_of_it(store: Store, waits: list[float]) -> None:
    with pytest.raises(StoreError, match="locked"):
        store.read(lambda _: None, patience=0.2)
    for _ in range(2):
        with pytest.raises(StoreError, match="locked"):
            spend(store, patience=0.5)
    assert waits[1] <= 0.3
    assert waits[1] > sqlite._BRIEF >= waits[2]


def test_a_lock_that_ended_is_forgotten_with_the_next_write(store: Store, path: Path) -> None:
    spend(store)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        spend(store, patience=0.1)
    assert spent(store) == 1, "who reads is not in anybody's way"
    other.close()
    assert store._remaining(0.1, time.monotonic()) == sqlite._BRIEF
    spend(store)
    assert store._remaining(0.1, time.monotonic()) == 0.1


@posix_only
def test_a_file_that_somebody_opens_for_ever_is_waited_for_only_once(
    store: Store, path: Path, waits: list[float]
) -> None:
    path.parent.mkdir()
    with store_file.opening_alone(path):
        for _ in range(2):
            with pytest.raises(StoreError, match="another process is opening it for too long"):
                spend(store, patience=0.2)
    assert waits[0] > sqlite._BRIEF >= waits[1]
