"""A question about pages brings their passages, and the pages stay cached whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from grounding_pages import BOATS, TOKENS

from webtools import InputError, WebTools
from webtools._internal.operations.fetch import MAX_PASSAGE_CHARACTERS
from webtools._internal.operations.passage_choice import choose_passages
from webtools.results import FetchResponse, Page
from webtools.tools import FETCH
from webtools_sandbox import SandboxServer

QUESTION = "Which function returns hexadecimal digits?"
BOAT_PAGE = Page(url="https://a.example/boats", title="The ferry", text=BOATS)
TOKEN_PAGE = Page(url="https://b.example/keys", title="Keys", text=TOKENS)

GATES = " ".join(f"Gate {number} is {number * 7} feet wide." for number in range(400))
LONG_PAGE = Page(
    url="https://b.example/keys",
    title="Keys",
    text=f"# Gates\n\n{GATES}\n\n{TOKENS}".strip(),
)


def fetch_with_question(question: str, *pages: Page, **wanted: Any) -> FetchResponse:
    return choose_passages(FetchResponse(provider="direct", pages=list(pages)), question, **wanted)


def text_of(page: Page) -> str:
    return "\n".join(f"{item.heading}\n{item.text}" for item in page.passages or ())


def test_a_page_that_fits_the_budget_is_returned_whole() -> None:
    result = fetch_with_question(QUESTION, BOAT_PAGE, TOKEN_PAGE)
    assert [[item.text for item in page.passages or ()] for page in result.pages] == [
        [BOATS],
        [TOKENS],
    ]
    assert [page.text for page in result.pages] == [None, None]
    [page] = fetch_with_question(
        QUESTION, LONG_PAGE, max_characters=len(LONG_PAGE.text or "")
    ).pages
    assert text_of(page).strip() == LONG_PAGE.text


def test_a_longer_page_is_cut_to_its_best_passages_in_its_own_characters() -> None:
    [page] = fetch_with_question(QUESTION, LONG_PAGE).pages
    assert page.text is None
    assert page.passages
    assert "hex_code" in page.passages[0].text
    assert 7000 < len(text_of(page)) <= MAX_PASSAGE_CHARACTERS
    for passage in page.passages:
        assert passage.url == page.url
        assert LONG_PAGE.text
        assert LONG_PAGE.text[passage.offset :].startswith(passage.text)


def test_a_long_page_without_a_word_of_the_question_shows_its_opening_and_says_so() -> None:
    result = fetch_with_question("Who discovered penicillin?", LONG_PAGE)
    [[opening]] = [page.passages or [] for page in result.pages]
    assert (LONG_PAGE.text or "").startswith(opening.text)
    assert 7000 < len(opening.text) <= MAX_PASSAGE_CHARACTERS
    [warning] = result.warnings
    assert LONG_PAGE.url in warning
    assert "Who discovered penicillin?" in warning
    [warning] = fetch_with_question("penicillin " * 50, LONG_PAGE).warnings
    assert len(warning) < 400


def test_the_budget_of_a_call_is_shared_by_pages_that_match_and_others() -> None:
    other = Page(url="https://c.example/", text="It rains on the roof of the house. " * 900)
    result = fetch_with_question(QUESTION, other, LONG_PAGE, BOAT_PAGE)
    assert all(page.passages for page in result.pages)
    assert "hex_code" in text_of(result.pages[1])
    assert text_of(result.pages[2]).strip() == BOATS.strip()
    assert sum(len(text_of(page)) for page in result.pages) <= MAX_PASSAGE_CHARACTERS + 100


def test_links_are_shown_by_their_texts_and_code_as_it_is() -> None:
    text = 'See [the *gate*](https://a.example/gate_(old) "Gate").\n\n```\na = b[0](c)\n```\n'
    for page in (text, text + "The gate is open. " * 900):
        [result] = fetch_with_question(
            "Where is the gate?", Page(url="https://a.example/", text=page)
        ).pages
        assert "See the *gate*." in text_of(result)
        assert "a = b[0](c)" in text_of(result)
    [kept] = fetch_with_question(
        "gate", Page(url="https://a.example/", text=text), keep_text=True
    ).pages
    assert kept.text == text


def test_a_page_that_failed_keeps_its_reason() -> None:
    failed = Page(url="https://c.example/", error="HTTP 404")
    result = fetch_with_question(QUESTION, failed, TOKEN_PAGE)
    assert result.pages[0] == failed
    assert result.pages[1].passages


# --- as a call ---------------------------------------------------------------------------------

SECRETS = "library/secrets.html"


@pytest.fixture
def web(webtools_sandbox: SandboxServer) -> Iterator[WebTools]:
    with WebTools({**webtools_sandbox.config(), "cache": {}}) as client:
        yield client


@pytest.fixture
def url(webtools_sandbox: SandboxServer) -> str:
    return f"{webtools_sandbox.docs_url}/{SECRETS}"


def test_another_question_about_a_page_costs_nothing_where_we_choose_its_passages(
    web: WebTools, webtools_sandbox: SandboxServer, url: str
) -> None:
    asked = "How do I make a URL-safe token?"
    first = web.fetch(url, question=asked, text_max_characters=1000, provider="kagi")
    webtools_sandbox.reset_stats()
    asked = "How do I compare digests?"
    second = web.fetch(url, question=asked, text_max_characters=1000, provider="kagi")
    assert webtools_sandbox.stats()["requests"] == {}
    assert (first.cache_hit, second.cache_hit, second.cost_usd) == (False, True, 0.0)
    assert any("token_urlsafe" in item.text for item in first.pages[0].passages or ())
    assert first.pages[0].passages != second.pages[0].passages


def test_a_model_reads_headings_and_passages(web: WebTools, url: str) -> None:
    question = " How do I make\na URL-safe token? "
    arguments = {"url": url, "question": question, "text_max_characters": 1000}
    result = web.call_tool("web_fetch", arguments)

    [page] = result.details["results"]
    assert page["text"] is None
    assert page["passages"]
    for passage in page["passages"]:
        assert passage["text"] in result.text
    plain = web.call_tool("web_fetch", {"url": url})
    assert plain.details["results"][0]["passages"] is None
    assert len(result.text) < len(plain.text)


def test_a_blank_question_is_ignored_and_a_long_one_refused(web: WebTools, url: str) -> None:
    assert web.fetch(url, question=" ").pages[0].text
    with pytest.raises(InputError, match=r"question.*\b5000\b.*\b4000\b"):
        web.fetch(url, question="x" * 5000)


def test_the_question_is_described_and_not_in_a_log_without_queries(
    webtools_sandbox: SandboxServer, url: str, tmp_path: Any
) -> None:
    field = FETCH.input_model.model_json_schema()["properties"]["question"]
    assert field["type"] == "string"
    assert "passages" in field["description"]
    assert len(FETCH.paragraph) <= 1024
    log = tmp_path / "log.ndjson"
    with WebTools(
        {**webtools_sandbox.config(), "log": {"path": str(log), "queries": "off"}}
    ) as web:
        web.fetch(url, question="Where is the merger of Acme?")
    assert "merger" not in log.read_text()
    assert "Acme" not in log.read_text()
