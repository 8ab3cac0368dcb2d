"""Under `fetch="seen"`, nothing that a model writes into a URL is requested, looked up or sent."""

from __future__ import annotations

import html
import inspect
import json
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, get_args
from urllib.parse import quote, unquote

import httpx
import idna
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runtimes import BOTH, either
from wires import PROVIDERS, TEXT, Wire, web_of

from webtools import InputError, Session, WebTools, WebToolsError
from webtools.choices import FetchGate
from webtools.inputs.argument_values import _url
from webtools.tools import ALL_TOOLS, Tool

SEEN = "https://docs.example/guide/page?id=7"
LINKED = "https://docs.example/other"
TOKEN = "zq7secret"
# Ways to write a token into a URL that was seen.
SPELLINGS = [
    f"{SEEN}&d={TOKEN}",
    f"https://docs.example/guide/page?utm_source={TOKEN}&id=7",
    f"{SEEN}#{TOKEN}",
    f"{SEEN}#:~:text={TOKEN}",
    f"{SEEN}#page={TOKEN}",
    f"https://docs.example/guide/./{TOKEN}/../page?id=7",
    f"https://docs.example/{TOKEN}/../guide/page?id=7",
    f"https://docs.example/guide/page;{TOKEN}?id=7",
    f"https://docs.example/guide/page/{TOKEN}",
    f"https://{TOKEN}.docs.example/guide/page?id=7",
    f"https://docs.example.{TOKEN}.example/guide/page?id=7",
    f"https://{TOKEN}@docs.example/guide/page?id=7",
    f"https://{TOKEN}:x@docs.example/guide/page?id=7",
    f"https://docs.example\\@{TOKEN}.example/guide/page?id=7",
    f"https://docs.example/guide/page?id=7\t{TOKEN}",
    f"https://docs.example/guide/page?id=7 {TOKEN}",
    f"https://docs.example/guide/page?id=7%00{TOKEN}",
    f"https://docs.example:443{TOKEN}/guide/page?id=7",
    f"https://docs.example/{'a/../' * 300}{TOKEN}",
    "https://docs.example/guide/" + "".join(f"%{ord(c):02x}" for c in TOKEN),
    "https://docs.example/guide/page?id=7&d=" + "".join(f"%{ord(c):02X}" for c in TOKEN),
    f"//{TOKEN}.example/guide",
    f"HTTPS://DOCS.EXAMPLE/guide/page?id=7&{TOKEN.upper()}",
    f"https://docs.example。{TOKEN}/guide/page?id=7",
    f"https://\uff44ocs.example/guide/page?id=7&{TOKEN}",
]
Call = Callable[[Session, str, bool], Any]
OPERATIONS: dict[str, Call] = {
    "web_fetch": lambda s, url, a: either(a, s, "fetch", url, provider="exa"),
    "web_fetch, direct": lambda s, url, a: either(a, s, "fetch", url, provider="direct"),
    "web_fetch, tool": lambda s, url, a: either(a, s, "call_tool", "web_fetch", {"urls": [url]}),
    "summarize": lambda s, url, a: either(a, s, "summarize", url),
    "summarize, tool": lambda s, url, a: either(a, s, "call_tool", "summarize", {"url": url}),
    "web_search": lambda s, url, a: either(a, s, "search", url, similar=True),
    "web_search, tool": lambda s, url, a: either(
        a, s, "call_tool", "web_search", {"queries": [url], "similar": True}
    ),
    "web_map": lambda s, url, a: either(a, s, "map", url),
    "verify": lambda s, url, a: either(a, s, "verify", f"The ferry is big [x]({url}).", fetch=True),
    "verify, sources": lambda s, url, a: either(a, s, "verify", "The ferry is big [1].", [url]),
}


@pytest.fixture
def wire() -> Wire:
    return Wire(SEEN)


@pytest.fixture
def session(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> Session:
    session = web_of(wire, monkeypatch).session(fetch="seen")
    session.search("ferry", provider="exa")
    wire.clear()
    return session


def outcome(call: Call, session: Session, url: str, *, is_async: bool) -> Any:
    try:
        return call(session, url, is_async)
    except WebToolsError as error:
        return error


def test_every_tool_with_a_url_has_a_rule() -> None:
    assert {name.partition(",")[0] for name in OPERATIONS} == {
        *(tool.name for tool in ALL_TOOLS.values() if tool.url_argument),
        "verify",
    }
    for tool in ALL_TOOLS.values():
        takes_url = {name for name in tool.input_model.model_fields if is_url(tool, name)}
        assert takes_url <= {tool.url_argument}
        assert not tool.url_switch or tool.url_switch in tool.input_model.model_fields


def is_url(tool: Tool, name: str) -> bool:
    field = tool.input_model.model_fields[name]
    return "url" in name or _url in [
        getattr(item, "func", None) for item in metadata_of((field.annotation, *field.metadata))
    ]


def metadata_of(items: tuple[Any, ...]) -> list[Any]:
    """List what an annotation is made of, at all depths."""
    return [*items, *(each for item in items for each in metadata_of(get_args(item)))]


def test_no_method_takes_a_url_that_is_not_a_tools() -> None:
    known = {(tool.method, tool.url_argument) for tool in ALL_TOOLS.values()}
    known |= {("verify", "sources"), ("has_seen", "url"), ("record_native", "sources")}
    for name, method in inspect.getmembers(Session, inspect.isfunction):
        for parameter in inspect.signature(method).parameters:
            if name[0] != "_" and ("url" in parameter or "source" in parameter):
                assert (name.removeprefix("a"), parameter) in known or (name, parameter) in known


@BOTH
@pytest.mark.parametrize("operation", OPERATIONS)
def test_nothing_that_the_model_wrote_leaves(
    session: Session, wire: Wire, operation: str, is_async: bool
) -> None:
    for url in SPELLINGS:
        outcome(OPERATIONS[operation], session, url, is_async=is_async)
        assert TOKEN not in wire.left(), url


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_nothing_that_is_written_anywhere_into_a_seen_url_leaves(
    session: Session, wire: Wire, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(SEEN)))
    before, after = (data.draw(st.text(alphabet="/.?#@:;&=%\\ \t", max_size=3)) for _ in range(2))
    url = f"{SEEN[:place]}{before}{TOKEN}{after}{SEEN[place:]}"
    wire.clear()
    operation = data.draw(st.sampled_from(list(OPERATIONS)))
    outcome(OPERATIONS[operation], session, url, is_async=False)
    assert TOKEN not in wire.left()


@BOTH
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_unseen_url_is_refused_again_and_again(
    session: Session, wire: Wire, operation: str, is_async: bool
) -> None:
    for _ in range(2):
        refused = outcome(
            OPERATIONS[operation], session, f"https://evil.example/{TOKEN}", is_async=is_async
        )
        assert wire.requests == []
        assert wire.looked_up == []
        error = (
            refused.to_details() if isinstance(refused, InputError) else refused.details["error"]
        )
        assert error["code"] == "url_not_seen"
        assert error["type"] == "InputError"
        assert not error["retryable"]
        assert TOKEN not in str(error)
    facts = session.report("json")
    assert facts["calls"] == 1
    assert facts["cost_usd"] == 0.001
    assert facts["refused"]


SAME = [
    SEEN,
    "HTTPS://Docs.EXAMPLE/guide/page?id=7",
    "https://docs.example:443/guide/page?id=7",
    f"{SEEN}#install",
]


@BOTH
@pytest.mark.parametrize("url", SAME)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_seen_url_is_sent_as_it_was_seen(
    session: Session, wire: Wire, operation: str, url: str, is_async: bool
) -> None:
    wire.links = [LINKED]
    result = outcome(OPERATIONS[operation], session, url, is_async=is_async)
    assert not isinstance(result, WebToolsError)
    assert not getattr(result, "is_error", False)
    assert SEEN in wire.left()
    assert not any(part in str(wire.left()) for part in ("install", ":443"))


OTHERS = [
    "http://docs.example:8443/guide/page?id=7",
    "https://docs.example/guide/page?id=8",
    "https://docs.example/guide/page",
    "https://docs.example/guide/",
    "https://docs.example/Guide/page?id=7",
    "https://www.docs.example/guide/page?id=7",
    "https://someone@docs.example/guide/page?id=7",
]


@BOTH
@pytest.mark.parametrize("url", OTHERS)
def test_another_url_is_refused(session: Session, wire: Wire, url: str, is_async: bool) -> None:
    with pytest.raises(InputError):
        either(is_async, session, "fetch", url)
    assert wire.requests == []
    assert not session.has_seen(url)


@BOTH
@pytest.mark.parametrize("provider", ["exa", "direct"])
def test_pages_that_may_be_opened_are_kept_in_order(
    session: Session, wire: Wire, provider: str, is_async: bool
) -> None:
    wire.found.append(LINKED)
    session.search("other", provider="exa")
    unseen = f"https://evil.example/{TOKEN}"
    arguments = {"urls": [SEEN, unseen, f"{SEEN}#part", LINKED], "provider": provider}
    result = either(is_async, session, "call_tool", "web_fetch", arguments)
    errors = [page["error_code"] for page in result.details["results"]]
    assert errors == [None, "url_not_seen", None, None]
    assert [page["url"] for page in result.details["results"]] == [
        *(SEEN, unseen, f"{SEEN}#part", LINKED)
    ]
    assert TOKEN not in result.text
    assert TOKEN not in wire.left()
    assert result.details["failed_count"] == 1


def test_a_claim_is_checked_against_a_page_that_it_spells_in_another_way(session: Session) -> None:
    sentence = "The ferry crosses the sound forty times a day"
    for url in SAME:
        answer = f"{sentence} [x]({url}). It is gone [y](https://evil.example/{TOKEN})."
        verified = session.verify(answer, fetch=True)
        assert [claim.status for claim in verified.claims] == ["quoted", "unsupported"]


def test_a_section_is_put_first_without_being_requested(session: Session, wire: Wire) -> None:
    [page] = session.fetch(f"{SEEN}#ferry", provider="direct").pages
    assert str(page.text).startswith("# Ferry")
    assert wire.urls == [SEEN]


# --- what counts as seen -------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("mode", get_args(FetchGate))
def test_links_of_pages_open_unless_strict(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, mode: FetchGate, is_async: bool
) -> None:
    wire.links = [LINKED]
    session = web_of(wire, monkeypatch).session(fetch=mode)
    either(is_async, session, "search", "ferry", provider="exa")
    either(is_async, session, "fetch", SEEN, provider="direct")
    assert session.has_seen(LINKED) is (mode != "strict")
    if mode == "strict":
        with pytest.raises(InputError):
            either(is_async, session, "fetch", LINKED)
    else:
        assert either(is_async, session, "fetch", LINKED, provider="direct").pages[0].text


@pytest.mark.parametrize("provider", ["exa", "direct"])
@pytest.mark.parametrize("mode", ["seen", "strict"])
def test_a_page_does_not_choose_how_a_known_url_leaves(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, mode: FetchGate, provider: str
) -> None:
    spellings = [
        f"{SEEN}#{TOKEN}",
        SEEN.replace("https", "HTTPS"),
        SEEN.replace(".example", ".example:443"),
    ]
    wire.links = spellings
    session = web_of(wire, monkeypatch).session(fetch=mode)
    session.search("ferry", provider="exa")
    session.fetch(SEEN, provider="direct")
    wire.clear()
    for url in spellings:
        outcome(lambda s, url, _: s.fetch(url, provider=provider), session, url, is_async=False)
    assert TOKEN not in wire.left()
    left = str([*wire.urls, *(each.content for each in wire.requests)])
    assert "HTTPS" not in left
    assert ":443" not in left


@pytest.mark.parametrize("mode", ["seen", "strict"])
def test_the_target_of_a_redirect_was_seen(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, mode: FetchGate
) -> None:
    wire.moves = {SEEN: "https://moved.example/new"}
    session = web_of(wire, monkeypatch).session(fetch=mode)
    session.search("ferry", provider="exa")
    assert session.fetch(SEEN, provider="direct").pages[0].url_final == "https://moved.example/new"
    assert session.fetch("https://moved.example/new", provider="direct").pages[0].text


TEXTS = {
    "Read https://a.example/x.": "https://a.example/x",
    "Is it (https://a.example/x_(b))?": "https://a.example/x_(b)",
    "See [this](https://a.example/x), please": "https://a.example/x",
    "<https://a.example/x>": "https://a.example/x",
    "**https://a.example/x**": "https://a.example/x",
    "'https://a.example/x?y=1&z=2'!": "https://a.example/x?y=1&z=2",
    "[a](https://a.example/x)[b](/y)": "https://a.example/x",
    "https://a.example/x、次": "https://a.example/x",
    "see a.example/x, or ask": "https://a.example/x",
    "https://B\u00fccher.example/x": "https://xn--bcher-kva.example/x",
}


@BOTH
@pytest.mark.parametrize(("text", "url"), TEXTS.items())
def test_urls_in_a_text_of_the_user_open(
    session: Session, text: str, url: str, is_async: bool
) -> None:
    assert not session.has_seen(url)
    session.allow(text, origin="user")
    assert either(is_async, session, "fetch", url, provider="exa").pages[0].error is None
    assert [each.how for each in session.sources if each.how != "search"] == ["user"]


@BOTH
def test_a_source_is_kept_as_it_was_seen(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    """A later turn, with a gate, has not seen the URLs that a model wrote without one."""
    seen = "https://docs.example/café"
    wire.found = [seen]
    session = web_of(wire, monkeypatch).session()
    either(is_async, session, "search", "ferry", provider="exa")
    either(is_async, session, "summarize", f"https://docs.example/caf%C3%A9#{TOKEN}")
    assert [each.url for each in session.sources] == [seen]
    assert TOKEN not in json.dumps(session.state())


@BOTH
def test_a_source_is_written_as_a_search_has_found_it(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    wire.found = ["https://docs.example/guide"]
    session = web_of(wire, monkeypatch).session()
    either(is_async, session, "fetch", f"https://docs.example/guide?utm_x={TOKEN}")
    either(is_async, session, "search", "ferry", provider="exa")
    [source] = session.sources
    assert (source.url, source.how, source.number) == ("https://docs.example/guide", "search", 1)
    assert TOKEN not in json.dumps(session.report("json")["sources"])


@BOTH
def test_native_sources_open(session: Session, is_async: bool) -> None:
    session.record_native(vendor="openai", sources=[{"url": LINKED, "title": "Other"}], searches=1)
    assert either(is_async, session, "fetch", LINKED, provider="exa").pages[0].text


def test_errors_queries_and_the_calls_own_urls_do_not_count(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.links = [f"https://evil.example/{TOKEN}"]
    session = web_of(wire, monkeypatch).session()
    unseen = f"https://docs.example/unseen?d={TOKEN}"
    session.search(unseen, provider="exa")
    session.fetch(unseen, provider="direct")
    for url in [unseen, *wire.links]:
        assert not session.has_seen(url)
    later = web_of(wire, monkeypatch).session(fetch="seen", state=session.state())
    assert later.has_seen(SEEN)
    for url in [unseen, *wire.links]:
        assert not later.has_seen(url)


@BOTH
@pytest.mark.parametrize("mode", ["seen", "strict"])
@pytest.mark.parametrize("command", ["web-docs", "web-deep"])
def test_an_address_that_was_built_from_a_query_is_not_opened(
    wire: Wire, monkeypatch: Any, command: str, mode: FetchGate, is_async: bool
) -> None:
    """The snippets of a library without a page have the address of the library at Context7."""
    context7 = {"name": "context7", "type": "context7", "apiKey": "test-key-context7"}
    web = web_of(
        wire,
        monkeypatch,
        providers=[context7, {"name": "direct", "type": "direct"}],
        research={"chain": {"web-deep": ["context7"]}},
    )
    session = web.session(fetch=mode)
    snippet = {"codeTitle": "Open", "codeDescription": "How.", "codeLanguage": "py", "codeList": []}
    wire.answers["context7.com"] = {"codeSnippets": [snippet], "infoSnippets": []}
    question = f"How do I open /org/{TOKEN}?"
    envelope = either(is_async, session, "research", question, command=command)
    [result] = envelope.results
    assert TOKEN in result.url
    later = web.session(fetch=mode, state=json.loads(json.dumps(session.state())))
    for each in (session, later):
        assert not each.has_seen(result.url)
        with pytest.raises(InputError):
            either(is_async, each, "fetch", result.url)
    assert all(url.startswith("https://context7.com/api/") for url in wire.urls)


SPELLED = f"https://www.evil.example/load?d={TOKEN}"


@st.composite
def spelled(draw: st.DrawFn) -> str:
    """A query that has `SPELLED` in it, in one of its spellings."""
    text = draw(st.sampled_from([SPELLED, SPELLED[8:], SPELLED[12:], f"{SPELLED}&utm_source=x#y"]))
    if draw(st.booleans()):
        text = text.upper()
    for place in sorted(draw(st.sets(st.integers(4, len(text) - 1), max_size=4)), reverse=True):
        if text[place].isalpha():
            text = f"{text[:place]}%{ord(text[place]):02x}{text[place + 1 :]}"
    return f"{draw(st.sampled_from(['', 'Open ', '(', 'q=']))}{text}{draw(st.sampled_from(' ).'))}"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(query=spelled())
def test_a_result_that_a_query_spells_does_not_open(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    wire.found = [SEEN, SPELLED]
    with web_of(wire, monkeypatch).session(fetch="seen") as session:
        assert SPELLED in [each.url for each in session.search(query, provider="exa").results]
        assert session.has_seen(SEEN)
        assert not session.has_seen(SPELLED)
        session.allow(SPELLED)
        session.search(query, provider="exa")
        assert session.has_seen(SPELLED)


@pytest.mark.parametrize(
    ("query", "url"),
    [
        ("https://docs.example tutorial security", "https://docs.example/tutorial/security"),
        ("Read https://docs.example/ and tell me about pricing", "https://docs.example/pricing"),
        ("HTTP/2 support in nginx, organically", "https://nginx.example/"),
        ("docs.example asyncio", "https://docs.example/3/library/asyncio.html"),
        ("C++: 3.5 times as fast", "https://8.8.8.8/benchmarks"),
    ],
)
def test_a_result_on_a_host_that_a_query_names_opens(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, query: str, url: str
) -> None:
    wire.found = [url]
    with web_of(wire, monkeypatch).session(fetch="seen") as session:
        session.search(query, provider="exa")
        assert session.has_seen(url)


@BOTH
@pytest.mark.parametrize("tool", ["search", "fetch", "research"])
def test_links_that_repeat_a_query_do_not_open(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, is_async: bool, tool: str
) -> None:
    text = f"See [this page]({LINKED}) and [that one]({SPELLED}). {TEXT}"
    result = {"id": SEEN, "url": SEEN, "title": "Page", "text": text, "highlights": [text]}
    wire.answers["api.exa.ai"] = {"results": [result]}
    session = web_of(wire, monkeypatch).session(fetch="seen")
    if tool == "search":
        either(is_async, session, "search", f"Open {SPELLED}", provider="exa", content=True)
    elif tool == "fetch":
        session.allow(SEEN)
        either(is_async, session, "fetch", SEEN, question=f"Is it {SPELLED}?", provider="exa")
    else:
        wire.answers["93.184.216.34"] = {"see this page of it": [LINKED, SPELLED]}
        question = f"See this page of it, {SPELLED}."
        either(is_async, session, "research", question, command="web-deep")
    assert session.has_seen(LINKED)
    assert not session.has_seen(SPELLED)


@BOTH
@pytest.mark.parametrize("mode", ["seen", "strict"])
def test_where_a_page_of_the_question_redirects_to_does_not_open_in_a_later_turn(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, mode: FetchGate, is_async: bool
) -> None:
    """One page of its host was seen, without the `utm_` parameter of the question."""
    final = f"https://www.evil.example/final?d={TOKEN}"
    wire.found, wire.moves = [f"{SPELLED}&utm_x=1"], {f"{SPELLED}&utm_x=1": final}
    web = web_of(wire, monkeypatch)
    session = web.session()  # without a gate, research reads it
    session.allow(SPELLED)
    question = f"How often does the ferry of {SPELLED}&utm_x=1 cross?"
    either(is_async, session, "research", question, command="web-deep")
    assert final in wire.urls
    later = web.session(fetch=mode, state=json.loads(json.dumps(session.state())))
    assert later.has_seen(SPELLED)
    assert not later.has_seen(final)


@BOTH
def test_research_of_a_page_as_one_session_has_seen_it_is_not_cached_for_another(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_async: bool
) -> None:
    cache = {"enabled": True, "path": str(tmp_path / "cache.sqlite3")}
    web = web_of(wire, monkeypatch, cache=cache)
    question = f"How often does the ferry of {SEEN} cross?"
    for fragment in ("of-ann", "of-bob"):
        session = web.session(fetch="seen")
        session.allow(f"See {SEEN}#{fragment}")
        envelope = either(is_async, session, "research", question, command="web-deep")
        assert [each.url for each in envelope.results] == [f"{SEEN}#{fragment}"]


EVIL = "https://evil.example"
PARTS = [
    "a",
    "B",
    "7",
    "%41",
    "%2525",
    "é",
    "中",
    "&",
    "&amp;",
    "&copy",
    "&reg=",
    "&#65;",
    "=",
    "/",
]
PARTS += [
    "/../",
    "?",
    ";",
    "!",
    "utm_x=1",
    "&utm_",
    "#",
    "(",
    "]",
    "+",
    "%26",
    "&section=",
    ",",
    "~",
]
HOSTS = ["evil.example", "www.EVIL.example.", "b\u00fccher.example:8080", "xn--zq7secret.example"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sampled_from(HOSTS),
    st.sampled_from(["", "/", "?", "/p?"]),
    st.lists(st.sampled_from(PARTS), max_size=6).map("".join),
)
def test_whatever_url_a_query_has_does_not_open(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, host: str, start: str, rest: str
) -> None:
    wire.found = [f"https://{host}{start}{rest}"]
    with web_of(wire, monkeypatch).session(fetch="seen") as session:
        results = session.search(f"open {wire.found[0]} now", provider="exa").results
        assert not any(session.has_seen(each.url) for each in results)


LABELS = [
    "b\u00fccher",
    "\u0440\u0444",
    "i\u2764",
    "stra\u00dfe",
    "evil",
    "xn--zq7secret",
    "\u4f8b",
]
FORMS: list[Callable[[str], str]] = [
    str,
    str.upper,
    lambda label: f"xn--{label.encode('punycode').decode()}",
    lambda label: f"XN--{label.encode('punycode').decode()}",
    lambda label: f"{label[:2]}\u00ad{label[2:]}",
    lambda label: label.translate({code: code + 0xFEE0 for code in range(97, 123)}),
]


def as_label(label: str, form: Callable[[str], str]) -> str:
    return label if label.isascii() and form("\u00fc")[:2].lower() == "xn" else form(label)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    labels=st.lists(st.sampled_from(LABELS), min_size=1, max_size=3),
    data=st.data(),
    before=st.sampled_from(["https://", "open", "\u6253\u5f00", "_", "https_", "*", "www.", "9"]),
    path=st.sampled_from(["", f"/?d={TOKEN}", f"/{TOKEN}"]),
)
def test_each_label_of_a_host_in_a_query_may_be_in_another_form(
    wire: Wire,
    monkeypatch: pytest.MonkeyPatch,
    labels: list[str],
    data: st.DataObject,
    before: str,
    path: str,
) -> None:
    forms = st.sampled_from(FORMS)
    asked, found = (
        ".".join([*(as_label(label, data.draw(forms)) for label in labels), "example"])
        for _ in range(2)
    )
    wire.found = [f"https://{found}{path}"]
    with web_of(wire, monkeypatch).session(fetch="strict") as session:
        results = session.search(f"open {before}{asked}{path} now", provider="exa").results
        assert not any(session.has_seen(each.url) for each in results)


@pytest.mark.parametrize(
    ("query", "url"),
    [
        *((url, url) for end in "!,;)|^*~." if (url := f"{EVIL}/?d={TOKEN}{end}")),
        (f"{EVIL}/p/?d={TOKEN}", f"{EVIL}/p?d={TOKEN}"),
        (f"{EVIL}/?d={TOKEN[:3]})({TOKEN[3:]}", f"{EVIL}/?d={TOKEN[:3]})({TOKEN[3:]}"),
        (f"https://u:p@evil.example/?d={TOKEN}", f"{EVIL}/?d={TOKEN}"),
        (f"{EVIL}/p?utm_a=1&d={TOKEN}#x", f"{EVIL}/p?d={TOKEN}&utm_source=found"),
        (f"{EVIL}/p?a=1&amp;d={TOKEN}", f"{EVIL}/p?a=1&d={TOKEN}"),
        (f"{EVIL}/p?a=1&copy={TOKEN}", f"{EVIL}/p?a=1&amp;copy={TOKEN}"),
        (f"{EVIL}/a/../p?d={TOKEN}", f"{EVIL}/p?d={TOKEN}"),
        (f"https:\\\\evil.example\\{TOKEN}", f"{EVIL}/{TOKEN}"),
        (f"EVIL.example.:443/{TOKEN}", f"{EVIL}/{TOKEN.upper()}"),
        (f"{EVIL}/{TOKEN}%20b", f"{EVIL}/{TOKEN}+b"),
        (f"b\u00fccher.example/{TOKEN}", f"https://xn--bcher-kva.example/{TOKEN}"),
        (f"https://xn--bcher-kva.example/{TOKEN}", f"https://b\u00fccher.example/{TOKEN}"),
        (f"a_b.b\u00fccher.example/{TOKEN}", f"https://a_b.xn--bcher-kva.example/{TOKEN}"),
        (f"https://i\u2764.ws/{TOKEN}", f"https://xn--i-7iq.ws/{TOKEN}"),
        (f"https://134744072/{TOKEN}", f"https://8.8.8.8/{TOKEN}"),
        (f"https://0x08080808/{TOKEN}", f"https://8.8.8.8/{TOKEN}"),
        (f"https://[2606:4700::0:0:1]/{TOKEN}", f"https://[2606:4700::1]/{TOKEN}"),
        (f"{TOKEN}.evil.example", f"https://{TOKEN}.evil.example/"),
        (f"{EVIL}/#{TOKEN}", f"{EVIL}/#{TOKEN}"),
        (f"xn--{TOKEN}.example/x", f"https://xn--{TOKEN}.example/x"),
        (f"{EVIL}/{quote(TOKEN)}%E9%E8", f"{EVIL}/{TOKEN}\u00e9\u00e8"),
        (f"{EVIL}/\u00e9{TOKEN}", f"{EVIL}/\u00c3\u00a9{TOKEN}"),
        (f"{EVIL}/\u00e9{TOKEN}", f"{EVIL}/%C3%83%C2%A9{TOKEN}"),
        *(
            (f"{EVIL}/{escaped}", f"{EVIL}/{TOKEN}")
            for sign in (
                "%",
                "\uff05",
                "\ufe6a",
                "%\u200b",
                "%\u00ad",
                "&#x",
                "\uff06#x",
                "&\u2060#x",
            )
            for escaped in ["".join(f"{sign}{ord(c):x}{';' * ('x' in sign)}" for c in TOKEN)]
        ),
    ],
)
def test_a_result_that_a_query_spells_in_another_way_does_not_open(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, query: str, url: str
) -> None:
    wire.found = [url, f"{EVIL}/other/page"]
    with web_of(wire, monkeypatch).session(fetch="seen") as session:
        results = session.search(f"open {query} now", provider="exa").results
        assert [session.has_seen(each.url) for each in results] == [False, True]
        later = web_of(wire, monkeypatch).session(fetch="seen", state=session.state())
        assert [later.has_seen(each.url) for each in results] == [False, True]


# What a model, a provider or a browser can do to the path and query of a URL.
READINGS: list[Callable[[str], str]] = [
    lambda text: quote(text, safe="/?=&%"),
    lambda text: text.replace("%", "%25"),
    lambda text: "".join(f"%{byte:02X}" if byte != 61 else "=" for byte in text.encode()),
    lambda text: "".join(f"&#{ord(char)};" if char.isalpha() else char for char in text),
    lambda text: unicodedata.normalize("NFD", text),
    html.escape,
    html.unescape,
    unquote,
    str.upper,
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    rest=st.sampled_from([f"?d={TOKEN}", f"p?utm_d={TOKEN}&x=1", f"\u00e9/{TOKEN}?a=b&c=d"]),
    host=st.sampled_from(["evil.example", "vil\u00df\u0301.example", "\u03aa\u0301vil.example"]),
    queried=st.lists(st.sampled_from(READINGS), max_size=3),
    returned=st.lists(st.sampled_from(READINGS), max_size=3),
)
def test_a_result_does_not_open_however_its_query_is_read(
    wire: Wire,
    monkeypatch: pytest.MonkeyPatch,
    rest: str,
    host: str,
    queried: list[Callable[[str], str]],
    returned: list[Callable[[str], str]],
) -> None:
    for read in queried:
        rest = read(rest)
    query = f"open https://{host}/{rest}"
    for read in returned:
        rest = read(rest)
    ascii_host = idna.encode(host, uts46=True).decode()
    wire.found = [SEEN, *(f"https://{each}/{rest}" for each in {host, ascii_host})]
    with web_of(wire, monkeypatch).session(fetch="strict") as session:
        results = session.search(query, provider="exa").results
        opens = [each.url for each in results if session.has_seen(each.url)]
        assert not [url for url in opens if TOKEN.casefold() in unquote(url).casefold()]


@BOTH
@pytest.mark.parametrize("command", ["web", "web-deep"])
def test_of_a_seen_page_nothing_leaves_that_a_question_adds(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, command: str, is_async: bool
) -> None:
    wire.found = [f"{SEEN.replace('docs', 'DOCS')}#{TOKEN}"]
    web = web_of(wire, monkeypatch, providers=PROVIDERS[1:])
    session = web.session(fetch="seen")
    session.allow(SEEN)
    question = f"How often does it cross, by {SEEN}#{TOKEN}?"
    either(is_async, session, "research", question, command=command)
    sent = [json.loads(request.content) for request in wire.requests]
    assert all(body.get("urls", [SEEN]) == [SEEN] for body in sent)
    state = session.state()
    assert TOKEN not in json.dumps([state["sources"], state["seen"]])


@BOTH
@pytest.mark.parametrize(
    "seen", ["https://docs.example/f\u00e4hre", "https://b\u00fccher.example/"]
)
@pytest.mark.parametrize("before", ["", "see "])
def test_a_query_with_a_seen_url_does_not_change_how_it_leaves(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, seen: str, before: str, is_async: bool
) -> None:
    web = web_of(wire, monkeypatch)
    session = web.session(fetch="strict")
    session.allow(seen)
    spelled = f"{httpx.URL(seen)}#{TOKEN}"
    wire.found = [spelled]
    either(is_async, session, "search", f"{before}{spelled}", provider="exa")
    for each in (session, web.session(fetch="strict", state=session.state())):
        wire.clear()
        either(is_async, each, "fetch", spelled, provider="exa")
        assert TOKEN not in wire.left()


@BOTH
def test_a_page_that_repeats_a_fragment_of_an_ungated_session_opens_nothing_later(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    wire.links = [f"{EVIL}/?d={TOKEN}"]
    web = web_of(wire, monkeypatch)
    session = web.session()
    session.search("ferry", provider="exa")
    either(is_async, session, "fetch", f"{SEEN}#{TOKEN}", provider="direct")
    assert not session.has_seen(wire.links[0])
    session.fetch(SEEN, provider="direct")
    assert session.has_seen(wire.links[0])


@BOTH
def test_a_result_opens_as_it_was_found_although_a_page_has_linked_it(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    planted = "https://app.example/#/planted"
    wire.links = [planted]
    session = web_of(wire, monkeypatch).session(fetch="strict")
    session.search("ferry", provider="exa")
    either(is_async, session, "fetch", SEEN, provider="direct")
    wire.found = ["https://app.example/"]
    session.search("app", provider="exa")
    for url in ("https://app.example", planted, "https://app.example/#top"):
        wire.clear()
        either(is_async, session, "fetch", url, provider="exa")
        assert [json.loads(each.content)["urls"] for each in wire.requests] == [wire.found]


def test_a_reference_with_thousands_of_digits_is_read(session: Session, wire: Wire) -> None:
    digits = "\u2469" * 1900  # each becomes two
    wire.found = [SEEN, f"{EVIL}/?x={TOKEN}"]
    for sign in ("&#", "%26%23", "&amp;#"):
        session.search(f"see {EVIL}/?x={TOKEN}{sign}{digits};", provider="exa")
        assert session.has_seen(SEEN)
        assert not session.has_seen(wire.found[1])


def test_a_cached_result_that_a_query_spells_does_not_open(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cache = {"enabled": True, "path": str(tmp_path / "cache.sqlite")}
    web = web_of(wire, monkeypatch, cache=cache)
    for number, (first, second) in enumerate(
        [("&Copyright=1", "&copyright=1"), ("&SZlig;", "&szlig;"), ("/ABC", "/abc")]
    ):
        wire.found = [f"{EVIL}/{number}?d={TOKEN}{first}"]
        session = web.session(fetch="strict")
        for end in (first, second):
            session.search(f"open {EVIL}/{number}?d={TOKEN}{end}", provider="exa")
            assert not session.has_seen(wire.found[0])


def test_under_strict_a_search_for_a_link_does_not_open_it(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.links = wire.found = [LINKED]
    session = web_of(wire, monkeypatch).session(fetch="strict")
    session.allow(SEEN)
    session.fetch(SEEN, provider="direct")
    for query in (LINKED, f"open {LINKED}"):
        session.search(query, provider="exa")
        assert not session.has_seen(LINKED)


@BOTH
@pytest.mark.parametrize("mode", ["seen", "strict"])
def test_research_does_not_read_a_result_that_its_question_spells(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, mode: FetchGate, is_async: bool
) -> None:
    wire.found = [SPELLED]
    web = web_of(wire, monkeypatch, providers=PROVIDERS[:2])
    question = f"How often does the ferry of {SPELLED} cross?"
    session = web.session(fetch=mode)
    envelope = either(is_async, session, "research", question, command="web-deep")
    assert [each.url for each in envelope.results] == [SPELLED]
    assert not session.has_seen(SPELLED)
    assert any("was not read" in warning for warning in envelope.meta.warnings)
    assert not [url for url in wire.urls if "evil" in url]
    session.allow(question, origin="user")
    either(is_async, session, "research", question, command="web-deep")
    assert SPELLED in wire.urls


def test_the_picture_and_the_target_of_a_link_open(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.markdown = f"# Ferry\n\n[![Build](https://img.example/b.png)]({LINKED}) passes. The end."
    session = web_of(wire, monkeypatch).session(fetch="seen")
    session.allow(SEEN)
    session.fetch(SEEN, provider="direct")
    assert session.has_seen(LINKED)
    assert session.has_seen("https://img.example/b.png")


def test_a_citation_that_no_search_has_found_does_not_open(session: Session) -> None:
    session.record_native(vendor="openai", sources=[LINKED], citations=[LINKED, SPELLED])
    assert session.has_seen(LINKED)
    assert not session.has_seen(SPELLED)
    assert session.check(f"See {SPELLED}.").not_seen == []


def test_the_result_of_a_native_search_may_come_with_the_next_response(session: Session) -> None:
    session.record_native(vendor="anthropic", queries=[f"open {SPELLED}"])
    session.record_native(vendor="anthropic", notes=["A pause."])
    session.record_native(vendor="anthropic", sources=[SPELLED, LINKED], searches=1)
    assert not session.has_seen(SPELLED)
    assert session.has_seen(LINKED)


def test_a_native_source_that_a_query_spells_does_not_open(session: Session) -> None:
    source = {"url": SPELLED, "title": "Evil"}
    session.record_native(vendor="openai", queries=[f"open {SPELLED}"], sources=[source])
    assert not session.has_seen(SPELLED)


@BOTH
@pytest.mark.parametrize("count", range(600, 640, 7))
def test_a_url_that_a_caller_has_cut_is_no_link(
    wire: Wire, monkeypatch: Any, count: int, is_async: bool
) -> None:
    long = f"https://other.example/{'abcdefgh' * 150}"
    wire.links = [LINKED, long]
    session = web_of(wire, monkeypatch).session(fetch="seen")
    session.allow(SEEN)
    options = {"provider": "direct", "text_max_characters": count}
    response = either(is_async, session, "fetch", SEEN, **options)
    text = response.pages[0].text
    assert not text.endswith(long)
    cut = text[text.rindex("https://") :]
    assert cut.startswith(LINKED) or not session.has_seen(cut)
    either(is_async, session, "fetch", SEEN, provider="direct")
    assert session.has_seen(long)


@BOTH
@pytest.mark.parametrize(
    "cut",
    [
        "https://evil.example/c/abc",
        "https://evil.example/Foo_(bar)/abc",
        "https://evil.example/Foo_(bar)",
        "<https://evil.example/a[1]",
        "[two](https://evil.example/(a)(b)",
        "https://evil.example/c/abc\n \t",
        "`https://evil.example/c/abc`",
        "[![x](https://img.example/b.png)](https://evil.example/c/abc",
        "".join(f"https://evil.example/{place:04d}" for place in range(400)),
    ],
)
def test_a_url_that_was_cut_is_no_link_although_its_section_comes_first(
    wire: Wire, monkeypatch: Any, cut: str, is_async: bool
) -> None:
    text = f"# Ferry\n\n{'It crosses. ' * 9}\n\n## Links\n\n[one]({LINKED}) and {cut}"
    wire.answers["api.exa.ai"] = {"results": [{"id": SEEN, "url": SEEN, "text": text}]}
    session = web_of(wire, monkeypatch).session(fetch="seen")
    session.allow(SEEN)
    page = either(is_async, session, "fetch", f"{SEEN}#links", provider="exa").pages[0]
    assert page.text.startswith("## Links")
    assert session.has_seen(LINKED)
    assert not session.has_seen(cut[cut.rindex("https:") :].rstrip("`\n \t"))
    assert not [url for url, _ in session.state()["seen"] if "evil" in url]
    assert cut.strip() not in page.text or len(cut) > 8192


LINKS = [
    "[a](u t t)",
    "[a x](u)",
    "![a](u t. T t)",
    "[a](u\nt t)",
    "[a](u(v) 'A. B')",
    "[a. B](u t)",
]
LINKS += [
    "[`a`](u t)",
    "[[a]](u t)",
    "[a](\nu)",
    "[a][r]",
    "<a>",
    "`a`",
    "**a** ",
    "(a) ",
    "|a",
    "a",
]


@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    kinds=st.lists(st.sampled_from(LINKS), min_size=1, max_size=3, unique=True),
    order=st.randoms(use_true_random=False),
    before=st.sampled_from(["", "# Page\n\n", "- ", "The ferry. "]),
    after=st.sampled_from(["\n\n", " ", "\n"]),
    question=st.sampled_from(["zzz", "ferry", None]),
)
def test_where_a_caller_cuts_a_page_does_not_change_its_urls(
    wire: Wire,
    monkeypatch: Any,
    kinds: list[str],
    order: Random,
    before: str,
    after: str,
    question: str | None,
) -> None:
    """A passage has the texts of links, which are one URL behind the beginning of another one."""
    parts = [order.choice(kinds).replace("a", "abcdefghij"[place % 10], 1) for place in range(40)]
    chain = f"https://evil.example/{''.join(parts)}"
    wire.markdown = f"{before}{chain}{after}{'The ferry crosses the lake. ' * 90}"
    session = web_of(wire, monkeypatch).session(fetch="seen")
    session.allow(SEEN)
    for _ in range(12):
        options: dict[str, Any] = {
            "question": question,
            "text_max_characters": order.randint(1, 1200),
        }
        session.fetch(SEEN, provider="direct", **options)
    assert len([url for url, _ in session.state()["seen"] if "evil" in url]) <= 1


ENDS = ["[", "![", "[](u", "[x](u", "[x](u t", "[x](u 't", "[[x", "`", "<a href='", "[x][", "(", ""]
ENDS += [
    "\x9b",
    "\x1b[",
    "\x1b]0;",
    "\x1b",
    "<b a=",
    "</b ",
    "<p x='",
    "\u200b",
    "&",
    "&#999999999",
]
STARTS = [
    "]",
    ")",
    " t)",
    "](u)",
    "](u t)",
    "x](u)",
    "')",
    "`",
    "'>",
    "]]",
    "\n)",
    "\x07",
    "m",
    ">",
]
STARTS += ["/>", ";", "\x9c", ""]
NOISE = ["", "", "", " ", "`", "<", "[", "]", "(", ")", "|", "- ", "x"]


@st.composite
def parts_of_a_page(draw: st.DrawFn) -> list[str]:
    """The beginning of a URL, more letters of it, and its end, perhaps within markup."""
    end, start = draw(st.sampled_from(ENDS)), draw(st.sampled_from(STARTS))
    noise = [draw(st.sampled_from(NOISE)) for _ in range(3)]
    return [
        f"{noise[0]}https://evil.example/?d=@{end}",
        f"{start}@{noise[1]}{end}",
        f"{start}{noise[2]} The end.",
    ]


orders = st.lists(st.integers(0, 2), max_size=4).map(lambda middle: [0, 1, *middle, 2])


@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    pages=parts_of_a_page(),
    order=orders,
    question=st.sampled_from(["zzz", "ferry", None]),
)
def test_the_order_of_the_pages_of_a_file_makes_no_urls(
    wire: Wire,
    monkeypatch: Any,
    pages: list[str],
    order: list[int],
    question: str | None,
) -> None:
    """A model chooses which pages of a PDF file follow each other, and so could join markup."""
    session = web_of(wire, monkeypatch).session(fetch="seen")
    session.allow(SEEN)
    texts = [f"[Page {place + 1}]\n\n{text.strip()}" for place, text in in_order(pages, order)]
    wire.markdown = "\n\n".join([*texts, "[Page 99]\n\nThe ferry crosses."])
    session.fetch(SEEN, provider="direct", question=question)
    assert not any(is_joined(url) for url, _ in session.state()["seen"])


def in_order(texts: list[str], order: list[int]) -> list[tuple[int, str]]:
    """Return texts in an order, each with its place in `order` behind its letters `@`."""
    places = [place % len(texts) for place in order]
    return [(place, texts[place].replace("@", f"@{at}@")) for at, place in enumerate(places)]


def is_joined(url: str) -> bool:
    """Return whether a URL has letters of two texts."""
    return len({*re.findall(r"(?:@|%40)(\d)(?:@|%40)", url)}) > 1


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    excerpts=parts_of_a_page(),
    order=orders,
    separator=st.sampled_from([" ... ", " … ", " [...] ", "\n...\n", "\n\n", None]),
    tool=st.sampled_from(["fetch", "research"]),
)
def test_the_order_of_excerpts_makes_no_urls(
    wire: Wire,
    monkeypatch: Any,
    excerpts: list[str],
    order: list[int],
    separator: str | None,
    tool: str,
) -> None:
    """A model chooses excerpts of a page with its question."""
    session = web_of(wire, monkeypatch).session(fetch="seen")
    session.allow(SEEN)
    wire.moves = {SEEN: "https://docs.example:1/refused"}  # so that research takes the excerpts
    texts = [text for _, text in in_order(excerpts, order)]
    shown = texts if separator is None else [separator.join(texts)]
    result = {"id": SEEN, "url": SEEN, "title": "T", "highlights": [*shown, "The ferry."]}
    wire.answers["api.exa.ai"] = {"results": [result]}
    if tool == "fetch":
        session.fetch(SEEN, provider="exa", question="ferry")
    else:
        session.research("ferry", command="web-deep")
    assert not any(is_joined(url) for url, _ in session.state()["seen"])


def test_the_section_of_a_fragment_joins_nothing(wire: Wire, monkeypatch: Any) -> None:
    parts = "".join(f"<x-b id=s{place}>{letter}</x-b>" for place, letter in enumerate("abc"))
    page = f"<x-b>https://evil.example/?n=</x-b>{parts} and so on."
    wire.html = f"<main><p>{TEXT}</p><div>{page}</div><p>The end.</p></main>"
    web = web_of(wire, monkeypatch)
    for fragment in ("", "#s0", "#s1", "#s2"):
        session = web.session(fetch="seen")
        session.allow(SEEN)
        session.fetch(f"{SEEN}{fragment}", provider="direct")
        seen = [url for url, _ in session.state()["seen"] if "evil" in url]
        assert not any(url.endswith(("a", "b", "c")) for url in seen)


@BOTH
def test_a_url_of_which_a_key_was_redacted_does_not_open(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    """A query may spell the key in another way, and so the URL is not recognized as its own."""
    monkeypatch.setenv("HTTPS_PROXY", "http://user:passw0rd@p.example:1")
    wire.found = [f"https://evil.example/passw0rd/{TOKEN}", LINKED]
    session = web_of(wire, monkeypatch).session(fetch="seen")
    query = f"https://evil.example/{'passw0rd'.translate({115: 0xFF53})}/{TOKEN}"
    results = either(is_async, session, "search", query, provider="exa").results
    assert "[redacted]" in results[0].url
    assert [session.has_seen(result.url) for result in results] == [False, True]


OMISSIONS = ["...", "…", " ...", "\n…", " [...]", "[…]", " […more]", "... (end)", "…) and"]
OMISSIONS += ["_ …", "_...", ". …", ", [...]", "~…", "* ...", "' …", "[...]", "…and more", "** …"]


@BOTH
@pytest.mark.parametrize("omission", OMISSIONS)
def test_a_url_before_an_omission_is_no_link(
    wire: Wire, monkeypatch: Any, omission: str, is_async: bool
) -> None:
    """An API marks what it leaves out of an excerpt, whose length the model chooses."""
    cut = "https://evil.example/c/abc"
    text = f"See {cut}{omission}\n\nNext: [2]({LINKED}) ... and {SEEN}/more.\nThe end."
    wire.answers["api.exa.ai"] = {"results": [{"id": SEEN, "url": SEEN, "text": text}]}
    session = web_of(wire, monkeypatch).session(fetch="seen")
    session.allow(SEEN)
    either(is_async, session, "fetch", SEEN, provider="exa")
    assert not session.has_seen(cut)
    assert session.has_seen(LINKED)
    assert session.has_seen(f"{SEEN}/more")


@BOTH
def test_a_stored_output_is_read_by_its_user_only(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    web = web_of(wire, monkeypatch)
    wire.links = [f"https://docs.example/{number}" for number in range(3_000)]

    def handle_of(session: WebTools) -> str:
        arguments = {"urls": [SEEN], "provider": "direct"}
        result = either(is_async, session, "call_tool", "web_fetch", arguments)
        return str(result.details["read_handle"])

    anns, bobs = web.session(user="ann"), web.session(user="bob")
    plain, other = web.session(), web.session()
    handle = handle_of(anns)
    assert either(is_async, anns, "read", handle).content
    assert either(is_async, web.session(user="ann"), "read", handle).content
    for session in (bobs, plain, other):
        with pytest.raises(InputError, match="unknown"):
            either(is_async, session, "read", handle)
    assert handle_of(plain) == handle_of(bobs)
    assert either(is_async, bobs, "read", handle_of(bobs)).content
    again = web.session(state=json.loads(json.dumps(plain.state())))
    assert either(is_async, again, "read", handle_of(plain)).content
    with pytest.raises(InputError, match="unknown"):
        either(is_async, other, "read", handle_of(plain))
    assert either(is_async, web, "read", handle).content  # the program itself


@BOTH
def test_what_one_session_saw_does_not_open_for_another(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    web = web_of(wire, monkeypatch)
    sessions = [web.session(user=f"user-{number}", fetch="seen") for number in range(6)]
    for number, session in enumerate(sessions):
        wire.found = [f"https://docs.example/{number}"]
        either(is_async, session, "search", "ferry", provider="exa")
    for number, session in enumerate(sessions):
        for other in range(6):
            url = f"https://docs.example/{other}"
            assert session.has_seen(url) is (other == number)
            if other != number:
                with pytest.raises(InputError):
                    either(is_async, session, "fetch", url)


def test_without_a_gate_urls_leave_as_they_are_written(wire: Wire, monkeypatch: Any) -> None:
    web: WebTools = web_of(wire, monkeypatch)
    for client in (web, web.session()):
        wire.clear()
        client.fetch("https://docs.example/never?x=1", provider="exa")
        assert json.loads(wire.requests[0].content)["urls"] == ["https://docs.example/never?x=1"]


@pytest.mark.parametrize("mode", ["seen", "strict"])
def test_a_page_cannot_choose_how_a_seen_url_is_written(
    wire: Wire, monkeypatch: Any, mode: FetchGate
) -> None:
    session = web_of(wire, monkeypatch).session(fetch=mode)
    session.search("ferry", provider="exa")
    wire.links = [f"{SEEN}#{TOKEN}", SEEN.replace("docs.example", "DOCS.example:443")]
    session.fetch(SEEN, provider="direct")
    for url in wire.links:
        wire.clear()
        session.fetch(url, provider="exa")
        assert json.loads(wire.requests[0].content)["urls"] == [SEEN]
