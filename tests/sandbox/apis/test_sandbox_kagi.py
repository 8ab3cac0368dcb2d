"""The imitated Kagi, in both versions: what is particular to its answers."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from sandbox_caller import DOCS, NEWS, Desk, MakeDesk

from webtools_sandbox.apis.kagi import KagiApi
from webtools_sandbox.apis.kagi_v0 import KagiV0
from webtools_sandbox.keys import KAGI_V0_KEY, KeyRing
from webtools_sandbox.library import Library

TEXTWRAP = f"{DOCS}/library/textwrap.html"


@pytest.fixture
def v1(desk: MakeDesk) -> Desk:
    return desk(KagiApi)


@pytest.fixture
def v0(desk: MakeDesk) -> Desk:
    """Version 0 behind the same door."""
    return desk(KagiApi).with_key(KAGI_V0_KEY)


def found(desk: Desk, key: str = "search", **body: Any) -> list[dict[str, Any]]:
    response = desk.post("/api/v1/search", **body)
    assert response.status_code == 200, response.text
    return list(response.json()["data"].get(key, []))


@pytest.mark.parametrize("form", ["", "Bot {}", "Bearer"])
def test_v1_without_a_bearer_token_is_unauthorized(v1: Desk, form: str) -> None:
    v1.auth = ("authorization", form)
    response = v1.post("/api/v1/search", query="x")
    assert response.status_code == 401
    assert response.json()["errors"][0]["code"] == "general.unauthorized"


def test_a_key_opens_its_own_version_alone(v1: Desk, v0: Desk) -> None:
    refused = v1.with_key(KAGI_V0_KEY).post("/api/v1/search", query="json")
    assert refused.json()["errors"][0]["code"] == "general.invalid_token"
    refused = v0.with_key(v1.key).get("/api/v0/search", q="json")
    assert refused.json()["error"] == [{"code": 2, "msg": "Unauthorized", "ref": None}]
    v0.auth = ("authorization", "Bearer {}")
    assert v0.get("/api/v0/search", q="json").status_code == 401


def test_every_answer_carries_its_trace(v1: Desk, v0: Desk) -> None:
    new = v1.post("/api/v1/search", query="json")
    assert new.headers["x-kagi-trace"] == new.json()["meta"]["trace"]
    old = v0.get("/api/v0/search", q="json")
    assert old.headers["x-kagi-trace"] == old.json()["meta"]["id"]


def test_v1_marks_words_and_escapes_the_rest(v1: Desk) -> None:
    titles = [item["title"] for item in found(v1, query="python supply chains")]
    survey = next(title for title in titles if title.startswith("Survey"))
    assert "<b>Python</b> teams" in survey
    assert "&amp;" in survey
    review = found(v1, query="waiting well")[0]
    assert "&#39;" in review["title"]
    assert not re.search(r"&(?!\w+;|#\d+;)", review["title"])


def test_time_is_missing_null_naive_or_full(v1: Desk) -> None:
    assert not any("time" in item for item in found(v1, query="json site:docs.example"))
    pages = [found(v1, query="the site:news.example", page=page) for page in (1, 2)]
    times = [item["time"] for page in pages for item in page]
    assert {None, "2026-03-11T17:45:00", "2026-02-20", "2026-03-04T09:15:00Z"} <= set(times)


def test_workflows_answer_under_a_key_of_their_own_or_nothing(v1: Desk) -> None:
    news = v1.post("/api/v1/search", query="python", workflow="news").json()["data"]
    assert list(news) == ["news"]
    assert all(item["url"].startswith(NEWS) for item in news["news"])
    for body in ({"query": "python", "workflow": "images"}, {"query": "qqqqzzzz"}):
        assert v1.post("/api/v1/search", **body).json()["data"] == {}


def test_limit_cuts_every_category_and_pages_follow_each_other(v1: Desk) -> None:
    data = v1.post("/api/v1/search", query="json", limit=1).json()["data"]
    assert {key: len(items) for key, items in data.items()} == {"search": 1, "related_search": 1}
    assert data["related_search"][0]["url"].startswith("/search?q=json")
    first, second = (
        {item["url"] for item in found(v1, query="python", page=page)} for page in (1, 2)
    )
    assert len(first) == 20
    assert second
    assert not first & second


@pytest.mark.parametrize(
    ("query", "inside", "outside"),
    [
        ("json site:news.example", NEWS, DOCS),
        ("json -site:news.example", DOCS, NEWS),
        ("site:docs.example/reference", "/reference/", "/library/"),
        ("json -streaming", "json", "streaming"),
        ('"night train"', "night-train", "json"),
        ('villages -"heat pump"', "glacier", "heat-pump"),
    ],
)
def test_operators_are_honoured(v1: Desk, query: str, inside: str, outside: str) -> None:
    urls = [item["url"] for item in found(v1, query=query)]
    assert any(inside in url for url in urls)
    assert not any(outside in url for url in urls)


def test_date_filters_are_honoured(v1: Desk) -> None:
    filters = {"after": "2026-03-04", "before": "2026-03-19", "region": "us"}
    items = found(v1, query="the a in", filters=filters)
    assert sorted(item["time"][:10] for item in items) == ["2026-03-04", "2026-03-11", "2026-03-19"]


def test_extract_puts_whole_pages_into_the_first_snippets(v1: Desk) -> None:
    items = found(v1, query="json parser", extract={"count": 2})
    assert [item["snippet"].startswith("# ") for item in items[:3]] == [True, True, False]


def test_extract_reports_failed_pages_with_status_200(v1: Desk) -> None:
    good, bad = f"{DOCS}/library/json.html#x", "https://bad.example"
    response = v1.post("/api/v1/extract", pages=[{"url": good}, {"url": bad}])
    first, second = response.json()["data"]
    assert (response.status_code, first["url"]) == (200, good)
    assert first["markdown"].startswith("# json")
    assert second == {"url": bad, "error": "No data from crawlers"}


# --- version 0 -----------------------------------------------------------------------------------


def old(response: httpx.Response) -> Any:
    assert response.status_code == 200, response.text
    return response.json()["data"]


def test_v0_search_lists_hits_and_then_related_searches(v0: Desk) -> None:
    data = old(v0.get("/api/v0/search", q="json", limit="3"))
    assert [item["t"] for item in data] == [0, 0, 0, 1]
    assert all(isinstance(text, str) for text in data[-1]["list"])
    assert old(v0.get("/api/v0/search", q="qqqqzzzz")) == []
    dated = old(v0.get("/api/v0/search", q="python json"))
    assert {"published" in item for item in dated if item["t"] == 0} == {True, False}


def test_v0_successes_sometimes_carry_a_null_error(v0: Desk) -> None:
    words = ("json", "csv", "ssl", "re", "os", "ast")
    answers = [v0.get("/api/v0/search", q=word).json() for word in words]
    assert {"error" in answer for answer in answers} == {True, False}
    assert all(answer.get("error") is None for answer in answers)


def test_the_balance_goes_down_until_credit_is_out(library: Library, keys: KeyRing) -> None:
    desk = Desk(KagiV0(library, keys, balance=0.06))
    answers = [desk.get("/api/v0/search", q="json") for _ in range(3)]
    assert [answer.json()["meta"]["api_balance"] for answer in answers] == [0.035, 0.01, 0.01]
    assert [answer.status_code for answer in answers] == [200, 200, 400]
    assert answers[2].json()["error"][0]["code"] == 101
    desk.api.reset()
    assert desk.get("/api/v0/search", q="json").status_code == 200


def test_a_summary_is_free_the_second_time_unless_it_may_not_be_cached(v0: Desk) -> None:
    first, second = (v0.get("/api/v0/summarize", url=TEXTWRAP).json() for _ in range(2))
    assert first["data"] == second["data"]
    assert first["data"]["tokens"] > 0
    assert first["meta"]["api_balance"] == second["meta"]["api_balance"] < 10_000
    fields = {"url": TEXTWRAP, "cache": "false", "engine": "muriel"}
    first, second = (v0.get("/api/v0/summarize", **fields).json() for _ in range(2))
    assert first["meta"]["api_balance"] - second["meta"]["api_balance"] == 1
    v0.api.reset()
    assert v0.get("/api/v0/search", q="json").json()["meta"]["api_balance"] == 9999.975


def test_takeaways_are_a_list(v0: Desk) -> None:
    data = old(v0.get("/api/v0/summarize", url=TEXTWRAP, summary_type="takeaway"))
    assert all(line.startswith("- ") for line in data["output"].splitlines())


def test_summarize_takes_a_posted_text(v0: Desk) -> None:
    text = "One thing. Another thing."
    posted = v0.post("/api/v0/summarize", text=text, target_language="ZH-HANT", cache=True)
    assert old(posted)["output"] == text
    missing = v0.get("/api/v0/summarize", url="https://a.example")
    assert (missing.status_code, missing.json()["error"][0]["code"]) == (500, 500)


def test_enrich_ranks_its_hits_and_has_null_snippets(v0: Desk) -> None:
    data = old(v0.get("/api/v0/enrich/news", q="python"))
    assert [item["rank"] for item in data] == list(range(1, len(data) + 1))
    assert None in [item["snippet"] for item in data]
    assert old(v0.get("/api/v0/enrich/web", q="qqqqzzzz")) == []


def test_fastgpt_answers_with_references_and_always_searches(v0: Desk) -> None:
    data = old(v0.post("/api/v0/fastgpt", query="night train"))
    assert "[1]" in data["output"]
    assert data["references"][0]["url"].startswith("http")
    assert v0.post("/api/v0/fastgpt", query="x", web_search=False).status_code == 400
