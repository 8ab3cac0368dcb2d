"""Options of a search: native and local filters, pages of results, similar pages, content."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from offline import IO, Stub, answer, client, entry, run

from webtools import InputError, WebTools
from webtools._internal.call.present import present_search
from webtools._internal.operations.fetch import MAX_PASSAGE_CHARACTERS
from webtools._internal.operations.passage_choice import OURS, choose_passages
from webtools.choices import Fence
from webtools.fencing import remove_fences
from webtools.formatting import search_text
from webtools.results import FetchResponse, Page, Passage, SearchResponse, SearchResult
from webtools.tools import SearchInput, read_input, with_fixed
from webtools.truncation import MAX_BYTES
from webtools_sandbox import SandboxServer

KAGI_V0 = entry("kagi", options={"searchApi": "v0"})
OPTION_VALUES: dict[str, Any] = {
    "country": "DE",
    "language": "de",
    "safe_search": "strict",
    "page": 2,
    "content": True,
}
RARE_PLACE: dict[str, Any] = {"country": "AQ", "language": "la", "page": 2}


@pytest.mark.parametrize(
    ("entry", "options", "states"),
    [
        pytest.param(entry("exa"), OPTION_VALUES, "nunln", id="exa"),
        pytest.param(entry("kagi"), OPTION_VALUES, "nunnn", id="kagi"),
        pytest.param(KAGI_V0, OPTION_VALUES, "uuulu", id="kagi v0"),
        pytest.param(entry("perplexity"), OPTION_VALUES, "nnulu", id="perplexity"),
        pytest.param(entry("brave"), OPTION_VALUES, "nnuln", id="brave for passages"),
        pytest.param(entry("brave"), RARE_PLACE, "uun", id="brave with a rare place"),
    ],
)
def test_each_option_is_attested(
    entry: dict[str, Any], options: dict[str, Any], states: str
) -> None:
    nothing = {"results": [], "data": None, "type": "search", "grounding": {"generic": []}}
    with client(Stub(answer(nothing)), entry) as web:
        response = web.search("q", limit=2, **options)
    assert [response.filters[name][0] for name in options] == [*states]


@pytest.mark.parametrize(
    ("kind", "page", "requested", "titles"),
    [
        ("exa", 2, 6, ["4", "5", "6"]),
        ("perplexity", 2, 6, ["4", "5", "6"]),
        ("perplexity", 7, 20, ["19", "20"]),  # it returns no more than 20
        ("perplexity", 8, 20, []),
    ],
)
def test_a_page_is_cut_out_of_all_results_if_the_api_has_no_pages(
    kind: str, page: int, requested: int, titles: list[str]
) -> None:
    hits = [{"url": f"https://a.example/{n}", "title": f"{n}"} for n in range(1, 21)]
    stub = Stub(answer({"results": hits}))
    with client(stub, entry(kind)) as web:
        response = web.search("q", limit=3, page=page)
    assert [result.title for result in response.results] == titles
    assert response.filters == {"page": "local"}
    [body] = stub.bodies
    assert body.get("max_results", body.get("numResults")) == requested


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ({"country": "Germany"}, 'country "Germany"'),
        ({"language": "d1"}, 'language "d1"'),
        ({"safe_search": "on"}, '"on"'),
        ({"safe_search": True}, "safe_search"),
        ({"page": 11}, 'page "11"'),
        ({"similar": True}, 'similar.*"q"'),
    ],
)
def test_an_invalid_option_is_refused(option: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        read_input(SearchInput, {"queries": "q", **option})


def test_options_are_lenient_in_spelling_and_absent_when_empty() -> None:
    arguments = {
        "country": " de ",
        "language": "EN",
        "safeSearch": "Off",
        "page": 0,
        "content": False,
    }
    result = read_input(SearchInput, {"query": "q", **arguments})
    assert (result.country, result.language, result.safe_search) == ("DE", "en", "off")
    assert result.model_fields_set == {"queries", "country", "language", "safe_search"}
    empty = read_input(SearchInput, {"query": "q", "country": "", "language": " ", "page": 0})
    assert empty.model_fields_set == {"queries"}


def test_false_is_the_lowest_level_of_safe_search() -> None:
    for value in (False, "off"):
        assert read_input(SearchInput, {"query": "q", "safe_search": value}).safe_search == "off"
    assert with_fixed(SearchInput, {"safe_search": False}).fixed == {"safe_search": "off"}


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
    result = choose_passages(FetchResponse(provider="exa", pages=pages), "Who lends seeds?")
    theirs, ours = result.pages
    assert theirs == pages[0]
    assert ours.passages_by == OURS
    passages = [item.text for page in result.pages for item in page.passages or ()]
    assert sum(map(len, passages)) <= MAX_PASSAGE_CHARACTERS
    assert result.warnings == []


def test_a_question_is_answered_by_passages_of_the_reader(
    webtools_sandbox: SandboxServer,
) -> None:
    with WebTools({**webtools_sandbox.config(), "cache": {}}) as web:
        url = f"{webtools_sandbox.docs_url}/library/json.html"
        query = {"urls": url, "question": "How is JSON decoded?"}
        result = {name: web.fetch(**query, provider=name) for name in ("exa", "kagi")}
        again = web.fetch(**query, provider="exa")
    pages = {name: response.pages[0] for name, response in result.items()}
    assert {name: page.passages_by for name, page in pages.items()} == {"exa": "exa", "kagi": OURS}
    assert all(page.passages and page.text is None for page in pages.values())
    assert again.cache_hit
    assert again.pages == [pages["exa"]]


def test_deep_research_with_brave_replaces_an_unreadable_page_by_passages(
    webtools_sandbox: SandboxServer,
) -> None:
    config = webtools_sandbox.config()
    only = [entry for entry in config["providers"] if entry["type"] == "brave"]
    webtools_sandbox.reset_stats()
    with WebTools({**config, "providers": only, "defaultProvider": "brave"}) as web:
        result = web.research("How does json decode a document?", command="web-deep")
    # The sandbox has a private address, from which pages are not read.
    assert webtools_sandbox.stats()["requests"] == {"/brave/res/v1/llm/context": 1}
    assert any('"brave"' in warning for warning in result.meta.warnings)
    assert result.synthesis is not None
    assert result.synthesis.claims


# --- pages that come with the results ----------------------------------------------------------

PAGE_TEXT = "# A\n\nThe archive lends seeds.\n\n"


def with_pages(*urls: str, text: str = PAGE_TEXT) -> SearchResponse:
    facts = {"title": "A", "snippet": "short", "source_provider": "exa", "query": "q"}
    results = [SearchResult(url=url, content=Page(url=url, text=text), **facts) for url in urls]
    return SearchResponse(provider="exa", queries=["q"], results=results)


def present(response: SearchResponse, fence: Fence) -> str:
    return run(present_search(response, IO, fence), Stub()).text


def test_content_of_pages_is_fenced_as_pages_are() -> None:
    response = with_pages("https://a.example/")
    assert [
        remove_fences(present(response, fence)) != present(response, fence)
        for fence in get_args(Fence)
    ] == [
        True,
        True,
        False,
    ]
    bare = response.model_copy(
        update={"results": [response.results[0].model_copy(update={"content": None})]}
    )
    assert remove_fences(present(bare, "pages")) == present(bare, "pages")


def test_long_content_crowds_no_result_out() -> None:
    urls = [f"https://a.example/{n}" for n in range(10)]
    text = present(with_pages(*urls, text="seeds " * 1600), "pages")
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
    denied = {"denyDomains": ["b.example"]}
    with client(Stub(answer(bodies[kind])), entry(kind), fetch=denied) as web:
        response = web.search("q", limit=2, content=True)
    assert [result.content is None for result in response.results] == [False, True]
    [warning] = response.warnings
    assert '"b.example"' in warning


def test_the_usual_name_of_the_united_kingdom_is_its_code() -> None:
    assert read_input(SearchInput, {"query": "q", "country": "uk"}).country == "GB"
