"""What Markdown is made of, and which terms a question in several scripts has."""

from __future__ import annotations

import pytest

from webtools._internal.grounding.blocks import read_blocks
from webtools._internal.grounding.terms import find, stem_of

MANUAL = """\
NAME
       scan - look through files

OPTIONS
       -q, --quiet
              Print nothing, and end at once when something
              was found.

       -d     Go down into folders, but not into those that
              are linked.
       -x
              Skip what is hidden.
       -y
              Skip what is empty.

       This is how all files of a folder are searched:

              scan -d folder word

       The folder may be left out when it is the current one.
"""


def kinds(text: str) -> list[tuple[str, str]]:
    blocks = read_blocks(text)
    return [(block.kind, " ".join(text[block.start : block.end].split())) for block in blocks]


def test_a_manual_page_is_made_of_sections_options_prose_and_code() -> None:
    assert kinds(MANUAL) == [
        ("heading", "NAME"),
        ("prose", "scan - look through files"),
        ("heading", "OPTIONS"),
        ("term", "-q, --quiet"),
        ("prose", "Print nothing, and end at once when something was found."),
        ("term", "-d"),
        ("prose", "Go down into folders, but not into those that are linked."),
        ("term", "-x"),
        ("prose", "Skip what is hidden."),
        ("term", "-y"),
        ("prose", "Skip what is empty."),
        ("prose", "This is how all files of a folder are searched:"),
        ("code", "scan -d folder word"),
        ("prose", "The folder may be left out when it is the current one."),
    ]


@pytest.mark.parametrize(
    ("asked", "written"), [("open", "opens"), ("return", "returned"), ("index", "indexes")]
)
def test_english_words_in_n_and_x_are_found_in_their_other_forms(asked: str, written: str) -> None:
    assert [hit[2] for hit in find(stem_of(asked), written)] == [1.0]
