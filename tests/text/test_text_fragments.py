"""Links that people click lead to the quoted words."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from urllib.parse import unquote

import pytest

from webtools._internal.display import html, results_markdown
from webtools._internal.text.text_fragments import with_text_fragment
from webtools.formatting import research_text
from webtools.rendering import render_result, to_text
from webtools.results import (
    Claim,
    Passage,
    Quotation,
    ResearchEnvelope,
    ResearchMeta,
    ResearchResult,
    ResearchSynthesis,
)

URL = "https://ferry.example/times"
SENTENCE = "The well-known ferry, No. 7 & 8, leaves the pier at noon, at two and at ten to six."


def starts(url: str) -> list[str]:
    _, _, fragment = url.partition(":~:")
    return [unquote(each.removeprefix("text=")) for each in fragment.split("&") if each]


@pytest.mark.parametrize(
    "mark", ["", "- ", "1. ", "> ", "## ", "- **", "`", "| ", "```text\n", "> - [x] "]
)
def test_the_start_is_in_the_quotation_in_whole_words(mark: str) -> None:
    link = with_text_fragment(URL, [mark + SENTENCE])
    assert link.startswith(f"{URL}#:~:text=")
    [start] = starts(link)
    assert SENTENCE.startswith(f"{start} ")
    assert not re.search(r"[-,&\s]", link.partition("text=")[2])


@pytest.mark.parametrize("quotation", ["", "No", "```\n```", "|", "x" * 2000, "\n\n"])
def test_too_few_whole_words_have_no_fragment(quotation: str) -> None:
    assert with_text_fragment(URL, [quotation]) == URL


def test_a_text_without_spaces_starts_with_a_clause() -> None:
    clause = "\u30d5\u30a7\u30ea\u30fc\u306f\u6b63\u5348\u306b"
    text = f"{clause}\u3001" + "\u51fa\u822a\u3057\u307e\u3059" * 30
    assert starts(with_text_fragment(URL, [text])) == [clause]


def test_a_section_stays_and_quotations_are_listed_once() -> None:
    link = with_text_fragment(f"{URL}#summer", [SENTENCE, SENTENCE, "Tickets cost four crowns."])
    assert link.startswith(f"{URL}#summer:~:text=")
    assert len(starts(link)) == 2


@pytest.fixture
def envelope() -> ResearchEnvelope:
    now = datetime.now(UTC)
    meta = ResearchMeta(
        query="When?",
        command="web",
        provider_chain=["direct"],
        confidence="high",
        normalized_query="when?",
        retrieved_at=now,
    )
    quotation = Quotation(url=URL, title="Times", quotation=SENTENCE)
    claim = Claim(text=SENTENCE, status="quoted", citations=[quotation])
    other = "https://other.example/"
    return ResearchEnvelope(
        results=[
            ResearchResult(title="Times", url=URL, source_provider="direct"),
            ResearchResult(title="Other", url=other, source_provider="direct"),
        ],
        meta=meta,
        synthesis=ResearchSynthesis(summary=f"{SENTENCE} [1]", citations=[URL], claims=[claim]),
        passages=[Passage(text="Dogs ride for free on all days.", url=other)],
    )


def test_people_get_the_fragment_and_programs_do_not(envelope: ResearchEnvelope) -> None:
    terminal = to_text(render_result("web_research", envelope, expanded=True), color=True)
    for shown in (html.draw(envelope), results_markdown.draw(envelope), terminal):
        assert "#:~:text=The%20well%2Dknown%20ferry%2C" in shown
        assert "https://other.example/#:~:text=Dogs%20ride" in shown
    assert ":~:" not in envelope.model_dump_json()


def test_a_source_names_the_host_that_its_page_is_from(envelope: ResearchEnvelope) -> None:
    moved = "https://www.elsewhere.example/times"
    results = [
        each.model_copy(update={"url_final": final})
        for each, final in zip(envelope.results, [moved, "https://www.other.example/"], strict=True)
    ]
    moved_envelope = envelope.model_copy(update={"results": results})
    for draw in (research_text, results_markdown.draw):
        assert "from elsewhere.example" in draw(moved_envelope)
        assert "elsewhere.example" not in draw(envelope)
        assert "from other.example" not in draw(moved_envelope)
    assert "elsewhere" not in moved_envelope.model_dump_json()
