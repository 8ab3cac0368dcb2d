"""The tables in the SQLite file."""

from __future__ import annotations

import sqlite3

_VERSION = 1  # of the tables; of another version, only the spend ledger is kept
_SPEND_COLUMNS = {"day", "micro_usd", "calls"}  # in every version; else spending is refused
_TABLES = {
    # IDs ascend, so their order is that of storing. The value is the last column: SQLite would
    # have to read through it to reach the columns after it.
    "cache": """(
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, stored REAL NOT NULL,
        expires REAL NOT NULL, size INTEGER NOT NULL, checksum INTEGER NOT NULL,
        value BLOB NOT NULL
    )""",
    "cache_total": "(bytes INTEGER NOT NULL)",
    "spend": "(day TEXT PRIMARY KEY, micro_usd INTEGER NOT NULL, calls INTEGER NOT NULL)",
    "health": """(
        provider TEXT PRIMARY KEY, failures INTEGER, parks INTEGER, parked_until REAL, kind TEXT,
        reason TEXT, changed REAL
    )""",
}
_OTHER_STATEMENTS = (
    "CREATE INDEX cache_expires ON cache (expires)",
    "INSERT INTO cache_total VALUES (0)",
)
_LIST_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
)


def is_complete(connection: sqlite3.Connection) -> bool:
    """Return whether all tables exist, in this version."""
    return _version(connection) == _VERSION and _TABLES.keys() <= _tables(connection)


def create_tables(connection: sqlite3.Connection) -> bool:
    """Create the tables, and return whether they replace those of another version.

    The spend ledger of any version is kept: no limit is granted twice.

    Raises:
        sqlite3.NotSupportedError: The ledger has other columns than this version can read.
    """
    if is_complete(connection):  # another process was faster
        return False
    existing, version = _tables(connection), _version(connection)
    kept_tables = {"spend"} & existing
    if kept_tables and not _columns(connection, "spend").issuperset(_SPEND_COLUMNS):
        raise sqlite3.NotSupportedError(
            "it has the budget count of another version of webtools; use that version, or delete "
            "the file"
        )
    for name in existing - kept_tables:
        connection.execute(f'DROP TABLE "{name}"')
    for name in _TABLES.keys() - kept_tables:
        connection.execute(f"CREATE TABLE {name} {_TABLES[name]}")
    for statement in _OTHER_STATEMENTS:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {_VERSION}")
    return bool(existing) and version != _VERSION


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    query = "SELECT name FROM pragma_table_info(?)"
    return {name for (name,) in connection.execute(query, (table,))}


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute(_LIST_TABLES)}
