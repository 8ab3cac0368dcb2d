# ruff: noqa: RUF001  typographic quotation marks
"""A changed, shortened or denied sentence is never quoted, and nothing is supported by words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import pytest
from falsehoods import CHANGED, COUNT, MISREAD, Case

from webtools.synthesis import Source, verify


def statuses(text: str, claim: str, title: str = "News") -> set[str]:
    """Return the status of a claim that cites a text."""
    cited = f"{claim.removesuffix('.')} [1]." if claim.endswith(".") else f"{claim} [1]"
    source = Source(1, title, "https://a.example/1", text)
    return {claim.status for claim in verify(cited, [source]).claims}


@pytest.mark.parametrize("kind", [*CHANGED, *MISREAD])
def test_a_falsehood_is_uncertain(kind: Callable[[], Iterator[Case]]) -> None:
    result = set[str]()
    for case in islice(kind(), COUNT):
        result |= statuses(case.text, case.false)
    assert result == {"uncertain"}


@pytest.mark.parametrize("kind", CHANGED)
def test_the_sentences_that_were_changed_are_quoted(kind: Callable[[], Iterator[Case]]) -> None:
    for case in islice(kind(), COUNT):
        assert statuses(case.text, case.true) == {"quoted"}


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The senator voted for the bill.", "The senator voted against the bill."),
        ("The score was 5 to 2 for Lyon.", "The score was 2 to 5 for Lyon."),
        ("It grew by 5 percent a year.", "It grew by 5 a year."),
        ("The pool (built in 2015) is open.", "The pool is open."),
        ("They met us in May.", "They met US in May."),
        ("If it rains, the pool is closed.", "The pool is closed."),
        ("Pass --no-verify to skip the hooks.", "Pass no verify to skip the hooks."),
        ("<!-- The pool opened on Saturday. -->", "The pool opened on Saturday."),
        ("~~The pool opened on Saturday.~~", "The pool opened on Saturday."),
        ("~~It rained. The pool opened on Saturday. Many came.~~", "The pool opened on Saturday."),
        ("| Pool | ~~opens at nine~~ |", "opens at nine"),
        ('He said: "The dam is safe. It holds."', "The dam is safe."),
        ("He said “It rained. The pool opened.”", "It rained."),
        ('He said "It rained. The pool opened." in May.', 'He said "It rained.'),
        ("He said ‘It rained. The pool opened. It shut.’ in May.", "The pool opened."),
        ("Il dit « La mer monte. Le bain ouvre. Il ferme. » hier.", "Le bain ouvre."),
        ("<del>It rained. The pool opened. Many came.</del>", "The pool opened."),
        ("The bill of Oct. Smith passed.", "Smith passed."),
        ("There is no truth in the tale of Who Stole Tim Lamb? Vell paid nothing.",
         "Vell paid nothing."),
        ("No one believed the plot of Submarine! Kolbe wrote it.", "Kolbe wrote it."),
    ],
)  # fmt: skip
def test_parts_of_sentences_and_struck_text_are_never_quoted(text: str, claim: str) -> None:
    pages = (text, f"Rain fell on Tuesday.\n\n{text}\n\nThe museum was full.")
    assert {item for page in pages for item in statuses(page, claim)} == {"uncertain"}
