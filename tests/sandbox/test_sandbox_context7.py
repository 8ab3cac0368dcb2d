from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sandbox_caller import Caller

from webtools_sandbox import CONTEXT7_KEY, SandboxServer

Context7 = Callable[..., httpx.Response]


@pytest.fixture
def context7(caller: Caller) -> Context7:
    def call(path: str, *, key: str | None = CONTEXT7_KEY, **params: Any) -> httpx.Response:
        url = f"{caller.server.base_url('context7')}/api/{path}"
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return caller.http.get(url, params=params, headers=headers)

    return call


def libraries(response: httpx.Response) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    return list(response.json()["results"])


def error(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    found: dict[str, Any] = response.json()
    assert (response.status_code, found["error"]) == (status, code)
    assert found["message"]
    return found


def snippets(response: httpx.Response) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    body = response.json()
    return [*body["codeSnippets"], *body["infoSnippets"]]


FIND = {"libraryName": "json", "query": "decode a document"}
ASK = {"libraryId": "/python/json", "query": "decode a document", "type": "json"}


# --- keys --------------------------------------------------------------------------------------


def test_a_key_is_optional(context7: Context7) -> None:
    assert libraries(context7("v2/libs/search", key=None, **FIND))
    assert snippets(context7("v2/context", key=None, **ASK))


@pytest.mark.parametrize("key", ["wrong", "test-key-exa"])
def test_a_wrong_key_is_told_how_keys_begin(context7: Context7, key: str) -> None:
    found = error(context7("v2/context", key=key, **ASK), 401, "invalid_api_key")
    assert "ctx7sk" in found["message"]


def test_a_key_without_credit_gets_402(context7: Context7) -> None:
    key = f"{CONTEXT7_KEY}-no-credit"
    error(context7("v2/context", key=key, **ASK), 402, "spending_limit_exceeded")


# --- libraries ---------------------------------------------------------------------------------


def test_libraries_share_a_word_with_the_name_and_the_best_is_first(context7: Context7) -> None:
    found = libraries(context7("v2/libs/search", libraryName="python json", query="decode"))
    assert found[0]["id"] == "/python/json"
    assert len(found) > 3
    assert libraries(context7("v2/libs/search", libraryName="qqq", query="x")) == []


def test_what_is_not_known_is_minus_one_or_missing(context7: Context7) -> None:
    known, unknown = (
        libraries(context7("v2/libs/search", libraryName=name, query="x"))[0]
        for name in ("json", "pathlib")
    )
    assert known["versions"] == ["v3.13", "v3.12", "3.10", "v2.7"]
    assert (known["trustScore"], known["stars"], known["state"]) == (9.5, 60_000, "finalized")
    assert known["totalSnippets"] > 5
    assert (unknown["trustScore"], unknown["totalTokens"], unknown["totalSnippets"]) == (-1, -1, -1)
    assert not {"stars", "versions"} & unknown.keys()


def test_a_library_in_preparation_is_listed_with_its_state(context7: Context7) -> None:
    found = libraries(context7("v2/libs/search", libraryName="sched", query="x"))
    assert [(each["id"], each["state"]) for each in found] == [("/python/sched", "processing")]
    asked = ASK | {"libraryId": "/python/sched"}
    error(context7("v2/context", **asked), 202, "library_not_finalized")


# --- snippets ----------------------------------------------------------------------------------


def test_snippets_fit_the_question_and_name_their_source(context7: Context7) -> None:
    found = snippets(context7("v2/context", **ASK))
    assert found
    urls = [each.get("codeId") or each["pageId"] for each in found]
    assert all("/docs/library/json" in url for url in urls)
    rules = context7("v2/context", **ASK).json()["rules"]
    assert "premium" in rules["libraryOwn"][0]


def test_code_has_its_blocks(context7: Context7) -> None:
    asked = {"libraryId": "/python/json", "query": "javascript object notation"}
    body = context7("v2/context", **asked, type="json").json()
    (first, *_) = body["codeSnippets"]
    assert first["codeList"][0]["code"].startswith(">>>")
    assert "#_snippet_" in first["codeId"]


def test_text_is_the_default(context7: Context7) -> None:
    response = context7("v2/context", libraryId="/python/json", query="decode a document")
    assert response.headers["content-type"].startswith("text/plain")
    assert response.text.startswith("### ")
    assert "\n\nSource: http" in response.text
    assert "\n\n--------------------------------\n\n### " in response.text


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"libraryId": "json"}, 400, "invalid_library_id"),
        ({"libraryId": "/python"}, 400, "invalid_library_id"),
        ({"libraryId": "/python/json/1/2"}, 400, "invalid_library_id"),
        ({"libraryId": ""}, 400, "validation_error"),
        ({"query": ""}, 400, "validation_error"),
        ({"query": "x" * 501}, 400, "validation_error"),
        ({"type": "xml"}, 400, "validation_error"),
        ({"fast": "maybe"}, 400, "validation_error"),
        ({"libraryId": "/acme/private"}, 403, "access_denied"),
        ({"libraryId": "/acme/gone"}, 404, "library_not_found"),
        ({"query": "qqq"}, 404, "no_snippets_found"),
    ],
)
def test_what_is_refused(
    context7: Context7, changes: dict[str, str], status: int, code: str
) -> None:
    error(context7("v2/context", **(ASK | changes)), status, code)


@pytest.mark.parametrize("name", ["libraryName", "query"])
def test_a_search_for_libraries_needs_a_name_and_a_question(context7: Context7, name: str) -> None:
    found = error(context7("v2/libs/search", **(FIND | {name: ""})), 400, "validation_error")
    assert name in found["message"]


@pytest.mark.parametrize("pin", ["@v3.12", "/v3.12", "@3.10"])
def test_a_version_can_be_pinned(context7: Context7, pin: str) -> None:
    assert snippets(context7("v2/context", **(ASK | {"libraryId": f"/python/json{pin}"})))


@pytest.mark.parametrize("tag", ["v2.7", "v9"])
def test_a_tag_that_is_not_there_is_404_even_when_it_is_listed(
    context7: Context7, tag: str
) -> None:
    asked = ASK | {"libraryId": f"/python/json@{tag}"}
    found = error(context7("v2/context", **asked), 404, "tag_not_found")
    assert "Available tags: v3.13, v3.12, 3.10" in found["message"]


def test_a_library_that_moved_names_its_new_id_and_no_location(context7: Context7) -> None:
    response = context7("v2/context", **(ASK | {"libraryId": "/cpython/unittest"}))
    found = error(response, 301, "library_redirected")
    assert found["redirectUrl"] == "/python/unittest"
    assert "location" not in response.headers
    assert snippets(
        context7("v2/context", libraryId=found["redirectUrl"], query="mock", type="json")
    )


# --- v3 ----------------------------------------------------------------------------------------


def test_several_libraries_are_searched_at_once(context7: Context7) -> None:
    params = {"query": "decode mock", "library": ["/python/json", "unittest"]}
    response = context7("v3/search", **params)
    found = {each["libraryId"] for each in snippets(response)}
    assert found == {"/python/json", "/python/unittest"}
    assert response.headers["x-context7-search-status"] == "complete"


def test_a_library_that_fails_makes_the_answer_a_partial_one(context7: Context7) -> None:
    response = context7("v3/search", query="decode", library=["/python/json", "qqq"])
    assert snippets(response)
    assert response.headers["x-context7-search-status"] == "partial"
    assert response.headers["x-context7-search-reason"] == "partialSearchFailure"


def test_v3_refuses_more_than_four_libraries_and_finds_nothing_for_nonsense(
    context7: Context7,
) -> None:
    found = error(context7("v3/search", query="x", library=["a"] * 5), 400, "validation_error")
    assert found["message"] == "Too big: expected array to have <=4 items"
    error(context7("v3/search", query="qqq"), 404, "no_documentation_found")
    assert snippets(context7("v3/search", query="json decoder"))


# --- faults ------------------------------------------------------------------------------------


def test_faults_and_unknown_paths_have_the_api_s_own_body(
    context7: Context7, webtools_sandbox: SandboxServer
) -> None:
    error(context7("v2/nothing"), 404, "library_not_found")
    codes = {202: "library_not_finalized", 429: "rate_limit_exceeded", 503: "search_failed"}
    for status, code in codes.items():
        webtools_sandbox.fault(provider="context7", status=status)
        error(context7("v2/context", **ASK), status, code)
    webtools_sandbox.fault(provider="context7", status=301)
    moved = error(context7("v2/context", **ASK), 301, "library_redirected")
    assert moved["redirectUrl"] == "/python/unittest"
    webtools_sandbox.fault(provider="context7", body="echo")
    assert CONTEXT7_KEY in error(context7("v2/context", **ASK), 401, "invalid_api_key")["message"]
    assert snippets(context7("v2/context", **ASK))


def test_the_same_request_gets_the_same_bytes(context7: Context7) -> None:
    first, second = (context7("v2/context", **ASK) for _ in range(2))
    assert first.content == second.content


# --- the official clients ----------------------------------------------------------------------

_SDK_SCRIPT = """
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
    script.write_text(_SDK_SCRIPT)
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
