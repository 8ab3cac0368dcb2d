"""The store of each test, the servers, and the runtime that makes the calls."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from redis_servers import RedisServer, free_port
from shared_instances import MakeShared, Shared, SharedStore
from webtools_calls import Runtime

from webtools_sandbox import SandboxServer


@pytest.fixture(scope="session")
def redis_of_all_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis"), "--databases", "1000") as server:
        yield server


@pytest.fixture(scope="session")
def databases() -> Iterator[int]:
    """Count the databases of the server; each test has its own."""
    return itertools.count()


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[RedisServer]:
    """Start a server that one test may kill and empty."""
    with RedisServer(tmp_path / "redis") as server:
        yield server


@pytest.fixture
def share(webtools_sandbox: SandboxServer) -> Iterator[MakeShared]:
    with ExitStack() as stack:
        yield lambda store: Shared(store, webtools_sandbox, stack)


@pytest.fixture
def on_file(share: MakeShared, tmp_path: Path) -> Shared:
    return share(SharedStore(tmp_path))


@pytest.fixture
def on_redis(
    share: MakeShared, redis_of_all_tests: RedisServer, tmp_path: Path, databases: Iterator[int]
) -> Shared:
    return share(SharedStore(tmp_path, redis_of_all_tests.database(next(databases))))


@pytest.fixture(params=["sqlite", "redis"])
def shared(request: pytest.FixtureRequest) -> Shared:
    shared: Shared = request.getfixturevalue("on_file" if request.param == "sqlite" else "on_redis")
    return shared


@pytest.fixture(params=["sqlite", "redis"])
def broken(request: pytest.FixtureRequest, share: MakeShared, tmp_path: Path) -> Shared:
    """Share a store that cannot be used: its folder is a file, or its server is down."""
    if request.param == "redis":
        return share(SharedStore(tmp_path, f"redis://127.0.0.1:{free_port()}/0"))
    (tmp_path / "file").write_text("")
    return share(SharedStore(tmp_path / "file"))


@pytest.fixture(params=["blocking", "async"])
def runtime(request: pytest.FixtureRequest) -> Runtime:
    chosen: Runtime = request.param
    return chosen
