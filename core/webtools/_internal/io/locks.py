"""Locks of files."""

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
