"""Lines broken between words: what their rest is indented by."""

from __future__ import annotations

import pytest

from webtools._internal.display.wrapping import wrapped


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("one two three four five", "five"),
        ("  one two three four", "  four"),
        ("- one two three four", "  four"),
        ("1. one two three four", "   four"),
        ("Reads:  one two four", "        four"),
        ("Reads: one two three", "three"),
    ],
)
def test_the_rest_of_a_line_is_indented_below_its_text(line: str, rest: str) -> None:
    assert wrapped(line, 18).split("\n")[-1] == rest
