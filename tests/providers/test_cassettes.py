"""The rules of recordings: no key in any, all of each is played, and how they are made."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import recording
import yaml
from recording import (
    CASSETTES,
    FILTERED,
    SCENARIOS,
    CassetteYaml,
    assert_played_whole,
    cassette_settings,
    key_like,
    record,
    sandbox_source,
)
from vcr import VCR
from vcr.cassette import Cassette
from vcr.errors import CannotOverwriteExistingCassetteException

from webtools._internal.http.clients import BlockingHTTP
from webtools._internal.http.messages import Request, Response
from webtools.config import Settings, load
from webtools.providers import PROVIDERS
from webtools_sandbox import SandboxServer
from webtools_sandbox.news import WRITTEN_ON

ROOT = Path(__file__).parents[2]
ALL = sorted(
    path
    for folder in ("tests", "examples", "benchmarks")
    for path in (ROOT / folder).rglob("cassettes/**/*.yaml")
)
FIRST_LINE = re.compile(
    r"# (Recorded from .+ on \d{4}-\d{2}-\d{2}|Written by hand)\. API: https://\S+\n"
)


def plays(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((CASSETTES / f"{name}.yaml").read_text("utf-8"))
    return loaded


# --- no key ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ALL, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_cassette_has_no_key_and_a_note_on_its_origin(path: Path) -> None:
    text = path.read_text("utf-8")
    assert key_like(text) == []
    assert FIRST_LINE.match(text)


def test_the_scan_sees_the_cassettes() -> None:
    assert len(ALL) >= len(SCENARIOS)


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


# --- all of it is played -----------------------------------------------------------------------


@pytest.fixture
def two_answers() -> Iterator[Cassette]:
    """The cassette of a search for two things, installed."""
    player = VCR(record_mode="none")
    player.register_serializer("yaml", CassetteYaml())
    path = str(CASSETTES / "exa-search.yaml")
    with player.use_cassette(path, **cassette_settings()) as cassette:
        yield cassette


def ask_exa(query: str) -> Response:
    body = {"query": query, "type": "auto", "numResults": 3}
    transport = BlockingHTTP()
    return transport.send(Request("POST", "https://api.exa.ai/search", json=body), 1e12)


def test_a_cassette_that_is_played_in_part_is_refused(two_answers: Cassette) -> None:
    ask_exa("glacier lake")
    with pytest.raises(AssertionError, match="1 of 2"):
        assert_played_whole(two_answers)
    ask_exa("seed archive barley")
    assert_played_whole(two_answers)


def test_an_empty_cassette_is_refused() -> None:
    with pytest.raises(AssertionError, match="empty"):
        assert_played_whole(Cassette("nowhere.yaml"))


def test_another_body_is_not_answered(two_answers: Cassette) -> None:
    with pytest.raises(CannotOverwriteExistingCassetteException):
        ask_exa("glacier lakes")


PART = """
import pytest
from test_cassettes import ask_exa

@pytest.fixture(scope="module")
def vcr_cassette_dir():
    return {folder!r}

@pytest.mark.vcr
@pytest.mark.default_cassette("exa-search")
def test_asks_one_of_two():
    ask_exa("glacier lake")
"""


def test_the_fixture_fails_a_test_that_plays_a_part(tmp_path: Path) -> None:
    # In a process of its own: a run inside this one would share the patched transports.
    tests = ROOT / "tests"
    (tmp_path / "conftest.py").write_text((tests / "conftest.py").read_text("utf-8"), "utf-8")
    (tmp_path / "test_part.py").write_text(PART.format(folder=str(CASSETTES)), "utf-8")
    path = [str(tests), str(tests / "providers"), *sys.path]
    options = ["-p", "pytest_recording.plugin", "-p", "no:cacheprovider", "-q"]
    options += ["-W", "ignore::pytest.PytestUnknownMarkWarning"]  # of plugins that are not loaded
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "test_part.py"],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": os.pathsep.join(path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 of 2" in ran.stdout
    assert "1 passed, 1 error" in ran.stdout


# --- recording ---------------------------------------------------------------------------------


@pytest.fixture
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a config file nor a key in the environment."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for services in PROVIDERS.values():
        for name in services.about.key_variables:
            monkeypatch.delenv(name, raising=False)


def test_the_same_recording_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    names = ["exa-search", "exa-contents", "kagi-search-rate-limited", "kagi-summary"]
    for folder in ("one", "two"):
        with sandbox_source() as source:
            for name in names:
                record(name, source, tmp_path / folder)
    for name in names:
        one, two = (tmp_path / folder / f"{name}.yaml" for folder in ("one", "two"))
        assert one.read_bytes().partition(b"\n")[2] == two.read_bytes().partition(b"\n")[2]


@pytest.mark.usefixtures("no_settings")
@pytest.mark.parametrize("name", ["exa-contents", "exa-search-filtered", "kagi-summary"])
def test_a_live_recording_shows_the_made_up_hosts(name: str, tmp_path: Path) -> None:
    """The sandbox plays the live APIs, which know documents by their real addresses."""
    docs, news = "https://docs.python.org/3", "https://blog.python.org"
    with (
        SandboxServer(docs_url=docs, news_url=news, today=WRITTEN_ON) as server,
        recording.live_source() as live,
    ):
        settings = Settings(load(json.dumps(server.config()), "the sandbox"))
        found = {account.type: account for account in settings.accounts().accounts}
        hosts = [(server.base_url(kind), PROVIDERS[kind].about.origin) for kind in found]
        record(name, replace(live, accounts=found, pairs=[*hosts, *live.pairs]), tmp_path)
    text = (tmp_path / f"{name}.yaml").read_text("utf-8")
    assert re.match("# .*live API.* 20", text)
    assert "python.org" not in text
    assert "127.0.0.1" not in text
    assert "news.example" in text


def test_a_call_with_another_outcome_is_not_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SCENARIOS, "odd", replace(SCENARIOS["exa-search"], fails=True))
    with sandbox_source() as source, pytest.raises(ValueError, match=r"^odd "):
        record("odd", source, tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_unknown_name_is_refused_with_the_known_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        recording.main(["exa-serach"])
    assert re.search(r"exa-serach.*exa-search,", capsys.readouterr().err)


@pytest.mark.usefixtures("no_settings")
def test_live_recording_keeps_cassettes_that_it_cannot_record(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert recording.main(["--live", "exa-search", "exa-search-no-credit"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "exa-search: kept",
        "exa-search-no-credit: kept",
    ]


def test_an_answer_that_is_not_json_is_unchanged() -> None:
    html = plays("kagi-search-html")["interactions"][0]["response"]["body"]
    assert html["string"].startswith("<!DOCTYPE html>")


def test_a_cassette_survives_loading_and_saving() -> None:
    for path in CASSETTES.glob("*.yaml"):
        text = path.read_text("utf-8")
        heading = text.partition("\n")[0] + "\n"
        writer = CassetteYaml(heading)
        assert writer.serialize(writer.deserialize(text)) == text
