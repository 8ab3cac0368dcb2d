"""A session's limits in money, calls and seconds, which its messages name."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from runtimes import BOTH, either
from servers import RawServer, silent
from wires import Wire, at_once, web_of

from webtools import InputError, QuotaError, RequestTimeoutError, Session, WebTools, WebToolsError

SEEN = "https://docs.example/guide"


@pytest.fixture
def wire() -> Wire:
    return Wire(SEEN)


@pytest.fixture
def web(wire: Wire, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> WebTools:
    return web_of(wire, monkeypatch, cache={"enabled": False, "path": str(tmp_path / "c.sqlite")})


# --- money -------------------------------------------------------------------------------------


@BOTH
def test_a_call_above_the_limit_is_refused_before_it_is_sent(
    web: WebTools, wire: Wire, is_async: bool
) -> None:
    session, other = web.session(usd=0.0085), web.session(usd=0.0085)
    either(is_async, session, "search", "one", provider="exa")
    either(is_async, session, "search", "two", provider="exa")
    assert session.report("json")["cost_usd"] == 0.002
    sent = len(wire.requests)
    with pytest.raises(QuotaError, match="usd") as caught:
        either(is_async, session, "search", "three", provider="exa")
    assert len(wire.requests) == sent
    assert "0.0085" in str(caught.value)
    assert "this session" in str(caught.value)
    assert not caught.value.retryable
    assert either(is_async, other, "search", "four", provider="exa").results


@BOTH
def test_of_several_providers_that_a_limit_refuses_one_is_named(
    web: WebTools, wire: Wire, is_async: bool
) -> None:
    session = web.session(usd=0.000001)
    with pytest.raises(QuotaError) as caught:
        either(is_async, session, "search", "one")
    assert not wire.requests
    message = str(caught.value)
    assert message.count("refuses") == message.count("Raise") == 1
    assert "failed" not in message


@BOTH
def test_the_budget_of_the_settings_counts_all_sessions(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    web = web_of(wire, monkeypatch, budget={"usdPerProcess": 0.0085})
    either(is_async, web.session(usd=1), "search", "one", provider="exa")
    either(is_async, web.session(usd=1), "search", "two", provider="exa")
    with pytest.raises(QuotaError, match="usdPerProcess"):
        either(is_async, web.session(usd=1), "search", "three", provider="exa")


@BOTH
def test_parallel_calls_keep_the_limit_together(web: WebTools, wire: Wire, is_async: bool) -> None:
    session = web.session(usd=0.028)  # four calls, each of which may cost 0.007
    gate, respond = threading.Event(), wire.respond
    if not is_async:  # all threads wait for their response at the same time
        wire.respond = lambda request: gate.wait(5) and respond(request)  # type: ignore[assignment]
        threading.Timer(1, gate.set).start()
    outcomes = at_once(is_async, [(session, str(number)) for number in range(50)], "search")
    assert session.report("json")["cost_usd"] <= 0.028
    assert any(isinstance(outcome, QuotaError) for outcome in outcomes)
    assert all(isinstance(each, QuotaError) or each.results for each in outcomes)


FOLDERS = json.dumps([str(folder) for folder in Path(__file__).parents[:2]])
SPEND = """
import json, sys, httpx
sys.path[:0] = json.loads(sys.argv[1])
from runtimes import either
from wires import PROVIDERS, Wire
from webtools import WebTools
transport = httpx.MockTransport(Wire("https://docs.example/guide").respond)
web = WebTools({"providers": PROVIDERS, "cache": json.loads(sys.argv[2])}, transport=transport)
session = web.session(user=sys.argv[3], usd_per_day=0.0085)
try:
    either(sys.argv[4] == "async", session, "search", "ferry", provider="exa")
    print("ok")
except Exception as error:
    print(type(error).__name__, error)
"""


@BOTH
def test_a_day_of_a_user_is_counted_by_all_processes(tmp_path: Path, is_async: bool) -> None:
    cache = json.dumps({"enabled": False, "path": str(tmp_path / "c.sqlite")})

    def run(user: str) -> str:
        arguments = [FOLDERS, cache, user, "async" if is_async else "blocking"]
        command = [sys.executable, "-c", SPEND, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    outcomes = [run("ann") for _ in range(3)]
    assert outcomes[:2] == ["ok\n", "ok\n"]
    assert outcomes[2].startswith("QuotaError")
    assert "usd_per_day" in outcomes[2]
    assert "ann" not in outcomes[2]
    assert run("bob") == "ok\n"


def test_a_user_can_spend_again_the_next_day(
    web: WebTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = web.session(user="ann", usd_per_day=0.0075)
    session.search("one", provider="exa")
    with pytest.raises(QuotaError):
        session.search("two", provider="exa")
    now = time.time()
    monkeypatch.setattr(
        "webtools._internal.storage.sqlite_ledger.SqliteLedger._date",
        lambda _self, days=0: time.strftime("%Y-%m-%d", time.gmtime(now + (days + 1) * 86_400)),
    )
    assert session.search("two", provider="exa").results


# --- calls -------------------------------------------------------------------------------------


@BOTH
def test_the_call_after_the_last_one_is_refused(web: WebTools, wire: Wire, is_async: bool) -> None:
    session = web.session(calls=2, fetch="seen")
    either(is_async, session, "search", "one", provider="exa")
    with pytest.raises(InputError):  # refused by the gate: nothing is counted
        either(is_async, session, "fetch", "https://evil.example/")
    either(is_async, session, "fetch", SEEN, provider="exa")
    sent = len(wire.requests)
    result = either(is_async, session, "call_tool", "web_fetch", {"urls": [SEEN]})
    assert result.is_error
    assert "2 of 2 calls" in result.text
    assert "Answer" in result.text
    assert not result.details["error"]["retryable"]
    assert len(wire.requests) == sent
    assert web.search("three", provider="exa").results


def test_cached_calls_count_and_parts_of_outputs_do_not(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, own_temp: None
) -> None:
    web = web_of(wire, monkeypatch, cache={"enabled": True})
    session = web.session(calls=2)
    for _ in range(2):
        session.search("one", provider="exa")
    with pytest.raises(WebToolsError, match="handle"):
        session.read("nosuchhandle")
    with pytest.raises(QuotaError, match="calls"):
        session.search("one", provider="exa")


@BOTH
def test_parallel_calls_are_no_more_than_the_limit(web: WebTools, is_async: bool) -> None:
    session = web.session(calls=7)
    outcomes = at_once(is_async, [(session, str(number)) for number in range(40)], "search")
    assert sum(not isinstance(each, QuotaError) for each in outcomes) == 7


# --- seconds -----------------------------------------------------------------------------------

SLOW: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "search": ("search", ("ferry",), {}),
    "similar": ("search", (SEEN,), {"similar": True}),
    "fetch": ("fetch", ([SEEN, f"{SEEN}/2"],), {}),
    "summarize": ("summarize", (SEEN,), {"provider": "kagi"}),
    "research": ("research", ("ferry",), {"command": "web-deep"}),
    "map": ("map", ("http://127.0.0.1:{port}/",), {}),
    "verify": ("verify", ("The ferry is large [1].", [SEEN]), {}),
}


@BOTH
@pytest.mark.parametrize("name", SLOW)
def test_every_call_ends_with_the_session(name: str, is_async: bool) -> None:
    with RawServer(silent) as server:
        providers = [
            {"name": "exa", "type": "exa", "apiKey": "test-key-exa", "baseUrl": server.url},
            {"name": "kagi", "type": "kagi", "apiKey": "test-key-kagi", "baseUrl": server.url},
            {
                "name": "direct",
                "type": "direct",
                "options": {"allowPrivateHosts": [f"127.0.0.1:{server.port}"]},
            },
        ]
        method, arguments, options = SLOW[name]
        place = f"http://127.0.0.1:{server.port}/"
        arguments = tuple(place if name == "map" else each for each in arguments)
        with WebTools({"providers": providers, "cache": {"enabled": False}}) as web:
            session = web.session(seconds=0.5)
            start = time.monotonic()
            with pytest.raises(RequestTimeoutError, match="`seconds`"):
                either(is_async, session, method, *arguments, **options)
            assert time.monotonic() - start < 20  # a provider has 30 s
            with pytest.raises(RequestTimeoutError, match=r"0\.5 s \(`seconds`\)") as late:
                either(is_async, session, method, *arguments, **options)
            assert not late.value.retryable


@BOTH
@pytest.mark.parametrize(("seconds", "timeout"), [(60, 0.3), (0.3, 60)])
def test_the_shorter_limit_is_named(seconds: float, timeout: float, is_async: bool) -> None:
    with RawServer(silent) as server:
        exa = {"name": "exa", "type": "exa", "apiKey": "test-key-exa", "baseUrl": server.url}
        with WebTools({"providers": [exa], "cache": {"enabled": False}}) as web:
            session = web.session(seconds=seconds)
            with pytest.raises(RequestTimeoutError) as caught:
                either(is_async, session, "search", "one", timeout=timeout)
    assert ("`seconds`" in str(caught.value)) == (seconds < timeout)
    assert ("`timeout`" in str(caught.value)) == (timeout < seconds)


# --- arguments ---------------------------------------------------------------------------------

INVALID: list[dict[str, Any]] = [
    {"usd": -1},
    {"usd": "much"},
    {"usd": float("nan")},
    {"usd": True},
    {"usd_per_day": 1},
    {"usd_per_day": -1, "user": "ann"},
    {"calls": 0},
    {"calls": 1.5},
    {"calls": True},
    {"calls": "many"},
    {"calls": [3]},
    {"calls": float("nan")},
    {"calls": 10**400},
    {"usd": 1e308},
    {"usd": 10**400},
    {"usd_per_day": 1e308, "user": "ann"},
    {"seconds": 10**400},
    {"record": ""},
    {"record": 7},
    {"replay": ""},
    {"replay": b"tape"},
    {"seconds": 0},
    {"seconds": float("inf")},
    {"fetch": "some"},
    {"fetch": None},
    {"cache": "none"},
    {"user": 7},
    {"id": "x" * 501},
    {"id": "one\ud800"},
    {"state": "text"},
    {"state": {}},
]


@pytest.mark.parametrize("options", INVALID, ids=str)
def test_an_invalid_option_is_named(web: WebTools, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        web.session(**options)


def test_a_session_has_no_sessions(web: WebTools) -> None:
    with pytest.raises(InputError, match="session"):
        web.session().session()


# --- caches and keys ---------------------------------------------------------------------------


@BOTH
def test_no_user_gets_a_cached_response_of_another(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    web = web_of(wire, monkeypatch, cache={"enabled": True})
    ann, bob = web.session(user="ann"), web.session(user="bob")
    hits = [
        either(is_async, session, "search", "ferry", provider="exa").cache_hit
        for session in (ann, ann, bob, web, web, web.session(), web.session(user="ann"))
    ]
    assert hits == [False, True, False, False, True, True, True]
    assert not web.session(cache="own").search("ferry", provider="exa").cache_hit
    assert web.session(user="ann", cache="shared").search("ferry", provider="exa").cache_hit


def test_a_session_may_have_keys_of_its_own(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    web = web_of(wire, monkeypatch, cache={"enabled": True})
    session = web.session(api_keys={"exa": "test-key-of-the-customer"})
    web.search("ferry", provider="exa")
    assert not session.search("ferry", provider="exa").cache_hit
    keys = [request.headers["x-api-key"] for request in wire.requests]
    assert keys == ["test-key-exa", "test-key-of-the-customer"]
    texts = [repr(session), str(session.report()), json.dumps(session.state())]
    texts += [session.call_tool("web_search", {"queries": ["test-key-of-the-customer"]}).text]
    assert "test-key-of-the-customer" not in "".join(texts)


def test_no_key_is_in_what_a_session_keeps(web: WebTools) -> None:
    session = web.session()
    session.allow("https://docs.example/?key=test-key-exa", origin="user")
    session.record_native(
        vendor="openai", queries=["test-key-exa"], sources=[f"{SEEN}?test-key-kagi"]
    )
    session.search("about test-key-kagi", provider="exa")
    kept = f"{session.report()}{session.report('json')}{session.state()}{session.sources}"
    assert "test-key" not in kept


SPLITS = ["\u200b", "\u00ad", "\ufe0f", "\u034f", "\u202e", "\U000e0041", "\x1b[31m", "\0", "\x7f"]


@pytest.mark.parametrize("split", SPLITS, ids=ascii)
def test_no_key_with_hidden_characters_is_in_what_a_session_keeps(
    web: WebTools, split: str, tmp_path: Path
) -> None:
    tape = tmp_path / "run.jsonl"
    session = web.session(fetch="seen", record=tape)
    key = split.join("test-key-exa")
    url = f"{SEEN}?k={key}"
    session.allow(f"Read {url}.", origin="user")
    with contextlib.suppress(WebToolsError):
        session.fetch(f"https://unseen.example/{key}")
    natives: list[dict[str, Any]] = [
        {"queries": [key], "notes": [key]},
        {"sources": [{"url": SEEN, "title": key}, url]},
        {"citations": [url], "refused": [url]},
    ]
    for facts in natives:
        with contextlib.suppress(InputError):
            session.record_native(vendor="openai", **facts)
    kept: list[Any] = [session.report(), session._repr_html_(), session.report("json")]
    kept += [session.state(), *map(json.loads, tape.read_text().splitlines())]
    letters = json.dumps(kept, ensure_ascii=False).encode("ascii", "ignore").decode()
    assert "test-key-exa" not in letters.replace("\\u001b[31m", "").replace("\\u0000", "")


@BOTH
def test_a_key_that_was_replaced_in_the_file_is_removed(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_async: bool
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", wire.getaddrinfo)
    file, keys = tmp_path / "web-search.json", ["test-key-first", "test-key-second"]
    web = WebTools(file, transport=httpx.MockTransport(wire.respond))
    session: Session | None = None
    for number, key in enumerate(keys):
        exa = {"name": "exa", "type": "exa", "apiKey": key}
        file.write_text(json.dumps({"providers": [exa], "cache": {"enabled": False}}))
        file.chmod(0o600)
        os.utime(file, (number, number))
        session = session or web.session()
        either(is_async, session, "search", f"about {' and '.join(keys[: number + 1])}")
    assert session is not None
    assert wire.requests[-1].headers["x-api-key"] == keys[-1]
    file.write_text("{")
    session.allow(f"https://docs.example/?k={keys[0]}&l={keys[1]}", origin="user")
    kept = f"{session.report()}{session.report('json')}{session.state()}{session.queries}"
    assert "test-key" not in kept + str([request.content for request in wire.requests])


def test_a_key_that_the_session_replaces_is_removed(web: WebTools, wire: Wire) -> None:
    session = web.session(api_keys={"exa": "test-key-of-the-customer"})
    session.search("about test-key-exa and test-key-of-the-customer", provider="exa")
    session.allow("https://docs.example/?key=test-key-exa", origin="user")
    kept = f"{session.report()}{session.report('json')}{session.state()}{session.queries}"
    assert "test-key" not in kept
    assert b"test-key" not in wire.requests[-1].content


def test_no_key_is_in_the_check_of_an_answer(web: WebTools) -> None:
    session = web.session(api_keys={"exa": "test-key-of-the-customer"})
    answer = "See https://x.example/test-key-of-the-customer and https://x.example/test-key-kagi."
    assert "test-key" not in str(session.check(answer))


NOT_NATIVE: list[dict[str, Any]] = [
    {"searches": -1},
    {"searches": 1.5},
    {"searches": 10**9},
    {"searches": 10**30},
    {"cost_usd": -1.0},
    {"cost_usd": float("nan")},
    {"cost_usd": float("inf")},
    {"cost_usd": 1e308},
    {"queries": [7]},
    {"queries": None},
    {"sources": [7]},
    {"sources": [{"title": "no URL"}]},
    {"sources": 5},
    {"refused": None},
]


@pytest.mark.parametrize("facts", NOT_NATIVE, ids=str)
def test_searches_of_a_vendor_that_are_not_valid_change_nothing(
    web: WebTools, facts: dict[str, Any]
) -> None:
    session = web.session()
    session.record_native(vendor="openai", searches=2, cost_usd=0.5)
    before = session.report("json")
    [[name, value]] = facts.items()
    with pytest.raises(InputError, match="None" if value is None else name.rstrip("s")):
        session.record_native(**{"vendor": "openai", "queries": ["new"], **facts})
    assert session.report("json") == before


def test_one_query_and_one_source_of_a_vendor_need_no_list(web: WebTools) -> None:
    session = web.session()
    session.record_native(vendor="openai", queries="ferry", sources=SEEN)
    assert session.queries == ["ferry"]
    assert session.has_seen(SEEN)
