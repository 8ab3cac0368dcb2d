"""Code of an answer is shown as code, and passages of pages are shown, wherever people read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from webtools._internal.display import drawing, html
from webtools._internal.display import results_markdown as markdown
from webtools.results import (
    Claim,
    FetchResponse,
    Page,
    Passage,
    Quotation,
    ResearchEnvelope,
    ResearchMeta,
    ResearchResult,
    ResearchSynthesis,
)

URL = "https://a.example/cards"
CODE = 'card = new_card("Ann")\nif card:\n    card.save()'
SUMMARY = f"Make a card:\n\n```python\n{CODE}\n```\n[1]\n\nCards are *free*. [1]"
ENVELOPE = ResearchEnvelope(
    results=[ResearchResult(title="Cards", url=URL, source_provider="exa")],
    meta=ResearchMeta(
        query="q",
        command="web-deep",
        provider_chain=["exa"],
        confidence="medium",
        normalized_query="q",
        retrieved_at=datetime(2026, 11, 22, tzinfo=UTC),
    ),
    synthesis=ResearchSynthesis(summary=SUMMARY, citations=[URL]),
)
PAGE = Page(
    url=URL,
    title="Cards",
    passages=[Passage(text="Cards are free for members.", heading="Prices", url=URL)],
)
FETCHED = FetchResponse(provider="exa", pages=[PAGE])


def test_a_claim_is_shown_under_the_heading_that_its_summary_has() -> None:
    where = Quotation(url=URL, title="Cards", quotation="It saves the card.")
    claims = [
        Claim(text=text, status="quoted", citations=[where])
        for text in ("Cards are free.", "It saves the card.")
    ]
    summary = "Cards are free. [1]\n`card.save()`:\nIt saves the card. [1]"
    answer = ResearchSynthesis(summary=summary, citations=[URL], claims=claims)
    shown = drawing.draw_text(ENVELOPE.model_copy(update={"synthesis": answer}))
    assert "`card.save()`:\nIt saves the card. [1]" in shown
    assert shown.count("`card.save()`") == 1


@pytest.mark.parametrize("draw", [html.draw, drawing.draw_text])
def test_sources_name_the_final_host_where_it_differs(
    draw: Callable[[ResearchEnvelope], str],
) -> None:
    finals = {"https://moved.example/cards": True, "https://a.example/other": False}
    for url, is_shown in finals.items():
        results = [ENVELOPE.results[0].model_copy(update={"url_final": url})]
        shown = draw(ENVELOPE.model_copy(update={"results": results, "synthesis": None}))
        assert ("moved.example" in shown) is is_shown


def test_code_keeps_its_lines_in_html() -> None:
    shown = html.draw(ENVELOPE)
    assert "if card:\n    card.save()</code></pre>" in shown
    assert shown.count(">[1]</a>") == 2
    assert "```" not in shown


@pytest.mark.parametrize("draw", [markdown.draw, html.draw, drawing.draw_text])
def test_the_passages_of_a_page_are_shown(draw: object) -> None:
    shown = draw(FETCHED)  # type: ignore[operator]
    assert "Prices" in shown
    assert "Cards are free for members." in shown
    silent = FETCHED.model_copy(update={"pages": [PAGE.model_copy(update={"passages": []})]})
    assert "passage" in draw(silent)  # type: ignore[operator]
