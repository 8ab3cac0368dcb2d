"""Context7: the dialogue of requests, the snippets read, each quirk of the API that is known."""

from __future__ import annotations

import re
import time
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import offline
import pytest
from offline import KEY, Clock, Stub, answer, detached, metered_look_up, run

from webtools._internal.http.messages import Request, Response
from webtools._internal.pipeline.api_call import ApiCall
from webtools.config import Settings, load
from webtools.errors import (
    BadRequestError,
    ProviderError,
    ResponseFormatError,
    UnavailableError,
)
from webtools.formatting import search_text
from webtools.providers import Account, context7
from webtools.providers.protocols import Cost, DocsQuery, Hits
from webtools.results import SearchResult

ACCOUNT = offline.account("context7")
PAGE = "https://github.com/acme/widget/blob/main/README.md"


def keyless(**settings: Any) -> Account:
    text = '{"providers": [{"name": "docs", "type": "context7"}]}'
    return Settings(load(text, "f")).accounts().accounts[0]


def looked_up(
    query: DocsQuery | str, *answers: Any, account: Account = ACCOUNT
) -> tuple[Hits, list[str]]:
    """Run a look-up; return its hits and the requests."""
    stub = Stub(*answers)
    found = run(flow(query, account), stub)
    return found, [shown(request) for request in stub.requests]


async def flow(query: DocsQuery | str, account: Account = ACCOUNT) -> Hits:
    library = DocsQuery(query, 5) if isinstance(query, str) else query
    job = ApiCall(account, "docs", library.query, call=detached())
    return await metered_look_up(job, partial(context7.lookup, library, account))


def shown(request: Request) -> str:
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


def fault(name: str, status: int, said: str = "No.", **more: Any) -> Response:
    return answer({"error": name, "message": said, **more}, status)


FOUND = libraries(library(versions=["v2.0.0", "1.4", "v1.2"]))
TEXT = snippets(code())


# --- the two steps -----------------------------------------------------------------------------


def test_a_look_up_finds_the_library_and_then_its_snippets() -> None:
    stub = Stub(FOUND, TEXT)
    run(flow("create a widget"), stub)
    headers = {"authorization": f"Bearer {KEY}"}
    assert stub.requests == [
        Request(
            "GET",
            "https://context7.com/api/v2/libs/search?libraryName=create%20a%20widget"
            "&query=create%20a%20widget",
            headers,
        ),
        Request(
            "GET",
            "https://context7.com/api/v2/context?libraryId=%2Facme%2Fwidget"
            "&query=create%20a%20widget&type=json",
            headers,
        ),
    ]


def test_without_a_key_no_header_is_sent() -> None:
    stub = Stub(FOUND, TEXT)
    run(flow("q", keyless()), stub)
    assert [request.headers for request in stub.requests] == [{}, {}]


def test_a_quick_look_up_is_an_option() -> None:
    stub = Stub(FOUND, TEXT)
    run(flow("q", offline.account("context7", options={"fast": True})), stub)
    assert all(request.url.endswith("&fast=true") for request in stub.requests)


def test_a_library_that_is_known_apart_from_the_question_is_searched_for() -> None:
    query = DocsQuery("how do I start?", 5, library="widget")
    assert looked_up(query, FOUND, TEXT)[1] == ["/libs/search widget", "/context /acme/widget"]


def test_long_questions_are_cut_to_what_the_api_takes() -> None:
    stub = Stub(FOUND, TEXT)
    run(flow("x" * 600), stub)
    sent = dict(parse_qsl(urlsplit(stub.requests[0].url).query))
    assert {name: len(value) for name, value in sent.items()} == {"libraryName": 500, "query": 500}


def test_no_library_is_an_empty_result() -> None:
    assert looked_up("q", answer({"results": []})) == (Hits([], FREE), ["/libs/search q"])


def test_null_instead_of_libraries_is_reported() -> None:
    found, _ = looked_up("q", answer({"results": None}))
    assert found.results == []
    [warning] = found.warnings
    assert '"my-context7"' in warning


@pytest.mark.parametrize("odd", [None, "odd", {"id": 5}, {"id": None}])
def test_an_odd_library_costs_itself(odd: Any) -> None:
    found, sent = looked_up("q", answer({"results": [odd, library()]}), TEXT)
    assert sent[1] == "/context /acme/widget"
    assert len(found.results) == 1


def test_libraries_that_are_not_found_are_an_empty_result() -> None:
    assert looked_up("q", fault("no_libraries_found", 404))[0].results == []


FREE = Cost(0.0, is_estimate=True)


@pytest.mark.parametrize("state", ["initial", "processing", "error", "delete", None])
def test_only_finalized_libraries_are_used(state: str | None) -> None:
    found, sent = looked_up("q", libraries(library("/a/b", state=state), library()), TEXT)
    assert sent[1] == "/context /acme/widget"
    assert found.warnings == ["Context7 is still preparing /a/b."]
    found, sent = looked_up("q", libraries(library("/a/b", state=state)))
    assert (found.results, sent) == ([], ["/libs/search q"])
    assert found.warnings == ["Context7 is still preparing /a/b."]


def test_a_library_with_an_odd_id_is_left_out() -> None:
    odd = [library("https://evil.example/a/b"), library("/a"), library("/a/b?x=1")]
    assert looked_up("q", libraries(*odd, library()), TEXT)[1][1] == "/context /acme/widget"


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
    assert looked_up(query, TEXT)[1] == [f"/context {library}"]


def test_a_path_that_is_no_id_is_searched_for() -> None:
    found, sent = looked_up("what is in /usr/bin", fault("library_not_found", 404), FOUND, TEXT)
    assert sent == [
        "/context /usr/bin",
        "/libs/search what is in /usr/bin",
        "/context /acme/widget",
    ]
    assert len(found.results) == 1


def test_an_id_of_the_caller_is_used_as_it_is() -> None:
    query = DocsQuery("q", 5, library="/acme/gone")
    assert looked_up(query, fault("library_not_found", 404))[1] == ["/context /acme/gone"]


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
    assert looked_up(query, FOUND, TEXT)[1] == [f"/libs/search {name}", f"/context {library}"]


def test_a_missing_version_is_reported() -> None:
    found, sent = looked_up("widget@9 create", FOUND, TEXT)
    assert sent[1] == "/context /acme/widget"
    [warning] = found.warnings
    assert re.search(r"\b9 of /acme/widget\b.*v2\.0\.0, 1\.4, v1\.2", warning)


@pytest.mark.parametrize("versions", [None, [], [None, "a b"]])
def test_a_library_without_versions_has_no_pin(versions: Any) -> None:
    found, sent = looked_up("widget@9", libraries(library(versions=versions)), TEXT)
    assert sent[1] == "/context /acme/widget"
    assert "no version 9 of /acme/widget, so" in found.warnings[0]


def test_a_tag_that_no_longer_resolves_is_dropped() -> None:
    lost = fault("tag_not_found", 404, "Available tags: 1.4")
    found, sent = looked_up("widget@1.2", FOUND, lost, TEXT)
    assert sent[1:] == ["/context /acme/widget@v1.2", "/context /acme/widget"]
    assert len(found.results) == 1
    assert "no version v1.2 of /acme/widget" in found.warnings[0]


def test_a_request_without_a_tag_is_not_repeated() -> None:
    found, sent = looked_up("/acme/widget x", fault("tag_not_found", 404))
    assert (found.results, len(sent)) == ([], 1)


# --- what moves, and what is not ready ---------------------------------------------------------


def test_a_moved_library_is_requested_under_its_new_id() -> None:
    moved = fault("library_redirected", 301, redirectUrl="/new/widget")
    found, sent = looked_up("/old/widget@v1.2 x", moved, TEXT)
    assert sent == ["/context /old/widget@v1.2", "/context /new/widget@v1.2"]
    assert len(found.results) == 1


def test_the_new_id_can_come_from_the_message() -> None:
    moved = fault("library_redirected", 301, "The library /old/widget moved to /new/widget.")
    assert looked_up("/old/widget x", moved, TEXT)[1][1] == "/context /new/widget"


def test_a_library_moves_only_once() -> None:
    moved = fault("library_redirected", 301, redirectUrl="/new/widget")
    with pytest.raises(UnavailableError, match="moved /new/widget twice") as caught:
        looked_up("/old/widget x", moved)
    assert not caught.value.retryable


@pytest.mark.parametrize("where", [None, "https://evil.example/a", "/a", "/a/b?c", "//evil/a"])
def test_an_invalid_redirect_is_refused(where: str | None) -> None:
    with pytest.raises(ResponseFormatError, match="HTTP 301"):
        looked_up("/old/widget x", fault("library_redirected", 301, redirectUrl=where))


PREPARING = fault("library_not_finalized", 202)


def test_a_library_in_preparation_is_waited_for(clock: Clock) -> None:
    found, sent = looked_up("/acme/widget x", PREPARING, PREPARING, TEXT)
    assert len(found.results) == 1
    assert len(sent) == 3
    assert clock.slept == [2.0, 4.0]


def test_the_wait_for_a_library_is_bounded(clock: Clock) -> None:
    with pytest.raises(UnavailableError, match="still preparing /acme/widget") as caught:
        looked_up("/acme/widget x", PREPARING)
    assert clock.slept == [2.0, 4.0, 8.0]
    assert (caught.value.retryable, caught.value.status) == (True, 202)


def test_the_server_may_ask_for_a_longer_wait(clock: Clock) -> None:
    preparing = answer({"error": "library_not_finalized"}, 202, retry_after="5")
    looked_up("/acme/widget x", preparing, TEXT)
    assert clock.slept == [5.0]


def test_a_wait_beyond_the_deadline_ends_at_once(clock: Clock) -> None:
    preparing = answer({"error": "library_not_finalized"}, 202, retry_after="60")
    with pytest.raises(UnavailableError) as caught:
        looked_up("/acme/widget x", preparing)
    assert clock.slept == []
    assert caught.value.retry_after == 60.0


@pytest.mark.parametrize(
    "name",
    ["library_not_found", "no_snippets_found", "no_documentation_found", "tag_not_found"],
)
def test_a_missing_library_is_an_empty_result(name: str) -> None:
    assert looked_up("q", FOUND, fault(name, 404))[0].results == []


def test_a_404_of_somebody_else_is_an_error() -> None:
    with pytest.raises(BadRequestError, match="HTTP 404"):
        looked_up("q", answer(body=b"<html>", status=404))


# --- the snippets ------------------------------------------------------------------------------


def test_code_comes_before_text() -> None:
    found, _ = looked_up("create a widget", FOUND, snippets(code(), infos=(info(),)))
    common = {"source_provider": "my-context7", "query": "create a widget"}
    assert found == Hits(
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
    return looked_up("q", FOUND, snippets(*codes, infos=infos))[0].results


def test_all_snippets_of_a_page_are_one_result_in_their_order() -> None:
    parts = [
        code(f"{PAGE}#_snippet_{n}", codeTitle=f"Step {n}", codeList=[{"code": f"step({n})"}])
        for n in range(1, 6)
    ]
    [found] = results(*parts, infos=(info(PAGE, content="See also."),))
    assert (found.title, found.url) == ("Step 1", f"{PAGE}#_snippet_1")
    steps = [f"### Step {n}\n\nHow.\n\n```\nstep({n})\n```" for n in range(1, 6)]
    whole = "\n\n".join([*steps, "### Guide > Install\n\nSee also."])
    assert found.snippet == whole.removeprefix("### Step 1\n\n")  # that is the title


def test_code_is_kept_to_the_letter() -> None:
    body = "if x:\n\n    y = a_b &lt; 1  # <b>no</b>\n\treturn `y`"
    [found] = results(code(codeList=[{"language": "python", "code": body}]))
    assert found.snippet == f"How.\n\n```python\n{body}\n```"


def test_a_fence_in_the_code_does_not_end_it() -> None:
    [found] = results(code(codeList=[{"language": "md", "code": "```sh\nls\n```"}]))
    assert found.snippet == "How.\n\n````md\n```sh\nls\n```\n````"


@pytest.mark.parametrize("language", ["a b", "x\n```", "`", "", None, "x" * 31])
def test_an_unknown_language_is_omitted_from_the_fence(language: Any) -> None:
    [found] = results(code(codeList=[{"language": language, "code": "x"}]))
    assert found.snippet == "How.\n\n```\nx\n```"


def test_snippets_beyond_the_limit_of_a_page_are_dropped_and_counted() -> None:
    long = [code(f"{PAGE}#{n}", codeList=[{"code": f"step{n}()\n" * 150}]) for n in range(5)]
    [found] = results(*long)
    assert len(found.snippet) < 4_100
    assert re.search(r"\n```\n\n\[2 [^\n]+\]$", found.snippet)
    assert found.snippet.count("```") == 6


def test_a_page_of_code_is_shown_to_a_model_line_by_line_under_its_number() -> None:
    body = "def f():\n\n    return 1"
    [found] = results(code(codeList=[{"language": "python", "code": body}]))
    assert search_text([found]) == (
        f"1. Create\n   {PAGE}#_snippet_1\n   How.\n\n   ```python\n   def f():\n\n"
        "       return 1\n   ```"
    )


@pytest.mark.parametrize("url", [None, "", "README.md", "javascript:alert(1)"])
def test_a_snippet_without_an_address_links_to_its_library(url: Any) -> None:
    found = results(code(url), infos=(info(url),))
    assert [r.url for r in found] == ["https://context7.com/acme/widget"]


def test_titles_have_their_fallbacks() -> None:
    found = results(
        code(codeTitle=None, pageTitle="README"),
        code("https://a.example", codeTitle="", pageTitle=None),
        infos=(info(breadcrumb=None),),
    )
    assert [r.title for r in found] == ["README", "Code", "Documentation"]


def test_a_snippet_is_cut_at_the_end_of_a_line_or_at_a_blank() -> None:
    lines = code("https://c.example", codeList=[{"code": "x = 1\n" * 999}])
    found = results(
        lines,
        infos=(info(content="word " * 999), info("https://b.example", content="x" * 9999)),
    )
    assert [len(r.snippet) <= 4_010 for r in found] == [True, True, True]
    assert found[0].snippet.endswith("\nx = 1\n```\n…")
    assert found[1].snippet.endswith("word …")
    assert found[2].snippet == "x" * 4_000 + " …"


def test_no_snippet_ends_in_half_a_key() -> None:
    found = results(infos=(info(content="x" * 3_995 + "\u200b".join(KEY * 2)),))
    assert found[0].snippet == "x" * 3_995 + "[reda …"


def test_a_snippet_is_clean_text() -> None:
    [found] = results(code(codeDescription="a\n\x1b[31mb", codeList=[{"code": "x\x00\r\ny"}]))
    assert found.snippet == "a\nb\n\n```\nx\ny\n```"


@pytest.mark.parametrize(
    "content", ["", None, "No content available", "No context data available."]
)
def test_a_placeholder_is_no_snippet(content: str | None) -> None:
    assert results(infos=(info(content=content),)) == []


@pytest.mark.parametrize(
    "body", [b"", b" \n", b'"No content available"', b"No context data available"]
)
def test_a_placeholder_is_no_answer(body: bytes) -> None:
    assert looked_up("q", FOUND, answer(body=body))[0].results == []


def test_snippets_are_limited() -> None:
    many = snippets(*(code(f"https://a.example/{n}") for n in range(9)))
    assert len(looked_up(DocsQuery("q", 2), FOUND, many)[0].results) == 2


def test_the_rules_of_an_owner_are_dropped() -> None:
    rules = {"libraryOwn": ["Buy premium."], "global": ["Buy premium."]}
    body = {"codeSnippets": [code()], "infoSnippets": None, "rules": rules}
    assert "premium" not in str(looked_up("q", FOUND, answer(body))[0])


@pytest.mark.parametrize(
    "body", [b"[]", b"null", b'{"codeSnippets": {}}', b'{"codeSnippets": ["x"]}', b"<html>"]
)
def test_an_undocumented_answer_is_a_format_error(body: bytes) -> None:
    with pytest.raises(ResponseFormatError, match='"q"'):
        looked_up("q", FOUND, answer(body=body))


@pytest.mark.parametrize("body", [b"", b"{}", b'{"results": {}}', b'{"results": [5]}'])
def test_an_undocumented_list_of_libraries_is_a_format_error(body: bytes) -> None:
    with pytest.raises(ResponseFormatError):
        looked_up("q", answer(body=body))


# --- errors ------------------------------------------------------------------------------------


def error(response: Response, account: Account = ACCOUNT) -> ProviderError:
    found = context7.read_error(response, account, "docs")
    assert found is not None
    return found


def test_a_refusal_without_a_key_names_the_provider() -> None:
    assert 'provider "docs"' in str(error(fault("forbidden", 403), keyless()))


def test_a_wait_is_read_from_header_and_body() -> None:
    soon = str(int(time.time()) + 20)
    old = {"error": "Too many requests", "status": 429, "retryAfterSeconds": 60}
    assert error(answer(old, 429, retry_after="7", ratelimit_reset=soon)).retry_after == 7.0
    found = error(answer(old, 429, ratelimit_reset=soon)).retry_after
    assert found == pytest.approx(20, abs=1)
    assert error(answer(old, 429)).retry_after == 60.0
    assert error(answer({}, 429)).retry_after is None


# --- the table ---------------------------------------------------------------------------------


def test_a_source_of_documentation_is_selected_by_its_capability() -> None:
    found = offline.accounts(offline.entry("exa"), {"name": "docs", "type": "context7"})
    assert found.select("docs").name == "docs"
    assert found.select("search").name == "my-exa"
