"""Rows as Parquet: written of the JSON lines when all is done, as such a file has its end first.

Arguments and results are columns of JSON text: their shape is that of the response's model.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json

from webtools.bulk.models import Failure, Outcome
from webtools.bulk.rows import read_rows
from webtools.errors import ConfigError, InputError

_ROWS_AT_ONCE = 1000
_AS_JSON = ("input", "result")
_ERROR = tuple(Failure.model_fields)


def is_parquet(path: Path) -> bool:
    """Return whether an output is to be Parquet, by its name."""
    return path.suffix.lower() in {".parquet", ".pq"}


def check_installed() -> None:
    """Check that Parquet can be written.

    Raises:
        ConfigError: It cannot.
    """
    if find_spec("pyarrow") is None:
        raise ConfigError("Parquet needs pyarrow: pip install 'agent-webtools[parquet]'")


def write(rows: Path, path: Path) -> None:
    """Write rows of JSON lines as Parquet; the file appears when it is whole."""
    arrow, files = import_module("pyarrow"), import_module("pyarrow.parquet")
    schema = _schema(arrow)
    new = path.with_name(f"{path.name}.new")
    found = read_rows(rows)
    with files.ParquetWriter(new, schema) as writer:
        while some := [_columns_of(row) for row in islice(found, _ROWS_AT_ONCE)]:
            writer.write_table(arrow.Table.from_pylist(some, schema=schema))
    new.replace(path)


def read(path: Path) -> Iterator[Outcome]:
    """Yield the rows of a Parquet file.

    Raises:
        InputError: It holds something else.
        ConfigError: Parquet cannot be read here.
    """
    check_installed()
    arrow, files = import_module("pyarrow"), import_module("pyarrow.parquet")
    try:
        with files.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                for row in batch.to_pylist():
                    yield Outcome.model_validate(_row_of(row))
    except (arrow.ArrowInvalid, LookupError, ValueError) as error:
        raise InputError(f"{path} holds no rows of bulk work: {error}.") from None


def rows_again(path: Path, rows: Path) -> None:
    """Write the rows of a Parquet file as JSON lines, to go on from them."""
    new = rows.with_name(f"{rows.name}.new")
    with new.open("wb") as file:
        file.writelines(row.model_dump_json().encode() + b"\n" for row in read(path))
    new.replace(rows)


def _schema(arrow: Any) -> Any:
    names = [name for name in Outcome.model_fields if name != "error"]
    columns = dict.fromkeys([*names, *(f"error_{name}" for name in _ERROR)], arrow.string())
    columns |= dict.fromkeys(("index", "attempts"), arrow.int64())
    columns |= dict.fromkeys(("cost_usd", "ms"), arrow.float64())
    columns |= dict.fromkeys(("cost_is_estimate", "cache_hit", "error_retryable"), arrow.bool_())
    columns["at"] = arrow.timestamp("us", tz="UTC")
    return arrow.schema(columns.items())


def _columns_of(row: Outcome) -> dict[str, Any]:
    """Return a row as columns."""
    columns = row.model_dump(exclude={"error", *_AS_JSON})
    for name in _AS_JSON:
        value = getattr(row, name)
        columns[name] = None if value is None else to_json(value).decode()
    for name in _ERROR:
        columns[f"error_{name}"] = getattr(row.error, name, None)
    return columns


def _row_of(columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns as a row."""
    error = {name: columns.pop(f"error_{name}") for name in _ERROR}
    for name in _AS_JSON:
        columns[name] = None if columns[name] is None else from_json(columns[name])
    return {**columns, "error": error if error["type"] else None}
