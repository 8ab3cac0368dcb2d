"""What a session lists: sources with one numbering, queries and cost; the check of an answer."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from runtimes import BOTH, either
from wires import PROVIDERS, TEXT, Wire, web_of

from webtools import InputError, Session, WebTools
from webtools.verifiers import Verdict
from webtools_sandbox import SandboxServer

FOUND = [f"https://docs.example/{name}" for name in ("one", "two", "three")]


@pytest.fixture
def wire() -> Wire:
    return Wire(*FOUND)


@pytest.fixture
def web(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> WebTools:
    return web_of(wire, monkeypatch)


def numbers_in(text: str) -> dict[str, int]:
    """Return the numbers of the URLs in a text for a model."""
    found = re.findall(r"(?m)^(\d+)\. .*\n\s+(https\S+)|^## \[(\d+)\] .*\n(https\S+)", text)
    return {url or other: int(number or second) for number, url, second, other in found}


@BOTH
def test_a_url_keeps_its_number_in_all_texts(web: WebTools, wire: Wire, is_async: bool) -> None:
    session = web.session()

    def call(name: str, **arguments: Any) -> dict[str, int]:
        result = either(is_async, session, "call_tool", name, arguments)
        assert not result.is_error
        return numbers_in(result.text)

    first = call("web_search", queries=["ferry"], provider="exa")
    assert first == {url: number for number, url in enumerate(FOUND, 1)}
    wire.found = ["https://docs.example/new", FOUND[1]]
    second = call("web_search", queries=["other"], provider="exa")
    assert second == {"https://docs.example/new": 4, FOUND[1]: 2}
    read = call("web_fetch", urls=[FOUND[2], "https://docs.example/fifth"], provider="exa")
    assert read == {FOUND[2]: 3, "https://docs.example/fifth": 5}
    assert [(source.number, source.url) for source in session.sources] == [
        *enumerate([*FOUND, "https://docs.example/new", "https://docs.example/fifth"], 1)
    ]
    assert [source.number for source in session.sources if source.is_read] == [3, 5]
    answer = call("web_research", query="ferry", command="web-deep", synthesis="extractive")
    assert set(answer) <= {source.url for source in session.sources}
    known = {source.url: source.number for source in session.sources}
    assert all(known[url] == number for url, number in answer.items())


def test_an_answer_of_research_cites_by_the_same_numbers(web: WebTools, wire: Wire) -> None:
    session = web.session()
    session.search("ferry", provider="exa")
    wire.found = [FOUND[2], "https://docs.example/new"]
    arguments = {"query": "How often does the ferry cross?", "command": "web-deep"}
    result = session.call_tool("web_research", {**arguments, "synthesis": "extractive"})
    cited = {int(number) for number in re.findall(r"(?m)\[(\d+)\]", result.text)}
    assert cited
    assert cited <= {3, 4}


def test_without_a_session_texts_are_numbered_from_one(web: WebTools, wire: Wire) -> None:
    for _ in range(2):
        text = web.call_tool("web_search", {"queries": ["ferry"], "provider": "exa"}).text
        assert list(numbers_in(text).values()) == [1, 2, 3]
    page = web.call_tool("web_fetch", {"urls": FOUND[:1], "provider": "exa"}).text
    assert "[1]" not in page


def test_a_report_lists_queries_sources_and_costs(web: WebTools) -> None:
    session = web.session(user="ann", usd=1, fetch="seen", id="talk")
    session.allow("see https://user.example/x", origin="user")
    session.search(["ferry", "tram | <b>bold</b>"], provider="exa")
    session.summarize(FOUND[0])
    session.record_native(
        vendor="openai",
        queries=["ships"],
        sources=[{"url": "https://native.example/", "title": "Ships"}],
        searches=2,
        cost_usd=0.02,
    )
    for _ in range(2):
        with pytest.raises(InputError):
            session.fetch("https://evil.example/x")
    facts = session.report("json")
    assert json.loads(json.dumps(facts)) == facts
    assert facts["queries"] == ["ferry", "tram | <b>bold</b>", "ships"]
    assert {source["url"]: source["how"] for source in facts["sources"]} == {
        **dict.fromkeys(FOUND, "search"),
        "https://user.example/x": "user",
        "https://native.example/": "native",
    }
    assert [source["is_read"] for source in facts["sources"][:2]] == [True, False]
    assert facts["providers"]["exa"]["requests"] == 2
    assert facts["providers"]["exa"]["cost_usd"] == 0.002
    assert facts["providers"]["openai"]["cost_is_estimate"]
    assert facts["calls"] == 4
    assert facts["refused"] == ["https://evil.example/x"] * 2
    assert any("queries" in note for note in facts["notes"])
    for text in (session.report(), session._repr_markdown_(), session._repr_html_()):
        assert "ann" not in text.replace("Ferry", "")
        for shown in (*FOUND, "exa", "0.002", "openai", "ferry", "queries, questions"):
            assert shown in text
        assert "<b>" not in text
    assert "<table" in session._repr_html_()
    with pytest.raises(InputError, match="html"):
        session.report("html")  # type: ignore[arg-type]


def test_the_costs_of_a_report_add_up(web: WebTools) -> None:
    session = web.session(id="talk")
    session.search("ferry", provider="exa")
    assert "canceled" not in session.report()
    state = session.state()
    del session
    gc.collect()
    later = web.session(id="talk", state=state)
    later.search("tram", provider="exa")
    for text in (later.report(), later._repr_html_()):
        assert "canceled calls, and calls before the state" in text
        assert "0.002 USD" in text


def test_notes_are_inert_in_a_report(web: WebTools) -> None:
    session = web.session()
    note = "one\n# two <script>alert(1)</script> [x](javascript:alert) ![y](https://t.example/)"
    session.record_native(vendor="openai", notes=[note])
    for text in (session.report(), session._repr_html_()):
        assert "one" in text
        assert "<script" not in text
        assert "\n# two" not in text
    assert "](" not in session.report()


def test_a_failed_call_costs_what_its_requests_cost(web: WebTools) -> None:
    session = web.session()
    session.call_tool("web_fetch", {"urls": ["http://127.0.0.1/"], "provider": "direct"})
    facts = session.report("json")
    assert facts["tools"]["web_fetch"] == {"calls": 1, "failed": 1}
    assert facts["sources"] == []


# --- the check of an answer ----------------------------------------------------------------------


@pytest.fixture
def session(web: WebTools) -> Session:
    session = web.session(fetch="seen")
    session.search("ferry", provider="exa")
    session.fetch(FOUND[0], provider="exa")
    return session


@BOTH
def test_an_answer_is_checked_against_what_was_seen(session: Session, is_async: bool) -> None:
    answer = (
        f"It is big [1]. It is red [2]. It is old [9]. See [this]({FOUND[2]}) and "
        "[that](https://invented.example/x). Code `a[7]` cites nothing.\n\n```\n[8]\n```\n"
    )
    check = either(is_async, session, "check", answer)
    assert check.not_seen == ["https://invented.example/x"]
    assert check.bad_numbers == [9]
    assert check.only_found == [FOUND[1], FOUND[2]]
    assert check.verified is None
    assert not check.is_clean


AROUND = [
    "{}",
    "`{}`",
    "```\n{}\n```",
    "- ```\n  code\n\n{}",
    "> ~~~\n> a\n\n{}",
    "<b>\n```\n</b>\n\n{}",
]
LINKS = [
    "[x]({})",
    "![x]( <{}> 'y')",
    "<{}>",
    "[x]\n\n[x]: {}",
    '<img src="{}">',
    "<a href={}>x</a>",
    "{}",
]
URLS = [
    "https://invented.example/?d=SECRET",
    "https&#58;//invented.example/?d=SECRET",
    "https\\://invented.example/?d=SECRET",
    "HTTPS:\\\\invented.example/?d=SECRET",
    "//invented.example/?d=SECRET",
    "https:/invented.example/?d=SECRET",
    "http://SECRET@docs.example/one",
    "https://a:SECRET@invented.example/x",
    "https://invented.example:99999/SECRET",
    "https://\u2764.example/SECRET",
    "https://127.1/SECRET",
    f"{FOUND[0]}////?SECRET",
    f"{FOUND[0]}?utm_d=SECRET",
]
PIECES = st.sampled_from(
    ["`", "``", "\n```\n", "\n~~~\n", "\n\n", "\n- ", "\n> ", "<b title='`'>", "\\", "x "]
)


class Links(HTMLParser):
    """The links and pictures of a page."""

    def __init__(self, answer: str) -> None:
        super().__init__()
        self.urls: list[str] = []
        self.feed(MarkdownIt("commonmark").render(answer))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.urls += [value for name, value in attrs if name in {"href", "src"} and value]


def is_opened(answer: str) -> bool:
    """Return whether a reader of CommonMark opens or loads a URL of another site with SECRET."""
    return any(re.match(r"(?:https?:|[/\\]{2}).*SECRET", url) for url in Links(answer).urls)


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("url", URLS)
def test_a_link_that_a_reader_opens_is_listed_in_whatever_spelling(
    session: Session, url: str, link: str, around: str
) -> None:
    answer = around.format(link.format(url))
    assert not is_opened(answer) or session.check(answer).not_seen


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    before=st.lists(PIECES, max_size=5).map("".join),
    after=st.lists(PIECES, max_size=5).map("".join),
    link=st.sampled_from(LINKS),
    url=st.sampled_from(URLS[:6]),
)
def test_no_markdown_around_a_link_hides_it(
    session: Session, before: str, after: str, link: str, url: str
) -> None:
    answer = f"{before}{link.format(url)}{after}"
    assert not is_opened(answer) or session.check(answer).not_seen


SIGNS = [*map(chr, range(32, 127)), "\u00e9", "\u3002", "\\)", "&quot;", "&#41;", "SECRET"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    tail=st.lists(st.sampled_from(SIGNS), min_size=1, max_size=6).map("".join),
    link=st.sampled_from([*LINKS[:6], "<img src='{}'>", "![x](<{}>)"]),
    after=st.sampled_from(["", " x", ") [y]", "\n"]),
)
def test_whatever_signs_follow_a_link_that_was_seen_the_reader_opens_no_other_one(
    session: Session, tail: str, link: str, after: str
) -> None:
    answer = link.format(FOUND[0] + tail) + after
    pages = {re.sub(r"/?\??(?:#.*)?$", "", url) for url in Links(answer).urls}
    if pages - {FOUND[0]}:
        assert session.check(answer).not_seen


@pytest.mark.parametrize("link", ["{}", "{}#part", "{}/", "{}?utm_source=openai", "{}/#a?b"])
@pytest.mark.parametrize(
    "around", ["[x]({})", "<{}>", "See {}.", "({}), ", "**{}**", "\u89c1{}\u3002"]
)
def test_links_that_were_seen_are_not_listed(session: Session, link: str, around: str) -> None:
    answer = around.format(link.format(FOUND[0]))
    assert session.check(answer).not_seen == []


@pytest.mark.parametrize(
    "answer",
    [
        "No link: HTTP, http:// and //comment, a//b, 1 // 2, www, `x = y // z.w`, http:80.",
        "Call `curl https://api.example/v1` or:\n\n```\nGET http://localhost:8000\n```",
        f"[{FOUND[0]}]({FOUND[0]})",
        f"[it][1] and [2].\n\n[1]: {FOUND[0]}\n[2]: {FOUND[1]}, Title",
        "`//div[@href='//x']`",
        "A mail to <mailto:ann@docs.example>, and [a section](#part) of [a page](other).",
    ],
)
def test_what_is_no_link_to_another_site_is_not_listed(session: Session, answer: str) -> None:
    assert session.check(answer).not_seen == []


def test_a_link_with_brackets_is_one(session: Session) -> None:
    url = "https://docs.example/Python_(language)"
    session.allow(url)
    assert session.check(f"See {url}, ({url}) and [it]({url}).").not_seen == []


def test_a_placeholder_in_a_link_is_no_error(session: Session) -> None:
    url = "https://[your-domain]/docs#install"
    assert session.check(f"See {url}.").not_seen == [url]


def test_a_very_long_link_is_listed(session: Session) -> None:
    link = f"https://invented.example/?SECRET={'7' * 9000}"
    assert session.check(f"See ![it]({link}).").not_seen == [link]


def test_a_link_with_a_parameter_of_the_model_was_not_seen(session: Session) -> None:
    links = [f"{FOUND[0]}?utm_source=openai", f"{FOUND[0]}?utm_source=SECRET"]
    links += [f"{FOUND[0]}?utm_source=openai&utm_d=SECRET", f"{FOUND[0]}?UTM_d=SECRET"]
    links += [f"{FOUND[0]}?{'&' * 9}", f"{FOUND[0]}{'/' * 9}"]
    links += [f"{FOUND[0]}?utm_source=openaiSECRET", f"{FOUND[0]}?utm_source=OPENAI"]
    links += [f"{FOUND[0]}?utm_source=openai&utm_source=openai&utm_source=openai"]
    check = session.check(" ".join(f"![x]({link})" for link in [FOUND[0], *links]))
    assert check.not_seen == links[1:]


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        ("Big [1][7].", [7]),
        ("Big [1, 8].", [8]),
        ("Big [2-5].", [4, 5]),
        ("Big 【9】.", [9]),
        ("Big [^6].", [6]),
        ("Big [98, and 99].", [98, 99]),
        ("Big [#7] [[8]].", [7, 8]),
        ("Big [9-8].", [9]),
        ("Big [Source 2], on [page 70].", []),
        ("## Big [9]\n\n| Size [8] |\n|---|\n| big [7] |", [7, 8, 9]),
        ("Big `[9]`.\n\n```\nrow[8]\n```", []),
        ("Big [9].\n\nSources:\n[9]: https://docs.example/one", []),
        ("Big [9].\n\n9. Page https://docs.example/one", []),
        ("Big [link](https://docs.example/one).", []),
        ("", []),
    ],
)
def test_numbers_without_a_source_are_found(
    session: Session, answer: str, numbers: list[int]
) -> None:
    assert session.check(answer).bad_numbers == numbers


@BOTH
def test_each_claim_of_an_answer_can_be_verified(
    session: Session, wire: Wire, is_async: bool
) -> None:
    sentence = TEXT.partition(".")[0]
    answer = f"{sentence} [3]. The moon is made of cheese and rice [1]."
    verified = either(is_async, session, "check", answer, verify=True).verified
    assert [claim.status for claim in verified.claims] == ["quoted", "unsupported"]
    assert verified.claims[0].citations[0].url == FOUND[2]
    assert FOUND[1] not in str([request.content for request in wire.requests[2:]])


def test_a_verifier_may_judge(session: Session) -> None:
    class Yes:
        name = "yes"

        async def judge(self, claims: Any, sources: Any, *_: Any) -> list[Verdict]:
            return [Verdict(1, supported=True, quotation=TEXT.partition(".")[0])]

    check = session.check("Forty ferry trips cross daily [1].", verify=True, verifier=Yes())  # type: ignore[arg-type]
    assert check.verified is not None
    assert len(check.verified.claims) == 1


def test_only_a_text_can_be_checked(session: Session) -> None:
    with pytest.raises(InputError, match="int"):
        session.check(7)  # type: ignore[arg-type]


def test_a_mark_with_a_word_cites_its_source(session: Session) -> None:
    assert session.check("It is big [Source 2].").only_found == [FOUND[1]]


LOGINS = ["hunt3r", "q7zp", "Sh0rt-1", "p.ss/w"]  # also shorter than what is removed from a query
WRITTEN = ["{}", "see {} now", "({})", '"{}"']


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxServer]:
    with SandboxServer() as server:
        yield server


@BOTH
@pytest.mark.parametrize("login", LOGINS)
def test_no_secret_stands_in_what_a_session_lists(
    sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch, login: str, is_async: bool
) -> None:
    escaped = quote(login, safe="")
    monkeypatch.setenv("HTTPS_PROXY", f"http://user9name:{escaped}@127.0.0.1:9")
    session = WebTools(sandbox.config()).session(fetch="seen")
    for written in WRITTEN:
        text = written.format(login)
        either(is_async, session, "search", f"ferry user9name {text}", provider="exa")
        with pytest.raises(InputError):
            either(is_async, session, "fetch", f"https://new.example/{escaped}?u=user9name")
        session.allow(f"https://new.example/{escaped}/x", origin="user")
        session.record_native(
            vendor="openai", queries=[text], sources=[{"url": FOUND[0], "title": text}], searches=1
        )
    listed = [session.report(), json.dumps(session.report("json"))]
    listed += [repr(session.queries), repr(session.sources), session.report("json")["refused"][0]]
    for text in listed:
        assert "user9name" not in text
        assert login not in text
        assert escaped not in text
    assert len(session.report("json")["refused"]) == len(WRITTEN)


def test_a_key_that_a_session_learns_later_is_gone_from_its_report(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "webtools.json"
    old, new = "test-key-of-before", "later-test-key-7"
    text = json.dumps({"providers": [{"name": "exa", "type": "exa", "apiKey": old}]})
    path.write_text(text)
    web = WebTools(path, transport=httpx.MockTransport(wire.respond))
    session = web.session()
    session.search(f"ferry {new}", provider="exa")
    assert new in session.report()
    path.write_text(text.replace(old, new))
    session.search("ferry", provider="exa")
    assert new not in session.report() + json.dumps(session.report("json")) + repr(session.queries)


@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\u2060", "\u202e"])
@pytest.mark.parametrize("escape", ["&#{};{}", "&#x{:x};{}", "%{:x}{}", "\\x{:x}{}", "\\u{:04x}{}"])
def test_what_a_vendor_returns_is_redacted_without_its_invisible_characters(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, escape: str, hidden: str
) -> None:
    key = PROVIDERS[1]["apiKey"]
    escaped = "".join(escape.format(ord(letter), "") for letter in key)
    text = re.sub(r"([\\&%]\W?)", rf"\1{hidden}", escaped)
    session = web_of(wire, monkeypatch).session()
    source = {"url": FOUND[0], "title": text}
    session.record_native(vendor="v", queries=[text], notes=[text], sources=[source], searches=1)
    shown = str([session.report("json"), session.state(), session.queries])
    shown += session.report() + session._repr_html_()
    shown = shown.replace(repr(hidden)[1:-1], "").replace(hidden, "")
    assert escaped not in shown.replace("\\\\", "\\")


def test_a_customers_session_learns_the_keys_that_others_have_read(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The key is asked for once more when the first attempt has failed."""
    key, attempts = "test-key-of-the-service-1", []

    def read_key() -> str:
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError
        return key

    providers = [{"name": "exa", "type": "exa", "apiKey": read_key}, PROVIDERS[0]]
    web = web_of(wire, monkeypatch, providers=providers)
    tape = tmp_path / "tape.jsonl"
    session = web.session(api_keys={"exa": "test-key-of-a-customer"}, record=tape)
    session.search(f"ferry {key}", provider="exa")
    web.search("ferry", provider="exa")
    session.search(f"ferry {key}", provider="exa")
    assert session.queries[1:] == ["ferry [redacted]"]
    assert key not in tape.read_text().splitlines()[-1]
    assert key not in session.report() + json.dumps(session.state())


def test_words_of_a_report_stay_if_a_login_has_them(
    sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://search:user@127.0.0.1:9")
    session = WebTools(sandbox.config()).session()
    session.search("ferry", provider="exa")
    facts = session.report("json")
    assert "has_user" in facts
    assert "web_search" in facts["tools"]
    assert {source["how"] for source in facts["sources"]} == {"search"}
