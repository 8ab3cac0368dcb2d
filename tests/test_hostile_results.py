"""A hostile result set is harmless wherever results go: models, data, terminals, notebooks, logs."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
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
from webtools import WebTools, WebToolsError, logs
from webtools._fencing import STATEMENT, WORDS
from webtools.cli import main
from webtools.progress import Progress
from webtools.rendering import render_call, render_result, to_text
from webtools.sandbox import SandboxServer
from webtools.tools import ToolResult
from webtools.truncation import MAX_BYTES, MAX_LINES

FENCES = ["pages", "all"]
METHODS = {
    "web_search": "search",
    "web_fetch": "fetch",
    "summarize": "summarize",
    "web_research": "research",
    "web_read": "read",
}
SEARCHERS = ["exa", "kagi", "brave", "perplexity"]
NAMES = [*corpus.TEXTS]


def _calls(site: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name in SEARCHERS:
        given = {"queries": [QUERY], "limit": 20, "provider": name}
        yield f"search-{name}", "web_search", given
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


@dataclass
class Outcome:
    """What a call gave: to a model, and to a program."""

    tool: str
    arguments: dict[str, Any]
    result: ToolResult
    response: Any = None


@dataclass
class Ground:
    """All calls after they were made."""

    web: WebTools
    config: Path
    site: str
    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])
    progress: list[Progress] = field(default_factory=list[Progress])

    @property
    def log(self) -> Path:
        return self.config.with_name("log.ndjson")

    def call(self, name: str, tool: str, arguments: dict[str, Any]) -> Outcome:
        result = self.web.call_tool(tool, arguments, progress=self.progress.append)
        response = None
        if not result.is_error:
            given = dict(arguments)
            first = given.pop(next(iter(given)))
            response = getattr(self.web, METHODS[tool])(first, **given)
        self.outcomes[name] = Outcome(tool, arguments, result, response)
        return self.outcomes[name]


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


@pytest.fixture(scope="module", params=FENCES)
def ground(
    request: pytest.FixtureRequest,
    webtools_sandbox_server: SandboxServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Ground]:
    """Everything once; tests look at what came of it."""
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch, corpus.site() as site:
        patch.setattr("tempfile.tempdir", str(folder))
        config = _config(webtools_sandbox_server, site, folder, request.param)
        corpus.serve(webtools_sandbox_server, corpus.answers())
        with WebTools(config) as web:
            made = Ground(web, config, site)
            for name, tool, arguments in _calls(site):
                assert not made.call(name, tool, arguments).result.is_error, name
            handle = made.outcomes["fetch-direct"].result.details["read_handle"]
            made.call("read", "web_read", {"handle": handle, "offset": 7})
            made.call("read-find", "web_read", {"handle": handle, "find": "\x1b[31m\u202ecsv"})
            yield made
    webtools_sandbox_server.reset()
