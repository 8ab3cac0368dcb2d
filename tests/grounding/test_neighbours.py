"""A statement beside which the text denies, doubts or merely reports it is not certain."""

from __future__ import annotations

import pytest
from neighbours_tried import AFTER, BEFORE, HARMLESS_AFTER, HARMLESS_BEFORE

from webtools.grounding.verification import verify
from webtools.synthesis import Source

STATEMENT = "The council of Vellmouth opened the new tidal pool beside the harbour in 2015."
SHORTER = STATEMENT.replace("new ", "")
PAGES = (
    "{0} {1}",
    "Rain fell for six hours. {0} {1} The museum was full all day.",
    "# News\n\nRain fell for six hours.\n\n{0}\n\n{1}\n\nThe museum was full all day.",
)


def statuses(first: str, second: str) -> set[str]:
    """Return what the statement, and a shorter form of it, are called on each of the pages."""
    return {
        claim.status
        for page in PAGES
        for stated in (STATEMENT, SHORTER)
        for claim in verify(
            f"{stated[:-1]} [1].",
            [Source(1, "News", "https://a.example/1", page.format(first, second))],
        ).claims
    }


@pytest.mark.parametrize("remark", AFTER)
def test_what_is_remarked_upon_is_not_certain(remark: str) -> None:
    assert statuses(STATEMENT, remark) <= {"uncertain", "unsupported"}


@pytest.mark.parametrize("introduction", BEFORE)
def test_what_is_introduced_as_somebodys_word_is_not_certain(introduction: str) -> None:
    assert statuses(introduction, STATEMENT) <= {"uncertain", "unsupported"}


@pytest.mark.parametrize("sentence", HARMLESS_AFTER)
def test_what_merely_follows_takes_nothing_away(sentence: str) -> None:
    assert statuses(STATEMENT, sentence) == {"quoted", "supported"}


@pytest.mark.parametrize("sentence", HARMLESS_BEFORE)
def test_what_merely_leads_in_to_a_list_takes_nothing_away(sentence: str) -> None:
    text = f"{sentence}\n\n- {STATEMENT}\n- The museum was full all day."
    [claim] = verify(
        f"{STATEMENT[:-1]} [1].", [Source(1, "News", "https://a.example", text)]
    ).claims
    assert claim.status == "quoted"
