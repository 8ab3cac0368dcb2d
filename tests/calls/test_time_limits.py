"""A time limit bounds a whole call, however many providers and retries it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from langchain_webtools import WebSearchTool
from llamaindex_webtools import web_search_tool
from webtools import ConfigError, InputError, RequestTimeoutError, WebTools
from webtools_sandbox import SandboxServer

LIMIT = 0.7  # seconds; no provider responds within its own time


@pytest.fixture
def slow(webtools_sandbox: SandboxServer) -> dict[str, Any]:
    webtools_sandbox.fault(delay=60.0, times=None)
    return {**webtools_sandbox.config(), "keyless": False}


Call = Callable[[WebTools, str, dict[str, Any]], Any]
BLOCKING: dict[str, Call] = {
    "search": lambda web, _, limit: web.search("apples", **limit),
    "several queries": lambda web, _, limit: web.search(["apples", "pears"], **limit),
    "fetch": lambda web, page, limit: web.fetch(page, **limit),
    "summarize": lambda web, page, limit: web.summarize(page, **limit),
    "research": lambda web, _, limit: web.research("apples", **limit),
    "web-deep": lambda web, _, limit: web.research("apples", command="web-deep", **limit),
    "verify": lambda web, page, limit: web.verify("A. [1]", [page], **limit),
}
ASYNC: dict[str, Call] = {
    "search": lambda web, _, limit: web.asearch("apples", **limit),
    "fetch": lambda web, page, limit: web.afetch(page, **limit),
    "summarize": lambda web, page, limit: web.asummarize(page, **limit),
    "research": lambda web, _, limit: web.aresearch("apples", **limit),
    "verify": lambda web, page, limit: web.averify("A. [1]", [page], **limit),
}


@pytest.mark.parametrize("source", ["argument", "settings"])
@pytest.mark.parametrize("tool", BLOCKING)
def test_a_call_ends_at_its_limit_and_names_it(
    slow: dict[str, Any], webtools_sandbox: SandboxServer, tool: str, source: str
) -> None:
    page = f"{webtools_sandbox.docs_url}/library/json.html"
    limit = {"timeout": LIMIT} if source == "argument" else {}
    settings = {} if limit else {"timeoutMs": 700}
    with (
        WebTools({**slow, **settings}) as web,
        pytest.raises(RequestTimeoutError, match=r"0\.7 s .*timeoutMs"),
    ):
        BLOCKING[tool](web, page, limit)


@pytest.mark.parametrize("tool", ASYNC)
def test_an_async_call_ends_at_its_limit_and_names_it(
    slow: dict[str, Any], webtools_sandbox: SandboxServer, tool: str
) -> None:
    page = f"{webtools_sandbox.docs_url}/library/json.html"

    async def call() -> None:
        async with WebTools(slow) as web:
            await ASYNC[tool](web, page, {"timeout": LIMIT})

    with pytest.raises(RequestTimeoutError, match=r"0\.7 s .*timeoutMs"):
        asyncio.run(call())


def test_the_argument_replaces_the_setting(slow: dict[str, Any]) -> None:
    with (
        WebTools({**slow, "timeoutMs": 600_000}) as web,
        pytest.raises(RequestTimeoutError, match=r"0\.7 s"),
    ):
        web.search("apples", timeout=LIMIT)


def test_tools_have_the_limit(slow: dict[str, Any]) -> None:
    with WebTools(slow) as web:
        results = [
            web.call_tool("web_search", {"query": "apples"}, timeout=LIMIT).text,
            WebSearchTool(web=web, timeout=LIMIT).invoke("apples"),
            str(web_search_tool(web, timeout=LIMIT).call(queries=["apples"])),
        ]
    assert ["0.7 s" in str(result) for result in results] == [True] * 3


@pytest.mark.parametrize("value", [0, -1, True, float("nan"), float("inf"), "soon"])
def test_an_invalid_limit_is_refused_before_any_request(
    slow: dict[str, Any], webtools_sandbox: SandboxServer, value: Any
) -> None:
    with WebTools(slow) as web:
        with pytest.raises(InputError, match="timeout"):
            web.search("apples", timeout=value)
        with pytest.raises(InputError, match="timeout"):
            web.verify("A. [1]", ["https://a.example/"], timeout=value)
    with pytest.raises(ConfigError, match="timeoutMs"):
        WebTools({**slow, "timeoutMs": 0})
    assert webtools_sandbox.stats()["requests"] == {}


def test_a_call_within_its_limit_is_not_changed(webtools_sandbox: SandboxServer) -> None:
    with WebTools(webtools_sandbox.config()) as web:
        assert web.search("json decoder", timeout=60).results
