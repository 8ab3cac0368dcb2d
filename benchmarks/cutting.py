"""Cutting 50 MB of text with exact totals, beside one pass over it."""

import tracemalloc
from collections.abc import Iterator

from benchmarks.report import QUICK, Row, paired, ratio
from webtools.truncation import truncate_head

SIZE = (1 if QUICK else 50) * 1024 * 1024
TEXTS = {
    "ASCII, 80-character lines": ("x" * 79 + "\n"),
    "ASCII, 10-character lines": ("x" * 9 + "\n"),
    "non-ASCII, 80-character lines": ("é" * 79 + "\n"),
}


def rows() -> Iterator[Row]:
    """Measure it for each kind of text, and the memory."""
    for kind, line in TEXTS.items():
        text = line * (SIZE // len(line.encode()))
        pairs = paired(lambda: truncate_head(text), lambda: one_pass(text), rounds=7, calls=1)
        yield ratio(f"truncate_head, 50 MB, {kind} / one pass", pairs, "µs", 1.5)
        yield _memory(f"truncate_head, 50 MB, {kind}: extra memory", text)


def one_pass(text: str) -> tuple[int, int]:
    """Count line feeds and measure the UTF-8 size in slices, without a copy of 50 MB."""
    lines = text.count("\n")
    if text.isascii():
        return lines, len(text)
    step = 65_536
    return lines, sum(
        len(text[start : start + step].encode()) for start in range(0, len(text), step)
    )


def _memory(what: str, text: str) -> Row:
    tracemalloc.start()
    truncate_head(text)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return Row(what, f"{peak:.2f} MB", "", peak, "≤ 1 MB", peak <= 1)
