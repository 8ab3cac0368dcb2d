"""Prose is cut into whole sentences."""

from __future__ import annotations

import pytest

from webtools._internal.grounding.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "text",
    [
        "The U.S. Senate met on Monday.",
        "Sen. Warren and Gov. Brown spoke.",
        "Acme Inc. Chairman Smith resigned.",
        "It opens at 6 p.m. Eastern time.",
        "Use a tool, e.g. Make, to build it.",
        "Use a tool, i.e. Make, for 3.5 hours.",
        "J. R. R. Tolkien wrote it.",
        "See Fig. 3 and No. 7 for more.",
        "Dr. Who met Mr. Jones at St. Paul.",
        "Version 3.11.2 of example.com is out.",
        "Am 3. Mai beginnt z. B. die Aussaat.",
        "M. Dupont habite ici, p. ex. l'hiver.",
    ],
)
def test_an_abbreviation_or_a_number_ends_no_sentence(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("He lives in the U.S. She does not.", 2),
        ("It closes at 6 p.m. The boat leaves then.", 2),
        ("They built cars, boats, etc. The rest was sold.", 2),
        ("Is it? Yes! It is.", 3),
        ('He said "go." Then he left.', 2),
        ("開館は九時です。月曜は休みます。", 2),
        ("Está abierto. ¿Cuándo cierra?", 2),
    ],
)
def test_a_sentence_ends_where_the_next_begins(text: str, count: int) -> None:
    assert len(sentences(text)) == count
