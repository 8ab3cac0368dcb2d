"""A hostile result set is harmless wherever it goes: models, data, terminals, notebooks, logs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import hostile_corpus as corpus
import pytest
from hostile_calls import BAD, GOOD, NAMES, SEARCHERS, SHOWN, Ground, Make, Outcome, grounds
from hostile_checks import (
    ENDS,
    FENCED,
    MARKDOWN,
    RICH,
    WEB,
    addresses_in,
    assert_fenced,
    assert_inert,
    assert_links,
    parts,
    strings_of,
    tricks_in,
)
from hostile_corpus import FORGED, QUERY, URLS
from llama_index.core.schema import MetadataMode, QueryBundle
from markdown_it import MarkdownIt

from langchain_webtools import (
    WebPageLoader,
    WebSearchRetriever,
    WebToolkit,
    as_search_results,
)
from llamaindex_webtools import (
    FetchPagePostprocessor,
    WebPageReader,
    WebRetriever,
    WebToolsSpec,
)
from webtools import logs
from webtools.fencing import STATEMENT, WORDS
from webtools.rendering import render_call, render_result, to_text
from webtools.results import SearchResponse, SearchResult
from webtools.tools import ToolResult
from webtools.truncation import MAX_BYTES, MAX_LINES
from webtools_sandbox import SandboxServer

HOME = "https://context7.com/"  # what Context7 gives no address of its own is found there
NOTICE = 1024  # bytes that the notice of a cut may take beyond the budget


@pytest.fixture(scope="module")
def make(
    webtools_sandbox_server: SandboxServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Make]:
    with grounds(webtools_sandbox_server, tmp_path_factory.mktemp) as client:
        yield client


@pytest.fixture(scope="module")
def ground(make: Make) -> Ground:
    """All calls, once for all tests, which look at what came of them."""
    failing = make(corpus.failures(), "pages")
    failing.make_bad_calls()
    ground = make([corpus.partly(), *corpus.answers()], "pages")
    ground.make_good_calls()
    ground.outcomes |= failing.outcomes
    ground.logs += failing.logs
    return ground


def test_these_checks_see_raw_markup_and_marks() -> None:
    with pytest.raises(AssertionError):
        assert_inert(corpus.TEXTS["markup"])
    with pytest.raises(AssertionError):
        assert_inert('<a href="javascript:x">y</a>')
    for forged in (corpus.TEXTS["fence"], "un-trusted web_data", corpus.TEXTS["fence"][-22:]):
        text = f"{STATEMENT}\n<<<{WORDS} {FORGED}\n{forged}\n{WORDS} {FORGED}>>>"
        with pytest.raises(AssertionError):
            assert_fenced(Outcome("web_fetch", {}, ToolResult(text)), "pages")


# --- text for the model ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*GOOD, *BAD])
def test_a_model_reads_no_trick_and_no_more_than_the_budget(ground: Ground, name: str) -> None:
    text = ground.outcomes[name].result.text
    assert tricks_in(text) == set()
    assert len(text.encode()) <= MAX_BYTES + NOTICE
    assert text.count("\n") < MAX_LINES


@pytest.mark.parametrize("name", [*GOOD, *BAD])
def test_a_fence_opens_and_closes_once_and_only_our_lines_follow(ground: Ground, name: str) -> None:
    assert_fenced(ground.outcomes[name], ground.fence)


@pytest.mark.parametrize("name", SEARCHERS)
def test_a_result_cannot_pose_as_another_one(ground: Ground, name: str) -> None:
    theirs, _ = parts(ground.outcomes[f"search-{name}"], ground.fence)
    heads = [line for line in theirs.split("\n") if line and not line.startswith("   ")]
    numbers = [int(line.partition(". ")[0]) for line in heads]
    assert numbers == [*range(1, len(numbers) + 1)]


@pytest.mark.parametrize("name", SEARCHERS)
def test_a_huge_title_leaves_room_for_other_results(ground: Ground, name: str) -> None:
    theirs, _ = parts(ground.outcomes[f"search-{name}"], ground.fence)
    assert "AAAA…\n" in theirs


@pytest.fixture(scope="module")
def all_fenced(make: Make, ground: Ground) -> Ground:
    """Some calls where everything from the web is fenced."""
    fenced = make([corpus.partly(), *corpus.answers()], "all")
    fenced.call("search-exa", "web_search", {"queries": [QUERY]})
    fenced.call("search-partly", "web_search", {"queries": [QUERY, corpus.SECOND]})
    fenced.call("failed-search", "web_search", {"queries": [corpus.SECOND]})
    return fenced


@pytest.mark.parametrize("name", ["search-exa", "search-partly", "failed-search"])
def test_results_and_errors_can_be_fenced_too(all_fenced: Ground, name: str) -> None:
    outcome = all_fenced.outcomes[name]
    assert FENCED.fullmatch(outcome.result.text)
    assert_fenced(outcome, "all")
    assert tricks_in(outcome.result.text) == set()


# --- data --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*GOOD, *BAD])
def test_data_hold_no_trick_and_only_web_addresses(ground: Ground, name: str) -> None:
    details = ground.outcomes[name].result.details
    assert tricks_in("".join(strings_of(details)), "\n\t") == set()
    json.dumps(details, allow_nan=False).encode("ascii")
    for url in addresses_in(details):
        assert urlsplit(url).scheme in {"http", "https"}
        known = {*URLS, "https://evil.example/", "https://gone.example/"}
        assert url in known or url.startswith((ground.site, HOME))


# --- terminals ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*GOOD, *BAD])
def test_a_terminal_gets_no_escape_but_those_of_rich(ground: Ground, name: str) -> None:
    outcome = ground.outcomes[name]
    drawn = [render_call(outcome.tool, outcome.arguments, label=corpus.TEXTS["osc"])]
    drawn += [render_result(outcome.tool, outcome.result, expanded) for expanded in (True, False)]
    drawn.append(render_result("other_tool", ToolResult(outcome.result.text), expanded=True))
    shown = "\n".join(to_text(item, 60, color=True) for item in drawn)
    drawn_plain = RICH.sub("", shown)
    assert tricks_in(drawn_plain, "\n") == set()
    assert not {*drawn_plain} & {*ENDS}
    assert_links({one["link"] for one in RICH.finditer(shown) if one["link"]})
    assert len(shown) < 300_000
    assert "\x1b" not in "\n".join(to_text(item, 60) for item in drawn)


def test_the_command_line_prints_no_trick(ground: Ground) -> None:
    for name, outcome in ground.outcomes.items():
        assert tricks_in(outcome.printed) == set(), name
        assert outcome.printed or outcome.tool == "web_read"


# --- notebooks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_shows_inert_html(ground: Ground, name: str) -> None:
    fragment = ground.outcomes[name].response._repr_html_()
    assert fragment.startswith("<div")
    assert_inert(fragment)
    assert len(fragment) < 1_000_000


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_shows_inert_markdown(ground: Ground, name: str) -> None:
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    source = ground.outcomes[name].response._repr_markdown_()
    assert tricks_in(source) == set()
    assert_inert(markdown.render(source), MARKDOWN)


@pytest.mark.parametrize("url", [*corpus.BAD_URLS, *URLS[-4:-2]])
def test_an_invalid_address_is_not_shown_as_a_link(url: str) -> None:
    hit = SearchResult(title="x", url=url, source_provider="exa", query="x")
    result = SearchResponse(provider="exa", queries=["x"], results=[hit])
    shown = to_text(render_result("web_search", result.model_dump(mode="json"), True), color=True)
    assert "]8;id" not in shown
    assert "href" not in result._repr_html_()
    assert "](" not in result._repr_markdown_().replace("\\](", "")


# --- the log -----------------------------------------------------------------------------------


def test_the_log_has_one_ascii_line_per_event(ground: Ground) -> None:
    lines = b"".join(path.read_bytes() for path in ground.logs).split(b"\n")
    assert lines.pop() == b""
    events = [json.loads(line) for line in lines]
    assert all(32 <= byte < 127 for line in lines for byte in line)
    assert {len(event["call"]) for event in events} == {12}  # and none is "forged"
    assert len([event for event in events if event["event"] == "done"]) == len(
        {event["call"] for event in events}
    )
    assert max(map(len, lines)) < 16 * 1024


EXPLANATION_LINE = re.compile(r"Call [0-9a-z]{12} at [\d: -]{19} UTC$|$| +\+\d+\.\d{3} s  \S")


def test_progress_and_log_of_a_call_have_no_forged_text(ground: Ground) -> None:
    calls = {(path, event["call"]) for path in ground.logs for event in logs.tail(path, 10_000)}
    assert len(calls) > 2 * len(ground.outcomes)
    for path, call in calls:
        events = logs.events_of(path, call)
        explanation = logs.explain(events)
        assert tricks_in(explanation, "\n") == set()
        for line in explanation.split("\n"):
            assert EXPLANATION_LINE.match(line), line
        for event in events:
            assert tricks_in(logs.tail_line(event), "") == set()


# --- frameworks --------------------------------------------------------------------------------


def _tool_call(outcome: Outcome) -> dict[str, Any]:
    call = {"name": outcome.tool, "args": outcome.arguments, "id": "call-1"}
    return {**call, "type": "tool_call"}


def test_langchain_blocks_are_harmless_and_within_the_budget(ground: Ground) -> None:
    tools = {tool.name: tool for tool in WebToolkit(web=ground.web).get_tools()}
    for name in SHOWN:
        outcome = ground.outcomes[name]
        tool = tools[outcome.tool].model_copy(update={"content_blocks": True})
        content = tool.invoke(_tool_call(outcome)).content
        for blocks in (content, as_search_results(outcome.result.details)):
            text = "".join(strings_of(blocks))
            assert tricks_in(text) == set()
            assert len(text.encode()) <= MAX_BYTES + 4096  # the names in the blocks


def test_langchain_documents_are_harmless(ground: Ground) -> None:
    documents = WebSearchRetriever(web=ground.web, k=20, fetch=True).invoke(QUERY)
    documents += WebSearchRetriever(web=ground.web, k=20, provider="kagi").invoke(QUERY)
    pages = [f"{ground.site}/{name}" for name in NAMES]
    documents += WebPageLoader(pages, web=ground.web, provider="direct").load()
    assert len(documents) == 30
    for document in documents:
        assert tricks_in(document.page_content) == set()
        assert tricks_in("".join(strings_of(document.metadata))) == set()
        assert urlsplit(document.metadata["source"]).scheme in WEB


@pytest.mark.parametrize("name", ["refused", "refused-handle"])
def test_a_refused_value_is_quoted_without_tricks(ground: Ground, name: str) -> None:
    outcome = ground.outcomes[name]
    tools = {tool.name: tool for tool in WebToolkit(web=ground.web).get_tools()}
    message = tools[outcome.tool].invoke(_tool_call(outcome))
    spec = {tool.metadata.name: tool for tool in WebToolsSpec(web=ground.web).to_tool_list()}
    output = spec[outcome.tool].call(**outcome.arguments)
    assert (message.status, output.is_error) == ("error", True)
    assert tricks_in(f"{message.content}{output.content}") == set()


def test_llamaindex_nodes_and_documents_are_harmless(ground: Ground) -> None:
    nodes = WebRetriever(ground.web, similarity_top_k=20).retrieve(QUERY)
    reader = FetchPagePostprocessor(ground.web, top_n=10)
    result = [item.node for item in [*nodes, *reader.postprocess_nodes(nodes, QueryBundle(QUERY))]]
    pages = [f"{ground.site}/{name}" for name in NAMES]
    result += WebPageReader(ground.web, provider="direct").load_data(pages)
    assert len(result) == 30
    for node in result:
        assert tricks_in(node.get_content(MetadataMode.ALL)) == set()
        assert urlsplit(node.metadata["url"]).scheme in WEB
        seen = node.get_metadata_str(MetadataMode.LLM)
        assert len(seen) < 2000
