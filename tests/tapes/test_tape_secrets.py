"""No configured key is on a tape, in any spelling that a server may repeat."""

from __future__ import annotations

import html
import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote, unquote

import httpx
import pytest
from runtimes import BOTH, either
from servers import RawServer, answering, response

from webtools import Session, WebTools, WebToolsError, bulk, compare
from webtools.cli import main

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


def repeating(echo: str, *, fails: bool) -> httpx.MockTransport:
    """Return a transport to a provider that repeats a text wherever it can."""

    def respond(_request: httpx.Request) -> httpx.Response:
        if fails:
            return httpx.Response(400, json={"error": f"bad key {echo}", "tag": "X"})
        url = f"https://a.example/?k={quote(echo)}"
        result = {"url": url, "title": echo, "highlights": [f"a {echo} b"], "text": f"T {echo}"}
        return httpx.Response(200, json={"results": [result], "requestId": "1"})

    return httpx.MockTransport(respond)


def settings(echo: str, *, fails: bool) -> WebTools:
    exa = {"name": "exa", "type": "exa", "apiKey": KEY}
    config = {"providers": [exa], "cache": {"enabled": False}, "log": {"enabled": False}}
    return WebTools(config, transport=repeating(echo, fails=fails))


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


LATER_KEY = "later-test-key-7Zq3dEf7hI"


@pytest.mark.parametrize("command", [["report"], ["report", "--json"], ["compare"]])
def test_a_key_that_was_none_when_a_tape_was_recorded_is_not_shown(
    tape: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    other = tape.with_name("other.jsonl")
    for path, query in ((tape, f"about {LATER_KEY}"), (other, f"more about {LATER_KEY}")):
        with settings(f"T {LATER_KEY}", fails=False).session(record=path) as session:
            session.search(query)
    assert LATER_KEY in tape.read_text()
    monkeypatch.setenv("WEBTOOLS_CONFIG", str(config_file(tmp_path, entry(LATER_KEY))))
    files = [tape, other] if command == ["compare"] else [tape]
    assert main([*command, *map(str, files)]) in {0, 1}
    shown = html.unescape(unquote("".join(capsys.readouterr())))
    assert "about [redacted]" in shown
    assert LATER_KEY not in shown
    facts = unquote(compare(tape, other).model_dump_json())
    assert "about [redacted]" in facts
    assert LATER_KEY not in facts


@BOTH
def test_a_key_that_is_set_during_a_call_is_not_on_its_tape(
    tape: Path, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    def respond(_request: httpx.Request) -> httpx.Response:
        monkeypatch.setenv("GATEWAY_API_KEY", LATER_KEY)
        result = {"url": f"https://a.example/{LATER_KEY}", "title": LATER_KEY, "text": "T"}
        return httpx.Response(200, json={"results": [result]})

    exa = {"name": "exa", "type": "exa", "apiKey": KEY}
    web = WebTools({"providers": [exa]}, transport=httpx.MockTransport(respond), cache=False)
    session = web.session(record=tape)
    either(is_async, session, "search", "plain")
    assert "[redacted]" in tape.read_text()
    for text in (tape.read_text(), json.dumps(session.state()), session.report()):
        assert LATER_KEY not in text


@pytest.mark.parametrize("own", [{}, {"api_keys": {"exa": OWN_KEY}}], ids=["shared", "own"])
def test_a_replaced_key_of_the_environment_is_not_shown(
    tape: Path, monkeypatch: pytest.MonkeyPatch, own: dict[str, Any]
) -> None:
    monkeypatch.setenv("GATEWAY_API_KEY", LATER_KEY)
    web = settings(LATER_KEY, fails=False)
    web.session(**own).search("plain")
    monkeypatch.setenv("GATEWAY_API_KEY", "test-key-newer-4kOT68GsD")
    session = web.session(record=tape, **own)
    session.search(f"about {LATER_KEY}")
    for text in (tape.read_text(), json.dumps(session.state()), session.report()):
        assert LATER_KEY not in unquote(text)


@pytest.mark.parametrize("form", ["markdown", "json"])
def test_a_report_shows_no_password_that_is_in_the_name_of_the_session(form: Any) -> None:
    proxy = {"name": "exa", "type": "exa", "apiKey": KEY, "proxy": "http://u:swordfish@p.example"}
    with WebTools({"providers": [proxy]}).session(id="conversation-swordfish") as session:
        assert "swordfish" not in str(session.report(form))
        assert "swordfish" not in str(session.state())


@BOTH
def test_a_check_shows_no_key_that_is_known_now(tape: Path, tmp_path: Path, is_async: bool) -> None:
    path = config_file(tmp_path, entry(KEY))
    transport = repeating(LATER_KEY, fails=False)
    session = WebTools(path, transport=transport).session(record=tape)
    assert LATER_KEY in either(is_async, session, "search", "plain").results[0].title
    config_file(tmp_path, entry(LATER_KEY))
    check = either(is_async, session, "check", "It is [1].")
    assert "[redacted]" in str(check.only_found)
    assert LATER_KEY not in unquote(str(check))


WORDS = ["title", "query", "queries", "results", "search", "index", "status", "published", "direct"]


@BOTH
@pytest.mark.parametrize("word", WORDS)
def test_a_password_that_is_a_word_of_ours_breaks_no_tape_and_no_row(
    tape: Path, tmp_path: Path, word: str, is_async: bool
) -> None:
    query = f"How to set the {word}?"
    arguments = {"arguments": {"queries": [query]}}
    result = {"url": "https://a.example/", "title": f"The {word}", "text": f"A {word}"}
    body = json.dumps({"results": [result]}).encode()
    output = tmp_path / "rows.jsonl"
    with RawServer(answering(response(body))) as proxy:
        exa = entry(KEY) | {"baseUrl": "http://exa.example"}
        exa["proxy"] = f"http://user:{word}@127.0.0.1:{proxy.port}"
        web = WebTools({"providers": [exa], "cache": {"enabled": False}})
        with web.session(record=tape) as session:
            recorded = either(is_async, session, "call_tool", "web_search", **arguments)
        bulk.run("search", [query], output, web=web)
    assert recorded.details["result_count"] == 1
    with web.session(replay=tape) as session:
        replayed = either(is_async, session, "call_tool", "web_search", **arguments)
    assert replayed.text == recorded.text
    assert f" {word}" not in tape.read_text()
    assert [row.status for row in bulk.read(output)] == ["ok"]
    assert bulk.run("search", [query], output, web=web).resumed == 1
    assert f" {word}" not in output.read_text()


# --- keys of every source ----------------------------------------------------------------------

# They begin differently, because the beginning of a key is removed, too.
FILE_KEY, CODE_KEY = "file-test-key-canary-7c1", "code-test-key-canary-4b9"
SESSION_KEY = "session-test-key-canary-2e"
Source: TypeAlias = Callable[[Path, pytest.MonkeyPatch, Any], WebTools]


def entry(key: str, name: str = "exa") -> dict[str, Any]:
    return {"name": name, "type": "exa", "apiKey": key}


def config_file(folder: Path, *entries: dict[str, Any]) -> Path:
    path = folder / "web-search.json"
    path.write_text(json.dumps({"providers": entries}))
    path.chmod(0o600)
    return path


def of_a_file(folder: Path, _: Any, transport: Any) -> WebTools:
    path = config_file(folder, entry(FILE_KEY))
    return WebTools(path, api_keys={"exa": CODE_KEY}, transport=transport)


def of_the_environment(_: Path, monkeypatch: pytest.MonkeyPatch, transport: Any) -> WebTools:
    monkeypatch.setenv("EXA_API_KEY", FILE_KEY)
    return WebTools(api_keys={"exa": CODE_KEY}, transport=transport)


def of_the_code(_: Path, __: Any, transport: Any) -> WebTools:
    config = {"providers": [entry(FILE_KEY)]}
    return WebTools(config, api_keys={"exa": CODE_KEY}, transport=transport)


def of_a_function(_: Path, __: Any, transport: Any) -> WebTools:
    config = {"providers": [{**entry(FILE_KEY), "apiKey": lambda: FILE_KEY}]}
    return WebTools(config, api_keys={"exa": lambda: CODE_KEY}, transport=transport)


def of_replaced_providers(folder: Path, _: Any, transport: Any) -> WebTools:
    path = config_file(folder, entry(FILE_KEY))
    return WebTools(path, providers=[entry(CODE_KEY)], transport=transport)


def of_a_file_whose_key_a_session_has_read(folder: Path, _: Any, transport: Any) -> WebTools:
    web = WebTools(config_file(folder, entry(FILE_KEY)), transport=transport)
    web.session(api_keys={"exa": "test-key-of-customer-1"}).report()
    config_file(folder, entry(CODE_KEY)).touch()
    return web


def of_a_variable_that_is_set_later(
    folder: Path, monkeypatch: pytest.MonkeyPatch, transport: Any
) -> WebTools:
    web = WebTools(config_file(folder, entry(FILE_KEY)), transport=transport)
    web.search("plain")
    monkeypatch.setenv("OPENAI_API_KEY", CODE_KEY)
    return web


def of_a_variable_with_several_keys(
    folder: Path, monkeypatch: pytest.MonkeyPatch, transport: Any
) -> WebTools:
    monkeypatch.setenv("GATEWAY_API_KEY", f"Bearer test-key-of-others-1,{CODE_KEY}\n")
    return WebTools(config_file(folder, entry(FILE_KEY)), transport=transport)


def of_the_token_of_a_server(
    folder: Path, monkeypatch: pytest.MonkeyPatch, transport: Any
) -> WebTools:
    monkeypatch.setenv("WEBTOOLS_MCP_TOKEN", CODE_KEY)
    return WebTools(config_file(folder, entry(FILE_KEY)), transport=transport)


def of_a_url_in_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch, transport: Any
) -> WebTools:
    monkeypatch.setenv("SEARXNG_URL", f"https://user:{CODE_KEY}@search.example/")
    return WebTools(config_file(folder, entry(FILE_KEY)), transport=transport)


def of_a_url_that_is_not_escaped(
    _: Path, monkeypatch: pytest.MonkeyPatch, transport: Any
) -> WebTools:
    for name, key in (("DATABASE_URL", FILE_KEY), ("QUEUE_DSN", CODE_KEY)):
        monkeypatch.setenv(name, f"db://u:{key}/#?1a@db.example:1/x")
    return WebTools({"providers": [entry("test-key-plain-1")]}, transport=transport)


def of_a_proxy_that_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch, transport: Any
) -> WebTools:
    monkeypatch.setenv("https_proxy", f"user:{CODE_KEY}@127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "*")
    return WebTools(config_file(folder, entry(FILE_KEY)), transport=transport)


def of_variables_beside_a_missing_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, transport: Any
) -> WebTools:
    monkeypatch.setenv("EXA_API_KEY", FILE_KEY)
    monkeypatch.setenv("OPENAI_API_KEY", CODE_KEY)
    return WebTools(folder / "missing.json", transport=transport)


def of_a_missing_file(folder: Path, _: Any, transport: Any) -> WebTools:
    keys = {"exa": lambda: FILE_KEY, "kagi": CODE_KEY}
    return WebTools(folder / "missing.json", api_keys=keys, transport=transport)


def of_a_missing_file_with_providers(folder: Path, _: Any, transport: Any) -> WebTools:
    providers = [entry(FILE_KEY), entry(CODE_KEY, "other")]
    return WebTools(folder / "missing.json", providers=providers, transport=transport)


def of_a_missing_file_with_storage(folder: Path, _: Any, transport: Any) -> WebTools:
    storage = {"url": f"redis://{FILE_KEY}:{CODE_KEY}@127.0.0.1:1"}
    return WebTools(folder / "missing.json", storage=storage, transport=transport)


def of_a_proxy(folder: Path, monkeypatch: pytest.MonkeyPatch, _: Any) -> WebTools:
    monkeypatch.setenv("HTTPS_PROXY", f"http://{FILE_KEY}:{CODE_KEY}@127.0.0.1:1")
    return WebTools(folder / "missing.json")


def of_a_file_that_breaks(folder: Path, _: Any, transport: Any) -> WebTools:
    path = config_file(folder, entry(FILE_KEY))
    web = WebTools(path, api_keys={"exa": CODE_KEY}, transport=transport)
    web.search("plain")
    path.write_text("{")
    return web


def of_a_file_that_is_deleted(folder: Path, _: Any, transport: Any) -> WebTools:
    web = WebTools(config_file(folder, entry(FILE_KEY)), transport=transport)
    web.search("plain")
    config_file(folder, entry(CODE_KEY)).touch()
    web.search("plain")
    (folder / "web-search.json").unlink()
    return web


def of_several_entries(folder: Path, _: Any, transport: Any) -> WebTools:
    path = config_file(folder, entry(FILE_KEY), entry(CODE_KEY, "other"))
    return WebTools(path, api_keys={"exa": "test-key-for-one"}, transport=transport)


def of_contradicting_code(_: Path, __: Any, transport: Any) -> WebTools:
    config = {"providers": [entry(FILE_KEY), entry(CODE_KEY, "other")]}
    return WebTools(config, default_provider="a-third", transport=transport)


def of_a_half_valid_environment(
    _: Path, monkeypatch: pytest.MonkeyPatch, transport: Any
) -> WebTools:
    monkeypatch.setenv("EXA_API_KEY", FILE_KEY)
    monkeypatch.setenv("KAGI_API_KEY", "${KAGI}")
    return WebTools(api_keys={"exa": CODE_KEY}, transport=transport)


READABLE: list[Source] = [
    of_a_file,
    of_the_environment,
    of_the_code,
    of_a_function,
    of_replaced_providers,
    of_a_file_whose_key_a_session_has_read,
    of_a_variable_that_is_set_later,
    of_a_variable_with_several_keys,
    of_the_token_of_a_server,
    of_a_url_in_the_environment,
    of_a_url_that_is_not_escaped,
    of_a_proxy_that_is_not_used,
]
UNREADABLE: list[Source] = [
    of_variables_beside_a_missing_file,
    of_a_missing_file,
    of_a_missing_file_with_providers,
    of_a_missing_file_with_storage,
    of_a_proxy,
    of_a_file_that_breaks,
    of_a_file_that_is_deleted,
    of_several_entries,
    of_contradicting_code,
    of_a_half_valid_environment,
]


def texts_of(session: Session, text: str, is_async: bool) -> Iterator[Any]:
    """Use a session with a text wherever it takes one, and yield whatever it returns."""
    url = f"https://x.example/?k={quote(text)}"
    calls: list[tuple[str, Any, dict[str, Any]]] = [
        ("search", text, {}),
        ("search", "x", {"provider": text}),
        ("search", "x", {"include_domains": [text]}),
        ("fetch", [url, text], {"question": text}),
        ("call_tool", "web_search", {"arguments": {"queries": [text]}}),
        ("call_tool", "web_search", {"arguments": {"queries": ["x"], text: text}}),
        ("call_tool", text, {"arguments": {}}),
        ("verify", f"A {text}. [1]", {"sources": [Text(url, f"A {text}.")]}),
        ("check", f"See {url} and [1].", {}),
    ]
    for method, subject, options in calls:
        try:
            yield either(is_async, session, method, subject, **options)
        except WebToolsError as error:
            yield error.to_details() | {"text": str(error)}
    yield session.allow(f"See {url}.", origin="user")
    source = {"url": url, "title": text}
    session.record_native(vendor="openai", queries=[text], sources=[source], notes=[text])
    yield session.redact([text])
    yield from (session.report(), session.report("json"), session.state(), session.queries)


class Text(NamedTuple):
    """A source of an answer."""

    url: str
    text: str


@pytest.mark.parametrize("own", [True, False], ids=["own key", "no key of its own"])
@pytest.mark.parametrize(
    ("mode", "is_async"), [("plain", False), ("record", True), ("replay", True), ("both", False)]
)
@pytest.mark.parametrize("source", [*READABLE, *UNREADABLE])
def test_every_key_that_is_known_is_removed_everywhere(
    source: Source,
    mode: str,
    is_async: bool,
    own: bool,
    tape: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = [FILE_KEY, CODE_KEY, *([SESSION_KEY] if own else [])]
    transport = repeating(" and ".join(keys), fails=False)
    with settings("nothing", fails=False).session(record=tape) as session:
        session.search("plain")
    web, new = source(tmp_path, monkeypatch, transport), tmp_path / "new.jsonl"
    options: dict[str, Any] = {"api_keys": {"exa": SESSION_KEY}} if own else {}
    options |= {"replay": tape} if mode in {"replay", "both"} else {}
    options |= {"record": new} if mode in {"record", "both"} else {}
    session = web.session(**options)
    found = [str(text) for text in texts_of(session, f"my {' or '.join(keys)}", is_async)]
    session.close()
    found += [new.read_text()] if "record" in options else []
    everything = unquote("\n".join(found))
    assert "canary" not in everything
    assert "[redacted]" in everything
