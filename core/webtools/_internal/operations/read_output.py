"""Reads stored outputs part by part, or from the place of some words."""

from __future__ import annotations

import re
from functools import partial

from webtools import fencing
from webtools._internal.pipeline.tool_call import Call
from webtools.errors import InputError
from webtools.inputs.read import ReadInput
from webtools.outputs import load_output
from webtools.results import ReadResponse
from webtools.truncation import MAX_BYTES, MAX_LINES, fit

_FOOTER_BYTES = 1024  # the position of the part, and how to read the next one
_FOOTER_LINES = 8
_ROOM_BYTES = MAX_BYTES - fencing.OVERHEAD - _FOOTER_BYTES
_ROOM_LINES = MAX_LINES - fencing.OVERHEAD_LINES - _FOOTER_LINES
_MAX_BEFORE = 400  # characters shown before a passage


async def read_stored_output(arguments: ReadInput, call: Call) -> ReadResponse:
    """Read a part of what an earlier call saved.

    Raises:
        InputError: Nothing is stored under the handle, or the offset is beyond the end.
    """
    response: ReadResponse = await call.io.call_blocking(partial(_part, arguments, call))
    return response


def _part(arguments: ReadInput, call: Call) -> ReadResponse:
    handle, offset, find = arguments.handle, arguments.offset, arguments.find
    # A key that was set after the text was saved would not be recognized in two parts.
    text = call.accounts.redactor.text(load_output(handle, call.reader))
    total = len(text)
    if offset > total:
        message = (
            f'offset {offset} is beyond the end: the text of handle "{handle}" has {total} '
            f"characters. Use an offset from 0 to {total}."
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
    """Search for words, ignoring case and differences in white space."""
    pattern = r"\s+".join(map(re.escape, find.split()))
    match = re.compile(pattern, re.IGNORECASE).search(text, offset)
    return match.start() if match else None


def _start_before(text: str, hit: int, minimum: int) -> int:
    """Return a position a little before a passage: at a line, otherwise at a word."""
    earliest = max(hit - _MAX_BEFORE, minimum)
    if earliest == minimum:
        return minimum
    near = text[earliest:hit]
    after_break = near.find("\n") + 1 or near.find(" ") + 1
    return earliest + after_break


def _length(text: str, start: int) -> int:
    """Return how many characters from `start` fit, including the line feed of the last line."""
    window = text[start : start + _ROOM_BYTES + 1]  # no more characters than bytes can fit
    cut = fit(window, _ROOM_LINES, _ROOM_BYTES)
    if not cut.truncated:
        return len(window)
    stop = len(cut.content)
    return stop + 1 if window[stop : stop + 1] == "\n" else stop
