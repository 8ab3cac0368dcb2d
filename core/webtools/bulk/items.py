"""Items of bulk work, read one by one from a file, stdin or an iterable."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from pydantic_core import to_json

from webtools._internal.text.narrowing import is_mapping
from webtools._internal.text.quoting import hint, listed, quote
from webtools.bulk.bulk_models import Operation
from webtools.bulk.bulk_options import Options
from webtools.errors import InputError
from webtools.tools import FETCH, RESEARCH, SEARCH, Tool, read_input, shown

Given: TypeAlias = str | Mapping[str, Any]
Source: TypeAlias = str | os.PathLike[str] | Iterable[Given]
TOOLS: dict[Operation, Tool] = {"search": SEARCH, "fetch": FETCH, "research": RESEARCH}
_JSON_LINES = frozenset({".jsonl", ".ndjson"})
_SUBJECTS = {operation: tool.first_field for operation, tool in TOOLS.items()}
# Names of the subject in the header of a table.
_COLUMNS: dict[Operation, set[str]] = {
    "search": {"query", "queries", "q"},
    "fetch": {"url", "urls"},
    "research": {"query", "queries", "q", "question"},
}


@dataclass(slots=True)
class Item:
    """One item of the input.

    Attributes:
        index: Position in the input, from 0.
        id: Hash of the operation and its arguments.
        subject: The query, question or URL.
        arguments: The checked arguments of the call.
        fault: Why no call can be made, or None.
        attempts: Number of calls.
        ms: Duration of the calls in milliseconds.
        cost_usd: Cost of the failed calls.
    """

    index: int
    id: str
    subject: str
    arguments: dict[str, Any]
    fault: InputError | None = None
    attempts: int = field(default=0, compare=False)
    ms: float = field(default=0.0, compare=False)
    cost_usd: float = field(default=0.0, compare=False)


def read_items(operation: Operation, source: Source, options: Options) -> Iterator[Item]:
    """Yield the items of an input. An invalid one has a `fault`.

    Raises:
        InputError: The input cannot be read.
    """
    for index, record in enumerate(_records(operation, source, options.column)):
        yield _item(operation, index, record, options)


def check_arguments(operation: Operation, options: Options) -> None:
    """Check the arguments that all items share.

    Raises:
        InputError: They are invalid.
    """
    _read_arguments(operation, {_SUBJECTS[operation]: "https://example.com/"}, options)


def _item(operation: Operation, index: int, record: Given | InputError, options: Options) -> Item:
    values: dict[str, Any] = {}
    try:
        values = _item_arguments(operation, record, options)
        arguments = _read_arguments(operation, values, options)
    except InputError as error:
        if options.column is None and values.keys() - _argument_names(operation):
            error = InputError(f"{error} To use only one column, name it with --column.")
        values = values if _is_serializable(values) else {}
        subject = next((value for value in values.values() if isinstance(value, str)), "")
        return Item(index, _id(operation, [values, str(error)]), subject, values, fault=error)
    [subject] = _texts(arguments[_SUBJECTS[operation]])
    return Item(index, _id(operation, sorted(arguments.items())), subject, arguments)


def _read_arguments(
    operation: Operation, item_arguments: dict[str, Any], options: Options
) -> dict[str, Any]:
    """Return the arguments of one call.

    Raises:
        InputError: They are invalid, or there are several subjects.
    """
    values = {**options.arguments, **item_arguments}
    arguments = read_input(TOOLS[operation].input_model, values).model_dump(exclude_unset=True)
    if len(_texts(arguments[_SUBJECTS[operation]])) != 1:
        name = _SUBJECTS[operation]
        raise InputError(f"{name} has several values; use one item for each value.")
    if not _is_serializable(arguments):
        raise InputError("The item has text that is not valid Unicode.")
    return arguments


def _is_serializable(value: Any) -> bool:
    try:
        to_json(value)
    except ValueError:
        return False
    return True


def _item_arguments(
    operation: Operation, record: Given | InputError, options: Options
) -> dict[str, Any]:
    """Return the arguments of an item. A text is the subject.

    Raises:
        InputError: The item is neither a text nor a mapping, or lacks the column.
    """
    if isinstance(record, InputError):
        raise record
    if isinstance(record, str):
        return {_SUBJECTS[operation]: record}
    if not is_mapping(record):  # pyright: ignore[reportUnnecessaryComparison]  callers may
        raise InputError(f"{shown(record)} is not an item; use a string or a mapping of arguments.")
    if options.column is None:
        return {name: value for name, value in record.items() if name and value not in (None, "")}
    if options.column not in record:
        raise InputError(f"The item has no {quote(options.column)}, only {listed(record)}.")
    return {_SUBJECTS[operation]: record[options.column]}


def _argument_names(operation: Operation) -> set[str]:
    model = TOOLS[operation].input_model
    return {*model.open_fields(), *model.spellings}


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [*value]


def _id(operation: Operation, arguments: Any) -> str:
    return hashlib.sha256(to_json([operation, arguments])).hexdigest()[:16]


# --- reading -----------------------------------------------------------------------------------


def _records(
    operation: Operation, source: Source, column: str | None
) -> Iterator[Given | InputError]:
    if not isinstance(source, (str, os.PathLike)):
        yield from source
        return
    path = os.fspath(source)
    suffix = Path(path).suffix.lower()
    with _open(path) as file:
        if suffix == ".csv":
            yield from _table(operation, file, path, column)
            return
        for line in file:
            if line := line.strip():
                is_json = suffix in _JSON_LINES or line.startswith("{")
                yield _read_json(line) if is_json else line


@contextmanager
def _open(path: str) -> Generator[IO[str]]:
    if path == "-":
        yield sys.stdin
        return
    try:
        file = Path(path).open(encoding="utf-8-sig", errors="replace", newline="")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    with file:
        yield file


def _table(operation: Operation, file: IO[str], path: str, column: str | None) -> Iterator[Given]:
    """Yield the rows of a table.

    Raises:
        InputError: It is not CSV, or lacks the column.
    """
    try:
        rows = csv.DictReader(file)
        names = rows.fieldnames or ()
        if column is not None and column not in names:
            fault = f"{path} has no column {quote(column)}{hint(column, names)}"
            raise InputError(f"{fault}. Its columns: {listed(names) or 'none'}.")
        if names and column is None and not {name.lower() for name in names} & _COLUMNS[operation]:
            columns = " or ".join(sorted(_COLUMNS[operation]))
            raise InputError(
                f"{path} has no column {columns}. Its columns: {listed(names)}. "
                "Choose one with --column (`column` in Python)."
            )
        yield from rows
    except csv.Error as error:
        raise InputError(f"{path} cannot be read as CSV: {error}.") from error


def _read_json(line: str) -> Given | InputError:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return InputError(f"{shown(line)} is not JSON.")
    if isinstance(value, str) or is_mapping(value):
        return cast("Given", value)
    return InputError(f"{shown(line)} is neither a JSON string nor an object.")


def count(operation: Operation, source: Source, column: str | None = None) -> int | None:
    """Count the items, or return None if that would consume them."""
    if isinstance(source, (str, os.PathLike)):
        return None if source == "-" else sum(1 for _ in _records(operation, source, column))
    return len(source) if hasattr(source, "__len__") else None  # type: ignore[arg-type]
