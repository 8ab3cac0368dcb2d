"""Read which pages of a document are chosen, such as `3`, `3-7`, `501-` or `1,4-6`."""

from __future__ import annotations

import re

_RANGE = r"0*([1-9]\d{0,5})(?:\s?([-\u2013])\s?(?:0*([1-9]\d{0,5}))?)?"
_PAGES = re.compile(rf"{_RANGE}(?:\s?,\s?{_RANGE}){{0,49}}")


def normalized_pages(text: str) -> str:
    """Return a choice of pages in one spelling; "" for none.

    Raises:
        ValueError: It is malformed.
    """
    text = text.strip()
    if not text:
        return ""
    ranges = []
    if _PAGES.fullmatch(text):
        for first, dash, last in re.findall(_RANGE, text):
            if last and int(last) < int(first):
                break
            ranges.append(f"{first}-{last}" if dash and last != first else first)
        else:
            return ",".join(ranges)
    shown = text if len(text) <= 40 else text[:37] + "..."  # noqa: PLR2004
    raise ValueError(
        f'invalid `pages` "{shown}": expected page numbers from 1, such as 3-7 or 1,4-6'
    )


def page_indexes(pages: str, total: int) -> list[int]:
    """Return the indexes of the chosen pages that a document of `total` pages has."""
    indexes: dict[int, None] = {}
    for part in pages.split(","):
        first, dash, last = part.partition("-")
        end = total if dash and not last else min(total, int(last or first))
        indexes.update(dict.fromkeys(range(int(first) - 1, end)))
    return list(indexes)
