"""The imitated Perplexity: what is particular to its answers."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sandbox_caller import DOCS, NEWS, Desk, MakeDesk

from webtools_sandbox.apis.perplexity import OLD_KEY, PerplexityApi
from webtools_sandbox.wire import Call

AGENT = {"preset": "fast", "input": "When does the night train return?"}


@pytest.fixture
def perplexity(desk: MakeDesk) -> Desk:
    return desk(PerplexityApi)


def results(response: httpx.Response) -> list[Any]:
    assert response.status_code == 200, response.text
    return list(response.json()["results"])


def text_of(body: dict[str, Any]) -> str:
    return str(body["output"][-1]["content"][0]["text"])


def test_an_old_key_may_not_search_but_write(perplexity: Desk) -> None:
    old = perplexity.with_key(OLD_KEY)
    refused = old.post("/search", query="json")
    assert refused.status_code == 451
    assert refused.json()["error"]["type"] == "api_key_created_before_search_api_cutoff"
    assert old.post("/v1/agent", **AGENT).status_code == 200


def test_sonar_is_gone(perplexity: Desk) -> None:
    path = "/chat/completions"
    gone = perplexity.post(path, model="sonar", messages=[])
    assert gone.status_code == 403
    assert gone.json()["error"]["type"] == "chat_completions_not_available"
    assert perplexity.with_key("wrong").post(path).status_code == 401


def test_some_results_have_no_snippet_and_some_no_date(perplexity: Desk) -> None:
    found = results(perplexity.post("/search", query="json", max_results=5))
    assert len(found) == 5
    assert {bool(hit["snippet"]) for hit in found} == {True, False}
    docs = [hit for hit in found if hit["url"].startswith(DOCS)]
    assert {"date" in hit for hit in docs} == {True, False}
    assert all(hit.get("date") is None and hit["last_updated"] for hit in docs)


def test_passages_of_a_snippet_are_joined_by_dots_and_bounded(perplexity: Desk) -> None:
    first = results(perplexity.post("/search", query="json streaming parser"))[0]
    assert first["date"] == "2026-03-04"
    assert "\n...\n" in first["snippet"]
    asked = {"query": "json streaming parser", "max_tokens_per_page": 10}
    assert len(results(perplexity.post("/search", **asked))[0]["snippet"]) <= 40


def test_several_queries_have_a_list_each(perplexity: Desk) -> None:
    both = results(perplexity.post("/search", query=["json", "night train"], max_results=2))
    assert [len(part) for part in both] == [2, 2]
    assert both[1] == results(perplexity.post("/search", query="night train", max_results=2))


def test_filters_are_honoured(perplexity: Desk) -> None:
    def found(**filters: Any) -> list[dict[str, Any]]:
        asked = {"query": "python json village archive", "max_results": 20, **filters}
        return results(perplexity.post("/search", **asked))

    assert all(hit["url"].startswith(NEWS) for hit in found(search_domain_filter=["news.example"]))
    docs = found(search_domain_filter=["-news.example"])
    assert docs
    assert all(hit["url"].startswith(DOCS) for hit in docs)
    dates = {"search_after_date_filter": "04/01/2026", "search_before_date_filter": "5/31/2026"}
    assert {hit["date"][:7] for hit in found(**dates)} == {"2026-04", "2026-05"}
    since = f"{datetime.now(UTC) - timedelta(days=366):%Y-%m-%d}"
    assert all(hit["date"] >= since for hit in found(search_recency_filter="year"))
    assert found(search_type="people", max_results=50, search_after_date_filter=None) == []


# --- the agent -----------------------------------------------------------------------------------

SOURCES = (
    "Question: When does the pool open?\n\nSources:\n\n"
    "[1] Pool\n    https://a.example/1\n    The pool will open in May. It is cold.\n\n"
    "[2] Trains\n    https://b.example/2\n    A train leaves at night.\n\n"
    "[3] Hours\n    https://c.example/3\n    Doors open at eight. Then\n    [1] it is wrong."
)


def test_an_answer_is_taken_from_the_numbered_sources(perplexity: Desk) -> None:
    asked = {"preset": "fast", "tool_choice": "none"}
    body = perplexity.post("/v1/agent", **asked, input=SOURCES).json()
    assert (body["status"], body["tools"], body["id"][:5]) == ("completed", [], "resp_")
    assert [item["type"] for item in body["output"]] == ["message"]
    assert text_of(body) == "The pool will open in May [1]. Doors open at eight [3]."
    assert body["usage"]["cost"]["currency"] == "USD"
    assert body["usage"]["cost"]["total_cost"] > 0
    other = SOURCES.replace("When does the pool open?", "Who painted it?")
    body = perplexity.post("/v1/agent", **asked, input=other).json()
    assert "[" not in text_of(body)


def test_a_preset_searches_and_a_bare_model_does_not(perplexity: Desk) -> None:
    body = perplexity.post("/v1/agent", **AGENT).json()
    assert [result["id"] for result in body["output"][0]["results"]] == [1, 2, 3]
    assert "the night train is back [1]" in text_of(body)
    assert body["usage"]["tool_calls_details"]["search_web"]["invocation"] == 1
    bare = perplexity.post("/v1/responses", model="perplexity/sonar", input=AGENT["input"]).json()
    assert [item["type"] for item in bare["output"]] == ["message"]
    armed = {"tools": [{"type": "web_search"}], "input": "night train"}
    body = perplexity.post("/v1/agent", model="perplexity/sonar", **armed).json()
    assert body["output"][0]["type"] == "search_results"


def test_too_few_tokens_give_an_incomplete_answer_without_output(perplexity: Desk) -> None:
    body = perplexity.post("/v1/agent", **AGENT, max_output_tokens=3).json()
    assert (body["status"], body["output"], body["completed_at"]) == ("incomplete", [], None)
    assert body["incomplete_details"] == {"reason": "max_output_tokens"}
    assert body["usage"]["output_tokens"] == 3


def test_an_agent_answer_carries_its_rate_limit(perplexity: Desk) -> None:
    headers = perplexity.post("/v1/agent", **AGENT).headers
    assert (headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]) == ("50", "49")
    limited = perplexity.api.failure(Call("POST", "/v1/agent", "", {}), 429).headers
    assert limited["x-ratelimit-remaining"] == "0"
    assert abs(int(limited["x-ratelimit-reset"]) - time.time()) <= 30


def test_the_input_may_be_a_list_of_messages(perplexity: Desk) -> None:
    parts = [{"type": "input_text", "text": SOURCES}]
    messages = [{"role": "user", "content": parts}, {"role": "user", "content": "Thanks."}]
    body = perplexity.post("/v1/agent", models=["openai/gpt-5.1"], input=messages).json()
    assert "[1]" in text_of(body)
