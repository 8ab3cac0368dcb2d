from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sandbox_caller import Caller

from webtools_sandbox import PERPLEXITY_KEY, SandboxServer

sdk: Any = pytest.importorskip("perplexity")

Perplexity = Callable[..., httpx.Response]
AGENT = {"preset": "fast", "input": "When does the night train return?"}


@pytest.fixture
def perplexity(caller: Caller) -> Perplexity:
    def call(path: str = "/search", *, key: str = PERPLEXITY_KEY, **body: Any) -> httpx.Response:
        url = caller.server.base_url("perplexity") + path
        return caller.http.post(url, json=body, headers={"Authorization": f"Bearer {key}"})

    return call


def results(response: httpx.Response) -> list[Any]:
    assert response.status_code == 200, response.text
    return list(response.json()["results"])


def error(response: httpx.Response, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    found: dict[str, Any] = response.json()["error"]
    assert set(found) == {"message", "type", "code"}
    assert found["code"] == status
    return found


# --- keys --------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["none", "wrong", "test-key-exa", "test-key-exa-no-credit"])
@pytest.mark.parametrize("path", ["/search", "/v1/agent", "/chat/completions"])
def test_another_key_is_refused(perplexity: Perplexity, key: str, path: str) -> None:
    assert error(perplexity(path, key=key, query="json"), 401)["type"] == "invalid_api_key"


def test_a_key_without_credit_gets_402(perplexity: Perplexity) -> None:
    response = perplexity(key="test-key-perplexity-no-credit", query="json")
    assert error(response, 402)["type"] == "insufficient_quota"


def test_an_old_key_may_not_search_but_write(perplexity: Perplexity) -> None:
    found = error(perplexity(key="test-key-perplexity-old", query="json"), 451)
    assert found["type"] == "api_key_created_before_search_api_cutoff"
    assert perplexity("/v1/agent", key="test-key-perplexity-old", **AGENT).status_code == 200


@pytest.mark.parametrize("path", ["/chat/completions", "/v1/sonar", "/async/chat/completions"])
def test_sonar_is_gone(perplexity: Perplexity, path: str) -> None:
    found = error(perplexity(path, model="sonar", messages=[]), 403)
    assert found["type"] == "chat_completions_not_available"


def test_faults_and_unknown_paths_have_the_api_s_own_body(
    perplexity: Perplexity, webtools_sandbox: SandboxServer
) -> None:
    assert error(perplexity("/v2/search"), 404)["type"] == "not_found"
    webtools_sandbox.fault(provider="perplexity", status=429)
    response = perplexity("/v1/agent", **AGENT)
    assert error(response, 429)["type"] == "rate_limit_exceeded"
    assert response.headers["x-ratelimit-remaining"] == "0"
    assert abs(int(response.headers["x-ratelimit-reset"]) - time.time()) <= 5
    webtools_sandbox.fault(provider="perplexity", body="echo")
    assert PERPLEXITY_KEY in error(perplexity(query="x"), 401)["message"]


# --- search ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "query"),
        ({"query": " "}, "query"),
        ({"query": []}, "query"),
        ({"query": ["x"] * 6}, "query"),
        ({"query": ["x", 1]}, "query"),
        ({"query": "x", "max_results": 21}, "max_results"),
        ({"query": "x", "max_results": 0}, "max_results"),
        ({"query": "x", "max_results": True}, "max_results"),
        ({"query": "x", "max_tokens": 2_000_000}, "max_tokens"),
        ({"query": "x", "search_type": "news"}, "search_type"),
        ({"query": "x", "search_mode": "news"}, "search_mode"),
        ({"query": "x", "search_recency_filter": "decade"}, "search_recency_filter"),
        ({"query": "x", "search_domain_filter": "a.example"}, "search_domain_filter"),
        (
            {"query": "x", "search_domain_filter": ["a.example", "-b.example"]},
            "to allow or to deny",
        ),
        ({"query": "x", "search_domain_filter": ["a.example"] * 21}, "up to 20"),
        ({"query": "x", "search_language_filter": ["en"] * 11}, "search_language_filter"),
        ({"query": "x", "search_after_date_filter": "2026-01-01"}, "MM/DD/YYYY"),
        ({"query": "x", "search_before_date_filter": "02/30/2026"}, "MM/DD/YYYY"),
        (
            {"query": "x", "search_recency_filter": "day", "search_after_date_filter": "1/1/2026"},
            "combined",
        ),
        ({"query": "x", "search_context_size": "low", "max_tokens": 100}, "combined"),
    ],
)
def test_a_search_that_breaks_a_rule_is_refused(
    perplexity: Perplexity, body: dict[str, Any], named: str
) -> None:
    found = error(perplexity(**body), 400)
    assert found["type"] == "invalid_request"
    assert found["message"].startswith("validation failed: ")
    assert named in found["message"]


@pytest.mark.parametrize("path", ["/search", "/v1/agent"])
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff"])
def test_a_body_that_is_no_json_object_is_refused(caller: Caller, path: str, body: bytes) -> None:
    url = caller.server.base_url("perplexity") + path
    headers = {"Authorization": f"Bearer {PERPLEXITY_KEY}"}
    assert error(caller.http.post(url, content=body, headers=headers), 400)


def test_some_results_have_no_snippet_and_some_no_date(perplexity: Perplexity) -> None:
    found = results(perplexity(query="json", max_results=5))
    assert len(found) == 5
    assert {bool(hit["snippet"]) for hit in found} == {True, False}
    docs = [hit for hit in found if "/docs/" in hit["url"]]
    assert {"date" in hit for hit in docs} == {True, False}
    assert all(hit.get("date") is None for hit in docs)
    assert all(hit["last_updated"] for hit in found)


def test_passages_of_a_snippet_are_joined_by_dots(perplexity: Perplexity) -> None:
    first = results(perplexity(query="json streaming parser"))[0]
    assert first["date"] == "2026-03-04"
    assert "\n...\n" in first["snippet"]
    short = results(perplexity(query="json streaming parser", max_tokens_per_page=10))[0]
    assert len(short["snippet"]) <= 40


def test_several_queries_have_a_list_each(perplexity: Perplexity) -> None:
    both = results(perplexity(query=["json", "night train"], max_results=2))
    assert [len(part) for part in both] == [2, 2]
    assert both[1] == results(perplexity(query="night train", max_results=2))


def test_domains_are_allowed_or_denied(perplexity: Perplexity) -> None:
    search: dict[str, Any] = {"query": "python json", "max_results": 20}
    news = results(perplexity(**search, search_domain_filter=["localhost"]))
    assert news
    assert all("/news/" in hit["url"] for hit in news)
    docs = results(perplexity(**search, search_domain_filter=["-localhost"]))
    assert docs
    assert all("/docs/" in hit["url"] for hit in docs)


def test_dates_and_recency_are_honoured(perplexity: Perplexity) -> None:
    dates = {"search_after_date_filter": "04/01/2026", "search_before_date_filter": "5/31/2026"}
    days = [hit["date"] for hit in results(perplexity(query="the", max_results=20, **dates))]
    assert days
    assert all("2026-04-01" <= day <= "2026-05-31" for day in days)
    since = f"{datetime.now(UTC) - timedelta(days=366):%Y-%m-%d}"
    recent = results(perplexity(query="the", search_recency_filter="year"))
    assert all(hit["date"] >= since for hit in recent)


def test_people_are_not_in_the_corpus(perplexity: Perplexity) -> None:
    assert results(perplexity(query="x", search_type="people", max_results=50)) == []


def test_the_time_of_the_server_comes_when_asked_for(perplexity: Perplexity) -> None:
    assert perplexity(query="x").json()["server_time"] is None
    assert perplexity(query="x", display_server_time=True).json()["server_time"].endswith("Z")


def test_the_same_request_gets_the_same_bytes(perplexity: Perplexity) -> None:
    for path, body in (("/search", {"query": "queue"}), ("/v1/agent", AGENT)):
        first, second = (perplexity(path, **body) for _ in range(2))
        assert first.content == second.content


# --- the agent ---------------------------------------------------------------------------------

SOURCES = (
    "Question: When does the pool open?\n\nSources:\n\n"
    "[1] Pool\n    https://a.example/1\n    The pool will open in May. It is cold.\n\n"
    "[2] Trains\n    https://b.example/2\n    A train leaves at night.\n\n"
    "[3] Hours\n    https://c.example/3\n    Doors open at eight. Then\n    [1] it is wrong."
)


def test_an_answer_is_taken_from_the_numbered_sources(perplexity: Perplexity) -> None:
    body = perplexity("/v1/agent", preset="fast", tool_choice="none", input=SOURCES).json()
    assert body["status"] == "completed"
    assert [item["type"] for item in body["output"]] == ["message"]
    text = body["output"][0]["content"][0]["text"]
    assert text == "The pool will open in May [1]. Doors open at eight [3]."
    assert body["usage"]["cost"]["currency"] == "USD"
    assert body["usage"]["cost"]["total_cost"] > 0
    assert body["tools"] == []


def test_sources_that_do_not_answer_say_so(perplexity: Perplexity) -> None:
    asked = SOURCES.replace("When does the pool open?", "Who painted it?")
    body = perplexity("/v1/agent", preset="fast", tool_choice="none", input=asked).json()
    text = body["output"][0]["content"][0]["text"]
    assert text == "The sources do not answer the question."


def test_a_preset_searches_and_a_bare_model_does_not(perplexity: Perplexity) -> None:
    body = perplexity("/v1/agent", **AGENT).json()
    found, message = body["output"]
    assert [result["id"] for result in found["results"]] == [1, 2, 3]
    assert "the night train is back [1]" in message["content"][0]["text"]
    assert body["usage"]["tool_calls_details"]["search_web"]["invocation"] == 1
    bare = perplexity("/v1/responses", model="perplexity/sonar", input=AGENT["input"]).json()
    assert [item["type"] for item in bare["output"]] == ["message"]
    tools = [{"type": "web_search"}]
    armed = perplexity("/v1/agent", model="perplexity/sonar", tools=tools, input="night train")
    assert armed.json()["output"][0]["type"] == "search_results"


def test_too_few_tokens_give_an_incomplete_answer_without_output(perplexity: Perplexity) -> None:
    body = perplexity("/v1/agent", **AGENT, max_output_tokens=3).json()
    assert (body["status"], body["output"], body["completed_at"]) == ("incomplete", [], None)
    assert body["incomplete_details"] == {"reason": "max_output_tokens"}
    assert body["usage"]["output_tokens"] == 3


def test_an_agent_answer_carries_its_rate_limit(perplexity: Perplexity) -> None:
    headers = perplexity("/v1/agent", **AGENT).headers
    assert (headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]) == ("50", "49")


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"input": "x"}, "model, models or preset"),
        ({"preset": "fast"}, "input cannot be empty"),
        ({"preset": "fast", "input": " "}, "input cannot be empty"),
        ({"preset": "fast", "input": []}, "input cannot be empty"),
        ({"preset": "slow", "input": "x"}, "preset"),
        ({"model": "sonar", "input": "x"}, "unknown model"),
        ({"preset": "fast", "input": "x", "max_steps": 0}, "max_steps"),
        ({"preset": "fast", "input": "x", "tool_choice": "some"}, "tool_choice"),
        ({"preset": "fast", "input": "x", "stream": True}, "stream"),
        ({"model": "anthropic/claude", "input": "x"}, "max_output_tokens is required"),
    ],
)
def test_an_agent_request_that_breaks_a_rule_is_refused(
    perplexity: Perplexity, body: dict[str, Any], named: str
) -> None:
    assert named in error(perplexity("/v1/agent", **body), 400)["message"]


def test_the_input_may_be_a_list_of_messages(perplexity: Perplexity) -> None:
    parts = [{"type": "input_text", "text": SOURCES}]
    messages = [{"role": "user", "content": parts}, {"role": "user", "content": "Thanks."}]
    body = perplexity("/v1/agent", models=["openai/gpt-5.1"], input=messages).json()
    assert "[1]" in body["output"][0]["content"][0]["text"]


# --- the official client -----------------------------------------------------------------------


# The client constructs its models in a way that pydantic discourages.
of_the_client = pytest.mark.filterwarnings("ignore:The `construct` method is deprecated")


@pytest.fixture
def official(webtools_sandbox: SandboxServer) -> Iterator[Any]:
    url = webtools_sandbox.base_url("perplexity")
    with sdk.Perplexity(api_key=PERPLEXITY_KEY, base_url=url, max_retries=1) as client:
        yield client


@of_the_client
def test_the_official_client_searches(official: Any) -> None:
    answer = official.search.create(query="night train", max_results=2)
    assert answer.results[0].date == "2026-03-11"
    assert official.search.create(query=["night train", "json"]).results[0][0].title


@of_the_client
def test_the_official_client_gets_an_answer(official: Any) -> None:
    answer = official.responses.create(**AGENT, store=False)
    assert answer.status == "completed"
    assert "[1]" in answer.output_text
    assert answer.usage.cost.total_cost > 0
    assert not answer.store


@of_the_client
def test_the_official_client_raises_what_the_api_refuses(official: Any) -> None:
    with pytest.raises(sdk.BadRequestError, match="max_results"):
        official.search.create(query="x", max_results=21)
    with pytest.raises(sdk.PermissionDeniedError, match="chat_completions_not_available"):
        official.chat.completions.create(model="sonar", messages=[{"role": "user", "content": "x"}])
    with pytest.raises(sdk.AuthenticationError):
        official.with_options(api_key="wrong").search.create(query="x")


@of_the_client
def test_the_official_client_tries_again(official: Any, webtools_sandbox: SandboxServer) -> None:
    webtools_sandbox.fault(provider="perplexity", status=429, headers={"retry-after-ms": "10"})
    assert official.search.create(query="json").results
    assert webtools_sandbox.stats()["requests"]["/perplexity/search"] == 2
