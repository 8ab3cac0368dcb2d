"""`webtools search`, `fetch` and `summarize`."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from cli_calls import Cli
from timeless import timeless

from webtools import WebTools

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer


def first_url(cli: Cli, config: str) -> str:
    url: str = cli("search", "heap", "--json", "--config", config).json["results"][0]["url"]
    return url


def test_search_prints_what_a_model_would_read(cli: Cli, config: str) -> None:
    result = cli("search", "heap queue", "--limit", "2", "--config", config)
    with WebTools(config=config) as web:
        expected = web.call_tool("web_search", {"query": "heap queue", "limit": 2}).text
    assert (result.code, result.out, result.err) == (0, expected + "\n", "")


def test_map_lists_the_pages_of_a_site(cli: Cli, config: str, tmp_path: Path) -> None:
    page = first_url(cli, config)
    options = {"allowPrivateHosts": [urlsplit(page).netloc]}
    providers = [{"name": "direct", "type": "direct", "options": options}]
    path = tmp_path / "direct.json"
    path.write_text(json.dumps({"providers": providers}))
    arguments = ("map", page, "--find", "json", "--limit", "3", "--config", str(path))
    result = cli(*arguments)
    assert (result.code, result.out[:3]) == (0, "1. ")
    results = cli(*arguments, "--json").json["results"]
    assert len(results) <= 3
    assert {"url", "title", "from"} == results[0].keys()


def test_json_prints_the_details_of_a_model_s_call(cli: Cli, config: str) -> None:
    result = cli("search", "heap queue", "--json", "--config", config)
    with WebTools(config=config) as web:
        details = web.call_tool("web_search", {"query": "heap queue"}).details
        assert timeless(result.json) == timeless(details)
    assert (result.code, result.err) == (0, "")


def test_every_search_option_reaches_the_tool(
    cli: Cli, config: str, webtools_sandbox: SandboxServer
) -> None:
    words = "search structured concurrency --limit 3 --category news --provider exa"
    dates = "--start-published-date 2026-01-01 --end-published-date 2026-12-31"
    domains = "--include-domain localhost --include-domain b.example --exclude-domain c.example"
    result = cli(*f"{words} {dates} {domains}".split(), "--json", "--config", config)
    assert result.json["queries"] == ["structured", "concurrency"]
    assert result.json["filters"].keys() == {
        "include_domains",
        "exclude_domains",
        "start_published_date",
        "end_published_date",
        "category",
    }
    sent = webtools_sandbox.stats()["last"][0]["body"]
    assert sent["numResults"] >= 3
    assert sent["includeDomains"] == ["localhost", "b.example"]
    assert sent["excludeDomains"] == ["c.example"]
    assert sent["category"] == "news"


def test_what_follows_two_dashes_is_a_query_whatever_it_looks_like(cli: Cli, config: str) -> None:
    result = cli("search", "heap", "--json", "--config", config, "--", "-x", "--json", "-")
    assert result.json["queries"] == ["heap", "-x", "--json", "-"]


def test_a_dash_reads_the_queries_from_stdin(
    cli: Cli, config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("heap\n\n  queue \n"))
    result = cli("search", "first", "-", "--json", "--config", config)
    assert result.json["queries"] == ["first", "heap", "queue"]


def test_every_fetch_option_reaches_the_tool(cli: Cli, config: str) -> None:
    options = ("--text", "--highlights", "--summary", "--text-max-characters", "40")
    result = cli("fetch", first_url(cli, config), *options, "--json", "--config", config)
    page = result.json["results"][0]
    assert page["summary"]
    assert page["highlights"]
    assert 0 < len(page["text"]) <= 40


def test_every_summarize_option_reaches_the_tool(cli: Cli, config: str) -> None:
    options = ("--summary-type", "takeaway", "--engine", "agnes", "--target-language", "de")
    result = cli("summarize", first_url(cli, config), *options, "--json", "--config", config)
    assert result.json["summary_type"] == "takeaway"
    assert result.json["engine"] == "agnes"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search"], "QUERY"),
        (["search", " "], 'query " "'),
        (["search", "x", "--limit", "many"], 'limit "many"'),
        (["search", "x", "--limit", "-1"], 'limit "-1"'),
        (["search", "x", "--limit"], "-n/--limit"),
        (["search", "x", "--start-published-date", "soon"], '"soon"'),
        (["search", "x", "--category", "cats"], '"cats"'),
        (["search", "x", "--lim", "3"], "--lim 3"),
        (["search", "x", "--provider", "absent"], 'provider "absent"'),
        (["fetch", "example.com"], '"example.com"'),
        (["summarize", "https://a.example", "--engine", "muriel"], 'engine "muriel"'),
        (["summarize", "https://a.example", "--summary-type", "haiku"], 'summary_type "haiku"'),
    ],
)
def test_a_usage_error_is_exit_2_and_one_message(
    cli: Cli, config: str, arguments: list[str], message: str
) -> None:
    result = cli(*arguments, *(["--config", config] if arguments[-1] != "--limit" else []))
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("webtools: ")
    assert message in result.err


@pytest.mark.parametrize("status", [400, 401, 402, 422])
def test_a_refusal_by_the_provider_is_exit_1(
    cli: Cli, config: str, webtools_sandbox: SandboxServer, status: int
) -> None:
    webtools_sandbox.fault(status=status, times=None)
    result = cli("search", "x", "--provider", "exa", "--config", config)
    assert (result.code, result.out) == (1, "")
    assert f"HTTP {status}" in result.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["search", "x", "--limit", "-1"], (2, "InputError")),
        (["search", "x", "--nonsense"], (2, "InputError")),
        (["search"], (2, "InputError")),
        (["search", "x", "--provider", "absent"], (2, "ConfigError")),
        (["search", "x"], (1, "AuthenticationError")),
    ],
)
def test_with_json_an_error_is_one_document_too(
    cli: Cli,
    config: str,
    webtools_sandbox: SandboxServer,
    arguments: list[str],
    expected: tuple[int, str],
) -> None:
    webtools_sandbox.fault(status=401, times=None)
    result = cli(*arguments, "--config", config, "--json")
    assert (result.code, result.json["error"]["type"]) == expected
    assert result.json["error"]["message"] in result.err


def test_one_failing_query_of_several_is_exit_0(
    cli: Cli, config: str, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=400, containing="bad", times=None)
    result = cli("search", "heap", "bad", "--config", config)
    assert (result.code, result.err) == (0, "")
    assert 'Query "bad" failed: ' in result.out


@pytest.mark.parametrize("arguments", [["search", "heap"], ["search", "heap", "--json"]])
@pytest.mark.parametrize("echo", [False, True])
def test_no_key_is_ever_printed(
    cli: Cli, config: str, webtools_sandbox: SandboxServer, arguments: list[str], echo: bool
) -> None:
    if echo:
        webtools_sandbox.fault(body="echo", times=None)
    result = cli(*arguments, "--config", config)
    assert result.code == int(echo)
    assert "test-key" not in result.out + result.err


@pytest.mark.usefixtures("own_temp")
def test_text_for_models_alone_is_not_printed(
    cli: Cli, config: str, webtools_sandbox: SandboxServer
) -> None:
    url = f"{webtools_sandbox.docs_url}/library/asyncio.html"
    text = "word " * 20_000
    hit = {"id": url, "url": url, "title": "T", "text": text}
    body = {"results": [hit], "statuses": [{"id": url, "status": "success"}]}
    webtools_sandbox.fault(body=json.dumps(body).encode(), times=None)
    out = cli("fetch", url, "--config", config).out
    assert out.startswith("## T\n")
    assert re.search(r"\n\[Output truncated: .*\]\n\[Read on: ", out)
    assert "untrusted" not in out
    assert "web_read" not in out


@pytest.mark.usefixtures("own_temp")
def test_of_several_queries_with_long_answers_each_is_shown_under_its_name(
    cli: Cli, config: str, webtools_sandbox: SandboxServer
) -> None:
    hits = [
        {"id": f"https://a.example/{n}", "url": f"https://a.example/{n}", "title": f"T{n}"}
        | {"highlights": ["word " * 300]}
        for n in range(40)
    ]
    webtools_sandbox.fault(body=json.dumps({"results": hits}).encode(), times=None)
    result = cli("search", "first", "second", "--limit", "40", "--config", config)
    assert result.code == 0
    assert result.out.startswith('"first":\n\n1. T0\n')
    assert '\n\n"second":\n\n1. T0\n' in result.out
    assert len(result.out.encode()) < 52_000
    output, complete, path = re.findall(
        r"\n\[Output truncated: showing (\d+) of (\d+) lines.* saved to: (.*)\]\n\[Read on: ",
        result.out,
    )[0]
    assert int(output) < int(complete)
    assert "T39" in Path(path).read_text()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_that_lacks_a_character_still_gets_the_rest(
    config: str, monkeypatch: pytest.MonkeyPatch, cli: Cli, encoding: str
) -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding=encoding)
    monkeypatch.setattr("sys.stdout", stream)
    assert cli("search", "heapq ☃", "--config", config).code == 0
    assert b"/docs/library/heapq.html" in written.getvalue()


def test_json_loses_nothing_on_a_terminal_that_is_not_utf_8(
    config: str, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="latin-1"))
    cli("search", "heapq ☃", "--json", "--config", config)
    assert json.loads(written.getvalue())["queries"] == ["heapq ☃"]


@pytest.mark.parametrize("options", [(), ("--json",), ("-o",)])
def test_a_fetch_that_failed_in_part_says_so_on_stderr(
    cli: Cli, config: str, webtools_sandbox: SandboxServer, tmp_path: Path, options: tuple[str, ...]
) -> None:
    good, gone = (f"{webtools_sandbox.docs_url}/library/{name}.html" for name in ("json", "gone"))
    file = [str(tmp_path / "pages.md")] if options == ("-o",) else []
    result = cli("fetch", good, gone, "--config", config, *options, *file)
    assert result.code == 0
    assert f"1 of 2 pages failed: {gone}" in result.err
    assert "failed" not in cli("fetch", good, "--config", config).err


@pytest.mark.parametrize("name", ["rows.csv", "rows.CSV", "rows.parquet", "rows.xlsx", "rows.json"])
def test_an_output_in_another_format_is_refused_before_the_call(
    cli: Cli, config: str, webtools_sandbox: SandboxServer, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    result = cli("search", "json", "-o", str(path), "--config", config)
    assert (result.code, result.out, path.exists()) == (2, "", False)
    assert all(suffix in result.err for suffix in (name, ".md", ".txt", ".json"))
    assert webtools_sandbox.stats()["requests"] == {}


def test_json_is_written_to_a_json_file(cli: Cli, config: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    assert cli("search", "json", "--json", "-o", str(path), "--config", config).code == 0
    assert json.loads(path.read_text("utf-8"))["result_count"] > 0
