"""Locks of files."""

from contextlib import suppress

try:
    import fcntl
except ModuleNotFoundError:  # Windows does not rename or delete an open file, so it needs no lock
    fcntl = None  # type: ignore[assignment]


def try_lock(fd: int) -> bool:
    """Lock a file until it is closed, unless it is locked where it was opened another time.

    Where the system or the file system has no locks, this returns True.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def share_lock(fd: int) -> None:
    """Wait until no one else has the lock of a file, and share it until the file is closed.

    `try_lock` then fails where the file was opened another time.
    """
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_SH)


def unlock(fd: int) -> None:
    """End the lock of a file."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)
