"""A key on a page is redacted although the text is cut into passages in the middle of it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from runtimes import BOTH, either
from wires import TEXT, Wire, web_of

PAGE = "https://docs.example/guide"
KEY = "Zq-Ab3dEf7hIjK9mNoPqRs_Tu2W"
PARTS = [KEY[at : at + 8] for at in range(len(KEY) - 7)]
PROVIDERS = [
    {"name": "direct", "type": "direct"},
    {"name": "exa", "type": "exa", "apiKey": KEY},
]
RUN = "ferry" * 2400  # one word, which is cut somewhere


class PageWithKey(Wire):
    """A page with a key in a long word."""

    text = ""

    def respond(self, request: httpx.Request) -> httpx.Response:
        if request.headers["host"] == "docs.example" and request.url.path != "/robots.txt":
            page = f"<title>Ferry</title><main><p>{self.text}</p></main>"
            return httpx.Response(200, html=page)
        return super().respond(request)


def texts() -> Iterator[str]:
    """Yield texts with the key around the place where a long word is cut, plain and escaped."""
    written = [KEY, KEY.upper(), KEY.replace("K", "%4b"), "&amp;shy;".join(KEY)]
    for place, key in itertools.product(range(550, 600, 4), written):
        yield f"{TEXT}{RUN[:place]}{key}{RUN[place:]} {TEXT}"


def parts_in(text: str) -> list[str]:
    plain = text.replace("%4b", "K").replace("&shy;", "").lower()
    return [part for part in PARTS if part.lower() in plain]


@BOTH
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("web_fetch", {"urls": [PAGE], "provider": "direct", "question": "ferryferry cars"}),
        (
            "web_fetch",
            {
                "urls": [PAGE],
                "provider": "direct",
                "question": "ferryferry cars",
                "text_max_characters": 5000,
                "text": True,
            },
        ),
        (
            "web_fetch",
            {"urls": [PAGE], "provider": "direct", "text_max_characters": len(TEXT) + 590},
        ),
        (
            "web_research",
            {
                "query": "How many cars does it carry?",
                "command": "web-deep",
                "synthesis": "extractive",
            },
        ),
    ],
    ids=["passages", "passages and text", "cut text", "research"],
)
def test_no_half_of_a_key_is_in_passages(
    monkeypatch: pytest.MonkeyPatch, tool: str, arguments: dict[str, Any], is_async: bool
) -> None:
    wire = PageWithKey(PAGE)
    web = web_of(wire, monkeypatch, providers=PROVIDERS)
    for text in texts():
        wire.text = text
        result = either(is_async, web, "call_tool", tool, arguments)
        assert not result.is_error, result.text
        assert parts_in(result.text + json.dumps(result.details)) == []


@BOTH
def test_no_half_of_a_key_is_in_highlights(monkeypatch: pytest.MonkeyPatch, is_async: bool) -> None:
    wire = PageWithKey(PAGE)
    web = web_of(wire, monkeypatch, providers=PROVIDERS)
    for place in range(470, 500, 3):
        wire.text = f"{RUN[:place]}{KEY}{RUN}"
        options = {"provider": "direct", "highlights": True, "cache": "bypass"}
        page = either(is_async, web, "fetch", PAGE, **options).pages[0]
        assert page.highlights[0].startswith("ferry")
        assert parts_in(page.highlights[0]) == []
