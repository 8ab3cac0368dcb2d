"""No configured key is on a tape, in any spelling that a server may repeat."""

from __future__ import annotations

import html
import json
from base64 import b64encode
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import httpx
import pytest
from runtimes import BOTH, either

from webtools import WebTools, WebToolsError

KEY = "test-key-canary-4f/1d+9a&7c<3e"
OWN_KEY = "test-key-canary-own&5b/8d"
SPELLINGS = {
    "plain": lambda key: key,
    "percent": lambda key: quote(key, safe=""),
    "html": html.escape,
    "base64": lambda key: b64encode(f"Bearer {key}".encode()).decode(),
    "json": lambda key: json.dumps(f"{key}/")[1:-1],
    "escaped": lambda key: "".join(f"\\u{ord(letter):04x}" for letter in key),
    "hidden": "\u200b".join,
    "terminal": lambda key: f"{key[:14]}\x1b[0m{key[14:]}",
    "marked": lambda key: f"{key[:14]}**{key[14:]}",
    "cut": lambda key: key[:-3],
}


def settings(echo: str, *, fails: bool) -> WebTools:
    """Return a client whose provider repeats a text wherever it can."""

    def respond(_request: httpx.Request) -> httpx.Response:
        if fails:
            return httpx.Response(400, json={"error": f"bad key {echo}", "tag": "X"})
        url = f"https://a.example/?k={quote(echo)}"
        result = {"url": url, "title": echo, "highlights": [f"a {echo} b"], "text": f"T {echo}"}
        return httpx.Response(200, json={"results": [result], "requestId": "1"})

    exa = {"name": "exa", "type": "exa", "apiKey": KEY}
    config = {"providers": [exa], "cache": {"enabled": False}, "log": {"enabled": False}}
    return WebTools(config, transport=httpx.MockTransport(respond))


@BOTH
@pytest.mark.parametrize("fails", [False, True], ids=["response", "error"])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_key_is_on_a_tape(tape: Path, spelling: str, fails: bool, is_async: bool) -> None:
    echoes = [SPELLINGS[spelling](key) for key in (KEY, OWN_KEY)]
    web = settings(" ".join(echoes), fails=fails)
    session = web.session(record=tape, api_keys={"exa": OWN_KEY})
    calls: list[tuple[str, Any, dict[str, Any]]] = [
        ("search", [f"about {KEY}", "plain"], {"content": True}),
        ("fetch", f"https://a.example/?k={quote(OWN_KEY)}", {"question": OWN_KEY}),
        ("search", "x", {"provider": OWN_KEY}),
    ]
    for method, subject, options in calls:
        with suppress(WebToolsError):
            either(is_async, session, method, subject, **options)
    text = tape.read_text()
    assert len(text.splitlines()) == 4
    for key in [KEY, OWN_KEY] if spelling != "cut" else []:
        assert_absent(key, text)
    lines: list[Any] = [json.loads(line) for line in text.splitlines()]
    assert "canary" not in unquote(html.unescape(json.dumps(lines, ensure_ascii=False)))


def assert_absent(key: str, text: str) -> None:
    for spell in SPELLINGS.values():
        assert spell(key) not in text
