"""What Markdown is made of, and which terms a question in several scripts has."""

from __future__ import annotations

import pytest

from webtools._internal.grounding.blocks import read_blocks
from webtools._internal.grounding.terms import find, stem_of


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("Term\n: ```\n  ls\n  ```\n", [("term", "Term"), ("code", ": ```\n  ls\n  ```")]),
        ("Text.\n\n    a\n\n    b\n", [("prose", "Text."), ("code", "    a\n\n    b")]),
    ],
)
def test_code_is_one_block_in_a_definition_and_over_blank_lines(
    text: str, blocks: list[tuple[str, str]]
) -> None:
    result = [(block.kind, text[block.start : block.end]) for block in read_blocks(text)]
    assert result == blocks


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
    ("indented", "kind"),
    [
        ("The pool is open on all days but Monday.", "prose"),
        ("It closes when there is no guest\n    left in the hall of the baths:", "prose"),
        ("for guest in guests:\n        print(guest)", "code"),
        ("# The pool is open on all days but Monday.", "code"),
        ("$ make install", "code"),
        ("SELECT name FROM guests WHERE day = 'Monday';", "code"),
    ],
)
def test_an_indented_paragraph_is_code_unless_it_is_written_as_prose(
    indented: str, kind: str
) -> None:
    assert [item for item, _ in kinds(f"Text.\n\n    {indented}\n")] == ["prose", kind]


@pytest.mark.parametrize("sign", ["=", "-", "~", "^", '"', "*", "+"])
def test_a_line_of_signs_as_long_as_the_one_above_makes_a_heading_of_it(sign: str) -> None:
    text = f"Making keys\n{sign * 11}\n\nUse `card`.\n"
    assert [kind for kind, _ in kinds(text)] == ["heading", "prose"]


def test_a_directive_of_restructured_text_is_code_with_what_it_holds() -> None:
    text = "Call it:\n\n.. code-block:: sh\n    :name: call\n\n    scan -d\n\nDone.\n"
    assert [kind for kind, _ in kinds(text)] == ["prose", "code", "prose"]


@pytest.mark.parametrize(
    ("asked", "written"), [("open", "opens"), ("return", "returned"), ("index", "indexes")]
)
def test_english_words_in_n_and_x_are_found_in_their_other_forms(asked: str, written: str) -> None:
    assert [hit[2] for hit in find(stem_of(asked), written)] == [1.0]
