"""Answers are quoted from the sources, or not given."""

from __future__ import annotations

import grounding_pages as pages
import pytest

from webtools.grounding.extractive import Claim, extract
from webtools.grounding.ranking import document_of

DOCUMENTS = [
    document_of(pages.BOATS, 0, title="The ferry", url="https://a.example/boats"),
    document_of(pages.TOKENS, 1, title="Keys", url="https://b.example/keys"),
]
ASKED = [(asked, answer) for asked, answer in pages.QUESTIONS if answer]
IDLE = [asked for asked, answer in pages.QUESTIONS if answer is None]


def text_of(claims: list[Claim]) -> str:
    return "\n".join(each.text for each in claims)


def test_three_in_four_questions_are_answered_rightly() -> None:
    right = [answer in text_of(extract(asked, DOCUMENTS)) for asked, answer in ASKED]
    assert sum(right) >= 0.75 * len(ASKED)


def test_questions_that_the_pages_do_not_answer_get_silence() -> None:
    assert [asked for asked in IDLE if extract(asked, DOCUMENTS)] == []


@pytest.mark.parametrize("asked", [asked for asked, _ in ASKED])
def test_a_quotation_is_in_the_source_to_the_letter(asked: str) -> None:
    for claim in extract(asked, DOCUMENTS):
        (citation,) = claim.citations
        source = DOCUMENTS[citation.number]
        assert source.text[citation.offset :].startswith(citation.quotation)
        assert (citation.url, citation.title) == (source.url, source.title)
        assert claim.status == "quoted"
    assert len(extract(asked, DOCUMENTS)) <= 5


def test_a_definition_comes_with_its_signature() -> None:
    first, *_ = extract("Which function returns hexadecimal digits?", DOCUMENTS)
    assert first.text == (
        "`gatekeys.hex_code([size])`: Return a code of hexadecimal digits, for locks with a keypad."
    )


def test_code_that_answers_is_quoted_whole_with_its_introduction() -> None:
    claims = extract("How do I take back a lost card?", DOCUMENTS)
    code = next(each for each in claims if "```" in each.text)
    assert code.citations[0].quotation == (
        "To take back a card that was lost, call `revoke` with its number:\n\n"
        "```python\nimport gatekeys\n\ngatekeys.revoke(4711)\n```"
    )


def test_headings_and_lead_ins_are_no_claims() -> None:
    text = "# Apples and pears\n\nApples and pears are:\n\n- red\n- green\n\nApples grow on\n"
    assert extract("What are apples and pears?", [document_of(text, 0)], threshold=0.0) == []


def test_a_sentence_is_not_cut_after_an_abbreviation() -> None:
    claims = extract("Who bought the line in 1930?", DOCUMENTS, threshold=0.0)
    assert "The U.S. Lake Company bought the line in 1930." in [each.text for each in claims]


def test_two_pages_that_say_the_same_are_quoted_once() -> None:
    twice = [*DOCUMENTS, document_of(pages.BOATS, 2, url="https://c.example/")]
    claims = extract("Who built the first ferry?", twice)
    assert sum("Ottilie Brandt" in each.text for each in claims) == 1


def test_without_documents_there_is_no_answer() -> None:
    assert extract("Who built the first ferry?", []) == []
