"""A URL with a user name or a password reaches no provider, no page, no log and no message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from langchain_webtools import WebSearchRetriever
from webtools import InputError, WebTools
from webtools.providers import PROVIDERS
from webtools.results import Page

PASSWORD = "test-key-password"
URLS = [
    f"https://user:{PASSWORD}@a.example/x",
    f"https://{PASSWORD}@a.example/x",
    f"http://:{PASSWORD}@a.example:8080/x?y=1",
    f"HTTPS://user:{PASSWORD}@[2001:db8::1]/",
    f"https://user%40a:{PASSWORD}@münchen.example/",
]
ENTRIES = [name for name, provider in PROVIDERS.items() if provider.about.needs_key]
CALLS: dict[str, Any] = {
    "web_fetch": lambda url: {"urls": ["https://a.example/", url]},
    "summarize": lambda url: {"url": url},
    "web_search": lambda url: {"queries": [url], "similar": True},
}


@pytest.fixture
def requests() -> list[httpx.Request]:
    return []


@pytest.fixture
def web(requests: list[httpx.Request], tmp_path: Path) -> WebTools:
    def respond(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(404)

    entries = [{"name": name, "type": name, "apiKey": "test-key-1"} for name in ENTRIES]
    config = {"providers": entries, "log": {"path": str(tmp_path / "log.ndjson")}}
    return WebTools(config, transport=httpx.MockTransport(respond))


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("tool", CALLS)
def test_it_is_refused_before_any_request(
    web: WebTools, requests: list[httpx.Request], tmp_path: Path, tool: str, url: str
) -> None:
    for provider in ["", *ENTRIES]:
        result = web.call_tool(tool, {**CALLS[tool](url), "provider": provider})
        assert result.details["error"]["type"] == "InputError"
        assert PASSWORD not in repr(result)
    web.close()
    assert not requests
    assert all(PASSWORD not in path.read_text() for path in tmp_path.glob("log*"))


@pytest.mark.parametrize("url", URLS)
def test_as_a_source_it_is_refused_and_as_a_citation_it_is_not_read(
    web: WebTools, requests: list[httpx.Request], url: str
) -> None:
    with pytest.raises(InputError) as caught:
        web.verify("Heaps are trees [1].", [url])
    assert PASSWORD not in str(caught.value)
    page = Page(url="https://b.example/", title="B", text="Heaps are trees.")
    web.verify(f"[Heaps]({url}) are trees [1].", [page], fetch=True)
    assert not requests


@pytest.mark.parametrize("url", URLS)
def test_a_result_has_none_and_its_page_can_be_fetched(url: str) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        sent = json.loads(request.content)
        result = {"title": "News", "url": url, "id": url}
        if "urls" in sent:
            result = {
                "title": "News",
                "url": sent["urls"][0],
                "id": sent["urls"][0],
                "text": "Yes.",
            }
        return httpx.Response(200, json={"results": [result]})

    web = WebTools(api_keys={"exa": "test-key-1"}, transport=httpx.MockTransport(respond))
    [result] = web.search("news").results
    assert PASSWORD not in repr(result)
    assert web.fetch(result.url, provider="exa").pages[0].text == "Yes."
    [document] = WebSearchRetriever(web=web, fetch=True).invoke("news")
    assert document.page_content == "Yes."
