"""Extractive claims are whole units of their sources; passages beside them add something."""

from __future__ import annotations

import pytest
from source_samples import SOURCES

from webtools._internal.grounding.claims import (
    passages_beside,
    quote,
    rank_sources,
)
from webtools._internal.grounding.verification import Review
from webtools.providers.protocols import Source
from webtools.results import Claim, Quotation, Verified
from webtools.synthesis import verify

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
def test_code_is_a_quoted_claim_under_the_words_that_lead_in_to_it(page: str) -> None:
    sources = [Source(1, "Cards", URL, page)]
    claims = quote(rank_sources("How do I make a card?", sources))
    shown = next(item for item in claims if "```" in item.text)
    assert shown.heading == "To make a card, call `new_card` with the name of its owner"
    assert shown.text.splitlines()[1:] == ['card = new_card("Ann")', "", "card.save()", "```"]
    result = Review.of_claims(claims, sources).verified()
    status = {claim.text: claim.status for claim in result.claims}
    assert status[shown.text] == "quoted"
    assert f"{shown.text}\n[1]" in result.summary


def checked(text: str, claim: str, heading: str = "", url: str = URL) -> Verified:
    where = Quotation(url=url, title="Pool", quotation=claim)
    drafted = Claim(text=claim, status="quoted", citations=[where], heading=heading)
    return Review.of_claims([drafted], [Source(1, "Pool", URL, text)]).verified()


def test_the_status_of_a_drafted_claim_is_checked() -> None:
    text = "The pool opened in 2015. Four hundred people came."
    for claim, status in (
        ("The pool opened in 2015.", "quoted"),
        ("The pool opened in 2016.", "uncertain"),
        ("The pool opened", "uncertain"),
        ("Bakers eat bread.", "unsupported"),
    ):
        assert [item.status for item in checked(text, claim).claims] == [status]
    assert checked(text, "The pool opened in 2015.", url="https://b.example/").kept == 0


def test_a_heading_is_shown_before_the_claim_and_is_not_part_of_it() -> None:
    result = checked("## `--depth`\n\nThe option limits the history.",
                    "The option limits the history.", "`--depth`")  # fmt: skip
    [claim] = result.claims
    assert (claim.text, claim.status) == ("The option limits the history.", "quoted")
    assert result.summary == "`--depth`:\nThe option limits the history. [1]"
    again = verify(result.summary, [Source(1, "", URL, "The option limits the history.")])
    assert again.claims[0].status == "quoted"


def test_link_addresses_are_no_part_of_claims_and_quotations() -> None:
    text = "# Pool\n\nThe [running costs](https://a.example/x) of the tidal pool are 40,000 euros."
    [claim] = quote(rank_sources(POOL, [Source(1, "Pool", URL, text)]))
    assert claim.text == "The running costs of the tidal pool are 40,000 euros."
    assert claim.citations[0].quotation == claim.text


def test_passages_beside_the_claims_tell_something_else() -> None:
    ranking = rank_sources(POOL, SOURCES)
    assert quote(ranking)
    beside = passages_beside(ranking, [], 4000)
    assert beside[0].url == SOURCES[0].url
    full_text = [
        Claim(
            text="x",
            status="quoted",
            citations=[Quotation(url=item.url, title="", quotation=item.text)],
        )
        for item in beside[:1]
    ]
    assert beside[0] not in passages_beside(ranking, full_text, 4000)
    assert passages_beside(ranking, [], 0) == []
    assert passages_beside(ranking, [], -1) == []
