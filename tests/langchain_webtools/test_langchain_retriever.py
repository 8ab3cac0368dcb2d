"""The retriever: on its own, in chains and in agents, against the sandbox."""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from langchain_classic.retrievers import MultiQueryRetriever
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import ValidationError
from tool_agents import Scripted

from langchain_webtools.retrievers import WebSearchRetriever
from webtools import (
    AuthenticationError,
    ConfigError,
    FetchResponse,
    InputError,
    Page,
    ProviderError,
    RequestTimeoutError,
    SearchResponse,
    SearchResult,
    WebTools,
)
from webtools_sandbox import SandboxServer

Retrieve = Callable[..., Any]


class TestStandard(RetrieversIntegrationTests):
    """LangChain's own tests."""

    @pytest.fixture(autouse=True)
    def _setting(self, web: WebTools) -> None:
        self.web = web

    @property
    def retriever_constructor(self) -> type[WebSearchRetriever]:
        return WebSearchRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"web": self.web}

    @property
    def retriever_query_example(self) -> str:
        return "read json"


@pytest.fixture(params=["sync", "async"])
def retrieve(request: pytest.FixtureRequest) -> Retrieve:
    async def call(retriever: Any, *given: Any, **named: Any) -> Any:
        if request.param == "sync":
            return retriever.invoke(*given, **named)
        return await retriever.ainvoke(*given, **named)

    return call


class Fixed(WebTools):
    """Gives what it was made with, and keeps what it was asked."""

    def __init__(self, *, pages: FetchResponse | Exception | None = None, **result: Any) -> None:
        super().__init__()
        facts = {"title": "T", "url": "https://a.example/", "source_provider": "exa", "query": "q"}
        self.found = SearchResponse(
            provider="exa", queries=["q"], results=[SearchResult.model_validate(facts | result)]
        )
        self.pages = pages
        self.asked: list[dict[str, Any]] = []

    def search(self, queries: Any, **settings: Any) -> SearchResponse:
        self.asked.append({"queries": queries, **settings})
        return self.found

    async def asearch(self, queries: Any, **settings: Any) -> SearchResponse:
        return self.search(queries, **settings)

    def fetch(self, urls: Any, **settings: Any) -> FetchResponse:
        self.asked.append({"urls": urls, **settings})
        if isinstance(self.pages, Exception):
            raise self.pages
        assert self.pages is not None
        return self.pages

    async def afetch(self, urls: Any, **settings: Any) -> FetchResponse:
        return self.fetch(urls, **settings)


# --- documents ---------------------------------------------------------------------------------


async def test_a_document_shows_the_snippet_and_where_it_is_from(
    retrieve: Retrieve, web: WebTools
) -> None:
    found = web.search("read json", limit=3, snippets=True).results
    documents = await retrieve(WebSearchRetriever(web=web, k=3), "read json")
    for document, result in zip(documents, found, strict=True):
        assert result.snippet
        assert document.page_content == result.snippet
        assert document.metadata["source"] == document.metadata["url"] == result.url
        assert document.metadata["title"] == result.title
        assert document.metadata["provider"] == result.source_provider


async def test_all_that_is_known_is_in_the_metadata(retrieve: Retrieve) -> None:
    web = Fixed(snippet="S", score=0.5, author="A", published_at="2024-05-01T12:00:00+00:00")
    (document,) = await retrieve(WebSearchRetriever(web=web, ranked=True), "q")
    assert document.page_content == "S"
    assert document.metadata == {
        "source": "https://a.example/",
        "url": "https://a.example/",
        "title": "T",
        "score": 0.5,
        "published_at": "2024-05-01T12:00:00Z",
        "author": "A",
        "provider": "exa",
        "query": "q",
        "rank": 1,
        "document_id": document.id,
    }
    assert json.loads(json.dumps(document.metadata)) == document.metadata


async def test_content_is_what_the_provider_has_of_the_pages_by_one_request(
    retrieve: Retrieve, web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    (document,) = await retrieve(WebSearchRetriever(web=web, k=1, content=True), "read json")
    assert sum(webtools_sandbox.stats()["requests"].values()) == 1
    assert len(document.page_content) > 1000
    assert document.page_content == web.fetch(document.metadata["url"]).pages[0].text
    (passages,) = await retrieve(
        WebSearchRetriever(web=web, k=1, content=True, provider="brave"), "read json"
    )
    assert len(passages.page_content) > 100


def test_the_id_is_a_uuid_that_follows_from_the_url_alone() -> None:
    ids = [
        WebSearchRetriever(web=Fixed(url=url, snippet=snippet)).invoke("q")[0].id
        for url, snippet in [("https://a.example/", "x"), ("https://a.example/", "y")]
    ]
    (other,) = WebSearchRetriever(web=Fixed(url="https://b.example/")).invoke("q")
    assert ids[0] == ids[1] != other.id
    assert ids[0] == "44cc82eb-7cb9-5fdc-b087-010025d94c3f"


# --- settings ----------------------------------------------------------------------------------


async def test_k_at_the_call_wins(retrieve: Retrieve, web: WebTools) -> None:
    retriever = WebSearchRetriever(web=web, k=1)
    assert len(await retrieve(retriever, "read json")) == 1
    assert len(await retrieve(retriever, "read json", k=4)) == 4


async def test_every_filter_arrives(retrieve: Retrieve) -> None:
    filters: dict[str, Any] = {
        "include_domains": ["a.example"],
        "exclude_domains": "b.example",
        "start_published_date": "2024-01-01",
        "end_published_date": date(2024, 12, 31),
        "category": "news",
        "country": "DE",
        "language": "de",
        "safe_search": "strict",
        "content": True,
        "provider": "exa",
    }
    web = Fixed()
    await retrieve(WebSearchRetriever(web=web, k=2, **filters), "q")
    await retrieve(WebSearchRetriever(web=web), "q", k=2, **filters)
    await retrieve(
        WebSearchRetriever(web=web, k=2, **{**filters, "category": "people"}), "q", category="news"
    )
    assert web.asked == [{"queries": ["q"], "limit": 2, "snippets": True, **filters}] * 3


async def test_a_filter_that_does_not_exist_is_refused(retrieve: Retrieve, web: WebTools) -> None:
    with pytest.raises(TypeError, match="colour"):
        await retrieve(WebSearchRetriever(web=web), "q", colour="red")
    with pytest.raises(TypeError, match="limit"):
        await retrieve(WebSearchRetriever(web=web), "q", limit=3)
    with pytest.raises(ValidationError, match="colour"):
        WebSearchRetriever(web=web, colour="red")  # type: ignore[call-arg]


@pytest.mark.parametrize("k", [-1, 101])
async def test_k_has_bounds(k: int, retrieve: Retrieve, web: WebTools) -> None:
    with pytest.raises(ValidationError, match="k\n"):
        WebSearchRetriever(web=web, k=k)
    with pytest.raises(InputError, match="limit"):
        await retrieve(WebSearchRetriever(web=web), "q", k=k)


def test_a_retriever_survives_copies_and_pickles(config_file: Callable[..., Any]) -> None:
    with WebTools(config=config_file()) as web:
        retriever = WebSearchRetriever(web=web, k=2)
        assert retriever.model_copy(deep=True).web is web
        assert "web" not in retriever.model_dump()
        assert len(pickle.loads(pickle.dumps(retriever)).invoke("read json")) == 2


# --- warnings, failures ------------------------------------------------------------------------


async def test_warnings_are_logged(
    retrieve: Retrieve, config_file: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    with WebTools(config=config_file()) as web:
        retriever = WebSearchRetriever(web=web, provider="kagi", category="company")
        with caplog.at_level(logging.WARNING, "langchain_webtools"):
            await retrieve(retriever, "read json")
    (record,) = caplog.records
    assert "category" in record.getMessage()


async def test_a_failed_search_raises_our_error(
    retrieve: Retrieve, web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=401, times=None)
    with pytest.raises(AuthenticationError):
        await retrieve(WebSearchRetriever(web=web), "read json")
    with pytest.raises(InputError, match="blank"):
        await retrieve(WebSearchRetriever(web=web), " ")
    with pytest.raises(ConfigError, match="unknown"):
        await retrieve(WebSearchRetriever(web=web, provider="unknown"), "read json")


async def test_no_result_is_an_empty_list(retrieve: Retrieve, web: WebTools) -> None:
    retriever = WebSearchRetriever(web=web, fetch=True, include_domains=["nowhere.example"])
    assert await retrieve(retriever, "read json") == []


# --- pages instead of snippets -----------------------------------------------------------------


async def test_pages_can_be_fetched(retrieve: Retrieve, web: WebTools) -> None:
    options: dict[str, Any] = {"include_domains": ["127.0.0.1"], "text_max_characters": 300}
    retriever = WebSearchRetriever(web=web, k=2, fetch=True, **options)
    documents = await retrieve(retriever, "read json")
    urls = [document.metadata["url"] for document in documents]
    pages = web.fetch(urls, text_max_characters=300).pages
    assert [document.page_content for document in documents] == [page.text for page in pages]
    assert not any("fetch_error" in document.metadata for document in documents)


URL = "https://a.example/"


@pytest.mark.parametrize(
    ("pages", "content", "reason"),
    [
        (FetchResponse(provider="exa", pages=[Page(url=URL, text="Text")]), "Text", None),
        (FetchResponse(provider="exa", pages=[Page(url=URL, error="gone")]), "S", "gone"),
        (FetchResponse(provider="exa", pages=[Page(url=URL)]), "S", "no text"),
    ],
    ids=["text", "failed", "empty"],
)
async def test_a_page_that_fails_keeps_its_snippet_and_says_so(
    pages: FetchResponse, content: str, reason: str | None, retrieve: Retrieve
) -> None:
    retriever = WebSearchRetriever(web=Fixed(snippet="S", pages=pages), fetch=True)
    (document,) = await retrieve(retriever, "q")
    assert document.page_content == content
    error = document.metadata.get("fetch_error")
    assert error is None if reason is None else reason in error


@pytest.mark.parametrize("error", [ProviderError("All gone."), RequestTimeoutError("No answer.")])
async def test_if_no_page_can_be_read_the_retriever_fails(
    error: Exception, retrieve: Retrieve
) -> None:
    retriever = WebSearchRetriever(web=Fixed(snippet="S", pages=error), fetch=True)
    with pytest.raises(type(error), match=str(error)):
        await retrieve(retriever, "q")


def test_what_fetching_warns_of_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    pages = FetchResponse(provider="exa", pages=[Page(url=URL, text="T")], warnings=["Beware."])
    WebSearchRetriever(web=Fixed(pages=pages), fetch=True).invoke("q")
    assert [record.getMessage() for record in caplog.records] == ["Beware."]


# --- with the rest of LangChain ----------------------------------------------------------------


def _cited(documents: list[Document]) -> str:
    return "\n".join(
        f"{document.page_content} ({document.metadata['source']})" for document in documents
    )


async def test_a_rag_chain_shows_the_model_what_was_found(
    retrieve: Retrieve, web: WebTools
) -> None:
    prompt = ChatPromptTemplate.from_template("{context}\n\nQuestion: {question}")
    model = Scripted(messages=iter([AIMessage("With the module json.")]))
    chain: Any = (
        {"context": WebSearchRetriever(web=web, k=2) | _cited, "question": RunnablePassthrough()}
        | prompt
        | model
        | StrOutputParser()
    )
    assert await retrieve(chain, "read json") == "With the module json."
    first, second = web.search("read json", limit=2, snippets=True).results
    context = f"{first.snippet} ({first.url})\n{second.snippet} ({second.url})"
    assert model.seen[0][0].content == f"{context}\n\nQuestion: read json"


QUERIES = ["read json", "parse json", "json"]


async def test_a_multi_query_retriever_keeps_no_duplicates_of_pages(
    retrieve: Retrieve, web: WebTools
) -> None:
    model = FakeListChatModel(responses=["\n".join(QUERIES)])
    several = MultiQueryRetriever.from_llm(WebSearchRetriever(web=web, fetch=True), model)
    found = await retrieve(several, "How do I read JSON?")
    urls = [result.url for result in web.search(QUERIES).results]
    assert len(urls) > len(set(urls))
    assert [hit.metadata["url"] for hit in found] == list(dict.fromkeys(urls))


async def test_what_depends_on_the_query_is_in_the_metadata_on_demand(
    retrieve: Retrieve, web: WebTools
) -> None:
    facts = {"query", "rank", "score"}
    for document in await retrieve(WebSearchRetriever(web=web), "read json"):
        assert not facts & document.metadata.keys()
    found = web.search("read json").results
    documents = await retrieve(WebSearchRetriever(web=web, ranked=True), "read json")
    for rank, (document, result) in enumerate(zip(documents, found, strict=True), 1):
        assert document.metadata["rank"] == rank
        assert document.metadata["query"] == "read json"
        assert document.metadata.get("score") == result.score
