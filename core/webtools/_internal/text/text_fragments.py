"""Links that make a browser scroll to a quotation: `#:~:text=`.

They are only for links that people click. They are never requested, cached or compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote

_MAX_QUOTATIONS = 3
_LONGEST_START = 60  # characters; short exact starts are found most reliably
_SHORTEST_START = 6
_LONGEST_LINE = 1000
_AT_START = re.compile(r"\s*(?:(?:[>|:*+-]|#{1,6}|\d{1,6}\.|\[[ x]\])\s+)*")
_MARKS = re.compile(r"(?<!\w)[*_~]{1,3}(?=\S)|(?<=\S)[*_~]{1,3}(?!\w)|`")
_ENDS = re.compile(r"\s\|(?:\s|$)|[\[\]\\]|!\[|…")  # a cell, a link, a cut
# A clause of a script that writes no spaces between words.
_CLAUSE = re.compile(r".{6,}?(?=[\u3001\u3002\uff01\uff0c\uff0e\uff1f])")


def with_text_fragment(url: str, quotations: Iterable[str]) -> str:
    """Return a URL that makes a browser scroll to the first words of quotations of its page."""
    starts = [*dict.fromkeys(filter(None, map(_start_of, quotations)))][:_MAX_QUOTATIONS]
    if not starts:
        return url
    # A dash, a comma and an ampersand have meanings there. `quote` leaves only the dash.
    texts = "&".join(f"text={quote(start, safe='').replace('-', '%2D')}" for start in starts)
    return f"{url}{'' if '#' in url else '#'}:~:{texts}"


def _start_of(quotation: str) -> str:
    """Return the first whole words of a quotation as a reader sees them, or "" if too few."""
    line = next(_lines(quotation), "")
    text = _ENDS.split(_MARKS.sub("", _AT_START.sub("", line, count=1)), maxsplit=1)[0]
    text = " ".join(text.split())
    if len(text) > _LONGEST_START:
        clause = _CLAUSE.match(text[:_LONGEST_START])
        words = text[: _LONGEST_START + 1].rpartition(" ")[0]
        text = words or (clause[0] if clause else "")
    return text if len(text) >= _SHORTEST_START else ""


def _lines(quotation: str) -> Iterator[str]:
    for line in quotation[: 4 * _LONGEST_LINE].splitlines():
        if line.strip() and not line.lstrip().startswith(("```", "~~~")):
            yield line[:_LONGEST_LINE]
