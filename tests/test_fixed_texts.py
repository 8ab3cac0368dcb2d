"""The texts that the design fixes word for word. Other tests do not assert wording."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from webtools import ConfigError, ProviderError, RequestError, ToolResult, WebTools
from webtools.config.environment import variables
from webtools.rendering import render_call, render_result, to_text
from webtools.truncation import format_size, notice

KAGI = {"kagi": "test-key-kagi-0001"}
EXA = {"exa": "test-key-exa-00001"}
PAGE = "https://a.example/"
NO_KAGI_KEY = "KAGI_API_KEY environment variable is not set."
NEEDED_KEYS = "need CONTEXT7_API_KEY, EXA_API_KEY, or BRAVE_API_KEY"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with neither a config file nor a key."""
    for name in [*variables(), "WEBTOOLS_CONFIG"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def answering(status: int = 200, body: Any = None, text: str | None = None) -> httpx.MockTransport:
    def answer(_: httpx.Request) -> httpx.Response:
        if text is not None:
            return httpx.Response(status, text=text)
        return httpx.Response(status, json=body)

    return httpx.MockTransport(answer)


# --- nothing is configured ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda web: web.search("match"),
            f"{NO_KAGI_KEY} Set it to your Kagi API key to use web search.",
        ),
        (
            lambda web: web.summarize(PAGE),
            f"{NO_KAGI_KEY} Set it to your Kagi API key to use summarize.",
        ),
        (
            lambda web: web.research("match"),
            f"web_research: no retrieval providers configured ({NEEDED_KEYS}).",
        ),
    ],
)
def test_the_first_sentence_without_any_provider(
    call: Callable[[WebTools], object], sentence: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        call(WebTools())
    assert str(caught.value).split("\n")[0] == sentence


@pytest.mark.parametrize("text", ["", "{", '{"providers": []}', '{"providers": 1, "x": 2}'])
def test_a_malformed_config_file_is_answered_with_its_place_and_an_example(
    home: Path, text: str
) -> None:
    example = (
        "A minimal valid example: "
        '{"providers": [{"name": "exa", "type": "exa", "apiKey": "YOUR_EXA_API_KEY", '
        '"options": {"searchHighlights": true}}]}'
    )
    place = home / "config/webtools/web-search.json"
    place.parent.mkdir(parents=True)
    place.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        WebTools().search("match")
    assert str(caught.value).split("\n")[1] == f"A config file belongs at {place}. {example}"

    named = home / "team.json"
    named.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        WebTools(named).search("match")
    assert str(caught.value).split("\n")[1] == example


# --- results and failures ----------------------------------------------------------------------


def test_a_search_without_results() -> None:
    web = WebTools(api_keys=EXA, transport=answering(body={"results": []}))
    result = web.call_tool("web_search", {"query": "match"})
    assert result.text == "No results found."
    assert not result.is_error


@pytest.mark.parametrize(
    ("transport", "sentence"),
    [
        (answering(400, text="no"), "Kagi API returned HTTP 400"),
        (
            answering(400, {"error": [{"code": 1, "msg": "first"}, {"code": 2, "msg": "second"}]}),
            "Kagi API returned HTTP 400: first, second",
        ),
        (
            answering(body={"error": [{"code": 7, "msg": "first"}, {"code": 8, "msg": "second"}]}),
            "Kagi API error: first, second",
        ),
        (answering(text="not JSON"), 'Failed to parse Kagi API response for "match"'),
    ],
)
def test_a_failed_search(transport: httpx.MockTransport, sentence: str) -> None:
    with pytest.raises(ProviderError) as caught:
        WebTools(api_keys=KAGI, transport=transport, cache=False).search("match")
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("transport", "sentence"),
    [
        (
            answering(body={"meta": {"id": "1"}, "data": {"output": "", "tokens": 0}}),
            f'Kagi API returned no summary for "{PAGE}"',
        ),
        (answering(text="not JSON"), f'Failed to parse Kagi API response for "{PAGE}"'),
    ],
)
def test_a_failed_summary(transport: httpx.MockTransport, sentence: str) -> None:
    with pytest.raises(ProviderError) as caught:
        WebTools(api_keys=KAGI, transport=transport, cache=False).summarize(PAGE)
    assert str(caught.value).startswith(sentence)


def test_a_network_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    monkeypatch.setattr("webtools._internal.pipeline.retries.FIRST_DELAY", 0.0)
    web = WebTools(api_keys=KAGI, transport=httpx.MockTransport(refuse), cache=False)
    with pytest.raises(RequestError) as caught:
        web.search("match")
    assert str(caught.value).startswith('Network error while searching for "match": ')
    with pytest.raises(RequestError) as caught:
        web.summarize(PAGE)
    assert str(caught.value).startswith(f'Network error while summarizing "{PAGE}": ')


# --- truncation --------------------------------------------------------------------------------


def test_the_notice_of_a_truncated_output() -> None:
    assert notice(3, 10, 1280, 4096, "/tmp/output.txt") == (
        "[Output truncated: showing 3 of 10 lines (1.3KB of 4.0KB). 7 lines (2.8KB) omitted. "
        "Full output saved to: /tmp/output.txt]"
    )


def test_sizes() -> None:
    sizes = {1023: "1023B", 1280: "1.3KB", 1_048_575: "1024.0KB", 1_048_576: "1.0MB"}
    assert {size: format_size(size) for size in sizes} == sizes


# --- confidence of research --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "count", "sentence"),
    [
        ("heap queue", 0, "No sources returned from configured providers."),
        ("heap queue", 1, "Only one source found. Cross-check before relying on it."),
        ("heap queue", 2, "Limited source count."),
        ("latest heap queue", 2, "No clearly recent sources found within ~30 days."),
    ],
)
def test_the_uncertainty_of_research(query: str, count: int, sentence: str) -> None:
    results = [
        {"id": str(i), "title": f"Heap queue {i}", "url": f"https://site{i}.example/heap"}
        for i in range(count)
    ]
    web = WebTools(api_keys=EXA, transport=answering(body={"results": results}))
    assert web.research(query).meta.uncertainty == sentence


def test_the_uncertainty_of_one_recent_source() -> None:
    results = [
        {"id": "1", "title": "Heap queue", "url": "https://site1.example/heap"},
        {"id": "2", "title": "Heap queue", "url": "https://site2.example/heap"},
    ]
    results[0]["publishedDate"] = datetime.now(UTC).isoformat()
    web = WebTools(api_keys=EXA, transport=answering(body={"results": results}))
    uncertainty = web.research("latest heap queue", recency_days=7).meta.uncertainty
    assert uncertainty == "Only 1 recent source found within ~7 days."


# --- rendering ---------------------------------------------------------------------------------


def render(tool: str, result: ToolResult | None, **how: Any) -> list[str]:
    return to_text(render_result(tool, result, **how), 200).split("\n")


@pytest.mark.parametrize(
    ("tool", "arguments", "line"),
    [
        ("web_search", {"queries": ["q1", "q2"]}, 'web_search "q1", "q2"'),
        ("summarize", {"url": PAGE}, f'summarize "{PAGE}"'),
        (
            "summarize",
            {"url": PAGE, "summary_type": "takeaway", "engine": "agnes"},
            f'summarize "{PAGE}" (agnes, takeaway)',
        ),
    ],
)
def test_a_call_as_people_see_it(tool: str, arguments: dict[str, Any], line: str) -> None:
    assert to_text(render_call(tool, arguments), 200) == line


def test_a_running_call_as_people_see_it() -> None:
    assert render("web_search", None, partial=True) == ["Searching..."]
    assert render("summarize", None, partial=True) == ["Summarizing..."]


def test_a_search_result_as_people_see_it() -> None:
    hits = [{"id": str(i), "title": "Title", "url": f"https://s{i}.example/"} for i in range(2)]
    web = WebTools(api_keys=EXA, transport=answering(body={"results": hits}))
    result = web.call_tool("web_search", {"query": "match"})
    assert render("web_search", result) == ["2 results"]
    cut = {"truncation": {"total_lines": 1}, "full_output_path": "/tmp/output.txt"}
    truncated = ToolResult(result.text, {**result.details, **cut})
    assert render("web_search", truncated) == ["2 results (truncated)"]
    assert render("web_search", truncated, expanded=True)[-1] == "Full output: /tmp/output.txt"


def test_a_summary_as_people_see_it() -> None:
    body = {"meta": {"id": "1"}, "data": {"output": "A summary.", "tokens": 12}}
    web = WebTools(api_keys=KAGI, transport=answering(body=body))
    result = web.call_tool("summarize", {"url": PAGE, "engine": "agnes"})
    assert render("summarize", result) == ["agnes · summary · 12 tokens"]
    empty = ToolResult(" ", {**result.details, "tokens": 0})
    assert render("summarize", empty) == ["No summary available"]


def test_a_failure_as_people_see_it() -> None:
    result = WebTools().call_tool("web_search", {"query": " "})
    reason = result.details["error"]["message"]
    assert render("web_search", result)[0] == f"Error: {reason}"
