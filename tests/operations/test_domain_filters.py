"""Domain filters keep their promise with every provider, in every spelling, on every surface."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore
from offline import Stub, answer, client, entry

from langchain_webtools import WebSearchRetriever, WebSearchTool
from llamaindex_webtools import WebRetriever, WebToolsSpec
from webtools import WebTools
from webtools.errors import InputError
from webtools.messages import Request, Response
from webtools.providers import PROVIDERS

SEARCHERS = [kind for kind in PROVIDERS if PROVIDERS[kind].search is not None]
every_provider = pytest.mark.parametrize("kind", SEARCHERS)

# The hosts that a provider returns, whatever it was asked for: it ignores all filters.
HOSTS = [
    "www.rijkswater.gov",
    "tides.rijkswater.gov",
    "plain.nhs.uk",
    "ward.plain.nhs.uk",
    "xn--grnkohl-o2a.de",
    "rezepte.grünkohl.de",
    "GRÜNKOHL.de.",
    "notgrünkohl.de",
    "docs.heron.dev",
    "heron.dev:8443",
    "heron.dev.evil.example",
    "gov.example",
    "xn--80aswg.xn--p1ai",
    "ёлка.рф",
    "h%65ron.dev",
]
RECIPES = {"xn--grnkohl-o2a.de", "rezepte.grünkohl.de", "GRÜNKOHL.de."}
GOVERNMENT = {"www.rijkswater.gov", "tides.rijkswater.gov"}
HERON = {"docs.heron.dev", "heron.dev:8443", "h%65ron.dev"}
RUSSIAN = {"xn--80aswg.xn--p1ai", "ёлка.рф"}
HEALTH = {"plain.nhs.uk", "ward.plain.nhs.uk"}
# A canonical domain, and the hosts of the list above that it covers.
DOMAINS: dict[str, set[str]] = {
    "gov": GOVERNMENT,
    "rijkswater.gov": GOVERNMENT,
    "tides.rijkswater.gov": {"tides.rijkswater.gov"},
    "nhs.uk": HEALTH,
    "uk": HEALTH,
    "grünkohl.de": RECIPES,
    "xn--grnkohl-o2a.de": RECIPES,
    "heron.dev": HERON,
    "рф": RUSSIAN,
    "xn--p1ai": RUSSIAN,
    "nowhere.example": set(),
}
SPELLINGS: list[Callable[[str], str]] = [
    str,
    str.upper,
    lambda name: f"*.{name}",
    lambda name: f".{name}",
    lambda name: f" {name}. ",
    lambda name: f"https://{name}/",
    lambda name: f"HTTP://*.{name}",
    lambda name: name.replace(".", "\u3002"),
    lambda name: name.replace("e", "\uff45"),
]
NO_VALUES = ["", " ", "null", "None", "NONE", "any", "*", " Any "]
domain_lists = st.lists(
    st.tuples(st.sampled_from([*DOMAINS]), st.sampled_from(SPELLINGS)), min_size=1, max_size=3
)


def found(*hosts: str) -> Response:
    """Answer with these hosts, so that each provider finds them."""
    items = [
        {"title": "A", **dict.fromkeys(["url", "link", "fullurl"], f"https://{host}/x")}
        for host in hosts
    ]
    return answer(
        {
            "results": items,
            "organic": items,
            "searchParameters": {"q": "q"},
            "type": "search",
            "web": {"results": items},
            "news": items,
            "query": {"pages": items},
            "batchcomplete": True,
            "success": True,
        }
    )


def bodies(kind: str) -> Callable[[Request], Response]:
    """Answer with all hosts in the form of a provider."""
    body = json.loads(found(*HOSTS).body)
    if kind == "kagi":
        body["data"] = {"search": body["results"]}
    elif kind == "firecrawl":
        body["data"] = {"web": body["results"]}
    elif kind == "jina-search":
        body["data"] = body["results"]
    elif kind == "you":
        body["results"] = {"web": body["results"]}
    return lambda _: answer(body)


def web_with(kind: str) -> tuple[WebTools, Stub]:
    stub = Stub(bodies(kind))

    async def arespond(request: httpx.Request) -> httpx.Response:
        return stub.respond(request)

    config = {"providers": [entry(kind)], "cache": {"enabled": False}}
    transports = {
        "transport": httpx.MockTransport(stub.respond),
        "async_transport": httpx.MockTransport(arespond),
    }
    return WebTools(config, **transports), stub


CLIENTS = {kind: web_with(kind) for kind in SEARCHERS}


def hosts(results: list[Any]) -> set[str]:
    return {urlsplit(result.url).netloc for result in results}


def covered_by(domains: list[str]) -> set[str]:
    return set[str]().union(*(DOMAINS[name] for name in domains))


def sent_text(request: Request) -> str:
    """Return all that a request says, decoded."""
    pairs = dict(parse_qsl(urlsplit(request.url).query))
    return json.dumps([pairs, request.json, dict(request.headers)], ensure_ascii=False)


@settings(max_examples=120, deadline=None)
@given(
    kind=st.sampled_from(SEARCHERS),
    include=domain_lists | st.just([]),
    exclude=domain_lists | st.just([]),
    words=st.lists(st.sampled_from(NO_VALUES), max_size=2),
    is_async=st.booleans(),
)
def test_no_foreign_host_passes_and_no_wanted_host_is_lost(
    kind: str, include: list[Any], exclude: list[Any], words: list[str], is_async: bool
) -> None:
    wanted = covered_by([name for name, _ in include]) if include else set(HOSTS)
    wanted = wanted - covered_by([name for name, _ in exclude])
    arguments = {
        "limit": 50,
        "include_domains": [*(spell(name) for name, spell in include), *words],
        "exclude_domains": [*words, *(spell(name) for name, spell in exclude)],
    }
    web, stub = CLIENTS[kind]
    count = len(stub.requests)
    try:
        if is_async:
            response = asyncio.run(web.asearch("q", **arguments))
        else:
            response = web.search("q", **arguments)
    except InputError:  # a host in both lists: nothing was sent
        assert include
        assert exclude
        assert len(stub.requests) == count
        return
    assert hosts(response.results) == wanted
    assert response.filters.keys() == {
        name
        for name, given in (("include_domains", include), ("exclude_domains", exclude))
        if given
    }
    assert set(response.filters.values()) <= {"native", "local"}
    assert sum(response.removed.values()) == len(HOSTS) - len(wanted)
    assert bool(response.removed) == any("removed" in text for text in response.warnings)
    request = sent_text(stub.requests[-1])
    for name, domains in (("include_domains", include), ("exclude_domains", exclude)):
        canonical = {domain.encode("idna").decode() for domain, _ in domains}
        if response.filters.get(name) == "native":
            assert all(domain in request for domain in canonical)
        assert "*." not in request


@every_provider
@pytest.mark.parametrize("suffix", ["gov", ".gov", "*.gov", "nhs.uk"])
@pytest.mark.parametrize("name", ["include_domains", "exclude_domains"])
def test_a_suffix_is_sent_only_to_an_api_that_takes_it(kind: str, suffix: str, name: str) -> None:
    web, stub = CLIENTS[kind]
    response = web.search("q", **{name: suffix, "limit": 3})
    bare = suffix.removeprefix("*").removeprefix(".")
    request = sent_text(stub.requests[-1])
    takes = {"serper", "parallel", *({"perplexity"} if bare == "gov" else ())}
    assert response.filters == {name: "native" if kind in takes else "local"}
    assert (bare in request) == (kind in takes)


@every_provider
def test_an_unusable_domain_is_refused_by_its_name_before_any_request(kind: str) -> None:
    web, stub = CLIENTS[kind]
    count = len(stub.requests)
    bad = [
        *("docs", "news", "*heron.dev", "heron.*", "heron.dev/*", "heron.dev?x", "a.example;b"),
        *("a.example|b.example", "heron.dev/docs", "heron.dev:80", "site:heron.dev", "-heron.dev"),
        *("a.example, b.example", "..gov", "*.", "1.2", "0x7f.1", "a..example", ".notasuffix"),
    ]
    for text in bad:
        for name in ("include_domains", "exclude_domains"):
            with pytest.raises(InputError) as caught:
                web.search("q", **{name: ["heron.dev", text]})
            assert f'"{text}"' in str(caught.value)
    assert len(stub.requests) == count


@pytest.mark.parametrize(
    ("include", "exclude", "both"),
    [
        (["heron.dev"], ["HERON.dev."], "heron.dev"),
        (["grünkohl.de"], ["xn--grnkohl-o2a.de"], "xn--grnkohl-o2a.de"),
        (["docs.heron.dev", "a.example"], ["heron.dev"], "docs.heron.dev"),
        (["nasa.gov"], [".gov"], "nasa.gov"),
    ],
)
def test_a_host_in_both_lists_is_refused(include: list[str], exclude: list[str], both: str) -> None:
    web, _ = CLIENTS["exa"]
    with pytest.raises(InputError, match=f'"{both}"'):
        web.search("q", include_domains=include, exclude_domains=exclude)


def test_a_part_of_an_included_site_may_be_excluded() -> None:
    web, _ = CLIENTS["exa"]
    response = web.search(
        "q", limit=50, include_domains=["heron.dev"], exclude_domains=["docs.heron.dev"]
    )
    assert hosts(response.results) == HERON - {"docs.heron.dev"}


@every_provider
def test_when_filters_remove_all_results_the_text_says_so(kind: str) -> None:
    web, _ = CLIENTS[kind]
    result = web.call_tool("web_search", {"query": "q", "include_domains": ["nowhere.example"]})
    assert not result.is_error
    assert result.text.startswith("No results found.")
    assert f"include_domains ({len(HOSTS)})" in result.text
    assert result.text.count("include_domains (") == 1
    assert result.details["removed"] == {"include_domains": len(HOSTS)}
    assert any("include_domains" in warning for warning in result.details["warnings"])


def test_removed_results_are_counted_by_filter_over_all_queries() -> None:
    rows = [
        {"url": "https://heron.dev/a", "title": "A", "publishedDate": "2026-03-01"},
        {"url": "https://heron.dev/b", "title": "B", "publishedDate": "2024-03-01"},
        {"url": "https://docs.heron.dev/", "title": "C", "publishedDate": "2026-03-01"},
        {"url": "https://b.example/", "title": "D"},
    ]
    with client(Stub(answer({"results": rows})), entry("exa")) as web:
        response = web.search(
            ["q", "r"],
            include_domains="heron.dev",
            exclude_domains="docs.heron.dev",
            start_published_date="2026-01-01",
        )
    assert response.removed == {
        "include_domains": 2,
        "exclude_domains": 2,
        "start_published_date": 2,
    }
    assert [result.url for result in response.results] == ["https://heron.dev/a"] * 2


def langchain_tool(web: WebTools, domains: Any) -> list[str]:
    call = {"type": "tool_call", "name": "web_search", "id": "1"}
    call["args"] = {"queries": ["q"], "limit": 50, "include_domains": domains}  # type: ignore[assignment]
    return [row["url"] for row in WebSearchTool(web=web).invoke(call).artifact["results"]]


def langchain_fixed(web: WebTools, domains: Any) -> list[str]:
    call = {"type": "tool_call", "name": "web_search", "id": "1", "args": {"queries": ["q"]}}
    tool = WebSearchTool(web=web, include_domains=domains, limit=50)
    return [row["url"] for row in tool.invoke(call).artifact["results"]]


def langchain_retriever(web: WebTools, domains: Any) -> list[str]:
    documents: list[Document] = WebSearchRetriever(web=web, k=50, include_domains=domains).invoke(
        "q"
    )
    return [document.metadata["url"] for document in documents]


def llamaindex_tool(web: WebTools, domains: Any) -> list[str]:
    [tool] = [
        tool
        for tool in WebToolsSpec(web=web).to_tool_list()
        if tool.metadata.get_name() == "web_search"
    ]
    output = tool.call(queries=["q"], limit=50, include_domains=domains)
    return [row["url"] for row in output.raw_output["results"]]


def llamaindex_retriever(web: WebTools, domains: Any) -> list[str]:
    retriever = WebRetriever(web, similarity_top_k=50, include_domains=domains)
    nodes: list[NodeWithScore] = retriever.retrieve("q")
    return [node.metadata["url"] for node in nodes]


def model_call(web: WebTools, domains: Any) -> list[str]:
    arguments = {"queries": ["q"], "limit": 50, "includeDomains": domains}
    return [row["url"] for row in web.call_tool("web_search", arguments).details["results"]]


@pytest.mark.parametrize("domains", [[".gov"], "*.gov", "['GOV', 'null']", ["any", "gov."]])
@pytest.mark.parametrize(
    "surface",
    [
        *(langchain_tool, langchain_fixed, langchain_retriever),
        *(llamaindex_tool, llamaindex_retriever, model_call),
    ],
)
def test_every_surface_reads_domains_alike(
    surface: Callable[[WebTools, Any], list[str]], domains: Any
) -> None:
    web, _ = CLIENTS["exa"]
    assert {urlsplit(url).netloc for url in surface(web, domains)} == GOVERNMENT


@pytest.mark.parametrize("kind", ["brave", "tavily", "firecrawl"])
def test_a_query_that_is_too_long_for_an_api_is_not_sent_to_it(kind: str) -> None:
    web, stub = CLIENTS[kind]
    count = len(stub.requests)
    with pytest.raises(InputError, match=PROVIDERS[kind].about.title):
        web.search("barley " * 100)
    assert len(stub.requests) == count
    with client(Stub(bodies("exa")), entry(kind), entry("exa")) as both:
        assert both.search("barley " * 100).provider == "my-exa"
