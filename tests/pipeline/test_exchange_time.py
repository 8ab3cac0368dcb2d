"""The time-out of a provider includes the reading of its response."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import httpx
import pytest

from webtools import RequestTimeoutError, WebTools
from webtools.providers import exa

LONG = {"results": [{"id": "1", "url": "https://a.example/", "title": "x" * 200_000}]}


@pytest.mark.parametrize("runtime", ["blocking", "async"])
@pytest.mark.parametrize("step", ["redacting", "reading"])
def test_a_long_response_is_redacted_and_read_within_the_time_out(
    monkeypatch: pytest.MonkeyPatch, runtime: str, step: str
) -> None:
    is_over = threading.Event()

    def hang(*_: Any) -> None:
        is_over.wait(20)

    if step == "reading":
        monkeypatch.setattr(exa, "read_search", hang)
    else:
        monkeypatch.setattr("webtools._internal.pipeline.requests.redact_body", hang)
    entry = {"name": "exa", "type": "exa", "apiKey": "test-key-of-exa", "timeoutMs": 2000}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=LONG))
    settings: dict[str, Any] = {"providers": [entry], "cache": {"enabled": False}}
    with WebTools(settings, transport=transport) as web:
        try:
            with pytest.raises(RequestTimeoutError, match="timeoutMs"):
                asyncio.run(web.asearch("q")) if runtime == "async" else web.search("q")
        finally:
            is_over.set()
