"""For any bytes of a server, callers get a result or a `WebToolsError` in time."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from servers import RawServer, read_request, response

from webtools import Config, WebTools, WebToolsError
from webtools._internal.pipeline import retries
from webtools.config import CacheConfig, LogConfig

TIMEOUT = 0.25  # seconds
SLACK = 25.0  # a busy machine; what ignores the deadline never ends
PAGE = "https://docs.example/page"
CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("search", "json", {"provider": "exa"}),
    ("search", "json", {"provider": "kagi", "include_domains": "a.example"}),
    ("search", "json", {"provider": "kagi-v0", "start_published_date": "2026-01-01"}),
    ("fetch", PAGE, {"highlights": True, "summary": True, "text": True}),
    ("summarize", PAGE, {"provider": "kagi"}),
]


class Answering(RawServer):
    """Sends the same bytes to everyone."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.data = b""
        self.keeps_open = False

    def _answer(self, connection: socket.socket) -> None:
        while read_request(connection):
            connection.sendall(self.data)
            if not self.keeps_open:
                return


@pytest.fixture(scope="module")
def server() -> Iterator[Answering]:
    with Answering() as client:
        yield client


@pytest.fixture(scope="module")
def web(server: Answering) -> Iterator[WebTools]:
    def entry(name: str, kind: str, **options: Any) -> dict[str, Any]:
        client = {"name": name, "type": kind, "apiKey": "test-key", "options": options}
        return {**client, "baseUrl": server.url, "timeoutMs": int(TIMEOUT * 1000)}

    with (
        pytest.MonkeyPatch.context() as patch,
        WebTools(
            Config(
                providers=[
                    entry("exa", "exa"),  # type: ignore[list-item]
                    entry("kagi", "kagi"),  # type: ignore[list-item]
                    entry("kagi-v0", "kagi", searchApi="v0"),  # type: ignore[list-item]
                ],
                cache=CacheConfig(enabled=False),
                log=LogConfig(enabled=False),
            )
        ) as client,
    ):
        patch.setattr(retries, "FIRST_DELAY", 0.0)
        patch.setattr(retries, "MAX_RETRIES", 1)
        yield client


@pytest.fixture(scope="module")
def runner(web: WebTools) -> Iterator[asyncio.Runner]:
    """One event loop for all awaited calls."""
    with asyncio.Runner() as runner:
        yield runner
        runner.run(web.aclose())


def outcome(call: Callable[[], Any]) -> Any:
    """Call, and hold the call to its promises."""
    start = time.monotonic()
    try:
        result = call()
    except WebToolsError as error:
        result = error
    assert time.monotonic() - start < TIMEOUT + SLACK
    if isinstance(result, WebToolsError):
        assert str(result).replace("\n", "").isprintable()
        assert json.dumps(result.to_details(), allow_nan=False)
    return result


def call_all(web: WebTools, runner: asyncio.Runner) -> None:
    for method, subject, named in CALLS:
        outcome(lambda: getattr(web, method)(subject, **named))  # noqa: B023  called at once

    async def awaited() -> None:
        for method, subject, named in CALLS:
            with suppress(WebToolsError):
                await getattr(web, f"a{method}")(subject, **named)

    start = time.monotonic()
    runner.run(awaited())
    assert time.monotonic() - start < len(CALLS) * TIMEOUT + SLACK


bounded = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

# --- strategies --------------------------------------------------------------------------------

token = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12)
status_lines = st.one_of(
    st.sampled_from(
        [b"HTTP/1.1 200 OK", b"HTTP/1.0 200 OK", b"HTTP/1.1 429 Slow", b"HTTP/1.1 503 Busy"]
    ),
    st.integers(0, 1100).map(lambda code: f"HTTP/1.1 {code} X".encode()),
    st.binary(max_size=40),
)
headers = st.lists(
    st.one_of(
        st.tuples(token, token).map(lambda pair: f"{pair[0]}: {pair[1]}".encode("latin-1")),
        st.sampled_from(
            [
                b"Content-Length: 3",
                b"Content-Length: 99999999999999999999",
                b"Content-Length: -1",
                b"Content-Length: x",
                b"Transfer-Encoding: chunked",
                b"Transfer-Encoding: gzip, chunked",
                b"Content-Encoding: gzip",
                b"Content-Encoding: deflate",
                b"Content-Encoding: br",
                b"Connection: close",
                b"Connection: upgrade",
                b"Upgrade: websocket",
                b"Retry-After: 0",
                b"Retry-After: 1e400",
                b"Retry-After: Wed, 21 Oct 99999 07:28:00 GMT",
                b"Location: //",
                b"Content-Type: text/html; charset=\xff",
                b"X: \xff\xfe",
                b"no colon",
                b" folded",
            ]
        ),
        st.binary(max_size=30),
    ),
    max_size=5,
)
chunks = st.lists(st.binary(max_size=20), max_size=4).map(
    lambda parts: b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
)
bodies = st.one_of(
    st.binary(max_size=60), chunks, st.binary(max_size=60).map(gzip.compress), st.just(b"{}")
)
raw_answers = st.one_of(
    st.binary(max_size=200),
    st.builds(
        lambda line, fields, body: b"\r\n".join([line, *fields, b"", b""]) + body,
        status_lines,
        headers,
        bodies,
    ),
)

NAMES = [
    *("results", "statuses", "data", "meta", "error", "errors", "search", "news", "warnings"),
    *("id", "url", "title", "snippet", "text", "summary", "highlights", "author", "score", "t"),
    *("publishedDate", "published", "time", "output", "tokens", "costDollars", "total", "status"),
    *("code", "message", "msg", "tag", "httpStatusCode", "notices"),
]
# Unassigned and private signs are kept in messages, though Python takes them for unprintable.
signs = st.characters(codec="utf-8", exclude_categories=["Cn", "Co"])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(signs, max_size=10),
    st.sampled_from(
        [
            *(PAGE, "https://a.example/", "http://[::1", "javascript:1", "2026-01-01", "error", 0),
            *(
                "9999-12-31T23:59:59-23:59",
                "0001-01-01T00:00:00+23:59",
                "\x1b[31m",
                "\ud800",
                1e308,
            ),
        ]
    ),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=15,
)
hits = st.fixed_dictionaries(
    {"url": scalars, "title": scalars, "id": scalars},
    optional={name: values for name in NAMES if name not in {"url", "title", "id"}},
)
shaped = st.one_of(
    st.dictionaries(st.sampled_from(NAMES), values, max_size=5),
    st.fixed_dictionaries(
        {"results": st.lists(hits, max_size=3)}, optional={"statuses": values, "warnings": values}
    ),
    st.fixed_dictionaries({"data": st.lists(hits, max_size=3)}),
    st.fixed_dictionaries({"data": st.fixed_dictionaries({"search": st.lists(hits, max_size=3)})}),
    st.fixed_dictionaries({"data": st.fixed_dictionaries({"output": scalars, "tokens": scalars})}),
)


# --- claims ------------------------------------------------------------------------------------


@bounded
@given(data=raw_answers, keeps_open=st.sampled_from([False] * 9 + [True]))
def test_no_bytes_make_a_call_raise_anything_else(
    web: WebTools, server: Answering, runner: asyncio.Runner, data: bytes, keeps_open: bool
) -> None:
    server.data, server.keeps_open = data, keeps_open
    for method, subject, named in CALLS[:1]:
        outcome(lambda: getattr(web, method)(subject, **named))  # noqa: B023  called at once
        outcome(lambda: runner.run(getattr(web, f"a{method}")(subject, **named)))  # noqa: B023


@settings(bounded, max_examples=30)
@given(answer=shaped, status=st.sampled_from([200] * 8 + [400, 429, 503]))
def test_no_json_makes_a_call_raise_anything_else(
    web: WebTools, server: Answering, runner: asyncio.Runner, answer: Any, status: int
) -> None:
    server.data = response(json.dumps(answer).encode(), f"{status} X")
    server.keeps_open = True
    call_all(web, runner)


@settings(bounded, max_examples=20)
@given(answer=shaped)
def test_no_json_makes_a_tool_call_raise(web: WebTools, server: Answering, answer: Any) -> None:
    server.data, server.keeps_open = response(json.dumps(answer).encode()), True
    for name, arguments in (
        ("web_search", {"queries": ["json", "asyncio"]}),
        ("web_fetch", {"urls": [PAGE, "https://a.example/"]}),
        ("summarize", {"url": PAGE}),
    ):
        result = outcome(lambda: web.call_tool(name, arguments))  # noqa: B023  called at once
        assert result.text.strip()
        assert not any(char in result.text for char in "\x00\x07\x1b\x7f\x9b\ud800")
        assert json.loads(json.dumps(result.details, allow_nan=False)) == result.details


@pytest.mark.parametrize("depth", [100, 100_000])
@pytest.mark.parametrize("opening", [b"[", b'{"results":', b'{"data":'])
def test_json_nested_deep_is_an_error(
    web: WebTools, server: Answering, opening: bytes, depth: int
) -> None:
    server.data, server.keeps_open = response(opening * depth), False
    for method, subject, named in CALLS:
        result = outcome(lambda: getattr(web, method)(subject, **named))  # noqa: B023
        assert isinstance(result, WebToolsError)


@pytest.mark.parametrize("cut", [0, 1, 8, 17, 18, 40, 60, 61, 62, 65, 70])
def test_a_response_cut_anywhere_is_an_error(
    server: Answering, cut: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)
    exa = {"name": "exa", "type": "exa", "apiKey": "test-key", "baseUrl": server.url}
    full_text = response(b'{"results": []}', headers=[("Content-Type", "application/json")])
    server.data, server.keeps_open = full_text[:cut], False
    with WebTools({"providers": [exa], "cache": {"enabled": False}}) as web:
        result = outcome(lambda: web.search("json", provider="exa"))
        assert isinstance(result, WebToolsError)
        server.data = full_text
        assert web.search("json", provider="exa").results == []
