"""Clients that others wrote talk to the sandbox, and take it for the real thing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from webtools_sandbox import (
    BRAVE_KEY,
    CONTEXT7_KEY,
    EXA_KEY,
    KAGI_V0_KEY,
    PERPLEXITY_KEY,
    SandboxServer,
)

exa_py: Any = pytest.importorskip("exa_py")
kagiapi: Any = pytest.importorskip("kagiapi")
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
def test_the_client_brave_search_python_client_takes_it_for_the_real_thing(
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

QUESTION = {"preset": "fast", "input": "When does the night train return?"}

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
    assert official.search.create(query=["night train", "json"]).results[0][0].title


@of_the_client
def test_the_official_client_gets_an_answer(official: Any) -> None:
    answer = official.responses.create(**QUESTION, store=False)
    assert answer.status == "completed"
    assert "[1]" in answer.output_text
    assert answer.usage.cost.total_cost > 0
    assert not answer.store


@of_the_client
def test_the_official_client_raises_what_the_api_refuses(official: Any) -> None:
    with pytest.raises(perplexity.BadRequestError, match="max_results"):
        official.search.create(query="x", max_results=21)
    with pytest.raises(perplexity.PermissionDeniedError, match="chat_completions_not_available"):
        official.chat.completions.create(model="sonar", messages=[{"role": "user", "content": "x"}])
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
  text: await client.getContext("decode a document", library.id, { type: "txt" }),
  unknown: await failed(client.getContext("x", "/acme/gone")),
}));
"""


@pytest.fixture
def packages() -> Path:
    """Find the clients, which exist for Node.js only; the Makefile installs them where npm is."""
    folder = Path(sys.prefix, "node")
    if not (folder / "node_modules").is_dir() or shutil.which("node") is None:
        pytest.skip("the official Context7 clients are not installed: make needs npm for them")
    return folder


def test_the_official_sdk_takes_it_for_the_real_thing(
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
    assert found["text"].startswith("### ")
    assert found["unknown"] == "library_not_found"


@pytest.fixture
def ask_mcp(packages: Path, webtools_sandbox: SandboxServer) -> Iterator[Callable[..., str]]:
    """Talk to the official MCP server over its standard input and output."""
    server = packages / "node_modules/@upstash/context7-mcp/dist/index.js"
    with subprocess.Popen(
        ["node", str(server), "--api-key", CONTEXT7_KEY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "CONTEXT7_API_URL": f"{webtools_sandbox.base_url('context7')}/api"},
    ) as process:

        def ask(method: str, **params: Any) -> Any:
            assert process.stdin is not None
            assert process.stdout is not None
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())["result"]

        about = {"name": "test", "version": "1"}
        ask("initialize", protocolVersion="2025-03-26", capabilities={}, clientInfo=about)
        yield lambda name, **arguments: ask("tools/call", name=name, arguments=arguments)[
            "content"
        ][0]["text"]
        process.terminate()


def test_the_official_mcp_server_takes_it_for_the_real_thing(ask_mcp: Callable[..., str]) -> None:
    found = ask_mcp("resolve-library-id", libraryName="json", query="decode a document")
    assert "Context7-compatible library ID: /python/json" in found
    assert "Versions: v3.13, v3.12, 3.10, v2.7" in found
    docs = ask_mcp("query-docs", libraryId="/python/json", query="decode a document")
    assert docs.startswith("### ")
    assert "does not exist" in ask_mcp("query-docs", libraryId="/acme/gone", query="x")
