from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from sandbox_caller import Caller

from webtools_sandbox import BRAVE_KEY, SandboxServer

Brave = Callable[..., httpx.Response]


@pytest.fixture
def brave(caller: Caller) -> Brave:
    def call(
        path: str = "web/search", *, key: str | None = BRAVE_KEY, **params: Any
    ) -> httpx.Response:
        url = f"{caller.server.base_url('brave')}/res/v1/{path}"
        headers = {} if key is None else {"X-Subscription-Token": key}
        return caller.http.get(url, params=params, headers=headers)

    return call


def error(response: httpx.Response, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    body = response.json()
    assert body["type"] == "ErrorResponse"
    assert body["error"]["status"] == status
    found: dict[str, Any] = body["error"]
    return found


def results(response: httpx.Response) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    body = response.json()
    return list(body["results"] if body["type"] == "news" else body["web"]["results"])


# --- keys and limits ---------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["", "wrong", "test-key-exa", "test-key-exa-no-credit"])
def test_a_wrong_key_is_422_before_the_parameters_are_looked_at(brave: Brave, key: str) -> None:
    found = error(brave(key=key, count=99), 422)
    assert found["code"] == "SUBSCRIPTION_TOKEN_INVALID"
    assert found["meta"]["component"] == "authentication"


def test_a_missing_key_is_a_missing_header(brave: Brave) -> None:
    found = error(brave(key=None, q="json"), 422)
    assert found["code"] == "VALIDATION"
    assert found["meta"]["errors"][0]["loc"] == ["header", "x-subscription-token"]


def test_a_used_up_month_is_429_with_a_code_of_its_own(brave: Brave) -> None:
    response = brave(key="test-key-brave-no-credit", q="json")
    found = error(response, 429)
    assert (found["code"], found["meta"]["quota_current"]) == ("QUOTA_LIMITED", 2000)
    assert response.headers["x-ratelimit-remaining"] == "1, 0"


def test_a_plan_without_a_monthly_limit_says_zero(brave: Brave) -> None:
    headers = brave(q="json").headers
    assert headers["x-ratelimit-policy"] == "50;w=1, 0;w=2592000"
    assert headers["x-ratelimit-limit"] == "50, 0"
    assert headers["x-ratelimit-remaining"] == "49, 0"
    assert headers["x-ratelimit-reset"] == "1, 1419704"


def test_too_many_calls_have_no_retry_after(brave: Brave, webtools_sandbox: SandboxServer) -> None:
    webtools_sandbox.fault(provider="brave", status=429)
    response = brave(q="json")
    assert error(response, 429)["code"] == "RATE_LIMITED"
    assert "retry-after" not in response.headers
    assert response.headers["x-ratelimit-reset"].startswith("1, ")
    assert response.headers["x-ratelimit-remaining"] == "0, 0"


def test_faults_and_unknown_paths_have_the_api_s_own_body(
    brave: Brave, webtools_sandbox: SandboxServer
) -> None:
    assert error(brave("pages/search", q="x"), 404)["code"] == "NOT_FOUND"
    webtools_sandbox.fault(provider="brave", status=400)
    assert error(brave(q="x"), 400)["code"] == "OPTION_NOT_IN_PLAN"
    webtools_sandbox.fault(provider="brave", body="echo")
    assert BRAVE_KEY in error(brave(q="x"), 401)["detail"]
    webtools_sandbox.fault(provider="brave", body="gzip")
    assert brave(q="json").headers["content-encoding"] == "gzip"


# --- parameters --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "params", "named"),
    [
        ("web/search", {}, "q"),
        ("web/search", {"q": " "}, "q"),
        ("web/search", {"q": "x" * 401}, "q"),
        ("web/search", {"q": "x " * 51}, "q"),
        ("web/search", {"q": "x", "count": 21}, "count"),
        ("web/search", {"q": "x", "count": 0}, "count"),
        ("web/search", {"q": "x", "count": "many"}, "count"),
        ("news/search", {"q": "x", "count": 51}, "count"),
        ("web/search", {"q": "x", "offset": 10}, "offset"),
        ("web/search", {"q": "x", "country": "XX"}, "country"),
        ("web/search", {"q": "x", "search_lang": "klingon"}, "search_lang"),
        ("web/search", {"q": "x", "safesearch": "on"}, "safesearch"),
        ("web/search", {"q": "x", "freshness": "px"}, "freshness"),
        ("web/search", {"q": "x", "freshness": "2026-02-30to2026-03-01"}, "freshness"),
        ("web/search", {"q": "x", "text_decorations": "maybe"}, "text_decorations"),
        ("web/search", {"q": "x", "result_filter": "web,nothing"}, "result_filter"),
        ("llm/context", {"q": "x", "maximum_number_of_tokens": 10}, "maximum_number_of_tokens"),
    ],
)
def test_a_parameter_that_breaks_a_rule_is_named(
    brave: Brave, path: str, params: dict[str, Any], named: str
) -> None:
    found = error(brave(path, **params), 422)
    assert found["code"] == "VALIDATION"
    fault = found["meta"]["errors"][0]
    assert fault["loc"] == ["query", named]
    assert set(fault) == {"type", "loc", "msg", "input"}


def test_a_search_may_be_posted_as_json(caller: Caller) -> None:
    url = f"{caller.server.base_url('brave')}/res/v1/web/search"
    headers = {"X-Subscription-Token": BRAVE_KEY}
    body = {"q": "json", "count": 2, "text_decorations": False}
    assert len(results(caller.http.post(url, json=body, headers=headers))) == 2
    for junk in (b"", b"[]"):
        assert caller.http.post(url, content=junk, headers=headers).status_code == 422


# --- web ---------------------------------------------------------------------------------------


def test_a_result_shows_marks_entities_and_a_naive_date(brave: Brave) -> None:
    first = results(brave(q="json streaming parser"))[0]
    assert first["title"] == "A streaming JSON parser that never holds the whole document"
    assert "<strong>JSON</strong>" in first["description"]
    assert first["page_age"] == "2026-03-04T09:15:00"
    assert first["age"] == "March 4, 2026"
    assert first["article"]["author"][0]["name"] == "Mira Oyelaran"
    assert first["meta_url"]["path"].startswith("\u203a news")


def test_what_is_unknown_has_no_key(brave: Brave) -> None:
    documented = [hit for hit in results(brave(q="json encoder")) if "/docs/" in hit["url"]]
    assert documented
    assert not any({"page_age", "age"} & hit.keys() for hit in documented)
    assert not any(value is None for hit in documented for value in hit.values())


def test_decorations_can_be_switched_off_and_entities_cannot(brave: Brave) -> None:
    found = results(brave(q="json encoder", text_decorations="false"))
    assert "<strong>" not in str(found)
    assert "&lt;https://json.org&gt;" in str(found)


def test_nothing_found_is_an_answer_without_web(brave: Brave) -> None:
    body = brave(q="qqqxyz").json()
    assert body["type"] == "search"
    assert not {"web", "news"} & body.keys()
    assert body["query"]["more_results_available"] is False


def test_sections_can_be_chosen(brave: Brave) -> None:
    assert {"web", "news"} <= brave(q="night train").json().keys()
    assert "news" not in brave(q="night train", result_filter="web").json()
    assert "web" not in brave(q="night train", result_filter="news").json()


def test_an_offset_counts_pages(brave: Brave) -> None:
    whole = [hit["url"] for hit in results(brave(q="python file", count=20))]
    second = [hit["url"] for hit in results(brave(q="python file", count=5, offset=1))]
    assert second == whole[5:10]


def test_operators_are_honoured_unless_switched_off(brave: Brave) -> None:
    news = results(brave(q="python json site:localhost"))
    assert news
    assert all("/news/" in hit["url"] for hit in news)
    docs = results(brave(q="python json -site:localhost"))
    assert all("/docs/" in hit["url"] for hit in docs)
    assert results(brave(q="python json site:localhost", operators="false")) != news


def test_freshness_takes_a_range_or_a_period(brave: Brave) -> None:
    spring = results(brave(q="the", freshness="2026-04-01to2026-05-31"))
    days = [hit["page_age"][:10] for hit in spring]
    assert days
    assert all("2026-04-01" <= day <= "2026-05-31" for day in days)
    since = (datetime.now(UTC) - timedelta(days=365)).isoformat()
    year = brave(q="the", freshness="py").json().get("web", {"results": []})["results"]
    assert all(hit["page_age"] > since[:19] for hit in year)


def test_extra_snippets_come_when_asked_for(brave: Brave) -> None:
    assert "extra_snippets" not in results(brave(q="json"))[0]
    assert 1 <= len(results(brave(q="json", extra_snippets="true"))[0]["extra_snippets"]) <= 5


# --- news and context --------------------------------------------------------------------------


def test_news_stand_at_the_top_level_without_marks(brave: Brave) -> None:
    response = brave("news/search", q="packaging python", count=50)
    found = results(response)
    assert found
    assert "web" not in response.json()
    assert all(hit["type"] == "news_result" and hit["page_age"] for hit in found)
    assert "<strong>" not in str(found)
    assert any("packaging & more" in hit["title"] for hit in found)


def test_context_holds_sources_and_structured_data_as_text(brave: Brave) -> None:
    body = brave("llm/context", q="json streaming parser", maximum_number_of_urls=3).json()
    generic = body["grounding"]["generic"]
    assert [page["url"] for page in generic] == list(body["sources"])
    assert len(generic) == 3
    assert json.loads(generic[0]["snippets"][1])["author"] == "Mira Oyelaran"
    assert body["sources"][generic[0]["url"]]["age"][1] == "2026-03-04"
    assert body["sources"][generic[1]["url"]]["age"] is None


def test_the_same_request_gets_the_same_bytes(brave: Brave) -> None:
    first, second = (brave(q="queue", count=20) for _ in range(2))
    assert first.content == second.content


# --- clients that others wrote -----------------------------------------------------------------

# In a process of its own: the client starts logging and reads options when it is imported.
_SCRIPT = """
import asyncio, json, sys
from brave_search_python_client import BraveSearch, NewsSearchRequest, WebSearchRequest

async def main():
    client = BraveSearch(api_key=sys.argv[2])
    client._base_url = sys.argv[1] + "/res/v1/"
    try:
        web = await client.web(WebSearchRequest(q="night train", count=2))
        news = await client.news(NewsSearchRequest(q="night train"))
    except Exception as error:
        return {"error": str(error)}
    return {
        "web": [result.url for result in web.web.results],
        "dates": [result.page_age for result in web.web.results],
        "news": [str(result.url) for result in news.results],
    }

print(json.dumps(asyncio.run(main())))
"""


@pytest.mark.skipif(
    find_spec("brave_search_python_client") is None,
    reason="brave-search-python-client is not installed: it needs Python 3.11",
)
def test_the_client_brave_search_python_client_takes_it_for_the_real_thing(
    webtools_sandbox: SandboxServer,
) -> None:
    def run(key: str) -> dict[str, Any]:
        command = [sys.executable, "-c", _SCRIPT, webtools_sandbox.base_url("brave"), key]
        ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
        return found

    found = run(BRAVE_KEY)
    assert len(found["web"]) == 2
    assert found["dates"][0] == "2026-03-11T17:45:00"
    assert urlsplit(found["news"][0]).path == "/news/2026/03/night-train-returns.html"
    assert "422 Unprocessable" in run("wrong")["error"]
