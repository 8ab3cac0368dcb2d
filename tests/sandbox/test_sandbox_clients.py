"""Clients that others wrote talk to the sandbox, and take it for the real thing."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest

from webtools_sandbox import EXA_KEY, KAGI_V0_KEY

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer

exa_py: Any = pytest.importorskip("exa_py")
kagiapi: Any = pytest.importorskip("kagiapi")


@pytest.fixture
def exa(webtools_sandbox: SandboxServer) -> Any:
    return exa_py.Exa(EXA_KEY, base_url=webtools_sandbox.base_url("exa"))


@pytest.fixture
def kagi(webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch) -> Any:
    base = f"{webtools_sandbox.base_url('kagi')}/api/v0"
    monkeypatch.setattr(kagiapi.KagiClient, "BASE_URL", base)
    client = kagiapi.KagiClient(KAGI_V0_KEY)
    yield client
    client.session.close()


def test_exa_py_searches(exa: Any) -> None:
    answer = exa.search("json streaming parser", num_results=3, contents=False)
    assert [result.text for result in answer.results] == [None] * 3
    assert answer.results[0].title == "A streaming JSON parser that never holds the whole document"
    assert answer.results[0].published_date == "2026-03-04T09:15:00.000Z"
    assert answer.results[0].score is None
    assert answer.cost_dollars.total == 0.007


def test_exa_py_adds_text_by_itself(exa: Any) -> None:
    assert exa.search("json", num_results=1).results[0].text.startswith("# json")


def test_exa_py_searches_with_filters_and_contents(exa: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        answer = exa.search_and_contents(
            "python",
            category="news",
            start_published_date="2026-01-01",
            text={"max_characters": 50},
            highlights=True,
            summary=True,
        )
    first = answer.results[0]
    assert len(first.text) <= 50
    assert first.highlights
    assert first.summary


def test_exa_py_reads_a_failed_url_from_the_statuses(exa: Any, webtools_sandbox: Any) -> None:
    base = webtools_sandbox.docs_url
    answer = exa.get_contents([f"{base}/library/json.html", f"{base}/missing.html"], text=True)
    assert len(answer.results) == 1
    assert [status.status for status in answer.statuses] == ["success", "error"]
    assert answer.statuses[1].error.tag == "CRAWL_NOT_FOUND"
    assert answer.statuses[1].error.http_status_code == 404


def test_exa_py_raises_what_the_api_refuses(exa: Any, webtools_sandbox: Any) -> None:
    with pytest.raises(ValueError, match=r"status code 400.*numResults"):
        exa.search("x", num_results=1000)
    stranger = exa_py.Exa("wrong", base_url=webtools_sandbox.base_url("exa"))
    with pytest.raises(ValueError, match=r"status code 401.*INVALID_API_KEY"):
        stranger.search("x")


def test_exa_py_shows_warnings_of_the_api(exa: Any) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        answer = exa.search("json", extra_body={"nonsense": 1})
    assert answer.warnings[0].path == "/nonsense"
    assert any("nonsense" in str(warning.message) for warning in seen)


async def test_exa_py_works_async(webtools_sandbox: SandboxServer) -> None:
    async with exa_py.AsyncExa(EXA_KEY, webtools_sandbox.base_url("exa")) as client:
        answer = await client.search("night train", num_results=2)
        urls = [answer.results[0].url, f"{webtools_sandbox.docs_url}/missing.html"]
        contents = await client.get_contents(urls, text=True)
    assert [status.status for status in contents.statuses] == ["success", "error"]
    assert contents.results[0].author == "Petra Lund"


def test_kagiapi_searches(kagi: Any) -> None:
    answer = kagi.search("night train", limit=2)
    assert [item["t"] for item in answer["data"]] == [0, 0, 1]
    assert answer["data"][0]["published"] == "2026-03-11T17:45:00"
    assert answer["meta"]["api_balance"] < 10_000


def test_kagiapi_summarizes(kagi: Any, webtools_sandbox: SandboxServer) -> None:
    url = f"{webtools_sandbox.news_url}/2026/03/night-train-returns.html"
    answer = kagi.summarize(url=url, summary_type="takeaway", target_language="DE", cache=False)
    assert answer["data"]["output"].startswith("- After nine years the night train is back.")
    assert kagi.summarize(text="Short. Text.")["data"]["output"] == "Short. Text."


def test_kagiapi_asks_fastgpt_and_enrich(kagi: Any) -> None:
    assert kagi.fastgpt("night train")["data"]["references"]
    assert kagi.enrich("night train")["data"][0]["rank"] == 1


def test_kagiapi_raises_on_a_bad_key(kagi: Any) -> None:
    kagi.session.headers["Authorization"] = "Bot wrong"
    with pytest.raises(Exception, match="401 Client Error"):
        kagi.search("x")
