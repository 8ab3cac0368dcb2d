"""Locks of files."""

import errno
from contextlib import suppress

try:
    import fcntl
except ModuleNotFoundError:  # Windows does not rename or delete an open file, so it needs no lock
    fcntl = None  # type: ignore[assignment]


def try_lock(fd: int) -> bool:
    """Lock a file until it is closed, unless another process has locked it.

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


def lock_with_others(fd: int) -> bool:
    """Lock an open file beside other processes that do, and return whether no other one does.

    The lock ends when this process closes the file, whichever descriptor it has used.
    """
    if fcntl is None:
        return True
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_alone = True
    except OSError as error:
        is_alone = error.errno not in (errno.EACCES, errno.EAGAIN)
    with suppress(OSError):
        fcntl.lockf(fd, fcntl.LOCK_SH)
    return is_alone
