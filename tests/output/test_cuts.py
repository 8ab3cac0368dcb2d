"""Texts that are cut say so, and pages that several queries find are shown once."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from langchain_webtools import WebSearchTool, as_search_results
from webtools import WebTools
from webtools.formatting import search_text
from webtools.results import SearchResult

Answer = Callable[[httpx.Request], Any]
LAST_WORDS = "the very last words"


def page_text(characters: int, name: str = "") -> str:
    line = f"A sentence of the page {name} about tidal mills and their wheels. "
    return (line * (characters // len(line) + 1))[: characters - len(LAST_WORDS)] + LAST_WORDS


def tavily(texts: list[str]) -> Answer:
    results = [
        {"title": f"Page {i}", "url": f"https://page{i}.example/", "content": "A snippet."}
        | {"raw_content": text}
        for i, text in enumerate(texts)
    ]
    return lambda _: {"query": "q", "results": results}


def exa(texts: list[str]) -> Answer:
    def answer(request: httpx.Request) -> Any:
        body = json.loads(request.content)
        limit = body.get("contents", {}).get("text", {}).get("maxCharacters")
        return {
            "results": [
                {"id": f"{i}", "title": f"Page {i}", "url": f"https://page{i}.example/"}
                | {"text": text[:limit]}
                for i, text in enumerate(texts)
            ]
        }

    return answer


def firecrawl(texts: list[str]) -> Answer:
    results = [
        {"title": f"Page {i}", "url": f"https://page{i}.example/", "description": "A snippet."}
        | {"markdown": text}
        for i, text in enumerate(texts)
    ]
    return lambda _: {"success": True, "data": {"web": results}}


PROVIDERS: dict[str, Callable[[list[str]], Answer]] = {
    "tavily": tavily,
    "exa": exa,
    "firecrawl": firecrawl,
}


def client(provider: str, answer: Answer) -> WebTools:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=answer(request)))
    keys = {provider: f"test-key-{provider}-00001"}
    return WebTools(api_keys=keys, transport=transport, cache=False, log=False)


def read_all(web: WebTools, handle: str) -> str:
    text, offset = "", 0
    while offset is not None:
        part = web.read(handle, offset)
        text, offset = text + part.content, part.next_offset
    return text


@pytest.mark.usefixtures("own_temp")
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "sizes", [[9_000], [40_000], [30_000, 30_000, 500], [101_000], [400_000] * 3]
)
def test_a_text_that_comes_with_results_is_whole_or_says_that_it_is_cut(
    provider: str, sizes: list[int]
) -> None:
    texts = [page_text(size, str(number)) for number, size in enumerate(sizes)]
    web = client(provider, PROVIDERS[provider](texts))
    result = web.call_tool("web_search", {"query": "q", "content": True})
    for text, page in zip(texts, result.details["results"], strict=True):
        is_whole = page["content"]["text"] == text
        assert is_whole or any(page["url"] in warning for warning in result.details["warnings"])
        assert is_whole or "page" in result.text.rpartition("Warning: ")[2]
        assert is_whole is (provider != "exa" or len(text) < 100_000)
    is_shown = all(text in result.text.replace("\n   ", "\n") for text in texts)
    if not is_shown and all(page["content"]["text"] for page in result.details["results"]):
        handle = result.details["read_handle"]
        assert result.details["truncation"]["truncated"]
        assert "web_read" in result.text
        stored = read_all(web, handle)
        assert all(page["content"]["text"] in stored for page in result.details["results"])


@pytest.mark.parametrize("provider", ["exa", "parallel", "tavily"])
def test_a_text_that_the_caller_limits_says_that_it_is_cut(provider: str) -> None:
    url, text = "https://page.example/", page_text(5_000)

    def answer(request: httpx.Request) -> Any:
        body = json.loads(request.content)
        if provider == "exa":
            limit = body["text"]["maxCharacters"]
            return {"results": [{"id": url, "url": url, "text": text[:limit]}], "statuses": []}
        if provider == "parallel":
            limit = body["advanced_settings"]["full_content"]["max_chars_per_result"]
            page = {"url": url, "full_content": text[:limit], "excerpts": []}
            return {"results": [page], "errors": []}
        return {"results": [{"url": url, "raw_content": text}], "failed_results": []}

    result = client(provider, answer).call_tool(
        "web_fetch", {"url": url, "text_max_characters": 700, "provider": provider}
    )
    assert not result.is_error
    assert len(result.details["results"][0]["text"]) <= 700
    assert any(url in warning and "cut" in warning for warning in result.details["warnings"])
    assert "cut to" in result.text


@pytest.mark.parametrize("length", [499, 500, 501, 5_000])
def test_a_long_message_of_a_provider_ends_with_a_mark(length: int) -> None:
    message = "e" * length
    transport = httpx.MockTransport(lambda _: httpx.Response(400, json={"error": message}))
    web = WebTools(api_keys={"exa": "test-key-exa-00001"}, transport=transport, cache=False)
    text = web.call_tool("web_search", {"query": "q"}).text
    assert (message in text) is (length <= 500)
    assert ("…" in text) is (length > 500)


# --- one page, several queries -------------------------------------------------------------------

SPELLINGS = [
    "https://mills.example/tidal",
    "https://mills.example/tidal/",
    "https://mills.example:443/tidal",
    "https://MILLS.example/tidal#wheels",
    "https://mills.example/tidal?utm_source=a&utm_medium=b",
]
OTHERS = [
    "https://mills.example/tidal?page=2",
    "https://mills.example/tidal/wheels",
    "https://mills.example:8443/tidal",
    "https://other.example/tidal",
]


def hit(url: str, snippet: str = "Wheels that turn twice a day.", query: str = "q") -> SearchResult:
    return SearchResult(
        title="Tidal mills", url=url, snippet=snippet, source_provider="exa", query=query
    )


@pytest.mark.parametrize("other", SPELLINGS)
def test_a_page_with_another_spelling_refers_to_the_first_one(other: str) -> None:
    text = search_text([hit(SPELLINGS[0]), hit(OTHERS[3]), hit(other, query="wheels")])
    assert text.endswith("\n\n3. See 1.")
    assert text.count(SPELLINGS[0]) == 1


@pytest.mark.parametrize("other", OTHERS)
def test_another_page_is_shown_in_full(other: str) -> None:
    text = search_text([hit(SPELLINGS[0]), hit(other)])
    assert "See" not in text
    assert text.count("Wheels that turn") == 2


def test_another_snippet_of_the_page_is_not_lost() -> None:
    results = [hit(SPELLINGS[0]), hit(SPELLINGS[1], "Grain."), hit(SPELLINGS[2], "Grain.")]
    assert search_text(results).endswith("2. See 1.\n   Grain.\n\n3. See 1.")


def test_several_queries_show_a_page_once_and_the_data_have_it_each_time() -> None:
    row = {"id": "1", "title": "Tidal mills", "url": SPELLINGS[0], "highlights": ["Wheels."]}
    web = client("exa", lambda _: {"results": [row]})
    result = web.call_tool("web_search", {"queries": ["tides", "mills", "wheels"]})
    assert result.text.count(SPELLINGS[0]) == result.text.count("Wheels.") == 1
    assert result.text.count("See 1") == 2
    assert [each["query"] for each in result.details["results"]] == ["tides", "mills", "wheels"]
    call = {"name": "web_search", "args": {"queries": ["tides", "mills"]}, "id": "1"}
    tool = WebSearchTool(web=web, content_blocks=True)
    message = tool.invoke({**call, "type": "tool_call"})
    assert json.dumps(message.content).count(SPELLINGS[0]) == 1


@pytest.mark.parametrize("fence", [True, False])
def test_results_that_do_not_fit_as_blocks_are_counted(*, fence: bool) -> None:
    results = [
        {"title": f"T{i}", "url": f"https://page{i}.example/", "snippet": page_text(3_000, str(i))}
        for i in range(150)
    ]
    blocks = as_search_results({"results": results}, fence=fence)
    sources = [block for block in blocks if block["type"] == "search_result"]
    notes = " ".join(block["text"] for block in blocks if block["type"] == "text")
    assert f"{150 - len(sources)} of 150" in notes
    texts = ["".join(part["text"] for part in block["content"]) for block in sources]
    assert all(LAST_WORDS in text or text.endswith("…") for text in texts)
