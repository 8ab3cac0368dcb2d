"""Passages of texts are ranked against a question."""

from __future__ import annotations

from dataclasses import dataclass

import grounding_pages as pages
import pytest

from webtools.passages import Passage, rank
from webtools.results import Page

PAGES = [pages.BOATS, pages.TOKENS]
ASKED = [item for item in pages.QUESTIONS if item[1] is not None]


def text_of_passages(found: list[Passage]) -> str:
    return "\n".join(f"{item.heading}\n{item.text}" for item in found)


def test_the_best_500_characters_hold_most_answers() -> None:
    right = [
        answer in text_of_passages(rank(query, PAGES, max_characters=500))
        for query, answer in ASKED
        if answer
    ]
    assert sum(right) >= len(ASKED) - 1


@dataclass
class Source:
    number: int
    title: str
    url: str
    text: str


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (pages.TOKENS, ""),
        (Page(url="https://a.example/", text=pages.TOKENS), "https://a.example/"),
        (Source(1, "Keys", "https://b.example/", pages.TOKENS), "https://b.example/"),
    ],
)
def test_a_text_is_a_string_a_page_or_a_source(text: str | Page | Source, url: str) -> None:
    best, *_ = rank("Which function returns hexadecimal digits?", [text])
    assert best.text.startswith("`gatekeys.hex_code([size])`")
    assert best.heading == "Keys for the gate > Making keys"
    assert best.url == url
    assert pages.TOKENS[best.offset :].startswith(best.text)


@pytest.mark.parametrize("length", [0, 50, 300, 1000, 8000])
def test_passages_and_their_headings_stay_within_the_budget(length: int) -> None:
    result = rank("How does the ferry cross the lake?", PAGES * 3, max_characters=length)
    assert sum(len(item.text) + len(item.heading) for item in result) <= length


def test_a_repeated_passage_of_another_page_is_dropped() -> None:
    copied = pages.BOATS.replace("# The ferry", "# Lake boats")
    result = rank("Who built the first ferry?", [pages.BOATS, copied])
    assert sum("Ottilie Brandt" in item.text for item in result) == 1


def test_a_row_that_parted_from_its_table_comes_with_the_header() -> None:
    rows = "\n".join(f"| --option-{number} | {'fill ' * 15}|" for number in range(20))
    text = f"| Option | Meaning |\n| --- | --- |\n{rows}\n| --zeta | sorts apples |\n"
    best, *_ = rank("Which option sorts apples?", [text])
    assert best.text.startswith("| Option | Meaning |\n| --- | --- |\n")
    assert "--zeta" in best.text


@pytest.mark.parametrize(
    ("question", "answer", "text"),
    [
        (
            "Wie hoch ist die Brücke?",
            "41 Meter",
            "# Alt\n\nDie Brücken sind 41 Meter hoch.\n\n# Neu\n\nEs regnet.",
        ),
        (
            "Comment se ferme la porte ?",
            "verrou",
            "# A\n\nLes portes se ferment par un verrou.\n\n# B\n\nIl pleut.",
        ),
        (
            "¿Cuándo abren las tiendas?",
            "nueve",
            "# A\n\nLa tienda abre a las nueve.\n\n# B\n\nLlueve.",
        ),
        (
            "橋の長さは何メートルですか",
            "三百",
            "# 橋\n\n橋の長さは三百メートルです。\n\n# 雨\n\n雨です。",
        ),
    ],
)
def test_other_languages_are_ranked_too(question: str, answer: str, text: str) -> None:
    assert answer in rank(question, [text])[0].text


def test_a_reranker_decides_the_order() -> None:
    def prefers_winter(question: str, passages: list[str]) -> list[float]:
        assert question == "Where is the ferry?"
        return [float("Nordhaven" in item) for item in passages]

    assert "Nordhaven" in rank("Where is the ferry?", PAGES, reranker=prefers_winter)[0].text


class Winter:
    """Embeddings that know one word."""

    def embed_query(self, text: str) -> list[float]:
        return [1.0, 0.0]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0] if "Nordhaven" in text else [0.0, 1.0] for text in texts]


def test_embeddings_raise_similar_passages() -> None:
    question = "What about the boat?"
    plain = [item.text for item in rank(question, PAGES)]
    raised = [item.text for item in rank(question, PAGES, embeddings=Winter())]
    place = [
        next(at for at, text in enumerate(result) if "Nordhaven" in text)
        for result in (plain, raised)
    ]
    assert place[1] <= place[0]


def test_an_identifier_is_matched_in_full_before_it_is_split() -> None:
    text = (
        "# Keys\n\nThe system asks for a key.\n\n# Magic\n\nPress SysRq and B.\n\n"
        "# Requests\n\nA sys admin sends an rq of the rq kind."
    )
    assert "SysRq" in rank("What does SysRq do?", [text])[0].text
    split = "# A\n\nA max of the age is set.\n\n# B\n\nIt rains."
    assert "max of the age" in rank("What is maxAge?", [split])[0].text


def test_a_passage_shows_the_text_of_a_link_without_its_address() -> None:
    text = (
        "The [old *gate*](https://a.example/g_(x) 'Gate') and ![a map](m.png) of `t[0](x)`."
        "\n\n```\nlinks[1](gate)\n```\n"
    )
    [passage] = rank("Where is the gate?", [text])
    assert passage.text.startswith("The old *gate* and a map of `t[0](x)`.")
    assert "links[1](gate)" in passage.text
