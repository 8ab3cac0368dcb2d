"""Save the full text of truncated outputs.

Each user has a private folder in the system's temporary folder. A file is named by the hash of its
content, so the same text always has the same path. The hash is also the handle for `web_read`: no
path ever comes from a model. Empty files beside it record the settings of the call that saved it,
`HANDLE.OWNER.owner`, and the user or the session that may read it, `HANDLE.READER.reader`.
"""

from __future__ import annotations

import contextlib
import getpass
import hashlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from webtools.errors import InputError

__all__ = [
    "Outputs",
    "allow_reader",
    "claim_output",
    "count_outputs",
    "delete_outputs",
    "handle_of",
    "is_handle",
    "load_output",
    "save_output",
]

_MAX_AGE = 24 * 60 * 60  # seconds a file is kept after it was last saved
_MAX_TOTAL = 256 * 1024 * 1024  # bytes kept in the folder

_DIGITS = 32  # of the hash, which is the handle
_HANDLE = re.compile(rf"[0-9a-f]{{{_DIGITS}}}")
_SUFFIX = ".txt"
_OWNER_SUFFIX = ".owner"
_READER_SUFFIX = ".reader"
_UNFINISHED_SUFFIX = ".tmp"


def save_output(text: str) -> str | None:
    """Write a text to a private temporary file and return its path.

    The file is UTF-8 with newlines untouched; lone surrogates are three bytes each, as Python's
    `surrogatepass` writes and reads them. It is kept for a day, unless newer files need the space.

    Returns:
        The path, or None if the file could not be written.
    """
    data = text.encode("utf-8", "surrogatepass")
    name = _handle(data) + _SUFFIX
    try:
        path = _folder() / name
        _store(path, data)
    except OSError:
        return None
    if _state.needs_cleaning():
        _clean_up(path.parent, current=name)
    return str(path)


def handle_of(path: str | None) -> str | None:
    """Return the handle of a file that `save_output` wrote."""
    return Path(path).stem if path else None


def is_handle(text: str) -> bool:
    """Return whether a text has the form of a handle."""
    return _HANDLE.fullmatch(text) is not None


def load_output(handle: str, reader: str = "") -> str:
    """Return the text that was saved under a handle.

    Args:
        handle: The handle.
        reader: What `allow_reader` was called with. Default: may read all outputs.

    Raises:
        InputError: The handle is malformed or unknown, or the file has expired or was changed.
    """
    if not is_handle(handle):
        raise InputError(
            f'Unknown handle "{handle[:_DIGITS]}". Pass the `read_handle` of an earlier result.'
        )
    data, error = _read(handle) if _may_read(handle, reader) else None, ""
    if data is None:
        error = f'Handle "{handle}" is unknown or has expired.'
    elif _handle(data) != handle:
        error = f'The stored output of handle "{handle}" was changed, so it is not shown.'
    if data is None or error:
        raise InputError(f"{error} Repeat the call that returned the handle.")
    return data.decode("utf-8", "surrogatepass")


class Outputs(NamedTuple):
    """Number and total size of saved outputs."""

    files: int
    bytes: int


def claim_output(path: str, owner: str) -> None:
    """Record an owner of an output.

    Args:
        path: Path from `save_output`.
        owner: Identifies the settings of the call; letters and digits.
    """
    with contextlib.suppress(OSError):
        Path(path).with_suffix(f".{owner}{_OWNER_SUFFIX}").touch(mode=0o600)


def allow_reader(path: str, reader: str) -> None:
    """Let a user or a session read an output.

    Args:
        path: Path from `save_output`.
        reader: Identifies the user or the session, not to be guessed; letters and digits.
    """
    with contextlib.suppress(OSError):
        Path(path).with_suffix(f".{reader}{_READER_SUFFIX}").touch(mode=0o600)


def _may_read(handle: str, reader: str) -> bool:
    try:
        return not reader or (_folder() / f"{handle}.{reader}{_READER_SUFFIX}").is_file()
    except OSError:
        return False


def count_outputs(owner: str) -> Outputs:
    """Count the saved outputs of an owner, without creating the folder."""
    path = _folder_path()
    files = _list(path) if _is_private(path) else []
    sizes = [each.size for each in _outputs_of(owner, files)]
    return Outputs(len(sizes), sum(sizes))


def delete_outputs(owner: str) -> Outputs:
    """Delete the outputs that belong only to this owner, and expired owner records."""
    try:
        files = _list(_folder())
    except OSError:
        return Outputs(0, 0)
    _delete(each for each in files if each.has_expired and not each.is_output)
    records = [each for each in files if each.owner == owner]
    shared_handles = {each.handle for each in files if each.owner not in {"", owner}}
    outputs = [each for each in _outputs_of(owner, files) if each.handle not in shared_handles]
    _delete(records)
    return _delete(outputs)


def _outputs_of(owner: str, files: Iterable[_File]) -> list[_File]:
    handles = {each.handle for each in files if each.owner == owner}
    return [each for each in files if each.is_output and each.handle in handles]


class State:
    """State of a process: the time of its next clean-up, and its fallback folder."""

    def __init__(self, interval: float = 60.0) -> None:
        self._interval = interval  # seconds between clean-ups
        self._lock = Lock()
        self._next = 0.0
        self._path: Path | None = None

    def needs_cleaning(self) -> bool:
        """Return True for one caller per interval."""
        with self._lock:
            now = time.monotonic()
            is_due = now >= self._next
            if is_due:
                self._next = now + self._interval
            return is_due

    def fallback_folder(self) -> Path:
        """Return a folder with an unpredictable name, created on first use."""
        with self._lock:
            if self._path is None or not _is_private(self._path):
                self._path = Path(tempfile.mkdtemp(prefix="webtools-"))
            return self._path


_state = State()


def _folder_path() -> Path:
    return Path(tempfile.gettempdir(), f"webtools-{_user()}")


def _folder() -> Path:
    path = _folder_path()
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    return path if _is_private(path) else _state.fallback_folder()


def _user() -> str:
    if hasattr(os, "getuid"):
        return str(os.getuid())
    try:
        return re.sub(r"\W", "_", getpass.getuser())
    except (ImportError, KeyError, OSError):  # depends on the Python version
        return "user"


def _is_private(path: Path) -> bool:
    """Return whether this is a folder, not a link, that only this user can enter."""
    try:
        info = path.lstat()
    except OSError:
        return False
    # On Windows, anything but a plain folder, such as a junction.
    is_link = getattr(info, "st_file_attributes", 0) & stat.FILE_ATTRIBUTE_REPARSE_POINT
    if is_link or not stat.S_ISDIR(info.st_mode):
        return False
    if not hasattr(os, "getuid"):
        return True  # Windows has no such modes; there the temporary folder belongs to the user
    return info.st_uid == os.getuid() and not info.st_mode & (stat.S_IRWXG | stat.S_IRWXO)


def _store(path: Path, data: bytes) -> None:
    if _renew(path, data):
        return
    try:
        _write(path, data)
    except PermissionError:
        # Windows does not replace a file that another call has open; its content is the same.
        if not _renew(path, data):
            raise


def _renew(path: Path, data: bytes) -> bool:
    """Return whether the file already has this data, and renew its time."""
    try:
        os.utime(path)
        return path.read_bytes() == data
    except OSError:
        return False


def _handle(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def _read(handle: str) -> bytes | None:
    """Read a saved file; None if it is missing, has expired or is not a regular file."""
    try:
        path = _folder() / f"{handle}{_SUFFIX}"
        with open(path, "rb", opener=_open_to_read) as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode) or info.st_mtime < time.time() - _MAX_AGE:
                return None
            return file.read()
    except OSError:
        return None


def _open_to_read(path: str, flags: int) -> int:
    # Opening a pipe must not block the call.
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _write(path: Path, data: bytes) -> None:
    # Only the user can read and write a file of `mkstemp`.
    descriptor, unfinished = tempfile.mkstemp(_UNFINISHED_SUFFIX, "", path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(unfinished).replace(path)
    finally:
        with contextlib.suppress(OSError):  # it exists only if something failed
            Path(unfinished).unlink()


class _File(NamedTuple):
    """A file in the folder; it sorts by the order in which to keep files."""

    is_current: bool
    changed: float
    size: int
    path: str

    @property
    def is_output(self) -> bool:
        return self.path.endswith(_SUFFIX)

    @property
    def handle(self) -> str:
        """The handle of the output to which the file belongs."""
        return Path(self.path).name.partition(".")[0]

    @property
    def owner(self) -> str:
        """The owner that the file records; empty for other files."""
        _, _, rest = Path(self.path).name.partition(".")
        return rest.removesuffix(_OWNER_SUFFIX) if rest.endswith(_OWNER_SUFFIX) else ""

    @property
    def has_expired(self) -> bool:
        return self.changed < time.time() - _MAX_AGE


def _clean_up(folder: Path, current: str) -> None:
    """Delete expired files, and the oldest outputs beyond the total size."""
    room = _MAX_TOTAL
    for file in sorted(_list(folder, current), reverse=True):
        room -= file.size
        if not file.is_current and (file.has_expired or (room < 0 and file.is_output)):
            _delete([file])


def _delete(files: Iterable[_File]) -> Outputs:
    sizes: list[int] = []
    for file in files:
        with contextlib.suppress(OSError):
            Path(file.path).unlink()
            sizes.append(file.size)
    return Outputs(len(sizes), sum(sizes))


def _list(folder: Path, current: str = "") -> list[_File]:
    files: list[_File] = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):  # another process may clean up too
                info = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(info.st_mode):
                    is_current = entry.name == current
                    files.append(_File(is_current, info.st_mtime, info.st_size, entry.path))
    return files
