"""Options of a search: native and local filters, pages of results, similar pages, content."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import offline
import pytest
from offline import IO, Stub, answer, detached, run

from webtools import InputError, WebTools
from webtools._internal.call.present import present_search
from webtools._internal.operations.fetch import MAX_PASSAGE_CHARACTERS
from webtools._internal.operations.passage_choice import OURS, choose_passages
from webtools._internal.operations.search import search
from webtools._internal.operations.search_filters import attest
from webtools._internal.text.choices import Fence
from webtools._internal.text.fencing import unfenced
from webtools.formatting import search_text
from webtools.providers.operator_domains import OperatorDomains, Site
from webtools.providers.protocols import SearchQuery
from webtools.results import FetchResponse, Page, Passage, SearchResponse, SearchResult
from webtools.tools import SearchInput, read_input
from webtools.truncation import MAX_BYTES
from webtools_sandbox import SandboxServer

ALL = SearchQuery(
    "q", 2, country="DE", language="de", safe_search="strict", page=2, content=True, similar=False
)


@pytest.mark.parametrize(
    ("kind", "options", "query", "states"),
    [
        pytest.param("exa", {}, ALL, "nunln", id="exa"),
        pytest.param("kagi", {}, ALL, "nunnn", id="kagi"),
        pytest.param("kagi", {"searchApi": "v0"}, ALL, "uuulu", id="kagi v0"),
        pytest.param("perplexity", {}, ALL, "nnulu", id="perplexity"),
        pytest.param("brave", {}, ALL, "nnuln", id="brave for passages"),
        pytest.param(
            "brave",
            {},
            SearchQuery("q", 2, "", country="AQ", language="tlh", page=2),
            "uun",
            id="x",
        ),
    ],
)
def test_each_option_is_attested(
    kind: str, options: dict[str, Any], query: SearchQuery, states: str
) -> None:
    found = attest(offline.account(kind, options=options), query)
    assert "".join(state[0] for state in found.values()) == states


def found_by(kind: str, query: SearchQuery, count: int = 20) -> SearchResponse:
    items = [{"url": f"https://a.example/{n}", "title": f"{n}"} for n in range(1, count + 1)]
    transport = Stub(answer({"results": items}))
    found = run(search([offline.account(kind)], [query], detached()), transport)
    body = transport.requests[0].json
    assert body.get("max_results", body.get("numResults")) == min(20, query.limit * query.page or 5)
    return found


@pytest.mark.parametrize(
    ("kind", "page", "titles"),
    [
        ("exa", 2, ["4", "5", "6"]),
        ("perplexity", 2, ["4", "5", "6"]),
        ("perplexity", 7, ["19", "20"]),  # it gives no more than 20
        ("perplexity", 8, []),
    ],
)
def test_a_page_is_cut_out_of_all_results_where_the_api_has_no_pages(
    kind: str, page: int, titles: list[str]
) -> None:
    query = SearchQuery("q", 3, page=page)
    found = found_by(kind, query)
    assert [result.title for result in found.results] == titles
    assert found.filters == {"page": "local"}


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ({"country": "Germany"}, 'country "Germany"'),
        ({"language": "d1"}, 'language "d1"'),
        ({"safe_search": "on"}, '"on"'),
        ({"page": 11}, 'page "11"'),
        ({"similar": True}, 'similar.*"q"'),
    ],
)
def test_an_invalid_option_is_refused(option: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        read_input(SearchInput, {"queries": "q", **option})


def test_options_are_lenient_in_spelling_and_absent_when_empty() -> None:
    given = {"country": " de ", "language": "EN", "safeSearch": "Off", "page": 0, "content": False}
    found = read_input(SearchInput, {"query": "q", **given})
    assert (found.country, found.language, found.safe_search) == ("DE", "en", "off")
    assert found.model_fields_set == {"queries", "country", "language", "safe_search"}
    empty = read_input(SearchInput, {"query": "q", "country": "", "language": " ", "page": 0})
    assert empty.model_fields_set == {"queries"}


def test_a_model_reads_the_content_in_place_of_the_snippet() -> None:
    page = Page(url="https://a.example/", text="# A\n\nText.")
    hit = {"title": "A", "url": page.url, "snippet": "short", "source_provider": "p", "query": "q"}
    assert search_text([SearchResult(**hit, content=page)]) == (
        "1. A\n   https://a.example/\n   # A\n\n   Text."
    )


# --- passages that a provider chose ------------------------------------------------------------


def test_passages_of_a_provider_keep_their_order_and_its_name_within_one_budget() -> None:
    long = "seeds " * 1000
    chosen = [Passage(text=long, url="https://a.example/"), Passage(text="Second seeds.")]
    pages = [
        Page(url="https://a.example/", passages=chosen, passages_by="exa"),
        Page(url="https://b.example/", text=f"{long}\n\nWho lends seeds? The archive lends seeds."),
    ]
    found = choose_passages(FetchResponse(provider="exa", pages=pages), "Who lends seeds?")
    theirs, ours = found.pages
    assert theirs == pages[0]
    assert ours.passages_by == OURS
    passages = [each.text for page in found.pages for each in page.passages or ()]
    assert sum(map(len, passages)) <= MAX_PASSAGE_CHARACTERS
    assert found.warnings == []


def test_a_question_is_answered_by_passages_of_the_reader(
    webtools_sandbox: SandboxServer,
) -> None:
    with WebTools({**webtools_sandbox.config(), "cache": {}}) as web:
        url = f"{webtools_sandbox.docs_url}/library/json.html"
        asked = {"urls": url, "question": "How is JSON decoded?"}
        found = {name: web.fetch(**asked, provider=name) for name in ("exa", "kagi")}
        again = web.fetch(**asked, provider="exa")
    pages = {name: response.pages[0] for name, response in found.items()}
    assert {name: page.passages_by for name, page in pages.items()} == {"exa": "exa", "kagi": OURS}
    assert all(page.passages and page.text is None for page in pages.values())
    assert again.cache_hit
    assert again.pages == [pages["exa"]]


def test_deep_research_with_brave_reads_its_passages_where_a_page_cannot_be_read(
    webtools_sandbox: SandboxServer,
) -> None:
    config = webtools_sandbox.config()
    only = [entry for entry in config["providers"] if entry["type"] == "brave"]
    webtools_sandbox.reset_stats()
    with WebTools({**config, "providers": only, "defaultProvider": "brave"}) as web:
        found = web.research("How does json decode a document?", command="web-deep")
    # The sandbox has a private address, from which pages are not read.
    assert webtools_sandbox.stats()["requests"] == {"/brave/res/v1/llm/context": 1}
    assert any('"brave"' in warning for warning in found.meta.warnings)
    assert found.synthesis is not None
    assert found.synthesis.claims


# --- pages that come with the results ----------------------------------------------------------

PAGE_TEXT = "# A\n\nThe archive lends seeds.\n\n"


def with_pages(*urls: str, text: str = PAGE_TEXT) -> SearchResponse:
    facts = {"title": "A", "snippet": "short", "source_provider": "exa", "query": "q"}
    results = [SearchResult(url=url, content=Page(url=url, text=text), **facts) for url in urls]
    return SearchResponse(provider="exa", queries=["q"], results=results)


def shown(response: SearchResponse, fence: Fence) -> str:
    return run(present_search(response, IO, fence), Stub()).text


def test_content_of_pages_is_fenced_as_pages_are() -> None:
    response = with_pages("https://a.example/")
    assert [
        unfenced(shown(response, fence)) != shown(response, fence) for fence in get_args(Fence)
    ] == [
        True,
        True,
        False,
    ]
    bare = response.model_copy(
        update={"results": [response.results[0].model_copy(update={"content": None})]}
    )
    assert unfenced(shown(bare, "pages")) == shown(bare, "pages")


def test_long_content_crowds_no_result_out() -> None:
    urls = [f"https://a.example/{n}" for n in range(10)]
    text = shown(with_pages(*urls, text="seeds " * 1600), "pages")
    assert len(text.encode()) <= MAX_BYTES
    assert all(url in text for url in urls)
    assert text.count("seeds") > 6000  # most of the room is used


@pytest.mark.parametrize("kind", ["exa", "kagi", "brave"])
def test_content_of_a_page_that_the_operator_forbids_to_read_is_left_out(kind: str) -> None:
    urls = ["https://a.example/", "https://b.example/"]
    items = [
        {"url": url, "title": "A", "snippet": PAGE_TEXT, "text": PAGE_TEXT, "snippets": [PAGE_TEXT]}
        for url in urls
    ]
    bodies = {
        "exa": {"results": items},
        "kagi": {"data": {"search": items}},
        "brave": {"grounding": {"generic": items}},
    }
    account = replace(offline.account(kind), domains=OperatorDomains(deny=(Site("b.example"),)))
    found = run(
        search([account], [SearchQuery("q", 2, content=True)], detached()),
        Stub(answer(bodies[kind])),
    )
    assert [result.content is None for result in found.results] == [False, True]
    [warning] = found.warnings
    assert '"b.example"' in warning
