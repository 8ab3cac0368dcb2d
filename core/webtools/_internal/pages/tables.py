"""Distinguish data tables from layout tables, and read their rows."""

from __future__ import annotations

from collections.abc import Callable

from webtools._internal.pages.tree import Element, length_of, text_of

_BLOCK_TAGS = frozenset({"pre", "table", "h1", "h2", "h3", "h4", "h5", "h6", "dl", "listing"})
_MAX_COLUMNS = 60
_LONGEST_NESTED = 2000  # characters of a data table that has others in its cells


def is_layout(table: Element) -> bool:
    """Return whether a table lays out parts of a page instead of data."""
    if table.get("role") in {"presentation", "none"}:
        return True
    rows = _cells(table)
    if max(map(len, rows), default=0) < 2:  # noqa: PLR2004  # a column is a list
        return True
    if any("\n" in text_of(each).strip() for each in table.iter("pre", "listing")):
        return True
    blocks = [each.tag for each in table.iterdescendants(*_BLOCK_TAGS)]
    has_headers = any(cell.tag == "th" for row in rows for cell in row)
    is_small = "table" not in blocks or length_of(table) < _LONGEST_NESTED
    return bool(blocks) and not (has_headers and is_small)


def rows_of(table: Element, text: Callable[[Element], str]) -> list[list[str]]:
    """Return the rows at equal length. The first one is the header, perhaps of empty cells.

    A cell that spans columns is repeated as empty cells, one that spans rows is repeated in each.
    """
    spanning: dict[int, tuple[int, str]] = {}
    rows = [_row(cells, spanning, text) for cells in _cells(table)]
    width = max(map(len, rows), default=0)
    if not any(any(row) for row in rows):
        return []
    rows = [row + [""] * (width - len(row)) for row in rows]
    first = _rows(table)[0]
    has_header = first.getparent().tag == "thead" or first.find("td") is None
    return rows if has_header else [[""] * width, *rows]


def _row(
    cells: list[Element], spanning: dict[int, tuple[int, str]], text: Callable[[Element], str]
) -> list[str]:
    row: list[str] = []
    for cell in cells:
        _fill(row, spanning)
        if len(row) >= _MAX_COLUMNS:
            return [*row[:_MAX_COLUMNS], "…"]
        content = text(cell)
        down, across = _span(cell, "rowspan"), _span(cell, "colspan")
        for column in range(across):
            value = "" if column else content
            if down > 1:
                spanning[len(row)] = (down - 1, value)
            row.append(value)
    _fill(row, spanning)
    return row[:_MAX_COLUMNS]


def _fill(row: list[str], spanning: dict[int, tuple[int, str]]) -> None:
    """Add cells that span from a row above."""
    while (column := len(row)) in spanning and column < _MAX_COLUMNS:
        rows, value = spanning.pop(column)
        if rows > 1:
            spanning[column] = (rows - 1, value)
        row.append(value)


def _span(cell: Element, name: str) -> int:
    value = cell.get(name, "1").strip()
    return min(max(int(value), 1), _MAX_COLUMNS) if value.isdecimal() and len(value) < 6 else 1  # noqa: PLR2004


def _cells(table: Element) -> list[list[Element]]:
    return [list(row.iterchildren("td", "th"))[: _MAX_COLUMNS + 1] for row in _rows(table)]


def _rows(table: Element) -> list[Element]:
    rows: list[Element] = table.xpath("tr|thead/tr|tbody/tr|tfoot/tr")
    return rows
