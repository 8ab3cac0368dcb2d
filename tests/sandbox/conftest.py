from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sandbox_caller import DOCS, NEWS, Caller, Desk, MakeDesk

from webtools_sandbox import SandboxServer
from webtools_sandbox.corpus import standard_corpus
from webtools_sandbox.keys import KeyRing
from webtools_sandbox.library import Library
from webtools_sandbox.news import WRITTEN_ON
from webtools_sandbox.pytest_plugin import webtools_sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["webtools_sandbox"]


@pytest.fixture(scope="session")
def webtools_sandbox_server() -> Iterator[SandboxServer]:
    """Return a server with fixed dates of news."""
    with SandboxServer(today=WRITTEN_ON) as server:
        yield server


@pytest.fixture
def caller(webtools_sandbox: SandboxServer) -> Iterator[Caller]:
    made = Caller(webtools_sandbox)
    yield made
    made.http.close()


@pytest.fixture(scope="session")
def library() -> Library:
    return Library(standard_corpus(), {"docs": DOCS, "news": f"{NEWS}/"})


@pytest.fixture(scope="session")
def keys() -> KeyRing:
    return KeyRing()


@pytest.fixture
def desk(library: Library, keys: KeyRing) -> MakeDesk:
    """Return a function that creates the caller of an API."""
    return lambda api: Desk(api(library, keys))
