from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from webtools_sandbox import KAGI_V0_KEY
from webtools_sandbox.wire import Call

if TYPE_CHECKING:
    from sandbox_caller import Caller

    from webtools_sandbox.kagi import KagiApi


def found(response: Any, key: str = "search") -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    return list(response.json()["data"].get(key, []))


def test_a_bad_key_on_v1_is_a_400(caller: Caller) -> None:
    response = caller.v1("/search", key="wrong", query="json")
    assert response.status_code == 400
    assert response.json()["errors"][0]["code"] == "general.invalid_token"
    assert response.json()["data"] is None


def test_a_v0_key_is_refused_on_v1(caller: Caller) -> None:
    response = caller.v1("/search", key="test-key-kagi-v0", query="json")
    assert response.json()["errors"][0]["code"] == "general.invalid_token"


def test_a_v1_key_is_refused_on_v0(caller: Caller) -> None:
    response = caller.v0("/search", key="test-key-kagi-v1", q="json")
    assert response.status_code == 401
    assert response.json()["error"] == [{"code": 2, "msg": "Unauthorized", "ref": None}]


@pytest.mark.parametrize("header", ["", "Bot test-key-kagi-v1", "Bearer"])
def test_v1_without_a_bearer_token_is_unauthorized(caller: Caller, header: str) -> None:
    url = f"{caller.server.base_url('kagi')}/api/v1/search"
    response = caller.http.post(url, json={"query": "x"}, headers={"Authorization": header})
    assert response.status_code == 401
    assert response.json()["errors"][0]["code"] == "general.unauthorized"


def test_v0_with_a_bearer_token_is_unauthorized(caller: Caller) -> None:
    url = f"{caller.server.base_url('kagi')}/api/v0/search?q=json"
    headers = {"Authorization": "Bearer test-key-kagi-v0"}
    assert caller.http.get(url, headers=headers).status_code == 401


def test_a_key_without_credit_is_told_so(caller: Caller) -> None:
    v1 = caller.v1("/search", key="test-key-kagi-v1-no-credit", query="json")
    assert v1.status_code == 402
    assert v1.json()["errors"][0]["code"].startswith("billing.")
    v0 = caller.v0("/search", key="test-key-kagi-v0-no-credit", q="json")
    assert (v0.status_code, v0.json()["error"][0]["code"]) == (400, 101)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "search.query_invalid"),
        ({"query": ""}, "search.query_invalid"),
        ({"query": "x", "page": 0}, "search.page_invalid"),
        ({"query": "x", "page": 11}, "search.page_invalid"),
        ({"query": "x", "limit": 0}, "search.limit_invalid"),
        ({"query": "x", "limit": 1025}, "search.limit_invalid"),
        ({"query": "x", "limit": True}, "search.limit_invalid"),
        ({"query": "x", "workflow": "maps"}, "search.workflow_invalid"),
        ({"query": "x", "timeout": 9}, "search.timeout_invalid"),
        ({"query": "x", "format": "xml"}, "general.format_invalid"),
        ({"query": "x", "filters": []}, "search.filters_invalid"),
        ({"query": "x", "filters": {"region": "US"}}, "search.filters_region_invalid"),
        ({"query": "x", "filters": {"region": "int"}}, "search.filters_region_invalid"),
        ({"query": "x", "filters": {"after": "01.02.2026"}}, "search.filters_after_invalid"),
        ({"query": "x", "filters": {"before": "2026-02-30"}}, "search.filters_before_invalid"),
        ({"query": "x", "extract": 3}, "search.extract_invalid"),
        ({"query": "x", "extract": {"count": 11}}, "search.extract_count_invalid"),
        ({"query": "x", "extract": {"timeout": 5}}, "search.extract_timeout_invalid"),
    ],
)
def test_a_v1_search_that_breaks_a_rule_is_refused(
    caller: Caller, body: dict[str, Any], code: str
) -> None:
    response = caller.v1("/search", **body)
    assert response.status_code == 400
    assert response.json()["errors"][0]["code"] == code


@pytest.mark.parametrize("body", [b"", b"{", b"[1]"])
def test_a_v1_body_that_is_no_json_object_is_refused(caller: Caller, body: bytes) -> None:
    url = f"{caller.server.base_url('kagi')}/api/v1/search"
    headers = {"Authorization": "Bearer test-key-kagi-v1"}
    answer = caller.http.post(url, content=body, headers=headers)
    assert answer.json()["errors"][0]["code"] == "general.invalid_json"


def test_an_error_names_the_field_at_fault(caller: Caller) -> None:
    response = caller.v1("/search", query="x", filters={"region": "US"})
    assert response.json()["errors"][0]["location"] == "filters.region"


def test_a_get_on_v1_is_not_found(caller: Caller) -> None:
    url = f"{caller.server.base_url('kagi')}/api/v1/search?q=x"
    assert caller.http.get(url).status_code == 404


def test_every_answer_carries_its_trace(caller: Caller) -> None:
    v1 = caller.v1("/search", query="json")
    assert v1.headers["x-kagi-trace"] == v1.json()["meta"]["trace"]
    v0 = caller.v0("/search", q="json")
    assert v0.headers["x-kagi-trace"] == v0.json()["meta"]["id"]


def test_v1_marks_words_and_escapes_the_rest(caller: Caller) -> None:
    titles = [item["title"] for item in found(caller.v1("/search", query="python supply chains"))]
    survey = next(title for title in titles if title.startswith("Survey"))
    assert "<b>Python</b> teams" in survey
    assert "&amp;" in survey
    review = found(caller.v1("/search", query="waiting well"))[0]
    assert "&#39;" in review["title"]
    assert not re.search(r"&(?!\w+;|#\d+;)", review["title"])


def test_time_is_missing_null_naive_or_full(caller: Caller) -> None:
    docs = found(caller.v1("/search", query="json site:127.0.0.1"))
    assert not any("time" in item for item in docs)
    news = found(caller.v1("/search", query="the site:localhost"))
    news += found(caller.v1("/search", query="the site:localhost", page=2))
    times = [item["time"] for item in news]
    assert None in times
    assert "2026-03-11T17:45:00" in times
    assert "2026-02-20" in times
    assert "2026-03-04T09:15:00Z" in times


def test_a_search_without_hits_has_no_data_keys(caller: Caller) -> None:
    assert caller.v1("/search", query="qqqqzzzz").json()["data"] == {}


def test_related_searches_have_relative_urls(caller: Caller) -> None:
    related = found(caller.v1("/search", query="json"), "related_search")
    assert related[0]["url"].startswith("/search?q=json")


def test_the_news_workflow_answers_under_news(caller: Caller) -> None:
    data = caller.v1("/search", query="python", workflow="news").json()["data"]
    assert list(data) == ["news"]
    assert all("/news/" in item["url"] for item in data["news"])


def test_workflows_without_pages_answer_nothing(caller: Caller) -> None:
    assert caller.v1("/search", query="python", workflow="images").json()["data"] == {}


def test_limit_cuts_every_category(caller: Caller) -> None:
    data = caller.v1("/search", query="json", limit=1).json()["data"]
    assert {key: len(items) for key, items in data.items()} == {"search": 1, "related_search": 1}


def test_pages_follow_each_other(caller: Caller) -> None:
    first = [item["url"] for item in found(caller.v1("/search", query="python"))]
    second = [item["url"] for item in found(caller.v1("/search", query="python", page=2))]
    assert len(first) == 20
    assert second
    assert not set(first) & set(second)


@pytest.mark.parametrize(
    ("query", "inside", "outside"),
    [
        ("json site:localhost", "/news/", "/docs/"),
        ("json -site:localhost", "/docs/", "/news/"),
        ("site:127.0.0.1/docs/reference", "/reference/", "/library/"),
        ("json -streaming", "json", "streaming"),
        ('"night train"', "night-train", "json"),
        ('villages -"heat pump"', "glacier", "heat-pump"),
    ],
)
def test_operators_are_honoured(caller: Caller, query: str, inside: str, outside: str) -> None:
    urls = [item["url"] for item in found(caller.v1("/search", query=query))]
    assert urls
    assert any(inside in url for url in urls)
    assert not any(outside in url for url in urls)


def test_date_filters_are_honoured(caller: Caller) -> None:
    filters = {"after": "2026-03-04", "before": "2026-03-19", "region": "us"}
    items = found(caller.v1("/search", query="the a in", filters=filters))
    assert sorted(item["time"][:10] for item in items) == ["2026-03-04", "2026-03-11", "2026-03-19"]


def test_extract_puts_whole_pages_into_the_first_snippets(caller: Caller) -> None:
    items = found(caller.v1("/search", query="json parser", extract={"count": 2}))
    assert [item["snippet"].startswith("# ") for item in items[:3]] == [True, True, False]


def test_markdown_is_answered_as_markdown(caller: Caller) -> None:
    response = caller.v1("/search", query="json", format="markdown")
    assert response.headers["content-type"].startswith("text/markdown")
    assert response.text.startswith("## [")
    url = f"{caller.server.docs_url}/library/json.html"
    page = caller.v1("/extract", pages=[{"url": url}], format="markdown")
    assert page.text.startswith("# json")


def test_extract_reports_failed_pages_with_status_200(caller: Caller) -> None:
    good = f"{caller.server.docs_url}/library/json.html#x"
    response = caller.v1("/extract", pages=[{"url": good}, {"url": "https://bad.example"}])
    assert response.status_code == 200
    first, second = response.json()["data"]
    assert first["url"] == good
    assert first["markdown"].startswith("# json")
    assert second == {"url": "https://bad.example", "error": "No data from crawlers"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "extract.url_count_invalid"),
        ({"urls": ["https://a.example"]}, "extract.url_count_invalid"),
        ({"pages": [{"url": "https://a.example"}] * 11}, "extract.url_count_invalid"),
        ({"pages": ["https://a.example"]}, "extract.url_invalid"),
        ({"pages": [{"url": "ftp://a.example"}]}, "extract.url_invalid"),
    ],
)
def test_an_extract_that_breaks_a_rule_is_refused(
    caller: Caller, body: dict[str, Any], code: str
) -> None:
    assert caller.v1("/extract", **body).json()["errors"][0]["code"] == code


def test_v0_search_lists_hits_and_then_related_searches(caller: Caller) -> None:
    data = caller.v0("/search", q="json", limit="3").json()["data"]
    assert [item["t"] for item in data] == [0, 0, 0, 1]
    assert all(isinstance(text, str) for text in data[-1]["list"])
    assert caller.v0("/search", q="qqqqzzzz").json()["data"] == []


def test_v0_gives_published_on_some_hits(caller: Caller) -> None:
    data = caller.v0("/search", q="python json", limit="20").json()["data"]
    assert {"published" in item for item in data if item["t"] == 0} == {True, False}


def test_v0_successes_sometimes_carry_a_null_error(caller: Caller) -> None:
    answers = [caller.v0("/search", q=word).json() for word in ("json", "csv", "ssl", "re", "os")]
    assert {"error" in answer for answer in answers} == {True, False}
    assert all(answer.get("error") is None for answer in answers)


@pytest.mark.parametrize("params", [{}, {"q": " "}, {"q": "x", "limit": "0"}])
def test_a_v0_search_that_breaks_a_rule_is_refused(caller: Caller, params: dict[str, str]) -> None:
    response = caller.v0("/search", **params)
    assert response.status_code == 400
    assert isinstance(response.json()["error"][0]["code"], int)


def kagi_v0_search(api: KagiApi) -> dict[str, Any]:
    headers = {"authorization": f"Bot {KAGI_V0_KEY}"}
    reply = api.answer(Call("GET", "/api/v0/search", "q=json", headers))
    return {"status": reply.status, **json.loads(reply.body)}


def test_the_balance_goes_down_until_credit_is_out(poor_kagi: KagiApi) -> None:
    answers = [kagi_v0_search(poor_kagi) for _ in range(3)]
    assert [answer["meta"]["api_balance"] for answer in answers] == [0.035, 0.01, 0.01]
    assert [answer["status"] for answer in answers] == [200, 200, 400]
    assert answers[2]["error"][0]["code"] == 101
    poor_kagi.reset()
    assert kagi_v0_search(poor_kagi)["status"] == 200


def page(caller: Caller, name: str = "textwrap") -> str:
    return f"{caller.server.docs_url}/library/{name}.html"


def test_a_summary_is_the_same_every_time_and_free_the_second_time(caller: Caller) -> None:
    first, second = (caller.v0("/summarize", url=page(caller)).json() for _ in range(2))
    assert first["data"] == second["data"]
    assert first["data"]["tokens"] > 0
    assert first["meta"]["api_balance"] == second["meta"]["api_balance"] < 10_000


def test_a_summary_that_may_not_be_cached_is_charged_again(caller: Caller) -> None:
    params = {"url": page(caller), "cache": "false", "engine": "muriel"}
    first, second = (caller.v0("/summarize", **params).json() for _ in range(2))
    assert first["meta"]["api_balance"] - second["meta"]["api_balance"] == 1


def test_takeaways_are_a_list(caller: Caller) -> None:
    data = caller.v0("/summarize", url=page(caller), summary_type="takeaway").json()["data"]
    assert all(line.startswith("- ") for line in data["output"].splitlines())


@pytest.mark.parametrize("form", [False, True])
def test_summarize_takes_a_posted_text(caller: Caller, form: bool) -> None:
    url = f"{caller.server.base_url('kagi')}/api/v0/summarize"
    headers = {"Authorization": "Bot test-key-kagi-v0"}
    fields = {"text": "One thing. Another thing.", "target_language": "ZH-HANT"}
    how: dict[str, Any] = {"data": fields} if form else {"json": {**fields, "cache": True}}
    response = caller.http.post(url, headers=headers, **how)
    assert response.json()["data"]["output"] == "One thing. Another thing."


@pytest.mark.parametrize(
    "change",
    [
        {"url": ""},
        {"text": "both"},
        {"url": "ftp://a.example"},
        {"engine": "turbo"},
        {"summary_type": "poem"},
        {"target_language": "de"},
    ],
)
def test_a_summary_that_breaks_a_rule_is_refused(caller: Caller, change: dict[str, str]) -> None:
    response = caller.v0("/summarize", **{"url": page(caller), **change})
    assert response.status_code == 400
    assert isinstance(response.json()["error"][0]["code"], int)


@pytest.mark.parametrize("body", [b"{", b"[]"])
def test_a_posted_body_that_is_no_object_is_refused(caller: Caller, body: bytes) -> None:
    url = f"{caller.server.base_url('kagi')}/api/v0/summarize"
    headers = {"Authorization": "Bot test-key-kagi-v0", "Content-Type": "application/json"}
    assert caller.http.post(url, content=body, headers=headers).status_code == 400


def test_a_page_that_cannot_be_read_is_a_500(caller: Caller) -> None:
    assert caller.v0("/summarize", url="https://a.example").status_code == 500


def test_enrich_ranks_its_hits_and_has_null_snippets(caller: Caller) -> None:
    data = caller.v0("/enrich/news", q="python").json()["data"]
    assert [item["rank"] for item in data] == list(range(1, len(data) + 1))
    assert None in [item["snippet"] for item in data]
    assert caller.v0("/enrich/web", q="qqqqzzzz").json()["data"] == []


def test_fastgpt_answers_with_references(caller: Caller) -> None:
    url = f"{caller.server.base_url('kagi')}/api/v0/fastgpt"
    headers = {"Authorization": "Bot test-key-kagi-v0"}
    data = caller.http.post(url, json={"query": "night train"}, headers=headers).json()["data"]
    assert "[1]" in data["output"]
    assert data["references"][0]["url"].startswith("http")
    refused = {"query": "x", "web_search": False}
    assert caller.http.post(url, json=refused, headers=headers).status_code == 400
    assert caller.http.post(url, json={}, headers=headers).status_code == 400


def test_an_unknown_v0_path_is_404(caller: Caller) -> None:
    assert caller.v0("/nothing").status_code == 404
