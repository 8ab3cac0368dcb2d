"""Reading on: what was cut from an output, part by part, or the passage that one looks for."""

from __future__ import annotations

import re
from functools import partial

from webtools._internal.io.runtime import IO
from webtools._internal.output.stored import load
from webtools._internal.text import fencing
from webtools.errors import InputError
from webtools.inputs.read import ReadInput
from webtools.results import ReadResponse
from webtools.truncation import MAX_BYTES, MAX_LINES, fit

_FOOTER_BYTES = 1024  # what stands below the part: where it is, and how to go on
_FOOTER_LINES = 8
_ROOM_BYTES = MAX_BYTES - fencing.OVERHEAD - _FOOTER_BYTES
_ROOM_LINES = MAX_LINES - fencing.OVERHEAD_LINES - _FOOTER_LINES
_BEFORE = 400  # characters shown before a passage, at most


async def read_on(given: ReadInput, io: IO) -> ReadResponse:
    """Read a part of what an earlier call saved.

    Raises:
        InputError: Nothing is kept under the handle, or the offset is beyond the end.
    """
    response: ReadResponse = await io.call_blocking(
        partial(_part, given.handle, given.offset, given.find)
    )
    return response


def _part(handle: str, offset: int, find: str) -> ReadResponse:
    text = load(handle)
    total = len(text)
    if offset > total:
        message = (
            f'offset {offset} is beyond the end: what is kept under handle "{handle}" has {total} '
            f"characters; use 0 to {total}."
        )
        raise InputError(message)
    hit = _search(find, text, offset) if find else None
    if find and hit is None:
        return ReadResponse(
            handle=handle, content="", offset=offset, total_characters=total, find=find
        )
    start = offset if hit is None else _start_before(text, hit, offset)
    stop = start + _length(text, start)
    return ReadResponse(
        handle=handle,
        content=text[start:stop],
        offset=start,
        next_offset=stop if stop < total else None,
        total_characters=total,
        find=find,
        found_at=hit,
    )


def _search(find: str, text: str, offset: int) -> int | None:
    """Look for words, whatever their case and the white space between them."""
    pattern = r"\s+".join(map(re.escape, find.split()))
    match = re.compile(pattern, re.IGNORECASE).search(text, offset)
    return match.start() if match else None


def _start_before(text: str, hit: int, least: int) -> int:
    """Begin a little before a passage: at a line, else at a word, if one begins there."""
    earliest = max(hit - _BEFORE, least)
    if earliest == least:
        return least
    near = text[earliest:hit]
    after_break = near.find("\n") + 1 or near.find(" ") + 1
    return earliest + after_break


def _length(text: str, start: int) -> int:
    """Explain how many characters from `start` fit, a line with its line feed as far as it goes."""
    window = text[start : start + _ROOM_BYTES + 1]  # no more characters than bytes can fit
    cut = fit(window, _ROOM_LINES, _ROOM_BYTES)
    if not cut.truncated:
        return len(window)
    stop = len(cut.content)
    return stop + 1 if window[stop : stop + 1] == "\n" else stop
