"""The official clients of the providers, and well-known ones, work with the sandbox."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from side_installs import why_missing

from webtools_sandbox import (
    BRAVE_KEY,
    CONTEXT7_KEY,
    EXA_KEY,
    KAGI_V0_KEY,
    LINKUP_KEY,
    PARALLEL_KEY,
    PERPLEXITY_KEY,
    SandboxServer,
)

exa_py: Any = pytest.importorskip("exa_py")
kagiapi: Any = pytest.importorskip("kagiapi")
linkup: Any = pytest.importorskip("linkup")
parallel: Any = pytest.importorskip("parallel")
perplexity: Any = pytest.importorskip("perplexity")

# --- Exa -----------------------------------------------------------------------------------------


@pytest.fixture
def exa(webtools_sandbox: SandboxServer) -> Any:
    return exa_py.Exa(EXA_KEY, base_url=webtools_sandbox.base_url("exa"))


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


async def test_exa_py_works_async(webtools_sandbox: SandboxServer) -> None:
    async with exa_py.AsyncExa(EXA_KEY, webtools_sandbox.base_url("exa")) as client:
        answer = await client.search("night train", num_results=2)
        urls = [answer.results[0].url, f"{webtools_sandbox.docs_url}/missing.html"]
        contents = await client.get_contents(urls, text=True)
    assert [status.status for status in contents.statuses] == ["success", "error"]
    assert contents.results[0].author == "Petra Lund"


# --- Kagi ----------------------------------------------------------------------------------------


@pytest.fixture
def kagi(webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch) -> Any:
    base = f"{webtools_sandbox.base_url('kagi')}/api/v0"
    monkeypatch.setattr(kagiapi.KagiClient, "BASE_URL", base)
    client = kagiapi.KagiClient(KAGI_V0_KEY)
    yield client
    client.session.close()


def test_kagiapi_searches(kagi: Any) -> None:
    answer = kagi.search("night train", limit=2)
    assert [item["t"] for item in answer["data"]] == [0, 0, 1]
    assert answer["data"][0]["published"] == "2026-03-11T17:45:00"


def test_kagiapi_summarizes(kagi: Any, webtools_sandbox: SandboxServer) -> None:
    url = f"{webtools_sandbox.news_url}/2026/03/night-train-returns.html"
    answer = kagi.summarize(url=url, summary_type="takeaway", target_language="DE")
    assert answer["data"]["output"].startswith("- After nine years the night train is back.")


def test_kagiapi_raises_on_a_bad_key(kagi: Any) -> None:
    kagi.session.headers["Authorization"] = "Bot wrong"
    with pytest.raises(Exception, match="401 Client Error"):
        kagi.search("x")


# --- Brave ---------------------------------------------------------------------------------------

# In a process of its own: the client starts logging and reads options when it is imported.
_BRAVE_SCRIPT = """
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
def test_brave_search_python_client_works(
    webtools_sandbox: SandboxServer,
) -> None:
    def run(key: str) -> dict[str, Any]:
        command = [sys.executable, "-c", _BRAVE_SCRIPT, webtools_sandbox.base_url("brave"), key]
        ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
        return found

    found = run(BRAVE_KEY)
    assert len(found["web"]) == 2
    assert found["dates"][0] == "2026-03-11T17:45:00"
    assert urlsplit(found["news"][0]).path == "/news/2026/03/night-train-returns.html"
    assert "422 Unprocessable" in run("wrong")["error"]


# --- Perplexity ----------------------------------------------------------------------------------

QUESTION = (
    "Question: When does the night train return?\n\nSources:\n\n"
    "[1] Trains\n    https://a.example/1\n    The night train returns in May."
)

# The client constructs its models in a way that pydantic discourages.
of_the_client = pytest.mark.filterwarnings("ignore:The `construct` method is deprecated")


@pytest.fixture
def official(webtools_sandbox: SandboxServer) -> Iterator[Any]:
    url = webtools_sandbox.base_url("perplexity")
    with perplexity.Perplexity(api_key=PERPLEXITY_KEY, base_url=url, max_retries=1) as client:
        yield client


@of_the_client
def test_the_official_client_searches(official: Any) -> None:
    answer = official.search.create(query="night train", max_results=2)
    assert answer.results[0].date == "2026-03-11"


@of_the_client
def test_the_official_client_gets_an_answer(official: Any) -> None:
    answer = official.responses.create(
        preset="fast", input=QUESTION, store=False, tool_choice="none"
    )
    assert answer.status == "completed"
    assert "[1]" in answer.output_text
    assert answer.usage.cost.total_cost > 0
    assert not answer.store


@of_the_client
def test_the_official_client_raises_what_the_api_refuses(official: Any) -> None:
    with pytest.raises(perplexity.BadRequestError, match="max_results"):
        official.search.create(query="x", max_results=21)
    with pytest.raises(perplexity.AuthenticationError):
        official.with_options(api_key="wrong").search.create(query="x")


@of_the_client
def test_the_official_client_tries_again(official: Any, webtools_sandbox: SandboxServer) -> None:
    webtools_sandbox.fault(provider="perplexity", status=429, headers={"retry-after-ms": "10"})
    assert official.search.create(query="json").results
    assert webtools_sandbox.stats()["requests"]["/perplexity/search"] == 2


# --- Context7 ------------------------------------------------------------------------------------

_CONTEXT7_SCRIPT = """
import { Context7 } from "@upstash/context7-sdk";
const [url, apiKey] = process.argv.slice(2);
const client = new Context7({ apiKey });
client.httpClient.baseUrl = `${url}/api`;
const failed = (call) => call.then(() => "", (error) => error.message);
const [library] = await client.searchLibrary("decode a document", "json");
console.log(JSON.stringify({
  library,
  docs: await client.getContext("decode a document", library.id),
  unknown: await failed(client.getContext("x", "/acme/gone")),
}));
"""


@pytest.fixture
def packages() -> Path:
    """Find the client, which exists for Node.js only. `make` installs it if npm is available."""
    folder = Path(sys.prefix, "node")
    if not (folder / "node_modules").is_dir() or shutil.which("node") is None:
        pytest.skip(f"the official Context7 client needs Node and npm{why_missing('node')}")
    return folder


def test_the_official_context7_client_works(
    packages: Path, webtools_sandbox: SandboxServer
) -> None:
    script = packages / "sdk.mjs"
    script.write_text(_CONTEXT7_SCRIPT)
    url = webtools_sandbox.base_url("context7")
    command = ["node", str(script), url, CONTEXT7_KEY]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    found = json.loads(ended.stdout)
    assert found["library"]["id"] == "/python/json"
    assert all(doc["title"] and doc["content"] for doc in found["docs"])
    assert all(doc["source"].startswith("http://127.0.0.1") for doc in found["docs"])
    assert found["unknown"] == "library_not_found"


# --- Linkup and Parallel --------------------------------------------------------------------------

RESULTS = {"depth": "standard", "output_type": "searchResults"}


def linkup_client(server: SandboxServer, key: str = LINKUP_KEY) -> Any:
    return linkup.LinkupClient(api_key=key, base_url=f"{server.base_url('linkup')}/v1")


def parallel_client(server: SandboxServer, key: str = PARALLEL_KEY) -> Any:
    return parallel.Parallel(api_key=key, base_url=server.base_url("parallel"), max_retries=0)


def test_linkup_sdk_searches(webtools_sandbox: SandboxServer) -> None:
    client = linkup_client(webtools_sandbox)
    match = client.search("heap queue", max_results=2, **RESULTS)
    assert match.results[0].url.endswith("heapq.html")


@pytest.mark.parametrize(
    ("query", "key", "error"),
    [
        ("qqqqzzzz", LINKUP_KEY, "LinkupNoResultError"),
        ("json", f"{LINKUP_KEY}-no-credit", "LinkupInsufficientCreditError"),
        ("json", "wrong", "LinkupAuthenticationError"),
    ],
)
def test_linkup_sdk_distinguishes_errors(
    webtools_sandbox: SandboxServer, query: str, key: str, error: str
) -> None:
    with pytest.raises(getattr(linkup, error)):
        linkup_client(webtools_sandbox, key).search(query, **RESULTS)


def test_parallel_sdk_searches(webtools_sandbox: SandboxServer) -> None:
    match = parallel_client(webtools_sandbox).search(
        search_queries=["json streaming parser"],
        advanced_settings={"max_results": 2, "source_policy": {"after_date": "2026-01-01"}},
    )
    assert match.results[0].publish_date == "2026-03-04"
    assert match.results[0].excerpts
    assert [(item.name, item.count) for item in match.usage] == [("sku_search", 1)]


def test_parallel_sdk_reads_pages_and_reports_failed_ones(
    webtools_sandbox: SandboxServer,
) -> None:
    page = f"{webtools_sandbox.docs_url}/library/json.html"
    gone = f"{webtools_sandbox.docs_url}/gone.html"
    found = parallel_client(webtools_sandbox).extract(
        urls=[page, gone], objective="decode", advanced_settings={"full_content": True}
    )
    assert found.results[0].full_content.startswith("# json")
    assert (found.errors[0].url, found.errors[0].http_status_code) == (gone, 404)


@pytest.mark.parametrize(("suffix", "status"), [("-no-credit", 402), ("-wrong", 401)])
def test_parallel_sdk_raises_on_an_unusable_key(
    webtools_sandbox: SandboxServer, suffix: str, status: int
) -> None:
    with pytest.raises(parallel.APIStatusError) as caught:
        parallel_client(webtools_sandbox, PARALLEL_KEY + suffix).search(search_queries=["json"])
    assert caught.value.status_code == status
