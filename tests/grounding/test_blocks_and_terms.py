"""What Markdown is made of, and which terms a question in several scripts has."""

from __future__ import annotations

import pytest

from webtools.grounding.blocks import read_blocks
from webtools.grounding.sentences import sentence_spans
from webtools.grounding.terms import find, lowered, stem_of, terms_of


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
    found = [(block.kind, text[block.start : block.end]) for block in read_blocks(text)]
    assert found == blocks


def test_lower_case_keeps_every_place_where_a_sign_would_grow() -> None:
    assert lowered("\u0130X") == "\u0130x"


def test_latin_words_within_another_script_are_terms_too() -> None:
    assert {"入門", "sqlit"} <= {term.stem for term in terms_of("SQLite入門")}


def test_blanks_around_sentences_are_left_out_and_a_lone_dot_ends_one() -> None:
    text = "Yes.  Wait. \n Go now. . The end. "
    found = [text[start:end] for start, end in sentence_spans(text)]
    assert found == ["Yes.", "Wait.", "Go now.", ".", "The end."]


@pytest.mark.parametrize(
    ("asked", "written"), [("open", "opens"), ("return", "returned"), ("index", "indexes")]
)
def test_english_words_in_n_and_x_are_found_in_their_other_forms(asked: str, written: str) -> None:
    assert [hit[2] for hit in find(stem_of(asked), written)] == [1.0]
