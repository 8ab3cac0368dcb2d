"""Context7: the sequence of requests, the snippets, and known quirks of the API."""

from __future__ import annotations

import re
import time
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import offline
import pytest
from offline import KEY, Clock, Stub, answer, requested, run

from webtools.errors import (
    InputError,
    ProviderError,
    ResponseFormatError,
    UnavailableError,
)
from webtools.messages import Request, Response
from webtools.providers import Account, context7
from webtools.providers.protocols import Cost, DocsQuery, Hits
from webtools.results import SearchResult

ACCOUNT = offline.account("context7")
PAGE = "https://github.com/acme/widget/blob/main/README.md"


def look_up(
    query: DocsQuery | str, *answers: Any, account: Account = ACCOUNT
) -> tuple[Hits, list[str]]:
    """Run a look-up; return its hits and the requests."""
    stub = Stub(*answers)
    response = run(flow(query, account), stub)
    return response, [describe(request) for request in stub.requests]


async def flow(query: DocsQuery | str, account: Account = ACCOUNT) -> Hits:
    library = DocsQuery(query, 5) if isinstance(query, str) else query
    hits: Hits = await requested(library, account)
    return hits


def describe(request: Request) -> str:
    parts = urlsplit(request.url)
    sent = dict(parse_qsl(parts.query))
    return f"{parts.path.removeprefix('/api/v2')} {sent.get('libraryId') or sent['libraryName']}"


def library(identifier: str = "/acme/widget", **fields: Any) -> dict[str, Any]:
    title = identifier.rpartition("/")[2]
    return {"id": identifier, "title": title, "state": "finalized", **fields}


def libraries(*items: dict[str, Any]) -> Response:
    return answer({"results": list(items), "searchFilterApplied": False})


def code(url: Any = f"{PAGE}#_snippet_1", **fields: Any) -> dict[str, Any]:
    blocks = [{"language": "python", "code": "widget.create()"}, {"code": "other()"}]
    return {"codeTitle": "Create", "codeDescription": "How.", "codeId": url, "codeList": blocks} | (
        fields
    )


def info(url: Any = "https://acme.example/install", **fields: Any) -> dict[str, Any]:
    return {"pageId": url, "breadcrumb": "Guide > Install", "content": "pip install widget"} | (
        fields
    )


def snippets(*codes: dict[str, Any], infos: tuple[dict[str, Any], ...] = ()) -> Response:
    return answer({"codeSnippets": list(codes), "infoSnippets": list(infos)})


def fault(name: str, status: int, message: str = "No.", **more: Any) -> Response:
    return answer({"error": name, "message": message, **more}, status)


FOUND = libraries(library(versions=["v2.0.0", "1.4", "v1.2"]))
TEXT = snippets(code())


# --- the two steps -----------------------------------------------------------------------------


def test_a_library_that_is_known_apart_from_the_question_is_searched_for() -> None:
    query = DocsQuery("how do I start?", 5, library="widget")
    assert look_up(query, FOUND, TEXT)[1] == ["/libs/search widget", "/context /acme/widget"]


FREE = Cost(0.0, is_estimate=True)


@pytest.mark.parametrize("state", ["initial", "processing", "error", "delete", None])
def test_only_finalized_libraries_are_used(state: str | None) -> None:
    hits, sent = look_up("q", libraries(library("/a/b", state=state), library()), TEXT)
    assert sent[1] == "/context /acme/widget"
    assert hits.warnings == ["Context7 is still preparing /a/b."]
    hits, sent = look_up("q", libraries(library("/a/b", state=state)))
    assert (hits.results, sent) == ([], ["/libs/search q"])
    assert hits.warnings == ["Context7 is still preparing /a/b."]


# --- ids and versions --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "library"),
    [
        ("/acme/widget create", "/acme/widget"),
        ("create with /acme/widget", "/acme/widget"),
        ("/acme/widget@v1.2 create", "/acme/widget@v1.2"),
        ("/acme/widget/v1.2 create", "/acme/widget@v1.2"),
        ("/acme/next.js.", "/acme/next.js"),
        (DocsQuery("create", 5, library="/acme/widget@v1.2"), "/acme/widget@v1.2"),
    ],
)
def test_an_id_needs_no_lookup(query: DocsQuery | str, library: str) -> None:
    assert look_up(query, TEXT)[1] == [f"/context {library}"]


def test_a_path_that_is_not_an_id_is_searched_for() -> None:
    hits, sent = look_up("what is in /usr/bin", fault("library_not_found", 404), FOUND, TEXT)
    assert sent == [
        "/context /usr/bin",
        "/libs/search what is in /usr/bin",
        "/context /acme/widget",
    ]
    assert len(hits.results) == 1


@pytest.mark.parametrize(
    ("query", "name", "library"),
    [
        ("how to create in widget@1.2", "widget", "/acme/widget@v1.2"),
        ("widget@v2.0.0 create", "widget", "/acme/widget@v2.0.0"),
        ("create in widget 1.4?", "create in widget 1.4?", "/acme/widget@1.4"),
        ("Widget V1.2 create", "Widget V1.2 create", "/acme/widget@v1.2"),
        ("widget v1.2 create", "widget v1.2 create", "/acme/widget@v1.2"),
        ("the top 10 of widget", "the top 10 of widget", "/acme/widget"),
        ("mail me@1.example about it", "mail me@1.example about it", "/acme/widget"),
        (DocsQuery("create", 5, library="widget@1.4"), "widget", "/acme/widget@1.4"),
        (DocsQuery("create", 5, library="widget 1.4"), "widget 1.4", "/acme/widget@1.4"),
    ],
)
def test_a_version_is_pinned_when_the_library_has_it(
    query: DocsQuery | str, name: str, library: str
) -> None:
    assert look_up(query, FOUND, TEXT)[1] == [f"/libs/search {name}", f"/context {library}"]


def test_a_missing_version_is_reported() -> None:
    hits, sent = look_up("widget@9 create", FOUND, TEXT)
    assert sent[1] == "/context /acme/widget"
    [warning] = hits.warnings
    assert re.search(r"\b9 of /acme/widget\b.*v2\.0\.0, 1\.4, v1\.2", warning)


def test_a_tag_that_no_longer_resolves_is_dropped() -> None:
    lost = fault("tag_not_found", 404, "Available tags: 1.4")
    hits, sent = look_up("widget@1.2", FOUND, lost, TEXT)
    assert sent[1:] == ["/context /acme/widget@v1.2", "/context /acme/widget"]
    assert len(hits.results) == 1
    assert "no version v1.2 of /acme/widget" in hits.warnings[0]


# --- what moves, and what is not ready ---------------------------------------------------------


def test_a_moved_library_is_requested_under_its_new_id() -> None:
    moved = fault("library_redirected", 301, redirectUrl="/new/widget")
    hits, sent = look_up("/old/widget@v1.2 x", moved, TEXT)
    assert sent == ["/context /old/widget@v1.2", "/context /new/widget@v1.2"]
    assert len(hits.results) == 1


def test_a_library_moves_only_once() -> None:
    moved = fault("library_redirected", 301, redirectUrl="/new/widget")
    with pytest.raises(UnavailableError, match="moved /new/widget twice") as caught:
        look_up("/old/widget x", moved)
    assert not caught.value.retryable


@pytest.mark.parametrize("where", [None, "https://evil.example/a", "/a", "/a/b?c", "//evil/a"])
def test_an_invalid_redirect_is_refused(where: str | None) -> None:
    with pytest.raises(ResponseFormatError, match="HTTP 301"):
        look_up("/old/widget x", fault("library_redirected", 301, redirectUrl=where))


PREPARING = fault("library_not_finalized", 202)


def test_a_library_in_preparation_is_waited_for(clock: Clock) -> None:
    hits, sent = look_up("/acme/widget x", PREPARING, PREPARING, TEXT)
    assert len(hits.results) == 1
    assert len(sent) == 3
    assert clock.slept == [2.0, 4.0]


def test_the_wait_for_a_library_is_bounded(clock: Clock) -> None:
    with pytest.raises(UnavailableError, match="still preparing /acme/widget") as caught:
        look_up("/acme/widget x", PREPARING)
    assert clock.slept == [2.0, 4.0, 8.0]
    assert (caught.value.retryable, caught.value.status) == (True, 202)


@pytest.mark.parametrize(
    "name",
    ["library_not_found", "no_snippets_found", "no_documentation_found", "tag_not_found"],
)
def test_a_missing_library_is_an_empty_result(name: str) -> None:
    assert look_up("q", FOUND, fault(name, 404))[0].results == []


# --- the snippets ------------------------------------------------------------------------------


def test_code_comes_before_text() -> None:
    hits, _ = look_up("create a widget", FOUND, snippets(code(), infos=(info(),)))
    common = {"source_provider": "my-context7", "query": "create a widget"}
    assert hits == Hits(
        [
            SearchResult(
                title="Create",
                url=f"{PAGE}#_snippet_1",
                snippet="How.\n\n```python\nwidget.create()\n```\n\n```\nother()\n```",
                **common,
            ),
            SearchResult(
                title="Guide > Install",
                url="https://acme.example/install",
                snippet="pip install widget",
                **common,
            ),
        ],
        FREE,
    )


def results(*codes: dict[str, Any], infos: tuple[dict[str, Any], ...] = ()) -> list[SearchResult]:
    return look_up("q", FOUND, snippets(*codes, infos=infos))[0].results


def test_all_snippets_of_a_page_are_one_result_in_their_order() -> None:
    parts = [
        code(f"{PAGE}#_snippet_{n}", codeTitle=f"Step {n}", codeList=[{"code": f"step({n})"}])
        for n in range(1, 6)
    ]
    [result] = results(*parts, infos=(info(PAGE, content="See also."),))
    assert (result.title, result.url) == ("Step 1", f"{PAGE}#_snippet_1")
    steps = [f"### Step {n}\n\nHow.\n\n```\nstep({n})\n```" for n in range(1, 6)]
    complete = "\n\n".join([*steps, "### Guide > Install\n\nSee also."])
    assert result.snippet == complete.removeprefix("### Step 1\n\n")  # that is the title


def test_code_is_unchanged() -> None:
    body = "if x:\n\n    y = a_b &lt; 1  # <b>no</b>\n\treturn `y`"
    [result] = results(code(codeList=[{"language": "python", "code": body}]))
    assert result.snippet == f"How.\n\n```python\n{body}\n```"


def test_snippets_beyond_the_limit_of_a_page_are_dropped_and_counted() -> None:
    long = [code(f"{PAGE}#{n}", codeList=[{"code": f"step{n}()\n" * 150}]) for n in range(5)]
    [result] = results(*long)
    assert len(result.snippet) < 4_100
    assert re.search(r"\n```\n\n\[2 [^\n]+\]$", result.snippet)
    assert result.snippet.count("```") == 6


@pytest.mark.parametrize("url", [None, "", "README.md", "javascript:alert(1)"])
def test_a_snippet_without_an_address_links_to_its_library(url: Any) -> None:
    result = results(code(url), infos=(info(url),))
    assert [r.url for r in result] == ["https://context7.com/acme/widget"]


def test_a_snippet_is_cut_at_the_end_of_a_line_or_at_a_blank() -> None:
    lines = code("https://c.example", codeList=[{"code": "x = 1\n" * 999}])
    result = results(
        lines,
        infos=(info(content="word " * 999), info("https://b.example", content="x" * 9999)),
    )
    assert [len(r.snippet) <= 4_010 for r in result] == [True, True, True]
    assert result[0].snippet.endswith("\nx = 1\n```\n…")
    assert result[1].snippet.endswith("word …")
    assert result[2].snippet == "x" * 4_000 + " …"


def test_no_snippet_ends_in_half_a_key() -> None:
    result = results(infos=(info(content="x" * 3_995 + "\u200b".join(KEY * 2)),))
    assert result[0].snippet == "x" * 3_995 + "[reda …"


@pytest.mark.parametrize(
    "content", ["", None, "No content available", "No context data available."]
)
def test_a_placeholder_is_not_a_snippet(content: str | None) -> None:
    assert results(infos=(info(content=content),)) == []


# --- errors ------------------------------------------------------------------------------------


def error(response: Response, account: Account = ACCOUNT) -> ProviderError:
    error = context7.read_error(response, account, "docs")
    assert error is not None
    return error


def test_a_wait_is_read_from_header_and_body() -> None:
    soon = str(int(time.time()) + 20)
    old = {"error": "Too many requests", "status": 429, "retryAfterSeconds": 60}
    assert error(answer(old, 429, retry_after="7", ratelimit_reset=soon)).retry_after == 7.0
    result = error(answer(old, 429, ratelimit_reset=soon)).retry_after
    assert result == pytest.approx(20, abs=1)
    assert error(answer(old, 429)).retry_after == 60.0
    assert error(answer({}, 429)).retry_after is None


@pytest.mark.parametrize("length", [1, 499, 500, 501, 5_000])
@pytest.mark.parametrize("part", ["query", "library"])
def test_a_text_is_sent_whole_or_refused_before_any_request(part: str, length: int) -> None:
    words = ("ab " * length)[: length - 1] + "z"
    query = DocsQuery(words, 5) if part == "query" else DocsQuery("q", 5, library=words)
    stub = Stub(libraries())
    if length > 500:
        with pytest.raises(InputError, match=str(length)):
            run(flow(query), stub)
        assert stub.requests == []
        return
    run(flow(query), stub)
    sent = dict(parse_qsl(urlsplit(stub.requests[0].url).query))
    assert words in sent.values()
