"""Fetch as a whole: every URL has its page or its reason, and all fit into one answer."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from offline import Answer, Stub, accounts, answer, client, entry
from servers import RawServer, answering, response

from webtools import WebTools
from webtools._internal.faults import Fault, with_fault
from webtools.errors import ConfigError, InputError, ProviderError, WebToolsError
from webtools.fencing import remove_fences
from webtools.messages import Request, Response
from webtools.providers import exa
from webtools.results import FetchResponse
from webtools.tools import ToolResult
from webtools.truncation import MAX_BYTES, MAX_LINES

EXA = entry("exa")
A, B, C = "https://a.example/1", "https://b.example/2", "https://c.example/3"

pytestmark = pytest.mark.usefixtures("own_temp")


def pages(**texts: str | None) -> Response:
    """Answer with the texts by the first letter of the host; None is a page that failed."""
    url = {"a": A, "b": B, "c": C}
    results = [{"id": url[k], "url": url[k], "text": t} for k, t in texts.items() if t is not None]
    statuses = [
        {
            "id": url[k],
            "status": "error",
            "error": {"tag": "CRAWL_NOT_FOUND", "httpStatusCode": 404},
        }
        for k, text in texts.items()
        if text is None
    ]
    cost = {"total": 0.001 * len(results)}
    return answer({"results": results, "statuses": statuses, "costDollars": cost})


def fetch(*urls: str, answer: Answer) -> FetchResponse:
    with client(Stub(answer), EXA) as web:
        return web.fetch(urls)


def call(answer: Answer, **arguments: Any) -> ToolResult:
    with client(Stub(answer), EXA) as web:
        return web.call_tool("web_fetch", arguments)


def show(*texts: str) -> ToolResult:
    return call(pages(**dict(zip("abc", texts, strict=False))), urls=[A, B, C][: len(texts)])


# --- order and failures ------------------------------------------------------------------------


def test_pages_are_in_the_order_of_the_urls() -> None:
    response = fetch(A, B, C, answer=pages(c="third", a="first", b="second"))
    assert [(page.url, page.text) for page in response.pages] == [
        (A, "first"),
        (B, "second"),
        (C, "third"),
    ]
    assert (response.provider, response.cost_usd, response.cost_is_estimate) == (
        "my-exa",
        0.003,
        False,
    )


def test_pages_that_failed_have_their_reason_and_lose_no_other() -> None:
    result = call(pages(a=None, b="second", c=None), urls=[A, B, C])
    missing = "CRAWL_NOT_FOUND (HTTP 404)"
    assert [page["error"] for page in result.details["results"]] == [missing, None, missing]
    assert not result.is_error
    assert (result.details["fetched_count"], result.details["failed_count"]) == (1, 2)


def test_the_error_of_failing_pages_has_a_shared_reason_once() -> None:
    with pytest.raises(ProviderError) as caught:
        fetch(A, B, answer=pages(a=None, b=None))
    assert str(caught.value).count("CRAWL_NOT_FOUND (HTTP 404)") == 1
    assert caught.value.provider == "my-exa"


NOT_FOUND: dict[str, Any] = {
    "a status": {"id": A, "status": "error", "error": {"tag": "CRAWL_X", "httpStatusCode": 404}},
    "a tag": {"id": A, "status": "error", "error": {"tag": "CRAWL_NOT_FOUND"}},
    "nothing": {},
}


@pytest.mark.parametrize("name", NOT_FOUND)
def test_the_error_of_an_api_about_a_page_names_the_provider_that_reads_sites(name: str) -> None:
    body = {"results": [], "statuses": [NOT_FOUND[name]] if NOT_FOUND[name] else []}
    with pytest.raises(ProviderError) as caught:
        fetch(A, answer=answer(body))
    assert all(word in str(caught.value) for word in ("direct", "fetchFallback"))


@pytest.mark.parametrize("kind", ["loopback", "forbidden redirect", "missing extra"])
def test_an_error_with_a_remedy_gets_no_other_one(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    error: WebToolsError = ConfigError("reading a Word file needs mammoth: pip install mammoth")
    if kind == "forbidden redirect":
        error = with_fault(InputError("the settings forbid b.example"), Fault.FORBIDDEN)

    def read_apart(*_: Any) -> None:
        raise error

    monkeypatch.setattr("webtools._internal.pages.workers.read_apart", read_apart)
    with RawServer(answering(response(b"text"))) as server:
        hosts = [] if kind == "loopback" else [f"127.0.0.1:{server.port}"]
        options = {"allowPrivateHosts": hosts}
        config = {"providers": [{"name": "direct", "type": "direct", "options": options}]}
        with WebTools(config, cache=False) as web, pytest.raises(WebToolsError) as caught:
            web.fetch(server.url)
    assert "try others" not in str(caught.value)
    assert "Check the URL" not in str(caught.value)


# --- more URLs than a provider takes at once ---------------------------------------------------


def echo(request: Request) -> Response:
    """Give every URL asked for its own text, but fail parts that begin with `c`."""
    if request.json["urls"][0] == C:
        return answer({"error": "No."}, 400)
    results = [{"id": url, "url": url, "text": url} for url in request.json["urls"]]
    return answer({"results": results, "costDollars": {"total": 0.001}})


def test_many_urls_are_fetched_in_parts_and_stay_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exa, "ABOUT", replace(exa.ABOUT, max_urls=2))
    urls = tuple(f"https://a.example/{i}" for i in range(5))
    stub = Stub(echo)
    with client(stub, EXA) as web:
        response = web.fetch(urls)
    assert tuple(page.text for page in response.pages) == urls
    assert sorted(len(body["urls"]) for body in stub.bodies) == [1, 2, 2]
    assert response.cost_usd == 0.003


def test_a_part_that_fails_loses_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exa, "ABOUT", replace(exa.ABOUT, max_urls=1))
    response = fetch(A, C, B, answer=echo)
    assert [page.text for page in response.pages] == [A, None, B]
    assert "HTTP 400: No." in str(response.pages[1].error)


def test_a_provider_that_was_skipped_fetches_the_pages_that_are_missing_at_the_end() -> None:
    statuses = iter([401, 200])

    def respond(request: Request) -> Response:
        urls = request.json["urls"]
        if "exa" in request.url:
            results = [{"id": url, "url": url, "text": url} for url in urls]
            return answer({"results": results}, next(statuses))
        return answer({"results": [{"url": url, "raw_content": url} for url in urls if url == A]})

    with client(Stub(respond), EXA, entry("tavily")) as web:
        web.fetch(A)  # the key is rejected, so the provider is skipped from then on
        response = web.fetch([A, B], cache="refresh")
    assert [page.source_provider for page in response.pages] == ["my-tavily", "my-exa"]
    assert any('"my-exa" is skipped until' in warning for warning in response.warnings)


# --- what is asked for -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ({}, {"text": True}),
        ({"text": False}, {"text": True}),
        ({"highlights": True}, {"highlights": True}),
        ({"summary": True}, {"summary": True}),
        ({"text": True, "summary": True}, {"text": True, "summary": True}),
        ({"textMaxCharacters": 9}, {"text": {"maxCharacters": 9}}),
    ],
)
def test_text_is_requested_by_default(arguments: dict[str, Any], sent: dict[str, Any]) -> None:
    stub = Stub(pages(a="text"))
    with client(stub, EXA) as web:
        assert not web.call_tool("web_fetch", {"url": A, **arguments}).is_error
    assert stub.bodies == [{"urls": [A], **sent}]


def test_a_repeated_url_is_fetched_once() -> None:
    stub = Stub(pages(a="text"))
    with client(stub, EXA) as web:
        assert len(web.fetch([A, A]).pages) == 1
    assert stub.bodies[0]["urls"] == [A]


@pytest.mark.parametrize(
    ("others", "has_reader", "chain"),
    [
        (["exa"], True, ["my-exa", "my-kagi"]),
        ([], True, ["direct", "my-kagi"]),
        ([], False, ["my-kagi"]),
    ],
)
def test_kagi_fetches_only_by_name_or_as_the_only_reader(
    others: list[str], has_reader: bool, chain: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtools._internal.pages.find_spec", lambda _: has_reader or None)
    settings = accounts(entry("kagi"), *map(entry, others), defaultProvider="my-kagi")
    assert [item.name for item in settings.chain("fetch")] == chain
    assert [item.name for item in settings.chain("fetch", "my-kagi")] == ["my-kagi"]


# --- the budget --------------------------------------------------------------------------------


def saved_text(found: ToolResult) -> str:
    return Path(found.details["full_output_path"]).read_text("utf-8")


def test_a_short_output_is_complete_and_writes_no_file() -> None:
    result = show("x" * 40_000, "y" * 10_900)
    assert "Output truncated" not in result.text
    assert result.details["truncation"] is None
    assert result.details["full_output_path"] is None
    assert result.details["read_handle"] is None


def test_small_pages_stay_whole_beside_a_huge_one_and_all_appear() -> None:
    small = "small page, complete to its end"
    result = show(small, "huge line\n" * 100_000, small)
    text = result.text
    assert [text.count(url) for url in (A, B, C)] == [1, 1, 1]  # no title: the URL heads it
    assert text.count(small) == 2
    assert text.index(A) < text.index(B) < text.index(C)
    body = text[: text.index("\n\n[Output truncated")]
    assert len(body.encode()) <= MAX_BYTES
    assert body.count("\n") < MAX_LINES


def test_large_pages_get_equal_shares() -> None:
    result = show("a" * 100_000, "b" * 300_000, "c" * 50_000)
    shares = [result.text.count(letter * 10) for letter in "abc"]
    assert max(shares) - min(shares) <= 10
    assert sum(shares) > 5_000


def test_the_file_has_the_whole_output_and_is_private() -> None:
    text = "ü" * 60_000
    result = show("first", text, "third")
    assert saved_text(result) == (
        f"## {A}\n{A}\n\nfirst\n\n## {B}\n{B}\n\n{text}\n\n## {C}\n{C}\n\nthird"
    )
    path = Path(result.details["full_output_path"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_line_over_the_budget_is_cut_at_a_character() -> None:
    result = show("漢" * 40_000)
    body = result.text[: result.text.index("\n\n[Output truncated")]
    assert set(remove_fences(body).splitlines()[-1]) == {"漢"}
    assert MAX_BYTES - 3 < len(body.encode()) <= MAX_BYTES
