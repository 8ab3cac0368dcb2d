"""A session does what a `WebTools` does, within limits of its own, and opens only what it saw."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from runtimes import BOTH, either
from timeless import timeless
from wires import Wire, web_of

from webtools import Session, WebTools
from webtools_sandbox import SandboxServer


@pytest.fixture
def web(webtools_sandbox: SandboxServer) -> Iterator[WebTools]:
    with WebTools(webtools_sandbox.config()) as client:
        yield client


def test_a_session_is_a_webtools_and_cannot_be_pickled(web: WebTools) -> None:
    session = web.session()
    assert isinstance(session, Session)
    assert session.search("read json", limit=2).results == web.search("read json", limit=2).results
    with pytest.raises(TypeError, match=r"state\(\)"):
        pickle.dumps(session)


def test_closing_a_session_leaves_the_connections_open(web: WebTools) -> None:
    with web.session() as session:
        session.search("read json")
    pools: Any = web._connections
    assert session.search("read csv").results
    assert pools is session._connections


SEEN = "https://docs.example/guide"
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("web_search", {"queries": ["ferry", "tram"], "limit": 2, "provider": "exa"}),
    ("web_search", {"queries": [SEEN], "similar": True}),
    ("web_fetch", {"urls": [SEEN, f"{SEEN}/2#part"], "provider": "direct"}),
    ("web_fetch", {"urls": [SEEN], "question": "How often?", "provider": "exa"}),
    ("summarize", {"url": SEEN}),
    ("web_map", {"url": SEEN}),
    ("web_research", {"query": "How often does the ferry cross?", "synthesis": "extractive"}),
    ("web_search", {"queries": ["ferry"], "provider": "absent"}),
]


@BOTH
@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_a_session_without_options_does_what_a_webtools_does(
    monkeypatch: pytest.MonkeyPatch, name: str, arguments: dict[str, Any], is_async: bool
) -> None:
    outcomes: list[Any] = []
    for has_session in (False, True):
        wire = Wire(SEEN, f"{SEEN}/other")
        web = web_of(wire, monkeypatch)
        client = web.session() if has_session else web
        result = either(is_async, client, "call_tool", name, arguments)
        sent = sorted((str(each.url), each.content) for each in wire.requests)
        outcomes.append((sent, timeless(result.details)))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] or result.is_error


WITHOUT = """
import json, sys
sys.path.insert(0, sys.argv[1])
from runtimes import either
from webtools import WebTools
web = WebTools(json.loads(sys.argv[2]))
either(sys.argv[3] == "async", web, "call_tool", "web_search", {"queries": ["json"]})
print(*[name for name in sys.modules if "_internal.session" in name or "tape" in name])
"""


@BOTH
def test_without_a_session_nothing_of_it_is_loaded(
    webtools_sandbox: SandboxServer, is_async: bool
) -> None:
    config, way = json.dumps(webtools_sandbox.config()), "async" if is_async else "blocking"
    arguments = [str(Path(__file__).parents[1]), config, way]
    command = [sys.executable, "-c", WITHOUT, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []
