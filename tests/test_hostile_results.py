"""A hostile result set is harmless wherever it goes: models, data, terminals, notebooks, logs."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import hostile_corpus as corpus
import pytest
from hostile_corpus import QUERY, URLS
from langchain_core.messages import ToolMessage
from llama_index.core.schema import MetadataMode, QueryBundle
from markdown_it import MarkdownIt

from langchain_webtools import (
    WebPageLoader,
    WebSearchRetriever,
    WebToolkit,
    WebToolsCallbackHandler,
    as_search_results,
)
from llamaindex_webtools import FetchPagePostprocessor, WebPageReader, WebRetriever, WebToolsSpec
from webtools import WebTools, logs
from webtools._fencing import STATEMENT, WORDS
from webtools.cli import main
from webtools.progress import Progress
from webtools.rendering import render_call, render_result, to_text
from webtools.sandbox import SandboxServer
from webtools.tools import ToolResult
from webtools.truncation import MAX_BYTES, MAX_LINES

HOME = "https://context7.com/"  # what Context7 gives no address of its own is found there
METHODS = {
    "web_search": "search",
    "web_fetch": "fetch",
    "summarize": "summarize",
    "web_research": "research",
    "web_read": "read",
}
SEARCHERS = ["exa", "kagi", "brave", "perplexity"]
NAMES = [*corpus.TEXTS]
NOTICE = 1024  # bytes that the notice of a cut may take beyond the budget


def _calls(site: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name in SEARCHERS:
        given = {"queries": [QUERY], "limit": 20, "provider": name}
        yield f"search-{name}", "web_search", given
    yield "search-partly", "web_search", {"queries": [QUERY, corpus.SECOND], "limit": 20}
    kinds = {"text": True, "summary": True, "highlights": True}
    yield "fetch-exa", "web_fetch", {"urls": [*URLS, "https://gone.example/"], **kinds}
    pages = [f"{site}/{name}{kind}" for name in NAMES for kind in ("", ".txt")]
    yield "fetch-direct", "web_fetch", {"urls": pages, "provider": "direct"}
    yield "summarize", "summarize", {"url": URLS[0]}
    for command in ("web", "web-deep", "web-news", "web-docs"):
        given = {"query": QUERY, "command": command, "limit": 10}
        yield f"research-{command}", "web_research", given
    asked = {"query": QUERY, "command": "web-deep", "limit": 10, "synthesis": "perplexity"}
    yield "research-perplexity", "web_research", asked


def _failing_calls() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name in SEARCHERS:
        yield f"failed-search-{name}", "web_search", {"queries": [QUERY], "provider": name}
    yield "failed-fetch", "web_fetch", {"urls": URLS[:1], "provider": "exa"}
    yield "failed-summarize", "summarize", {"url": URLS[0]}
    yield "failed-research", "web_research", {"query": QUERY, "command": "web-docs"}
    yield "refused", "web_search", {"queries": [corpus.TEXTS["osc"]], "provider": corpus.SHORT[8]}
    yield "refused-handle", "web_read", {"handle": corpus.SHORT[7]}


def _command(tool: str, given: dict[str, Any]) -> list[str]:
    """Write a call as people do on the command line, as far as it can be."""
    provider = ["--provider", given["provider"]] if "provider" in given else []
    match tool:
        case "web_search":
            return ["search", "--limit", "20", *provider, "--", *given["queries"]]
        case "web_fetch":
            return ["fetch", *provider, *given["urls"]]
        case "summarize":
            return ["summarize", given["url"]]
        case "web_research":
            how = ["--synthesis", given["synthesis"]] if "synthesis" in given else []
            return [given["command"], "--limit", "10", *how, given["query"]]
        case _:
            return ["help", "fetch"]


@dataclass
class Outcome:
    """What a call gave: to a model, to a program, and to the reader of a command's output."""

    tool: str
    arguments: dict[str, Any]
    result: ToolResult
    response: Any = None
    printed: str = ""


@dataclass
class Ground:
    """Calls under one config, after they were made."""

    web: WebTools
    config: Path
    site: str
    fence: str
    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])
    progress: list[Progress] = field(default_factory=list[Progress])

    @property
    def log(self) -> Path:
        return self.config.with_name("log.ndjson")

    def call(self, name: str, tool: str, arguments: dict[str, Any]) -> ToolResult:
        result = self.web.call_tool(tool, arguments, progress=self.progress.append)
        made = self.outcomes[name] = Outcome(tool, arguments, result)
        made.printed = self._printed(_command(tool, arguments))
        if not result.is_error:
            given = dict(arguments)
            first = given.pop(next(iter(given)))
            made.response = getattr(self.web, METHODS[tool])(first, **given)
        return result

    def _printed(self, command: list[str]) -> str:
        printed = StringIO()
        with redirect_stdout(printed), redirect_stderr(printed):
            main([*command[:1], "--config", str(self.config), *command[1:]])
            main([*command[:1], "--json", "--config", str(self.config), *command[1:]])
        return printed.getvalue()


def _config(server: SandboxServer, site: str, folder: Path, fence: str) -> Path:
    config = server.config()
    direct = {"name": "direct", "type": "direct", "options": {"allowPrivateHosts": [site[7:]]}}
    config["providers"].append(direct)
    config["cache"] = {"path": str(folder / "cache.sqlite3")}
    config["log"] = {"path": str(folder / "log.ndjson"), "queries": "clear"}
    path = folder / "web-search.json"
    path.write_text(json.dumps({**config, "fence": fence}), encoding="utf-8")
    path.chmod(0o600)
    return path


Make = Callable[[list[dict[str, Any]], str], Ground]


@pytest.fixture(scope="module")
def make(
    webtools_sandbox_server: SandboxServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Make]:
    """Let the APIs answer so, and give a ground to call them from."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        site = stack.enter_context(corpus.site())

        def made(answers: list[dict[str, Any]], fence: str) -> Ground:
            folder = tmp_path_factory.mktemp("hostile")
            patch.setattr("tempfile.tempdir", str(folder))
            corpus.serve(webtools_sandbox_server, answers)
            config = _config(webtools_sandbox_server, site, folder, fence)
            return Ground(stack.enter_context(WebTools(config)), config, site, fence)

        yield made
        webtools_sandbox_server.reset()


@pytest.fixture(scope="module")
def failing(make: Make) -> Ground:
    """The calls that fail, once for all tests."""
    ground = make(corpus.failures(), "pages")
    for name, tool, arguments in _failing_calls():
        assert ground.call(name, tool, arguments).is_error, name
    return ground


@pytest.fixture(scope="module")
def ground(make: Make, failing: Ground) -> Ground:
    """All calls, once for all tests, which look at what came of them."""
    ground = make([corpus.partly(), *corpus.answers()], "pages")
    for name, tool, arguments in _calls(ground.site):
        assert not ground.call(name, tool, arguments).is_error, name
    handle = ground.outcomes["fetch-direct"].result.details["read_handle"]
    ground.call("read", "web_read", {"handle": handle, "offset": 7})
    ground.call("read-find", "web_read", {"handle": handle, "find": "\x1b[31m\u202ecsv"})
    ground.outcomes |= failing.outcomes
    return ground


READS = ["read", "read-find"]
GOOD = [*(name for name, _, _ in _calls("")), *READS]
BAD = [name for name, _, _ in _failing_calls()]
SHOWN = [name for name in GOOD if name not in READS]


def strings_of(value: Any) -> Iterator[str]:
    """Give all texts in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings_of(key)
            yield from strings_of(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings_of(item)


# What acts, hides or reorders: controls, formats (direction and zero-width among them), lone
# surrogates, other ends of lines, and letters that are blank.
TRICKY = {"Cc", "Cf", "Cs", "Zl", "Zp"}
BLANK = "\u034f\u115f\u1160\u3164\uffa0"


def tricks_in(text: str, allowed: str = "\n\t") -> set[str]:
    """Name the characters of a text that do more than being read."""
    found = {one for one in set(text) if unicodedata.category(one) in TRICKY or one in BLANK}
    return {f"U+{ord(one):04X}" for one in found - set(allowed)}


def addresses_in(value: Any) -> Iterator[str]:
    """Give what stands where results have an address."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name in {"url", "source", "citations"}:
                yield from [item] if isinstance(item, str) else item
            else:
                yield from addresses_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from addresses_in(item)


# --- text for the model ------------------------------------------------------------------------

OURS = re.compile(
    r"|Confidence: (high|medium|low)( \([\w ,.]+\))?\.|Uncertainty: .+|Warning: .+"
    r"|Retrieved [\d-]+ [\d:]+ UTC by [a-z\d]+(, from the cache)?\.|Degraded: .+ did not serve\."
    r'|Query ".+" failed: .+|… and \d+ more|\[Output truncated: showing .+\.txt\]'
    r"|\[Read on with web_read: handle (?P<handle>[0-9a-f]{32}), offset \d+\.\]"
    r'|\[Characters \d+ to \d+ of \d+(, the end)?\.\]|\[".+" is .+\]'
)
FENCED = re.compile(
    rf"{re.escape(STATEMENT)}\n<<<{WORDS} ([0-9a-f]{{12}})\n(.*)\n{WORDS} \1>>>(?:\n\n(.*))?",
    re.DOTALL,
)
ALIKE = str.maketrans("\u0435\u0430", "ea")


def parts(outcome: Outcome, fence: str) -> tuple[str, list[str]]:
    """Split a text into what is the web's and the lines that are ours."""
    text = outcome.result.text
    found = FENCED.fullmatch(text)
    if found is not None:
        return found[2], (found[3] or "").split("\n")
    assert outcome.tool == "web_search" or outcome.result.is_error
    assert fence == "pages" or outcome.result.is_error
    lines = text.split("\n")
    last = max(at for at, line in enumerate(lines) if not OURS.fullmatch(line))
    return "\n".join(lines[: last + 1]), lines[last + 1 :]


@pytest.mark.parametrize("name", [*GOOD, *BAD])
def test_a_model_reads_no_trick_and_no_more_than_the_budget(ground: Ground, name: str) -> None:
    text = ground.outcomes[name].result.text
    assert tricks_in(text) == set()
    assert len(text.encode()) <= MAX_BYTES + NOTICE
    assert text.count("\n") < MAX_LINES


@pytest.mark.parametrize("name", [*GOOD, *BAD])
def test_a_fence_opens_and_closes_once_and_only_our_lines_follow(ground: Ground, name: str) -> None:
    outcome = ground.outcomes[name]
    theirs, ours = parts(outcome, ground.fence)
    plain = unicodedata.normalize("NFKC", theirs).translate(ALIKE).casefold()
    letters = re.sub(r"[\W_]", "", plain)
    assert WORDS.replace("-", "") not in letters
    for line in ours:
        told = OURS.fullmatch(line)
        assert told, line
        if told["handle"]:
            assert told["handle"] == outcome.result.details["read_handle"]
    kinds = [line.partition(" ")[0] for line in ours]
    for kind in ("Confidence:", "Retrieved", "[Output", "[Read"):
        assert kinds.count(kind) <= 1


@pytest.mark.parametrize("name", SEARCHERS)
def test_a_result_cannot_pose_as_another_one(ground: Ground, name: str) -> None:
    theirs, _ = parts(ground.outcomes[f"search-{name}"], ground.fence)
    heads = [line for line in theirs.split("\n") if line and not line.startswith("   ")]
    numbers = [int(line.partition(". ")[0]) for line in heads]
    assert numbers == [*range(1, len(numbers) + 1)]


@pytest.mark.parametrize("name", SEARCHERS)
def test_a_huge_title_crowds_nobody_out(ground: Ground, name: str) -> None:
    theirs, _ = parts(ground.outcomes[f"search-{name}"], ground.fence)
    assert "AAAA…\n" in theirs


# --- data --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*GOOD, *BAD])
def test_data_hold_no_trick_and_only_web_addresses(ground: Ground, name: str) -> None:
    details = ground.outcomes[name].result.details
    assert tricks_in("".join(strings_of(details)), "\n\t") == set()
    json.dumps(details, allow_nan=False).encode("ascii")
    for url in addresses_in(details):
        assert urlsplit(url).scheme in {"http", "https"}
        assert url in {*URLS, "https://gone.example/"} or url.startswith((ground.site, HOME))


# --- terminals ---------------------------------------------------------------------------------

WEB = {"http", "https"}
RICH = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;(?:id=[0-9-]+;(?P<link>https?://[!-~]+)|;)\x1b\\")


@pytest.mark.parametrize("name", [*GOOD, *BAD])
@pytest.mark.parametrize("width", [20, 80])
def test_a_terminal_gets_no_escape_but_those_of_rich(ground: Ground, name: str, width: int) -> None:
    outcome = ground.outcomes[name]
    drawn = [render_call(outcome.tool, outcome.arguments, label=corpus.TEXTS["osc"])]
    drawn += [render_result(outcome.tool, outcome.result, expanded) for expanded in (True, False)]
    drawn.append(render_result("other_tool", ToolResult(outcome.result.text), expanded=True))
    shown = "\n".join(to_text(each, 60, color=True) for each in drawn)
    assert tricks_in(RICH.sub("", shown), "\n") == set()
    assert {urlsplit(one["link"]).scheme for one in RICH.finditer(shown) if one["link"]} <= WEB
    assert len(shown) < 300_000
    assert "\x1b" not in "\n".join(to_text(each, 60) for each in drawn)


def test_the_command_line_prints_no_trick(ground: Ground) -> None:
    for name, outcome in ground.outcomes.items():
        assert tricks_in(outcome.printed) == set(), name
        assert outcome.printed


# --- notebooks ---------------------------------------------------------------------------------

TAGS = {"div", "style", "span", "bdi", "a", "table", "thead", "tbody", "tr", "th", "td", "pre"}
TAGS |= {"details", "summary", "ul", "ol", "li"}
ATTRIBUTES = {"class", "href", "target", "rel", "dir", "scope", "colspan", "id"}
MARKDOWN = {"p", "a", "em", "strong", "code", "pre", "hr", "br", "blockquote", "ol", "ul", "li"}
MARKDOWN |= {"table", "thead", "tbody", "tr", "th", "td"}


class Seen(HTMLParser):
    """The tags, attributes, links and text of a fragment."""

    def __init__(self, fragment: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.text = ""
        self.feed(fragment)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in {"href", "src"}}

    def handle_data(self, data: str) -> None:
        self.text += data


def assert_inert(fragment: str, tags: set[str] = TAGS) -> None:
    seen = Seen(fragment)
    assert seen.tags <= tags
    assert seen.attributes <= ATTRIBUTES
    assert {urlsplit(url).scheme for url in seen.links if not url.startswith("#")} <= WEB
    assert tricks_in(seen.text) == set()
    assert not re.search(
        r"<script|javascript:[^<]*>", re.sub(r">[^<]*<", "><", fragment), re.IGNORECASE
    )


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


@pytest.mark.parametrize("name", [*SHOWN, *READS])
def test_a_repr_is_one_short_line(ground: Ground, name: str) -> None:
    shown = repr(ground.outcomes[name].response)
    assert shown.isprintable()
    assert len(shown) < 2000


# --- the log -----------------------------------------------------------------------------------


def test_the_log_has_one_ascii_line_per_event(ground: Ground) -> None:
    lines = ground.log.read_bytes().split(b"\n")
    assert lines.pop() == b""
    events = [json.loads(line) for line in lines]
    assert all(32 <= byte < 127 for line in lines for byte in line)
    assert {len(event["call"]) for event in events} == {12}  # and none is "forged"
    assert len([event for event in events if event["event"] == "done"]) == len(
        {event["call"] for event in events}
    )
    assert max(map(len, lines)) < 16 * 1024


TOLD = re.compile(
    r"Call [0-9a-z]{12}$|$|Why:$|- \S|  \+\d+\.\d{3} s  \S|The log has no beginning of this call"
)


def test_what_is_told_of_a_call_forges_nothing(ground: Ground) -> None:
    for call in {event["call"] for event in logs.tail(ground.log, 10_000)}:
        events = logs.events_of(ground.log, call)
        told = logs.explain(events)
        assert tricks_in(told, "\n") == set()
        for line in told.split("\n"):
            assert TOLD.match(line), line
        for event in events:
            assert tricks_in(logs.tail_line(event), "") == set()


# --- frameworks --------------------------------------------------------------------------------


def _tool_call(outcome: Outcome) -> dict[str, Any]:
    call = {"name": outcome.tool, "args": outcome.arguments, "id": "call-1"}
    return {**call, "type": "tool_call"}


def test_langchain_tools_give_the_same_harmless_text(ground: Ground) -> None:
    tools = {tool.name: tool for tool in WebToolkit(web=ground.web).get_tools()}
    for name in GOOD:
        outcome = ground.outcomes[name]
        message = tools[outcome.tool].invoke(_tool_call(outcome))
        assert isinstance(message, ToolMessage)
        assert tricks_in(str(message.content)) == set()
        assert tricks_in("".join(strings_of(message.artifact))) == set()
        assert message.content == outcome.result.text


def test_langchain_blocks_are_harmless_and_within_the_budget(ground: Ground) -> None:
    tools = {tool.name: tool for tool in WebToolkit(web=ground.web).get_tools()}
    for name in SHOWN:
        outcome = ground.outcomes[name]
        tool = tools[outcome.tool].model_copy(update={"content_blocks": True})
        content = tool.invoke(_tool_call(outcome)).content
        for blocks in (content, as_search_results(outcome.result.details)):
            said = "".join(strings_of(blocks))
            assert tricks_in(said) == set()
            assert len(said.encode()) <= MAX_BYTES + 4096  # the names in the blocks


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


def test_the_langchain_handler_prints_no_trick(ground: Ground) -> None:
    printed = StringIO()
    handler = WebToolsCallbackHandler(printed, expanded=True)
    tools = {tool.name: tool for tool in WebToolkit(web=ground.web).get_tools()}
    for name in GOOD:
        outcome = ground.outcomes[name]
        tools[outcome.tool].invoke(_tool_call(outcome), {"callbacks": [handler]})
    assert len(printed.getvalue()) > 1000
    assert tricks_in(printed.getvalue(), "\n") == set()


def test_llamaindex_outputs_are_the_same_harmless_text(ground: Ground) -> None:
    tools = {tool.metadata.name: tool for tool in WebToolsSpec(web=ground.web).to_tool_list()}
    for name in GOOD:
        outcome = ground.outcomes[name]
        output = tools[outcome.tool].call(**outcome.arguments)
        assert not output.is_error
        assert tricks_in(output.content) == set()
        assert tricks_in("".join(strings_of(output.raw_output))) == set()
        assert output.content == outcome.result.text


def test_llamaindex_nodes_and_documents_are_harmless(ground: Ground) -> None:
    nodes = WebRetriever(ground.web, similarity_top_k=20).retrieve(QUERY)
    reader = FetchPagePostprocessor(ground.web, top_n=10)
    found = [each.node for each in [*nodes, *reader.postprocess_nodes(nodes, QueryBundle(QUERY))]]
    pages = [f"{ground.site}/{name}" for name in NAMES]
    found += WebPageReader(ground.web, provider="direct").load_data(pages)
    assert len(found) == 30
    for node in found:
        assert tricks_in(node.get_content(MetadataMode.ALL)) == set()
        assert urlsplit(node.metadata["url"]).scheme in WEB
        seen = node.get_metadata_str(MetadataMode.LLM)
        assert len(seen) < 2000


def test_errors_that_are_raised_quote_no_trick(ground: Ground) -> None:
    for name in BAD:
        details = ground.outcomes[name].result.details
        assert details["error"]["message"].isprintable()


# --- progress ----------------------------------------------------------------------------------


def test_steps_name_the_parts_that_were_asked_for(ground: Ground) -> None:
    assert ground.progress
    for step in ground.progress:
        assert tricks_in(step.subject) == set()
