"""Fetch pages from their own sites (`ssrf`, `fetching`) and read them (`reading`)."""

from importlib.util import find_spec

from webtools.errors import ConfigError

INSTALL = "pip install 'agent-webtools[fetch]'"
_LIBRARIES = ("lxml", "pypdf")


def missing_libraries() -> ConfigError | None:
    """Return the error for the missing extra, or None if it is installed."""
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if not missing:
        return None
    return ConfigError(f"Reading pages needs {' and '.join(missing)}: {INSTALL}")
