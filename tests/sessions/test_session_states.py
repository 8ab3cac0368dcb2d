"""A state continues a session in another process, and only for its user."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from runtimes import BOTH, either
from wires import PROVIDERS, Wire, at_once, web_of

from webtools import InputError, QuotaError, Session, WebTools, WebToolsError
from webtools._internal.session.history import History
from webtools.adapters import merge_states
from webtools.errors import OTHER_USER

SEEN, LINKED = "https://docs.example/guide", "https://docs.example/other"
TOKEN = "zq7secret"


@pytest.fixture
def wire() -> Wire:
    wire = Wire(SEEN)
    wire.links = [LINKED]
    return wire


@pytest.fixture
def web(wire: Wire, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> WebTools:
    return web_of(wire, monkeypatch, cache={"enabled": False, "path": str(tmp_path / "c.sqlite")})


def through_json(session: Session) -> Any:
    return json.loads(json.dumps(session.state()))


def used(web: WebTools, *, is_async: bool = False, **options: Any) -> Session:
    session = web.session(fetch="seen", **options)
    session.allow("https://user.example/x", origin="user")
    either(is_async, session, "search", "ferry", provider="exa")
    either(is_async, session, "fetch", SEEN, provider="direct")
    return session


FOLDERS = json.dumps([str(folder) for folder in Path(__file__).parents[:2]])
CONTINUE = """
import json, sys, socket, httpx
sys.path[:0] = json.loads(sys.argv[1])
from runtimes import either
from wires import PROVIDERS, Wire
from webtools import WebTools, WebToolsError
wire = Wire("https://docs.example/guide")
transport = httpx.MockTransport(wire.respond)
web = WebTools({"providers": PROVIDERS, "cache": json.loads(sys.argv[2])}, transport=transport)
options, outcomes = json.loads(sys.argv[4]), []
is_async, urls = options.pop("is_async"), options.pop("urls")
session = web.session(state=json.loads(sys.argv[3]), **options)
for url in urls:
    try:
        page = either(is_async, session, "fetch", url, provider="exa").pages[0]
        outcomes.append(bool(page.text))
    except WebToolsError as error:
        outcomes.append(error.code or type(error).__name__)
numbers = [source.number for source in session.sources]
print(json.dumps([outcomes, session.state(), numbers, len(wire.requests)]))
"""


def in_another_process(state: Any, tmp_path: Path, **options: Any) -> Any:
    cache = json.dumps({"enabled": False, "path": str(tmp_path / "c.sqlite")})
    arguments = [FOLDERS, cache, json.dumps(state), json.dumps(options)]
    command = [sys.executable, "-c", CONTINUE, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not ran.returncode, ran.stderr
    return json.loads(ran.stdout)


NATIVE, USERS = "https://native.example/", "https://user.example/x"
VARIANTS = [
    f"{SEEN}?d=1",
    f"{SEEN}/more",
    "https://www.docs.example/guide",
    "https://someone@docs.example/guide",
]


@BOTH
@pytest.mark.parametrize("user", ["", "ann"])
def test_a_session_continues_in_another_process(
    web: WebTools, tmp_path: Path, user: str, is_async: bool
) -> None:
    session = used(web, user=user, is_async=is_async)
    session.record_native(vendor="openai", sources=[NATIVE])
    before = through_json(session)
    urls = [SEEN, LINKED, USERS, NATIVE, *VARIANTS]
    options = {"user": user, "fetch": "seen", "usd": 1, "is_async": is_async, "urls": urls}
    outcomes, after, numbers, _ = in_another_process(before, tmp_path, **options)
    assert outcomes == [*[True] * 4, *["url_not_seen"] * 3, "InputError"]
    assert numbers == [1, 2, 3, 4]
    assert after["id"] == session.id
    [(own, [calls, spent])] = before["use"].items()
    assert (calls, spent) == (2, 1000)
    [(_, [later_calls, later_spent])] = [item for item in after["use"].items() if item[0] != own]
    assert (later_calls, later_spent) == (4, 4000)
    again = web.session(state=after, user=user, fetch="seen", usd=0.005)
    assert again.report("json")["calls"] == 6
    assert again.report("json")["cost_usd"] == 0.005
    with pytest.raises(QuotaError, match="usd"):
        either(is_async, again, "search", "more", provider="exa")


@BOTH
@pytest.mark.parametrize("limit", [{"usd": 0.0015}, {"calls": 2}])
def test_the_limits_of_a_session_hold_in_another_process(
    web: WebTools, tmp_path: Path, limit: dict[str, Any], is_async: bool
) -> None:
    state = through_json(used(web, is_async=is_async))
    options = {**limit, "is_async": is_async, "urls": [SEEN]}
    outcomes, after, _, requests = in_another_process(state, tmp_path, **options)
    assert outcomes == ["session_limit"]
    assert requests == 0
    assert sum(spent for _, spent in after["use"].values()) == 1000
    assert either(is_async, web.session(**limit), "fetch", SEEN, provider="exa").pages[0].text


@BOTH
def test_a_strict_session_is_strict_in_another_process(
    web: WebTools, tmp_path: Path, is_async: bool
) -> None:
    state = through_json(used(web, is_async=is_async))
    options = {"fetch": "strict", "is_async": is_async, "urls": [SEEN, USERS, LINKED]}
    outcomes, *_ = in_another_process(state, tmp_path, **options)
    assert outcomes == [True, True, "url_not_seen"]


@BOTH
def test_loading_ones_own_state_changes_nothing(web: WebTools, is_async: bool) -> None:
    session = used(web, is_async=is_async)
    for _ in range(3):
        state = through_json(session)
        again = web.session(state=state, fetch="seen")
        assert through_json(again) == state
        assert again.sources == session.sources
    either(is_async, again, "search", "ferry", provider="exa")
    either(is_async, session, "search", "ferry", provider="exa")
    assert session.report("json")["calls"] == again.report("json")["calls"] == 4


def test_strict_stays_strict_in_a_state(web: WebTools) -> None:
    session = web.session(fetch="strict")
    session.search("ferry", provider="exa")
    session.fetch(SEEN, provider="direct")
    later = web.session(fetch="strict", state=through_json(session))
    assert later.has_seen(SEEN)
    assert not later.has_seen(LINKED)


def test_a_link_that_was_opened_stays_a_link_in_a_state(web: WebTools) -> None:
    session = used(web)
    session.fetch(LINKED, provider="direct")
    assert web.session(fetch="seen", state=through_json(session)).has_seen(LINKED)
    assert not web.session(fetch="strict", state=through_json(session)).has_seen(LINKED)


@pytest.mark.parametrize("is_newer", [True, False])
def test_a_url_with_a_key_is_not_merged_back(
    web: WebTools, monkeypatch: pytest.MonkeyPatch, is_newer: bool
) -> None:
    """What is a key now may not have been one when an older state was made."""
    key = "test-key-7Zq3dEf7hI"
    session = used(web)
    session.allow(f"https://a.example/?k={key} https://b.example/", origin="user")
    before = through_json(session)
    assert key in str(before)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    after = json.loads(json.dumps(web.session(state=before).state()))
    assert after["left_out"] == ["40 https://a.example/?k=[redacted]"]
    merged = merge_states(before, after) if is_newer else merge_states(after, before)
    for state in (merged, merge_states(merged, before), merge_states(before, merged)):
        assert key not in str(state)
        assert "https://b.example/" in str(state)


@pytest.mark.parametrize("is_newer", [True, False])
def test_keys_that_are_set_one_after_the_other_leave_a_merged_state(
    web: WebTools, monkeypatch: pytest.MonkeyPatch, is_newer: bool
) -> None:
    keys = [f"test-key-{number}-7Zq3dEf7hI" for number in range(3)]
    session = web.session(id="s")
    session.allow(f"https://a.example/?a={keys[0]}&b={keys[1]}&c={keys[2]} https://b.example/")
    state = through_json(session)
    for number, key in enumerate(keys):
        monkeypatch.setenv(f"N{number}_API_KEY", key)
        continued = through_json(web.session(state=state))
        state = merge_states(state, continued) if is_newer else merge_states(continued, state)
        assert not [known for known in keys[: number + 1] if known in json.dumps(state)]
        assert "https://b.example/" in json.dumps(state)


def test_a_title_with_a_key_is_not_merged_back_in_another_spelling_of_its_page(
    web: WebTools, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "test-key-7Zq3dEf7hI"
    session = web.session(id="s")
    session.record_native(vendor="v", sources=[{"url": f"{SEEN}?utm_source=x", "title": key}])
    before = through_json(session)
    other = web.session(id="s")
    other.search("ferry", provider="exa")
    merged = merge_states(before, through_json(other))
    assert web.session(state=merged, fetch="seen").has_seen(SEEN)
    assert web.session(state=merged, fetch="seen").has_seen(f"{SEEN}?utm_source=x")
    monkeypatch.setenv("OPENAI_API_KEY", key)
    assert key not in json.dumps(merge_states(merged, through_json(web.session(state=merged))))


def test_all_spellings_of_a_url_with_a_key_leave_a_merged_state(
    web: WebTools, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parallel branches of a conversation can find a page with other fragments."""
    key = "test-key-7Zq3dEf7hI"
    merged = before = web.session(id="s").state()
    for fragment in ("one", "two", "three"):
        wire.found = [f"https://a.example/p?k={key}#{fragment}"]
        branch = web.session(state=before)
        branch.search("ferry", provider="exa")
        merged = merge_states(merged, through_json(branch))
    assert str(merged).count(key) == 3
    monkeypatch.setenv("OPENAI_API_KEY", key)
    assert key not in str(merge_states(merged, through_json(web.session(state=merged))))


def test_all_urls_with_a_key_stay_out_of_states(
    web: WebTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "test-key-7Zq3dEf7hI"
    session = web.session()
    session.allow(" ".join(f"https://a.example/{n}?k={key}" for n in range(450)))
    session.record_native(vendor="v", sources=[f"https://b.example/{n}?{key}" for n in range(450)])
    before = through_json(session)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    assert key not in json.dumps(merge_states(before, through_json(web.session(state=before))))


def test_a_url_with_a_login_is_in_no_state_and_opens_nothing(web: WebTools) -> None:
    url = "https://ann:test-key-login@docs.example/x"
    session = web.session(fetch="seen")
    assert session.allow(f"Read {url} today", origin="user") == []
    session.record_native(vendor="openai", sources=[url])
    assert not web.session(fetch="seen", state=through_json(session)).has_seen(url)
    assert "test-key-login" not in f"{session.report()}{session.state()}"


@pytest.mark.parametrize(
    ("owner", "other"), [("ann", "bob"), ("ann", ""), ("", "bob"), ("\ud800", "?"), ("a", "A")]
)
def test_a_state_of_another_user_is_refused(web: WebTools, owner: str, other: str) -> None:
    state = through_json(used(web, user=owner))
    assert "ann" not in json.dumps(state)
    with pytest.raises(InputError, match="user"):
        web.session(user=other, state=state)


def test_a_user_cannot_be_recognized_from_another_store(
    web: WebTools, wire: Wire, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    state = through_json(used(web, user="ann"))
    path = str(tmp_path / "other.sqlite")
    elsewhere = web_of(wire, monkeypatch, cache={"enabled": False, "path": path})
    assert elsewhere.session(user="ann").state()["user"] != state["user"]
    with pytest.raises(InputError, match="storage.url"):
        elsewhere.session(user="ann", state=state)


def test_a_state_has_neither_texts_nor_queries(web: WebTools) -> None:
    text = json.dumps(used(web).state())
    assert "crosses" not in text
    assert '"ferry"' not in text


def test_a_state_keeps_the_newest_and_what_the_user_wrote(web: WebTools, wire: Wire) -> None:
    session = web.session()
    session.allow("https://user.example/first", origin="user")
    for start in range(0, 1200, 100):
        wire.found = [f"https://docs.example/{number}" for number in range(start, start + 100)]
        session.search(str(start), provider="exa", limit=100)
    wire.links = [f"https://docs.example/link-{number}" for number in range(900)]
    session.fetch("https://docs.example/1199", provider="direct")
    state = through_json(session)
    assert len(state["sources"]) <= 500
    assert len(state["seen"]) <= 500
    later = web.session(state=state)
    assert later.has_seen("https://user.example/first")
    assert later.has_seen("https://docs.example/1199")
    assert not later.has_seen("https://docs.example/0")
    wire.found = ["https://new.example/"]
    later.search("new", provider="exa")
    assert later.sources[-2].number == 1201


@BOTH
@pytest.mark.parametrize("usd", [1e10, 1e300, 10**400])
def test_a_state_loads_whatever_a_provider_charges(
    web: WebTools, wire: Wire, usd: Any, is_async: bool
) -> None:
    wire.answers["api.exa.ai"] = {"results": [], "costDollars": {"total": usd}}
    session = web.session()
    for _ in range(2):
        with contextlib.suppress(WebToolsError):
            either(is_async, session, "search", "ferry", provider="exa")
    assert session.report()
    assert web.session(state=through_json(session)).id == session.id


def test_states_of_two_users_are_not_merged(web: WebTools) -> None:
    ann, bob = (used(web, user=user, id="job").state() for user in ("ann", "bob"))
    for old, new in [(ann, bob), (bob, ann), (ann, {**bob, "user": ""})]:
        with pytest.raises(InputError, match="users"):
            merge_states(old, new)
    assert merge_states({}, ann) == ann


NO_STATES: list[Any] = [None, 7, [], "text", {"id": "x"}, {"version": 1, "id": "x", "sources": 5}]


@pytest.mark.parametrize("value", NO_STATES, ids=str)
def test_what_is_no_state_is_not_merged(web: WebTools, value: Any) -> None:
    state = used(web).state()
    with pytest.raises(InputError, match="state"):
        merge_states(state, value)
    if value:
        with pytest.raises(InputError, match="state"):
            merge_states(value, state)


INVALID = [
    {"version": 2},
    {"id": ""},
    {"sources": [[1, "javascript:alert(1)", "", "search", False]]},
    {"sources": [[-1, "https://docs.example/", "", "search", False]]},
    {"sources": [[2**60, "https://docs.example/", "", "search", False]]},
    {"sources": [[1, "https://a:b@docs.example/", "", "search", False]]},
    {"sources": [[1, "https://docs.example/", "", "friend", False]]},
    {"seen": [["https://docs.example/", "argument", 1]]},
    {"seen": [["ftp://docs.example/", "user"]]},
    {"use": {"p": [-1, 0]}},
    {"use": {"p": ["many", 0]}},
    {"next_number": 0},
]


@pytest.mark.parametrize("change", INVALID, ids=str)
def test_a_state_that_no_session_returned_is_refused(web: WebTools, change: dict[str, Any]) -> None:
    state = through_json(used(web)) | change
    with pytest.raises(InputError, match="state"):
        web.session(state=state)


def test_another_session_cannot_be_loaded_under_an_id(web: WebTools) -> None:
    state = through_json(used(web, id="one"))
    assert web.session(id="one", state=state).id == "one"
    with pytest.raises(InputError, match="id"):
        web.session(id="two", state=state)


def test_a_page_in_another_spelling_has_one_number_in_states_that_are_joined(web: WebTools) -> None:
    session = web.session(id="s")
    session.fetch(f"{SEEN}?utm_source=mail", provider="direct")
    old = through_json(session)
    session.search("ferry", provider="exa")
    [source] = session.sources
    for joined in (merge_states(old, session.state()), merge_states(session.state(), old)):
        assert [row[0] for row in joined["sources"]] == [source.number]
        later = web.session(state=joined)
        assert later.has_seen(SEEN)
        assert [each.number for each in later.sources] == [source.number]


def test_a_key_in_an_id_is_not_in_the_state(web: WebTools) -> None:
    session_id = f"chat {PROVIDERS[1]['apiKey']}"
    state = through_json(used(web, id=session_id))
    assert PROVIDERS[1]["apiKey"] not in json.dumps(state)
    for options in ({}, {"id": session_id}, {"id": state["id"]}):
        assert web.session(state=state, **options).has_seen(SEEN)


@BOTH
def test_fifty_sessions_at_once_keep_apart(web: WebTools, wire: Wire, is_async: bool) -> None:
    sessions = [web.session(user=f"user-{number}", fetch="seen") for number in range(50)]
    urls = [f"https://docs.example/{number}" for number in range(50)]
    wire.finds = {f"for {number}": [url] for number, url in enumerate(urls)}
    at_once(is_async, [(each, f"for {at}") for at, each in enumerate(sessions)], "search")
    pairs = [(session, url) for session in sessions for url in urls]
    outcomes = at_once(is_async, pairs, "fetch")
    opened = [not isinstance(outcome, InputError) for outcome in outcomes]
    assert opened == [sessions.index(session) == urls.index(url) for session, url in pairs]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_counts_for_itself(web: WebTools) -> None:
    session = used(web, calls=4)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        outcome: Any = None
        try:
            session.search("in the child", provider="exa")
            outcome = session.state()
        finally:
            os.write(writing, json.dumps(outcome).encode())
            os._exit(0)
    os.waitpid(child, 0)
    state = json.loads(os.read(reading, 1_000_000))
    session.search("in the parent", provider="exa")
    own = through_json(session)
    assert sorted(state["use"].values()) == [[1, 1000], [2, 1000]]
    assert list(own["use"].values()) == [[3, 2000]]
    both = web.session(state=state, calls=4)
    assert both.report("json")["calls"] == 4
    with pytest.raises(QuotaError, match="4 of 4"):
        session.search("more", provider="exa")
    assert isinstance(both, Session)


LOGINS = ["https://ann:test-password@host.example/x", "https://test-password@host.example"]


@pytest.mark.parametrize("url", LOGINS)
def test_a_url_with_a_login_is_not_kept(web: WebTools, url: str) -> None:
    session = web.session(fetch="seen")
    assert session.allow(f"Read {url} and https://docs.example/x.", origin="user") == [
        "https://docs.example/x"
    ]
    session.record_native(vendor="openai", sources=[url], searches=1)
    assert not session.has_seen(url)
    kept = f"{session.report()}{session.report('json')}{session.state()}{session.sources}"
    assert "test-password" not in kept
    assert web.session(state=through_json(session)).has_seen("https://docs.example/x")


@pytest.mark.parametrize("number", [-1, 2**60])
def test_a_state_with_an_impossible_number_is_refused(web: WebTools, number: int) -> None:
    state = used(web).state()
    state["sources"][0][0] = number
    with pytest.raises(InputError, match="state"):
        web.session(state=state)


def test_names_of_users_with_surrogates_differ(web: WebTools) -> None:
    state = web.session(user="ann\ud800").state()
    for other in ["ann\ud801", "ann?", "ann\ufffd"]:
        with pytest.raises(InputError, match="another user") as refused:
            web.session(user=other, state=state)
        assert refused.value.code == OTHER_USER


def test_a_session_can_be_shown_while_threads_use_it(web: WebTools, wire: Wire) -> None:
    session = web.session(fetch="seen")
    is_done = threading.Event()

    def show() -> None:
        while not is_done.is_set():
            session.state()
            session.report("json")

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(3) as pool:
            shown = [pool.submit(show) for _ in range(2)]
            for turn in range(40):
                wire.found = [f"https://site{turn}-{place}.example/" for place in range(50)]
                session.search(f"ferry {turn}", provider="exa")
            is_done.set()
            for each in shown:
                each.result()
    finally:
        is_done.set()
        sys.setswitchinterval(interval)


def test_a_state_with_one_number_twice_gives_two(monkeypatch: pytest.MonkeyPatch) -> None:
    with web_of(Wire(), monkeypatch) as web:
        state = web.session(id="s").state()
        rows = [[1, f"https://a.example/{name}", "", "search", False] for name in "xyz"]
        session = web.session(state={**state, "sources": rows})
        assert [source.number for source in session.sources] == [1, 2, 3]
        assert web.session(state=session.state()).sources == session.sources


def test_a_search_of_another_thread_gives_no_spelling_of_a_caller_to_a_source(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = web_of(wire, monkeypatch).session()
    wire.found = [SEEN]
    find = History.find

    def find_and_see(self: History, url: str) -> Any:
        seen = find(self, url)
        if TOKEN in url and any(each.endswith("/contents") for each in wire.urls):
            monkeypatch.setattr(History, "find", find)
            self.see(SEEN, "search")  # as another thread does before it adds the source
        return seen

    monkeypatch.setattr(History, "find", find_and_see)
    session.fetch(f"{SEEN}#{TOKEN}", provider="exa")
    assert History.find is find
    session.search("ferry", provider="exa")
    assert TOKEN not in json.dumps(session.state())


@pytest.mark.parametrize("gap", ["\x1b[1;31m", "\x1b]8;;http://x9\x07", "\x9b31m", "<b title='9'>"])
def test_a_key_in_a_query_of_a_vendor_is_redacted_before_it_is_cleaned(
    web: WebTools, monkeypatch: pytest.MonkeyPatch, gap: str
) -> None:
    key = "test-key-7Zq3dEf7hI"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    session = web.session()
    session.record_native(vendor="v", queries=[f"open {key[:9]}{gap}{key[9:]} now"])
    assert session.queries == ["open [redacted] now"]
    assert key[9:] not in session.report()
