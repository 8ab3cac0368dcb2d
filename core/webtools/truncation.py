"""Cut text to the output budget, and describe the cut.

The limits are those of the pi coding agent. Only LF ends a line, and a trailing LF counts as an
additional empty line. Sizes are UTF-8 bytes; a lone surrogate counts as 3 bytes. Texts may be
large, so no function here splits or encodes a whole text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, TypeAlias

__all__ = [
    "MAX_BYTES",
    "MAX_LINES",
    "Truncation",
    "fair_shares",
    "fit",
    "fit_sections",
    "format_size",
    "notice",
    "truncate_head",
    "truncate_tail",
]

MAX_LINES = 2000
MAX_BYTES = 51_200

Limit: TypeAlias = Literal["lines", "bytes"]

_CONTINUATION = 0b10  # the two high bits of every byte of a UTF-8 character but its first
_SLICE = 32_768  # characters encoded at a time, to save memory


@dataclass(frozen=True, slots=True)
class Cut:
    """The sizes of a text before and after it was cut.

    Attributes:
        truncated: Whether anything was cut.
        truncated_by: The limit that was exceeded, or None if nothing was cut.
        total_lines: Number of lines of the whole text. An empty text has one.
        total_bytes: Size of the whole text in UTF-8 bytes.
        output_lines: Number of lines that were kept, including a partial one.
        output_bytes: Size of the part that was kept, in UTF-8 bytes.
        last_line_partial: Whether a line was cut. For several sections: in any of them.
        first_line_exceeds_limit: Whether the first line alone exceeds the byte limit.
        max_lines: The limit of lines.
        max_bytes: The limit of bytes.
    """

    truncated: bool
    truncated_by: Limit | None
    total_lines: int
    total_bytes: int
    output_lines: int
    output_bytes: int
    last_line_partial: bool
    first_line_exceeds_limit: bool
    max_lines: int
    max_bytes: int

    def to_details(self) -> dict[str, Any]:
        """Return the sizes as plain JSON, without the content."""
        return {field.name: getattr(self, field.name) for field in fields(Cut)}


@dataclass(frozen=True, slots=True)
class Truncation(Cut):
    """The part of a text that was kept, and the sizes of the part and the text.

    Attributes:
        content: The part that was kept. If the text was cut, no LF follows its last line.
    """

    content: str


def truncate_head(text: str, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncation:
    """Keep the first whole lines that fit both limits.

    If the first line alone exceeds the byte limit, the result is empty. `fit` would keep its
    beginning.
    """
    return _truncate(text, _measure(text), _limits(max_lines, max_bytes), _head)


def truncate_tail(text: str, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncation:
    """Keep the last whole lines that fit both limits.

    If the last line alone exceeds the byte limit, its end is kept, from a character boundary.
    """
    reversed_cut = _truncate(
        text[::-1], _measure(text), _limits(max_lines, max_bytes), _head_or_line
    )
    return replace(reversed_cut, content=reversed_cut.content[::-1])


def fit(text: str, max_lines: int, max_bytes: int) -> Truncation:
    """Keep the first whole lines that fit both limits, and the beginning of a huge line.

    If the whole lines use less than half of `max_bytes`, the next line is cut at a character
    boundary. This keeps text of pages that are a title and one long paragraph.
    """
    return _truncate(text, _measure(text), _limits(max_lines, max_bytes), _head_or_part)


def fit_sections(
    sections: Sequence[str], separator: str, max_lines: int, max_bytes: int
) -> tuple[str, list[Truncation]]:
    """Join sections within both limits. Each gets a fair share of the lines and bytes.

    Small sections stay whole. Large ones get equal shares and are cut as `fit` does, so that every
    section appears. If there are too many sections, the last ones are omitted.

    Args:
        sections: The texts, in order.
        separator: The text between two sections. It counts towards both limits.
        max_lines: Limit for the joined text.
        max_bytes: Limit for the joined text, in UTF-8 bytes.

    Returns:
        The joined text, and the truncation of each section. That of an omitted section is empty.
    """
    sizes = [_measure(section) for section in sections]
    limits = _limits(max_lines, max_bytes)
    shares = _section_limits(sections, sizes, _measure(separator), limits)
    cuts = [
        _truncate(section, size, share, _head_or_part)
        for section, size, share in zip(sections, sizes, shares, strict=True)
    ]
    return separator.join(cut.content for cut in cuts if cut.output_lines), cuts


def fair_shares(sizes: Sequence[int], budget: int) -> list[int]:
    """Divide a budget fairly (max-min fairness).

    Small sizes are granted in full, and larger ones get equal shares. The shares add up to the
    budget, or to the sum of the sizes if that is smaller.
    """
    rest, shares = max(budget, 0), [0] * len(sizes)
    by_size = sorted(range(len(sizes)), key=lambda index: (sizes[index], -index))
    for count, index in enumerate(by_size):
        shares[index] = min(sizes[index], rest // (len(sizes) - count))
        rest -= shares[index]
    return shares


def notice(
    shown_lines: int, total_lines: int, shown_bytes: int, total_bytes: int, path: str | None
) -> str:
    """Return the truncation notice: how much is omitted, and where the full text is.

    Args:
        shown_lines: Number of lines that were kept.
        total_lines: Number of lines of the whole text.
        shown_bytes: Size of the part that was kept, in UTF-8 bytes.
        total_bytes: Size of the whole text in UTF-8 bytes.
        path: File with the whole text, or None if it could not be saved.
    """
    saved = "The full output could not be saved."
    if path is not None:
        saved = f"Full output saved to: {path}"
    shown = f"{format_size(shown_bytes)} of {format_size(total_bytes)}"
    omitted = f"{total_lines - shown_lines} lines ({format_size(total_bytes - shown_bytes)})"
    return (
        f"[Output truncated: showing {shown_lines} of {total_lines} lines ({shown}). "
        f"{omitted} omitted. {saved}]"
    )


def format_size(n: int) -> str:
    """Return a number of bytes as `512B`, `1.5KB` or `2.0MB`. Ties round up."""
    for unit, name in ((1024 * 1024, "MB"), (1024, "KB")):
        if n >= unit:
            # Integers, because formatting a float rounds ties to even.
            whole, tenth = divmod((n * 10 + unit // 2) // unit, 10)
            return f"{whole}.{tenth}{name}"
    return f"{n}B"


class _Size(NamedTuple):
    """An amount of text."""

    lines: int
    bytes: int


class _Kept(NamedTuple):
    """The part of a text to keep, as `text[:stop]`."""

    stop: int
    lines: int
    by: Limit | None  # None: nothing was cut
    partial: bool = False
    first_line_exceeds: bool = False


def _limits(max_lines: int, max_bytes: int) -> _Size:
    return _Size(max(max_lines, 0), max(max_bytes, 0))


def _truncate(
    text: str, size: _Size, limits: _Size, choose: Callable[[str, _Size], _Kept]
) -> Truncation:
    kept = _Kept(len(text), size.lines, None)
    if size.lines > limits.lines or size.bytes > limits.bytes:
        kept = choose(text, limits)
    content = text[: kept.stop]
    return Truncation(
        content=content,
        truncated=kept.by is not None,
        truncated_by=kept.by,
        total_lines=size.lines,
        total_bytes=size.bytes,
        output_lines=kept.lines,
        output_bytes=_utf8_size(content) if kept.by else size.bytes,
        last_line_partial=kept.partial,
        first_line_exceeds_limit=kept.first_line_exceeds,
        max_lines=limits.lines,
        max_bytes=limits.bytes,
    )


def _head(text: str, limits: _Size) -> _Kept:
    stop = _prefix_stop(text, limits.bytes)
    if stop < len(text) and text[stop] != "\n":
        stop = text.rfind("\n", 0, stop)
    if stop < 0:
        return _Kept(0, 0, "bytes", first_line_exceeds=True)
    lines = text.count("\n", 0, stop) + 1
    if lines < limits.lines:
        return _Kept(stop, lines, "bytes")
    if lines > limits.lines:
        stop = len("\n".join(text[:stop].split("\n")[: limits.lines]))
    return _Kept(stop, limits.lines, "lines")


def _head_or_part(text: str, limits: _Size) -> _Kept:
    kept = _head(text, limits)
    stop = _prefix_stop(text, limits.bytes)
    shows_more = kept.first_line_exceeds or stop > kept.stop + 1  # more than the LF
    if kept.by != "bytes" or limits.lines == 0 or not shows_more or 2 * kept.stop > stop:
        return kept
    return kept._replace(stop=stop, lines=kept.lines + 1, partial=True)


def _head_or_line(text: str, limits: _Size) -> _Kept:
    if limits.lines == 0:
        return _Kept(0, 0, "lines")
    kept = _head(text, limits)
    if not kept.first_line_exceeds:
        return kept
    # With room for one line only, pi names the line limit even when that line was cut.
    by: Limit = "lines" if limits.lines == 1 else "bytes"
    return _Kept(_prefix_stop(text, limits.bytes), 1, by, partial=True)


def _prefix_stop(text: str, max_bytes: int) -> int:
    """Return how many characters from the start fit."""
    data = _encode(text[:max_bytes])  # a character takes at least a byte
    stop = min(len(data), max_bytes)
    while stop < len(data) and data[stop] >> 6 == _CONTINUATION:
        stop -= 1
    return len(data[:stop].decode("utf-8", "surrogatepass"))


def _measure(text: str) -> _Size:
    return _Size(text.count("\n") + 1, _utf8_size(text))


def _utf8_size(text: str) -> int:
    if text.isascii():
        return len(text)
    starts = range(0, len(text), _SLICE)
    return sum(len(_encode(text[start : start + _SLICE])) for start in starts)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _section_limits(
    sections: Sequence[str], sizes: Sequence[_Size], separator: _Size, limits: _Size
) -> list[_Size]:
    count = _count_shown(sizes, separator, limits)
    gaps = max(count - 1, 0)
    # A separator of one LF adds no line of its own, and each further LF in it adds one.
    lines = fair_shares(
        [size.lines for size in sizes[:count]], limits.lines - gaps * (separator.lines - 2)
    )
    needed = [
        _bytes_within(section, size, max_lines, limits.bytes)
        for section, size, max_lines in zip(sections, sizes, lines, strict=False)
    ]
    bytes_ = fair_shares(needed, limits.bytes - gaps * separator.bytes)
    omitted = [_Size(0, 0)] * (len(sizes) - count)
    return [*map(_Size, lines, bytes_), *omitted]


def _count_shown(sizes: Sequence[_Size], separator: _Size, limits: _Size) -> int:
    """Return how many sections can each show a line, and a byte unless empty."""
    used = 0
    for gaps, size in enumerate(sizes):
        used += min(size.bytes, 1) + (separator.bytes if gaps else 0)
        if used > limits.bytes or 1 + gaps * (separator.lines - 1) > limits.lines:
            return gaps
    return len(sizes)


def _bytes_within(section: str, size: _Size, max_lines: int, max_bytes: int) -> int:
    """Return the bytes that the section can use of `max_bytes` within its lines."""
    if size.lines <= max_lines:
        return size.bytes
    kept = _head(section, _Size(max_lines, max_bytes))
    return max_bytes if kept.by == "bytes" else _utf8_size(section[: kept.stop])
