"""A question about pages brings their passages, and the pages stay cached whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from grounding_pages import BOATS, TOKENS

from webtools import InputError, WebTools
from webtools.formatting import NO_PASSAGE
from webtools.grounding.ranking import document_of, rank_documents
from webtools.operations.bearing import bearing
from webtools.operations.fetch import MOST_CHARACTERS
from webtools.results import FetchResponse, Page
from webtools.tools import FETCH
from webtools_sandbox import SandboxServer

QUESTION = "Which function returns hexadecimal digits?"
BOAT_PAGE = Page(url="https://a.example/boats", title="The ferry", text=BOATS)
TOKEN_PAGE = Page(url="https://b.example/keys", title="Keys", text=TOKENS)


def asked(question: str, *pages: Page, **wanted: Any) -> FetchResponse:
    return bearing(FetchResponse(provider="direct", pages=list(pages)), question, **wanted)


def test_passages_stand_in_place_of_the_text_in_its_own_characters() -> None:
    found = asked(QUESTION, BOAT_PAGE, TOKEN_PAGE)
    boats, keys = found.pages
    assert boats.text is keys.text is None
    assert keys.passages
    assert "hex_code" in keys.passages[0].text
    for passage in keys.passages:
        assert passage.url == keys.url
        assert TOKENS[passage.offset :].startswith(passage.text)
    assert found.warnings == []


def test_what_has_hardly_a_word_of_the_question_is_left_out() -> None:
    boats, keys = asked(QUESTION, BOAT_PAGE, TOKEN_PAGE).pages
    assert boats.passages == []
    matching = rank_documents(QUESTION, [document_of(TOKENS, 0, title="Keys")]).ranked
    assert keys.passages is not None
    assert 1 <= len(keys.passages) < len(matching)


def test_that_nothing_bears_on_the_question_is_told() -> None:
    found = asked("Who discovered penicillin?", BOAT_PAGE, TOKEN_PAGE)
    assert [page.passages for page in found.pages] == [[], []]
    [warning] = found.warnings
    assert warning.startswith('Nothing on the pages bears on the question "Who discovered')
    [warning] = asked("penicillin " * 50, BOAT_PAGE).warnings
    assert len(warning) < 300


def test_what_two_pages_say_is_given_once() -> None:
    twin = BOAT_PAGE.model_copy(update={"url": "https://c.example/boats"})
    first, second = asked("Who built the first ferry?", BOAT_PAGE, twin).pages
    assert first.passages
    assert second.passages == []


def test_every_page_has_its_say_within_one_budget() -> None:
    long = "\n\n".join(f"## Lever {n}\n\n{'The lever opens the gate. ' * 20}{n}" for n in range(99))
    pages = [Page(url=f"https://a.example/{n}", text=f"{long} of house {n}") for n in range(3)]
    other = Page(url="https://b.example/", text="A lever is kept under the roof of the gate house.")
    found = asked("Which lever opens the gate?", *pages, other)
    passages = [each for page in found.pages for each in page.passages or ()]
    assert sum(len(each.text) + len(each.heading) for each in passages) <= MOST_CHARACTERS
    assert found.pages[-1].passages
    bounded = asked("Which lever opens the gate?", *pages, other, max_characters=100)
    for page in bounded.pages:
        assert sum(len(each.text) + len(each.heading) for each in page.passages or ()) <= 100


def test_a_page_that_failed_keeps_its_reason() -> None:
    failed = Page(url="https://c.example/", error="HTTP 404")
    found = asked(QUESTION, failed, TOKEN_PAGE)
    assert found.pages[0] == failed
    assert found.pages[1].passages


def test_the_text_may_stand_beside_the_passages() -> None:
    [page] = asked(QUESTION, TOKEN_PAGE, keep_text=True).pages
    assert page.text == TOKENS
    assert page.passages


# --- as a call ---------------------------------------------------------------------------------

SECRETS = "library/secrets.html"


@pytest.fixture
def web(webtools_sandbox: SandboxServer) -> Iterator[WebTools]:
    with WebTools({**webtools_sandbox.config(), "cache": {}}) as made:
        yield made


@pytest.fixture
def url(webtools_sandbox: SandboxServer) -> str:
    return f"{webtools_sandbox.docs_url}/{SECRETS}"


def test_another_question_about_a_page_costs_nothing_where_we_choose_its_passages(
    web: WebTools, webtools_sandbox: SandboxServer, url: str
) -> None:
    first = web.fetch(url, question="How do I make a URL-safe token?", provider="kagi")
    webtools_sandbox.reset_stats()
    second = web.fetch(url, question="How do I compare digests?", provider="kagi")
    assert webtools_sandbox.stats()["requests"] == {}
    assert (first.cache_hit, second.cache_hit, second.cost_usd) == (False, True, 0.0)
    assert any("token_urlsafe" in each.text for each in first.pages[0].passages or ())
    assert first.pages[0].passages != second.pages[0].passages


async def test_a_model_reads_headings_and_passages_awaited_too(web: WebTools, url: str) -> None:
    given = {"url": url, "question": " How do I make\na URL-safe token? "}
    result = web.call_tool("web_fetch", given)
    awaited = await web.acall_tool("web_fetch", given)
    assert awaited.details["results"] == result.details["results"]
    [page] = result.details["results"]
    assert page["text"] is None
    assert page["passages"]
    for passage in page["passages"]:
        assert passage["text"] in result.text
    plain = web.call_tool("web_fetch", {"url": url})
    assert plain.details["results"][0]["passages"] is None
    assert len(result.text) < len(plain.text)


def test_a_model_is_told_that_nothing_bears_on_its_question(web: WebTools, url: str) -> None:
    asked = {"url": url, "question": "Who discovered penicillin?", "provider": "kagi"}
    result = web.call_tool("web_fetch", asked)
    assert not result.is_error
    assert NO_PASSAGE in result.text
    assert "Warning: Nothing on the page bears on the question" in result.text


def test_an_empty_question_is_none_and_an_endless_one_is_refused(web: WebTools, url: str) -> None:
    assert web.fetch(url, question=" ").pages[0].text
    with pytest.raises(InputError, match="a question has 5000 characters; give at most 4000"):
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
