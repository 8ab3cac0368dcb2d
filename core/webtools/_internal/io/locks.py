"""Locks for state that calls share, for packages that may not import `threading`; file locks."""

import sys
from threading import Lock, RLock

__all__ = ["Lock", "RLock", "try_lock"]

if sys.platform == "win32":

    def try_lock(_fd: int) -> bool:
        """Return True: no lock is needed, as Windows does not rename or delete an open file."""
        return True

else:
    import fcntl

    def try_lock(fd: int) -> bool:
        """Lock a file until it is closed, unless another process has locked it.

        Where the file system has no locks, this returns True.
        """
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True
