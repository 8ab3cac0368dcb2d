"""Properties of the simulated responses that the recordings in `tests/providers` do not show."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from sandbox_caller import DOCS, NEWS, Desk, MakeDesk

from webtools_sandbox.apis.brave import BraveApi
from webtools_sandbox.apis.context7 import Context7Api
from webtools_sandbox.apis.exa import ExaApi
from webtools_sandbox.apis.firecrawl import FirecrawlApi
from webtools_sandbox.apis.jina import JinaApi
from webtools_sandbox.apis.kagi import KagiApi
from webtools_sandbox.apis.perplexity import PerplexityApi
from webtools_sandbox.apis.tavily import TavilyApi
from webtools_sandbox.apis.you import YouApi
from webtools_sandbox.keys import KAGI_V0_KEY
from webtools_sandbox.wire import Call

JSON_PAGE = f"{DOCS}/library/json.html"


def json_of(response: httpx.Response) -> Any:
    assert response.status_code == 200, response.text
    return response.json()


# --- Exa -----------------------------------------------------------------------------------------


@pytest.fixture
def exa(desk: MakeDesk) -> Desk:
    return desk(ExaApi)


def test_exa_reads_dates_with_and_without_a_time(exa: Desk) -> None:
    search = {"query": "python json datetime the", "numResults": 60}
    since = json_of(exa.post("/search", **search, startPublishedDate="2026-03-04"))["results"]
    dates = [hit["publishedDate"] for hit in since]
    assert min(dates)[:10] >= "2026-03-04"
    assert {len(date) for date in dates} == {len("2026-03-04"), len("2026-03-04T09:15:00.000Z")}
    until = json_of(exa.post("/search", **search, endPublishedDate="2025-06-30"))["results"]
    assert "2025-06-30" in {hit["publishedDate"] for hit in until}


def test_exa_accepts_a_path_in_a_domain_filter(exa: Desk) -> None:
    asked = {"query": "python json", "includeDomains": ["docs.example/reference"]}
    hits = json_of(exa.post("/search", **asked))["results"]
    assert hits
    assert all(hit["url"].startswith(f"{DOCS}/reference/") for hit in hits)


def test_exa_does_not_list_a_page_as_similar_to_itself(exa: Desk) -> None:
    hits = json_of(exa.post("/findSimilar", url=JSON_PAGE, numResults=5))["results"]
    assert len(hits) == 5
    assert JSON_PAGE not in [hit["url"] for hit in hits]
    unknown = exa.post("/findSimilar", url=f"{DOCS}/no-such-page")
    assert (unknown.status_code, unknown.json()["tag"]) == (400, "INVALID_URLS")


# --- Kagi ----------------------------------------------------------------------------------------


@pytest.fixture
def kagi(desk: MakeDesk) -> Desk:
    return desk(KagiApi)


def kagi_items(desk: Desk, query: str, **body: Any) -> list[dict[str, Any]]:
    data = json_of(desk.post("/api/v1/search", query=query, **body))["data"]
    return list(data.get("search", []))


def test_kagi_keys_are_valid_for_one_version(kagi: Desk) -> None:
    v0 = kagi.with_key(KAGI_V0_KEY)
    refused = v0.post("/api/v1/search", query="json")
    assert refused.json()["errors"][0]["code"] == "general.invalid_token"
    refused = kagi.get("/api/v0/search", q="json")
    assert refused.json()["error"] == [{"code": 2, "msg": "Unauthorized", "ref": None}]
    v0.auth = ("authorization", "Bot {}")
    assert json_of(v0.get("/api/v0/search", q="json"))["data"]


def test_kagi_marks_words_and_escapes_the_rest(kagi: Desk) -> None:
    titles = [item["title"] for item in kagi_items(kagi, "python supply chains")]
    survey = next(title for title in titles if title.startswith("Survey"))
    assert "<b>Python</b> teams" in survey
    assert "&amp;" in survey
    title = kagi_items(kagi, "waiting well")[0]["title"]
    assert "&#39;" in title
    assert not re.search(r"&(?!\w+;|#\d+;)", title)


def test_kagi_sends_nothing_under_other_keys_than_the_workflow(kagi: Desk) -> None:
    news = json_of(kagi.post("/api/v1/search", query="python", workflow="news"))["data"]
    assert list(news) == ["news"]
    assert json_of(kagi.post("/api/v1/search", query="qqqqzzzz"))["data"] == {}


@pytest.mark.parametrize(
    ("query", "included", "excluded"),
    [
        ("json site:news.example", NEWS, DOCS),
        ("json -site:news.example", DOCS, NEWS),
        ("site:docs.example/reference", "/reference/", "/library/"),
        ("json -streaming", "json", "streaming"),
        ('"night train"', "night-train", "json"),
        ('villages -"heat pump"', "glacier", "heat-pump"),
    ],
)
def test_operators_in_a_query_are_applied(
    kagi: Desk, query: str, included: str, excluded: str
) -> None:
    urls = [item["url"] for item in kagi_items(kagi, query)]
    assert any(included in url for url in urls)
    assert not any(excluded in url for url in urls)


# --- Brave ---------------------------------------------------------------------------------------

WEB = "/res/v1/web/search"


@pytest.fixture
def brave(desk: MakeDesk) -> Desk:
    return desk(BraveApi)


def test_brave_states_its_limits_in_headers(brave: Desk) -> None:
    success = brave.get(WEB, q="json").headers
    assert success["x-ratelimit-policy"] == "50;w=1, 0;w=2592000"  # 0 a month is no limit
    assert success["x-ratelimit-remaining"] == "49, 0"
    used_up = brave.with_key(f"{brave.key}-no-credit").get(WEB, q="json")
    assert used_up.headers["x-ratelimit-remaining"] == "1, 0"
    limited = brave.api.failure(Call("GET", WEB, "", {}), 429)
    assert limited.headers["X-RateLimit-Remaining"] == "0, 0"
    assert "Retry-After" not in limited.headers


# --- Perplexity ----------------------------------------------------------------------------------


@pytest.fixture
def perplexity(desk: MakeDesk) -> Desk:
    return desk(PerplexityApi)


SOURCES = (
    "Question: When does the pool open?\n\nSources:\n\n"
    "[1] Pool\n    https://a.example/1\n    The pool will open in May. It is cold.\n\n"
    "[2] Trains\n    https://b.example/2\n    A train leaves at night.\n\n"
    "[3] Hours\n    https://c.example/3\n    Doors open at eight. Then\n    [1] it is wrong."
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When does the pool open?", "The pool will open in May [1]. Doors open at eight [3]."),
        ("Who painted it?", "The sources do not answer the question."),
    ],
)
def test_perplexity_answers_from_the_numbered_sources(
    perplexity: Desk, question: str, answer: str
) -> None:
    text = SOURCES.replace("When does the pool open?", question)
    asked = {"preset": "fast", "tool_choice": "none", "input": text}
    body = json_of(perplexity.post("/v1/agent", **asked))
    assert body["output"][-1]["content"][0]["text"] == answer
    assert body["usage"]["cost"]["total_cost"] > 0


# --- Context7 ------------------------------------------------------------------------------------

CONTEXT = "/api/v2/context"
QUESTION = {"libraryId": "/python/json", "query": "decode a document", "type": "json"}


@pytest.fixture
def context7(desk: MakeDesk) -> Desk:
    return desk(Context7Api)


def test_context7_states_unknown_values_as_minus_one_or_omits_them(context7: Desk) -> None:
    known, unknown = (
        json_of(context7.get("/api/v2/libs/search", libraryName=name, query="decode"))["results"][0]
        for name in ("json", "pathlib")
    )
    assert known["versions"] == ["v3.13", "v3.12", "3.10", "v2.7"]
    assert (known["trustScore"], known["stars"], known["state"]) == (9.5, 60_000, "finalized")
    assert (unknown["trustScore"], unknown["totalTokens"], unknown["totalSnippets"]) == (-1, -1, -1)
    assert not {"stars", "versions"} & unknown.keys()


def test_context7_sends_code_unchanged(context7: Desk) -> None:
    asked = QUESTION | {"query": "javascript object notation compact separators"}
    answer = json_of(context7.get(CONTEXT, **asked))
    texts = [code["codeList"][0]["code"] for code in answer["codeSnippets"]]
    assert any("separators=(',', ':'))\n'[1,2,3,{\"4\":5,\"6\":7}]'" in text for text in texts)
    assert "premium" in answer["rules"]["libraryOwn"][0]


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"libraryId": "/acme/gone"}, 404, "library_not_found"),
        ({"query": "qqq"}, 404, "no_snippets_found"),
        ({"libraryId": "/python/json@v2.7"}, 404, "tag_not_found"),
        ({"libraryId": "/cpython/unittest"}, 301, "library_redirected"),
    ],
)
def test_context7_distinguishes_what_is_missing(
    context7: Desk, changes: dict[str, str], status: int, code: str
) -> None:
    refused = context7.get(CONTEXT, **(QUESTION | changes))
    assert (refused.status_code, refused.json()["error"]) == (status, code)
    assert "location" not in refused.headers


# --- the other APIs ------------------------------------------------------------------------------


def test_tavily_requires_a_key_or_its_keyless_header(desk: MakeDesk) -> None:
    tavily, body = desk(TavilyApi), b'{"query": "json"}'
    keyless = {"x_tavily_access_mode": "keyless"}
    stranger = tavily.with_key(None)
    assert stranger.send("POST", "/search", content=body).status_code == 401
    assert stranger.send("POST", "/search", content=body, **keyless).status_code == 200
    wrong = tavily.with_key("wrong").send("POST", "/search", content=body, **keyless)
    assert wrong.status_code == 401


def test_you_sends_news_beside_the_web_and_needs_no_key_at_one_path(desk: MakeDesk) -> None:
    you, keyless = desk(YouApi), "/v1/agents/search"
    assert set(json_of(you.post("/v1/search", query="glacier"))["results"]) == {"web"}
    both = json_of(you.post("/v1/search", query="latest glacier news", count=2))["results"]
    assert [len(both[name]) for name in ("web", "news")] == [2, 2]
    assert you.get(keyless, query="json").status_code == 401
    assert you.with_key(None).get(keyless, query="json").status_code == 200
    assert you.with_key(None).post("/v1/search", query="json").status_code == 401


@pytest.mark.parametrize(
    ("api", "path", "body"),
    [
        (FirecrawlApi, "/v2/search", {"query": "json"}),
        (JinaApi, "/", {"url": JSON_PAGE}),
        (Context7Api, CONTEXT, QUESTION),
    ],
)
def test_an_optional_key_must_be_valid(
    desk: MakeDesk, api: Any, path: str, body: dict[str, Any]
) -> None:
    for key, status in ((None, 200), ("wrong", 401)):
        caller = desk(api).with_key(key)
        send = caller.get if api is Context7Api else caller.post
        assert send(path, **body).status_code == status
