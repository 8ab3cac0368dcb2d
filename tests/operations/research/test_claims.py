"""Claims have their quotations; code is fenced; what a claim says is not said twice."""

from __future__ import annotations

import pytest
from source_samples import SOURCES

from webtools.operations.research.claims import (
    looked_up,
    passages_beside,
    quote,
    rank_sources,
    summarized,
)
from webtools.providers.protocols import Source
from webtools.results import Claim, Quotation

POOL = "What are the running costs of the tidal pool?"
URL = "https://a.example/cards"
FENCED = """\
# Cards

To make a card, call `new_card` with the name of its owner:

```python
card = new_card("Ann")

card.save()
```
"""
INDENTED = """\
# Cards

To make a card, call `new_card` with the name of its owner:

    card = new_card("Ann")

    card.save()
"""


@pytest.mark.parametrize("page", [FENCED, INDENTED])
def test_code_is_shown_between_fences_and_quoted_to_the_letter(page: str) -> None:
    claims = quote(rank_sources("How do I make a card?", [Source(1, "Cards", URL, page)]))
    shown = next(each for each in claims if "```" in each.text)
    code = 'card = new_card("Ann")\n\ncard.save()\n```'
    assert shown.text.endswith(code)
    assert shown.text.count("```") == 2
    [where] = shown.citations
    assert where.quotation in page
    assert (where.url, where.title) == (URL, "Cards")


def test_a_summary_numbers_the_sources_in_the_order_in_which_they_are_cited() -> None:
    one, other = (Quotation(url=f"https://{n}.example/", title="", quotation="x") for n in "ab")
    said = summarized(
        [
            Claim(text="B says it.", status="quoted", citations=[other]),
            Claim(text="Both do.", status="quoted", citations=[one, other]),
        ]
    )
    assert said.summary == "B says it. [1]\nBoth do. [2][1]"
    assert said.citations == [other.url, one.url]
    coded = summarized([Claim(text="Do:\n\n```\nx\n```", status="quoted", citations=[one])])
    assert coded.summary == "Do:\n\n```\nx\n```\n[1]"


def test_what_is_not_in_its_source_to_the_letter_is_no_quotation() -> None:
    source = Source(1, "Cards", URL, INDENTED)

    def claim(*quotations: str) -> Claim:
        where = [Quotation(url=URL, title="", quotation=each) for each in quotations]
        return Claim(text="x", status="quoted", citations=where)

    assert looked_up(claim("card.save()"), [source]).status == "quoted"
    assert looked_up(claim("card.save()", "card.load()"), [source]).status == "unsupported"
    assert looked_up(claim(), [source]).status == "unsupported"
    assert looked_up(claim("card.save()"), []).status == "unsupported"


def test_passages_beside_the_claims_tell_something_else() -> None:
    ranking = rank_sources(POOL, SOURCES)
    assert quote(ranking)
    beside = passages_beside(ranking, [], 4000)
    assert beside[0].url == SOURCES[0].url
    whole = [
        Claim(
            text="x",
            status="quoted",
            citations=[Quotation(url=each.url, title="", quotation=each.text)],
        )
        for each in beside[:1]
    ]
    assert beside[0] not in passages_beside(ranking, whole, 4000)
    assert passages_beside(ranking, [], 0) == []
    assert passages_beside(ranking, [], -1) == []


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Rain fell. The pool of the town opened on Saturday. Four hundred people came.", "quoted"),
        ("Rain fell. The pool of the town opened on Saturday. Nobody believes that.", "uncertain"),
        ("Critics say:\n\nThe pool of the town opened on Saturday.", "uncertain"),
        ("# Myths\n\nThe pool of the town opened on Saturday. Four hundred came.", "uncertain"),
    ],
)
def test_a_quotation_beside_which_its_source_denies_it_is_uncertain(text: str, status: str) -> None:
    said = "The pool of the town opened on Saturday."
    quoted = Claim(
        text=said, status="quoted", citations=[Quotation(url=URL, title="Pool", quotation=said)]
    )
    found = looked_up(quoted, [Source(1, "Pool", URL, text)])
    assert found.status == status
    assert ("(uncertain)" in summarized([found]).summary) is (status == "uncertain")
