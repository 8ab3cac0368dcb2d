"""What is left of a session, and whether the vendor of a model may still search in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from webtools import QuotaError, Session, WebTools
from webtools.adapters import native_or_own
from webtools.cli import main
from webtools.native import NativeTool, NotNative, Route, native_search, read_response

ANTHROPIC = Route("https://api.anthropic.com", "messages", "claude-sonnet-4-6")
OPENAI = Route("https://api.openai.com/v1", "responses", "gpt-5.2")
Make = Callable[..., WebTools]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Make a `WebTools` with a store of its own and a budget."""

    def web(**budget: Any) -> WebTools:
        exa = {"name": "exa", "type": "exa", "apiKey": "test-key-exa"}
        cache = {"path": str(tmp_path / "cache.sqlite3")}
        return WebTools({"providers": [exa], "cache": cache, "budget": budget})

    return web


def pay(session: Session, usd: float, searches: int = 1) -> None:
    session.record_native(vendor="openai", searches=searches, cost_usd=usd)


def test_what_is_left_of_each_limit(make: Make) -> None:
    session = make().session(usd=0.05, calls=3, seconds=60)
    pay(session, 0.02, searches=2)
    left = session.remaining()
    assert (left.usd, left.calls) == (0.03, 1)
    assert left.seconds is not None
    assert 0 < left.seconds <= 60
    pay(session, 1.0, searches=9)
    assert (session.remaining().usd, session.remaining().calls) == (0, 0)
    unlimited = make().session().remaining()
    assert (unlimited.usd, unlimited.calls, unlimited.seconds) == (None, None, None)


@pytest.mark.parametrize("kind", ["session", "user's day", "budget of the day", "process"])
def test_what_a_vendor_spends_counts_in_every_limit(kind: str, make: Make) -> None:
    limits: dict[str, Any] = {"usd": 0.05} if kind == "session" else {}
    if kind == "user's day":
        limits = {"usd_per_day": 0.05}
    budget = {"budget of the day": "usdPerDay", "process": "usdPerProcess"}.get(kind)
    web = make(**({budget: 0.05} if budget else {}))
    first = web.session(user="ann", id=f"first {kind}", **limits)
    pay(first, 0.01)
    assert first.remaining().usd == 0.04
    second = first if kind == "session" else web.session(user="ann", id=f"second {kind}", **limits)
    assert second.remaining().usd == 0.04
    assert isinstance(native_or_own(second, OPENAI, overshoot=True), NativeTool)
    pay(first, 0.05)
    assert second.remaining().usd == 0
    assert isinstance(native_or_own(second, OPENAI, overshoot=True), NotNative)
    with pytest.raises(QuotaError):
        second.search("zip")
    assert first.report("json")["cost_usd"] == 0.06


def test_a_session_reports_that_a_limit_was_exceeded(make: Make) -> None:
    session = make().session(usd=0.02, calls=2)
    pay(session, 0.02, searches=2)
    assert not session.report("json")["notes"]
    pay(session, 0.01)
    notes = str(session.report("json")["notes"])
    assert "`usd`" in notes
    assert "`calls`" in notes


@pytest.mark.parametrize("budget", ["usdPerDay", "usdPerProcess", "callsPerDay", "callsPerProcess"])
@pytest.mark.parametrize("route", [ANTHROPIC, OPENAI], ids=["anthropic", "openai"])
def test_no_vendor_is_used_beside_a_budget_of_the_settings(
    budget: str, route: Route, make: Make
) -> None:
    web = make(**{budget: 9})
    assert isinstance(native_or_own(web.session(), route), NotNative)
    assert isinstance(native_or_own(web, route, overshoot=True), NotNative)  # nothing counts it


@pytest.mark.parametrize("rule", [{"allowDomains": ["python.org"]}, {"denyDomains": ["x.org"]}, {}])
@pytest.mark.parametrize("route", [ANTHROPIC, OPENAI], ids=["anthropic", "openai"])
def test_no_vendor_is_used_where_the_settings_restrict_the_hosts_of_pages(
    rule: dict[str, Any], route: Route
) -> None:
    exa = {"name": "exa", "type": "exa", "apiKey": "test-key-exa"}
    web = WebTools({"providers": [exa], "fetch": rule})
    for each in (web, web.session(), web.session(usd=1)):
        choice = native_or_own(each, route, overshoot=True)
        assert isinstance(choice, NotNative if rule else NativeTool)


def test_a_session_that_has_ended_does_not_search(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make().session(seconds=60)
    assert isinstance(native_or_own(session, ANTHROPIC), NativeTool)
    monkeypatch.setattr("time.monotonic", lambda: 1e12)
    assert session.remaining().seconds == 0
    choice = native_or_own(session, ANTHROPIC)
    assert isinstance(choice, NotNative)
    assert "60" in choice.reason


def test_settings_that_cannot_be_read_allow_no_vendor(tmp_path: Path) -> None:
    path = tmp_path / "web-search.json"
    path.write_text("{")
    path.chmod(0o600)
    session = WebTools(path).session(usd=1)
    assert isinstance(native_or_own(session, ANTHROPIC), NotNative)
    pay(session, 0.01)
    assert session.report("json")["cost_usd"] == 0.01


@pytest.mark.parametrize(
    ("left", "named", "not_named"),
    [
        ({"usd_left": 0.05, "calls_left": 0}, "call", "USD"),
        ({"usd_left": 0.05, "max_searches": 0}, "max_searches", "USD"),
        ({"usd_left": 0.001, "calls_left": 3}, "0.001 USD", "call"),
        ({"usd_left": -1}, "0 USD", "-1"),
    ],
    ids=str,
)
def test_the_reason_names_the_limit_that_is_exhausted(
    left: dict[str, Any], named: str, not_named: str
) -> None:
    choice = native_search(ANTHROPIC, **left)
    assert isinstance(choice, NotNative)
    assert named in choice.reason
    assert not_named not in choice.reason


@pytest.mark.parametrize(
    ("vendor", "usage", "usd"),
    [
        ("xai", {"cost_in_usd_ticks": 5 * 10**9}, 0.005),
        ("perplexity", {"cost": {"total_cost": 0.5}}, 0.005),
        ("perplexity", {"cost": {"total_cost": 0.5, "tool_calls_cost": 0.004}}, 0.004),
    ],
    ids=str,
)
def test_a_session_is_charged_for_searches_and_not_for_tokens(
    vendor: str, usage: dict[str, Any], usd: float, make: Make
) -> None:
    call = {"type": "web_search_call", "status": "completed", "action": {"query": "zip"}}
    response = {"model": "m", "output": [call], "usage": usage}
    session = make().session(usd=1)
    session.record_native(**read_response(vendor, response).record())
    report = session.report("json")
    assert report["cost_usd"] == usd
    assert report["cost_is_estimate"] is (usd == 0.005)


CITING: dict[str, Any] = {
    "model": "gpt-5.2",
    "output": [
        {
            "type": "web_search_call",
            "status": "completed",
            "action": {"query": "zip", "sources": [{"url": "https://found.example/"}]},
        },
        {
            "type": "message",
            "content": [
                {
                    "type": "output_text",
                    "text": "Open it.",
                    "annotations": [
                        {
                            "type": "url_citation",
                            "url": "https://cited.example/",
                            "title": "Cited",
                            "start_index": 0,
                            "end_index": 7,
                        }
                    ],
                }
            ],
        },
    ],
}


def test_a_session_keeps_which_sources_a_vendor_cites(
    make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tape = tmp_path / "tape.jsonl"
    with make().session(record=tape) as session:
        session.record_native(**read_response("openai", CITING).record())
    assert cited(session.report("json")) == ["https://cited.example/"]
    later = make().session(state=json.loads(json.dumps(session.state())))
    assert cited(later.report("json")) == ["https://cited.example/"]
    assert main(["report", str(tape), "--json"]) == 0
    assert cited(json.loads(capsys.readouterr().out)) == ["https://cited.example/"]
    assert session.report().count("| yes |") == 1
    answer = "Open it [Cited](https://cited.example/). See [this](https://found.example/), too."
    for each in (session, later):
        check = each.check(answer)
        assert check.not_seen == []
        assert check.only_found == ["https://found.example/"]


def cited(report: dict[str, Any]) -> list[str]:
    return [source["url"] for source in report["sources"] if source["is_cited"]]


# --- model calls at the same time --------------------------------------------------------------


@pytest.mark.parametrize(
    "limits", [{"usd": 0.05}, {"calls": 5}, {"usd": 0.05, "calls": 5}], ids=str
)
def test_model_calls_at_the_same_time_share_what_is_left(limits: Any, make: Make) -> None:
    session = make().session(**limits)
    first = native_or_own(session, ANTHROPIC, max_searches=3)
    second = native_or_own(session, ANTHROPIC, max_searches=3)
    assert isinstance(first, NativeTool)
    assert isinstance(second, NativeTool)
    assert (first.max_searches, second.max_searches) == (3, 2)
    assert isinstance(native_or_own(session, ANTHROPIC), NotNative)
    with pytest.raises(QuotaError):
        session.search("zip")
    for choice in (first, second):
        session.record_native(vendor="anthropic", searches=1, cost_usd=0.01, choice=choice)
        session.record_native(vendor="anthropic", choice=choice)  # gives back no more
    left = session.remaining()
    assert left.usd in (None, 0.03)
    assert left.calls in (None, 3)
    assert not session.report("json")["notes"]


def test_threads_never_get_more_than_what_is_left(make: Make) -> None:
    session = make().session(usd=0.05, calls=7)
    with ThreadPoolExecutor(8) as pool:
        choices = [*pool.map(lambda _: native_or_own(session, ANTHROPIC), range(24))]
    tools = [choice for choice in choices if isinstance(choice, NativeTool)]
    assert sum(tool.max_searches or 0 for tool in tools) == 5
    for tool in tools:
        session.record_native(vendor="anthropic", notes=["failed"], choice=tool)
    assert (session.remaining().usd, session.remaining().calls) == (0.05, 7)
