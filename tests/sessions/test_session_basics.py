"""A session does what a `WebTools` does, within limits of its own, and opens only what it saw."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

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
    pools: Any = web._http
    assert session.search("read csv").results
    assert pools is session._http
