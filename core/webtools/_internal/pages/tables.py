"""Tables: which hold data and which only lay a page out, and their rows, one cell a column."""

from __future__ import annotations

from collections.abc import Callable

from webtools._internal.pages.tree import Element

_LARGE = frozenset({"pre", "table", "h1", "h2", "h3", "h4", "h5", "h6", "dl", "listing"})
_MOST_COLUMNS = 60


def is_layout(table: Element) -> bool:
    """Return whether a table holds parts of a page, to be written one after another, not data."""
    if table.get("role") in {"presentation", "none"}:
        return True
    if any(each.tag in _LARGE for each in table.iterdescendants()):
        return True
    return max(map(len, _cells(table)), default=0) < 2  # noqa: PLR2004  # a column is a list


def rows_of(table: Element, text: Callable[[Element], str]) -> list[list[str]]:
    """Return the rows, all of one length, the first being the header, perhaps of empty cells.

    A cell over several columns stands in the first of them, one over several rows in all of them.
    """
    held: dict[int, tuple[int, str]] = {}
    rows = [_row(cells, held, text) for cells in _cells(table)]
    width = max(map(len, rows), default=0)
    if not any(any(row) for row in rows):
        return []
    rows = [row + [""] * (width - len(row)) for row in rows]
    return rows if _has_header(table) else [[""] * width, *rows]


def _row(
    cells: list[Element], held: dict[int, tuple[int, str]], text: Callable[[Element], str]
) -> list[str]:
    row: list[str] = []
    for cell in cells:
        _fill(row, held)
        if len(row) >= _MOST_COLUMNS:
            break
        shown = text(cell)
        down, across = _span(cell, "rowspan"), _span(cell, "colspan")
        for column in range(across):
            value = "" if column else shown
            if down > 1:
                held[len(row)] = (down - 1, value)
            row.append(value)
    _fill(row, held)
    return row[:_MOST_COLUMNS]


def _fill(row: list[str], held: dict[int, tuple[int, str]]) -> None:
    """Add the cells that began in a row above."""
    while (at := len(row)) in held and at < _MOST_COLUMNS:
        left, value = held.pop(at)
        if left > 1:
            held[at] = (left - 1, value)
        row.append(value)


def _span(cell: Element, name: str) -> int:
    value = cell.get(name, "1").strip()
    return min(max(int(value), 1), _MOST_COLUMNS) if value.isdecimal() and len(value) < 6 else 1  # noqa: PLR2004


def _cells(table: Element) -> list[list[Element]]:
    return [list(row.iterchildren("td", "th"))[:_MOST_COLUMNS] for row in _rows(table)]


def _rows(table: Element) -> list[Element]:
    found: list[Element] = table.xpath("tr|thead/tr|tbody/tr|tfoot/tr")
    return found


def _has_header(table: Element) -> bool:
    first = _rows(table)[0]
    return first.getparent().tag == "thead" or not any(True for _ in first.iterchildren("td"))
