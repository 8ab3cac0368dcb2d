"""Answers are quoted from the sources, or not given."""

from __future__ import annotations

import json
from pathlib import Path

import grounding_pages as pages
import pytest

from webtools._internal.grounding.claims import quote
from webtools._internal.grounding.extractive import THRESHOLD, Claim, claims_of
from webtools._internal.grounding.ranking import Document, rank_documents

DOCUMENTS = [
    Document(pages.BOATS, 0, title="The ferry", url="https://a.example/boats"),
    Document(pages.TOKENS, 1, title="Keys", url="https://b.example/keys"),
]
ASKED = [(query, answer) for query, answer in pages.QUESTIONS if answer]
IDLE = [query for query, answer in pages.QUESTIONS if answer is None]


def extract(question: str, documents: list[Document], threshold: float = THRESHOLD) -> list[Claim]:
    return claims_of(rank_documents(question, documents), threshold=threshold)


def text_of(claims: list[Claim]) -> str:
    return "\n".join(item.quotation for item in claims)


def test_three_in_four_questions_are_answered_rightly() -> None:
    right = [answer in text_of(extract(query, DOCUMENTS)) for query, answer in ASKED]
    assert sum(right) >= 0.75 * len(ASKED)


def test_questions_that_the_pages_do_not_answer_get_silence() -> None:
    assert [query for query in IDLE if extract(query, DOCUMENTS)] == []


def test_few_claims_are_of_a_page_that_does_not_answer() -> None:
    beside = [
        answer not in claim.document.text
        for query, answer in ASKED
        if answer
        for claim in extract(query, DOCUMENTS)
    ]
    assert sum(beside) <= 0.15 * len(beside)
    assert len(beside) < 2 * len(ASKED)


LANGUAGES = Path(__file__).parents[2] / "benchmarks/answers"


@pytest.mark.parametrize("language", ["de", "es", "fr", "ja"])
def test_other_languages_are_answered_too(language: str) -> None:
    lines = (LANGUAGES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    query = [item for item in map(json.loads, lines) if item["project"] == f"own-{language}"]
    [page] = (LANGUAGES / "pages" / language).glob("*.md")
    documents = [Document(page.read_text(encoding="utf-8"), 0)]
    answers = {item["question"]: text_of(extract(item["question"], documents)) for item in query}
    answered = [item["answer"] in answers[item["question"]] for item in query if item["answer"]]
    silent = [not answers[item["question"]] for item in query if not item["answer"]]
    assert sum(answered) >= 0.7 * len(answered)
    assert sum(silent) >= 0.75 * len(silent)


@pytest.mark.parametrize("asked", [asked for asked, _ in ASKED])
def test_a_quotation_is_in_the_source_to_the_letter(asked: str) -> None:
    for claim in extract(asked, DOCUMENTS):
        assert claim.document.text[claim.start :].startswith(claim.quotation)
    assert len(extract(asked, DOCUMENTS)) <= 3


def test_a_definition_comes_with_its_signature() -> None:
    first, *_ = extract("Which function returns hexadecimal digits?", DOCUMENTS)
    assert first.quotation == (
        "`gatekeys.hex_code([size])`\n"
        ": Return a code of hexadecimal digits, for locks with a keypad."
    )


def test_code_that_answers_is_quoted_whole_with_its_introduction() -> None:
    claims = extract("How do I take back a lost card?", DOCUMENTS)
    code = next(item for item in claims if "```" in item.quotation)
    assert code.quotation == (
        "To take back a card that was lost, call `revoke` with its number:\n\n"
        "```python\nimport gatekeys\n\ngatekeys.revoke(4711)\n```"
    )


def test_two_pages_that_say_the_same_are_quoted_once() -> None:
    twice = [*DOCUMENTS, Document(pages.BOATS, 2, url="https://c.example/")]
    claims = extract("Who built the first ferry?", twice)
    assert sum("Ottilie Brandt" in item.quotation for item in claims) == 1


def test_an_answer_shows_neither_footnote_marks_nor_addresses_of_links() -> None:
    text = (
        "The [ferry](https://a.example/ferry_(boat)) sails at noon,[[3]](#cite-3) not later."
        "\n\nThe boats rest."
    )
    claims = quote(rank_documents("When does the ferry sail?", [Document(text, 0)]))
    assert [claim.text for claim in claims] == ["The ferry sails at noon, not later."]


@pytest.mark.parametrize(
    "call",
    [
        "Check out our new ferry app with timetables, fares and more!",
        "Book your ferry ticket at noon and win a free crossing!",
        "Subscribe now to hear when the ferry sails.",
        "Don't miss the ferry festival at noon on Sunday.",
        "Erfahren Sie mehr, wann die Ferry fährt.",
    ],
)
def test_a_call_to_action_or_the_mark_of_an_item_is_not_a_claim(call: str) -> None:
    text = f"# The ferry\n\n{call}\n\n2. The ferry sails at noon.\n3.\n\nThe boats rest at night."
    claims = quote(rank_documents("When does the ferry sail?", [Document(text, 0)]))
    assert [claim.text for claim in claims] == ["The ferry sails at noon."]


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("When does the {} museum open on Sundays?", "opens on Sundays at eleven", "begun in 1890"),
        ("When does the {} museum close in winter?", "closes in winter at four", "flooded in 1903"),
        (
            "When was the {} museum given a glass roof?",
            "was given a glass roof in 1988",
            "new in 1880",
        ),
    ],
)
@pytest.mark.parametrize("subject", ["harbour", "castle", "lantern"])
def test_a_sentence_that_shares_one_word_does_not_fill_up_an_answer(
    question: str, answer: str, other: str, subject: str
) -> None:
    text = f"# Places\n\nThe {subject} museum {answer}.\n\nThe {subject} was {other}."
    [claim] = extract(question.format(subject), [Document(text, 0)])
    assert claim.quotation == f"The {subject} museum {answer}."


def test_a_second_sentence_that_fits_as_well_is_quoted_too() -> None:
    first = "The harbour museum opens on Sundays at eleven o'clock."
    second = "In winter the harbour museum opens on Sundays only for groups."
    documents = [Document(text, at) for at, text in enumerate([first, second])]
    claims = extract("When does the harbour museum open on Sundays?", documents)
    assert {claim.quotation for claim in claims} == {first, second}


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
@pytest.mark.parametrize("language", ["python", "python title=python.py", "{.python}"])
def test_the_language_of_a_code_fence_is_not_a_word_of_the_text(fence: str, language: str) -> None:
    code = "\n\n".join(f"Run it:\n\n{fence}{language}\nrun({n})\n{fence}" for n in range(9))
    text = f"# Runs\n\n{code}\n\n# Snakes\n\nA python sleeps in the warm sand."
    [best, *others] = rank_documents("python", [Document(text, 0)]).ranked
    assert "warm sand" in best.text
    assert others == []
