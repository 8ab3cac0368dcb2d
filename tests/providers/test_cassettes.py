"""Cassettes hold no key, and tests play them completely."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from recording import (
    CASSETTES,
    FILTERED,
    CassetteYaml,
    cassette_settings,
    key_like,
)

ROOT = Path(__file__).parents[2]
ALL = sorted(
    path
    for folder in ("tests", "examples", "benchmarks")
    for path in (ROOT / folder).rglob("cassettes/**/*.yaml")
)
FIRST_LINE = re.compile(
    r"# (Recorded from .+ on \d{4}-\d{2}-\d{2}|Written by hand)\. API: https://\S+\n"
)


# --- no key ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ALL, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_cassette_has_no_key_and_a_note_on_its_origin(path: Path) -> None:
    text = path.read_text("utf-8")
    assert key_like(text) == []
    assert FIRST_LINE.match(text)


TOKEN = "dGhpcyBpcyBub3QgYSBrZXk.4f9a"


@pytest.mark.parametrize(
    "leak",
    [
        pytest.param({"headers": {"authorization": ["Bearer x"]}}, id="authorization"),
        pytest.param({"headers": {"X-Api-Key": ["x"]}}, id="header in capitals"),
        pytest.param({"headers": {"x-subscription-token": "x"}}, id="header that is no list"),
        pytest.param({"headers": {"set-cookie": ["session=1"]}}, id="cookie"),
        pytest.param({"headers": {"authorization": [FILTERED, "x"]}}, id="second value"),
        pytest.param({"body": "the test-key-exa was refused"}, id="key of the sandbox"),
        pytest.param({"body": f"you sent Bot {TOKEN}"}, id="token after its scheme"),
        pytest.param({"body": f'{{"apiKey": "{TOKEN}"}}'}, id="JSON field"),
        pytest.param({"uri": f"https://api.example/search?access_token={TOKEN}"}, id="query"),
        pytest.param({"body": f"sk-{TOKEN}"}, id="prefix sk-"),
        pytest.param({"body": f"pplx-{TOKEN}"}, id="prefix pplx-"),
        pytest.param({"body": "ctx7sk-0f3b6c1e-77aa-4b7c"}, id="prefix ctx7sk-"),
        pytest.param({"body": "BSAkD93kfMfhsgGHd73hfhs"}, id="prefix BSA"),
    ],
)
def test_the_scan_finds(leak: dict[str, Any]) -> None:
    assert key_like(yaml.dump({"interactions": [{"request": leak}]}))


@pytest.mark.parametrize(
    "text",
    [
        "Use a bearer token, or basic authentication.",
        "token_count: 1234567890123456",
        "the tokenizer module, secrets.token_urlsafe(16)",
        "https://docs.example/library/secrets.html#basic-usage-and-more-of-it",
    ],
)
def test_the_scan_ignores_prose_about_keys(text: str) -> None:
    assert key_like(yaml.dump({"body": text})) == []


def test_a_recording_that_would_hold_a_key_is_not_saved() -> None:
    play = {
        "request": {"uri": "https://a.example", "body": "", "headers": {}},
        "response": {"body": {"string": f"Bearer {TOKEN}"}},
    }
    with pytest.raises(ValueError, match="Bearer"):
        CassetteYaml().serialize({"version": 1, "interactions": [play]})


def test_a_key_is_scrubbed_from_bodies_and_addresses() -> None:
    settings = cassette_settings(secrets=["hunter2-long"])
    response = {
        "headers": {"Set-Cookie": ["a=hunter2-long"], "Content-Type": ["text/plain"]},
        "body": {"string": b"no hunter2-long here"},
    }
    assert settings["before_record_response"](response) == {
        "headers": {"content-type": ["text/plain"]},
        "body": {"string": b"no FILTERED here"},
    }


# --- recording ---------------------------------------------------------------------------------


def test_a_cassette_survives_loading_and_saving() -> None:
    for path in CASSETTES.glob("*.yaml"):
        text = path.read_text("utf-8")
        heading = text.partition("\n")[0] + "\n"
        writer = CassetteYaml(heading)
        assert writer.serialize(writer.deserialize(text)) == text
