"""The loader, against the sandbox and against answers made up."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.indexing import InMemoryRecordManager, aindex, index
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_webtools.document_loaders import BATCH_SIZE, WebPageLoader
from langchain_webtools.retrievers import WebSearchRetriever
from webtools import (
    AuthenticationError,
    ConfigError,
    FetchResponse,
    InputError,
    Page,
    ProviderError,
    QuotaError,
    RequestError,
    UnavailableError,
    WebTools,
    WebToolsError,
)
from webtools_sandbox import SandboxServer

Load = Callable[[WebPageLoader], Any]


async def _sync(loader: WebPageLoader) -> AsyncIterator[Document]:
    for document in loader.lazy_load():
        yield document


@pytest.fixture(params=["sync", "async"])
def lazily(request: pytest.FixtureRequest) -> Callable[[WebPageLoader], AsyncIterator[Document]]:
    return _sync if request.param == "sync" else WebPageLoader.alazy_load


@pytest.fixture
def load(lazily: Callable[[WebPageLoader], AsyncIterator[Document]]) -> Load:
    async def all_of(loader: WebPageLoader) -> list[Document]:
        return [document async for document in lazily(loader)]

    return all_of


class Fixed(WebTools):
    """Has a page for every URL, unless `answers` says otherwise, and keeps what it was asked."""

    def __init__(self, **answers: FetchResponse | Exception | Page) -> None:
        super().__init__()
        self.answers = answers
        self.asked: list[list[str]] = []
        self.settings: dict[str, Any] = {}

    def fetch(self, urls: Any, **settings: Any) -> FetchResponse:
        self.asked.append(urls)
        self.settings = settings
        for host, answer in self.answers.items():
            if isinstance(answer, Exception) and any(f"//{host}." in url for url in urls):
                raise answer
        return FetchResponse(provider="exa", pages=[self._page(url) for url in urls])

    def _page(self, url: str) -> Page:
        answer = self.answers.get(url.removeprefix("https://").partition(".")[0])
        text = Page(url=url, text=f"Text of {url}")
        return answer if isinstance(answer, Page) else text

    async def afetch(self, urls: Any, **settings: Any) -> FetchResponse:
        return self.fetch(urls, **settings)


def _urls(count: int) -> list[str]:
    return [f"https://h{number}.example/" for number in range(count)]


def _sources(documents: list[Document]) -> list[str]:
    return [document.metadata["source"] for document in documents]


# --- documents ---------------------------------------------------------------------------------


async def test_a_document_is_the_page(load: Load, web: WebTools, page: str) -> None:
    (document,) = await load(WebPageLoader(page, web=web, text_max_characters=500))
    (fetched,) = web.fetch(page, text_max_characters=500).pages
    assert document.page_content == fetched.text
    assert document.metadata["source"] == document.metadata["url"] == page
    assert document.metadata["title"] == fetched.title
    assert None not in document.metadata.values()


async def test_what_is_known_of_the_page_is_in_the_metadata(load: Load) -> None:
    known = {"title": "T", "author": "A", "published_at": "2024-05-01T12:00:00Z"}
    url = "https://a.example/"
    page = Page.model_validate({"url": url, "text": "Text", **known})
    (document,) = await load(WebPageLoader([url], web=Fixed(a=page)))
    assert document.metadata == {
        "source": url,
        "url": url,
        "document_id": document.id,
        **known,
    }


async def test_a_page_and_a_result_of_one_url_have_one_id(web: WebTools) -> None:
    (found,) = WebSearchRetriever(web=web, k=1).invoke("read json")
    (loaded,) = WebPageLoader(found.metadata["url"], web=web).load()
    assert loaded.id == found.id


async def test_summary_and_highlights_replace_the_text(
    load: Load, web: WebTools, page: str
) -> None:
    (document,) = await load(WebPageLoader(page, web=web, summary=True, highlights=True))
    (fetched,) = web.fetch(page, summary=True, highlights=True).pages
    assert fetched.summary
    assert fetched.highlights
    assert document.page_content == "\n\n".join([fetched.summary, *fetched.highlights])


async def test_a_page_without_content_is_an_empty_document(load: Load) -> None:
    web = Fixed(a=Page(url="https://a.example/"))
    (document,) = await load(WebPageLoader(["https://a.example/"], web=web))
    assert document.page_content == ""


async def test_the_settings_arrive(load: Load) -> None:
    web = Fixed()
    settings: dict[str, Any] = {"summary": True, "highlights": True, "provider": "exa"}
    await load(WebPageLoader(_urls(1), web=web, text_max_characters=7, **settings))
    assert web.settings == {**settings, "text_max_characters": 7}


# --- streaming ---------------------------------------------------------------------------------


async def test_the_first_page_comes_before_all_are_fetched(
    lazily: Callable[[WebPageLoader], AsyncIterator[Document]],
) -> None:
    web = Fixed()
    documents = lazily(WebPageLoader(_urls(21), web=web))
    first = await anext(documents)
    assert first.metadata["source"] == "https://h0.example/"
    assert len(web.asked) == 1
    rest = [document async for document in documents]
    assert _sources([first, *rest]) == _urls(21)
    assert [len(batch) for batch in web.asked] == [10, 10, 1]


# --- failures ----------------------------------------------------------------------------------

GONE = Page(url="https://gone.example/", error="404 Not Found")
MIXED = ["https://a.example/", GONE.url, "https://b.example/"]


async def test_a_failing_page_is_logged_and_left_out(
    load: Load, caplog: pytest.LogCaptureFixture
) -> None:
    documents = await load(WebPageLoader(MIXED, web=Fixed(gone=GONE)))
    assert _sources(documents) == [MIXED[0], MIXED[2]]
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().endswith("https://gone.example/: 404 Not Found")


async def test_a_failing_page_can_be_raised(load: Load) -> None:
    loader = WebPageLoader(MIXED, web=Fixed(gone=GONE), continue_on_failure=False)
    with pytest.raises(ProviderError, match="404 Not Found") as caught:
        await load(loader)
    assert caught.value.provider == "exa"


@pytest.mark.parametrize(
    "error", [ProviderError("All 10 gone."), UnavailableError("Down."), RequestError("No answer.")]
)
async def test_a_failing_batch_leaves_the_others(
    error: Exception, load: Load, caplog: pytest.LogCaptureFixture
) -> None:
    urls = [*_urls(BATCH_SIZE), "https://late.example/"]
    web = Fixed(h3=error)
    assert _sources(await load(WebPageLoader(urls, web=web))) == ["https://late.example/"]
    assert [record.getMessage() for record in caplog.records] == [
        f"Skipped {', '.join(urls[:BATCH_SIZE])}: {error}"
    ]
    with pytest.raises(type(error), match=str(error)):
        await load(WebPageLoader(urls, web=web, continue_on_failure=False))


@pytest.mark.parametrize("kind", [ConfigError, AuthenticationError, QuotaError])
async def test_what_fails_for_every_page_is_raised(kind: type[Exception], load: Load) -> None:
    with pytest.raises(kind):
        await load(WebPageLoader(_urls(1), web=Fixed(h0=kind("no"))))


async def test_a_malformed_url_loses_no_other(load: Load, caplog: pytest.LogCaptureFixture) -> None:
    urls = _urls(BATCH_SIZE + 2)
    urls[4] = "mailto:x"
    assert _sources(await load(WebPageLoader(urls, web=Fixed()))) == [*urls[:4], *urls[5:]]
    (record,) = caplog.records
    assert "mailto:x" in record.getMessage()


@pytest.mark.parametrize("most", [0, -1])
def test_bad_settings_are_refused_at_once(most: int) -> None:
    with pytest.raises(InputError, match=f'^text_max_characters "{most}"'):
        WebPageLoader(_urls(1), text_max_characters=most)


async def test_where_no_page_comes_the_end_raises_the_first_failure(
    load: Load, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = UnavailableError("Down."), RequestError("No answer.")
    web = Fixed(h0=first, h10=second)
    with pytest.raises(UnavailableError) as caught:
        await load(WebPageLoader(_urls(BATCH_SIZE + 2), web=web))
    assert caught.value is first
    assert len(web.asked) == 2
    assert [record.getMessage() for record in caplog.records] == [
        f"Skipped {', '.join(_urls(BATCH_SIZE))}: Down.",
        f"Skipped {', '.join(_urls(BATCH_SIZE + 2)[BATCH_SIZE:])}: No answer.",
    ]


def test_what_fetching_warns_of_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Uneasy(Fixed):
        def fetch(self, urls: Any, **settings: Any) -> FetchResponse:
            return super().fetch(urls).model_copy(update={"warnings": ["Beware."]})

    WebPageLoader(_urls(1), web=Uneasy()).load()
    assert [record.getMessage() for record in caplog.records] == ["Beware."]


# --- indexing ----------------------------------------------------------------------------------


def _pages(webtools_sandbox: SandboxServer) -> list[str]:
    names = ["json", "csv", "sqlite3"]
    return [f"{webtools_sandbox.docs_url}/library/{name}.html" for name in names]


async def test_indexing_again_writes_nothing(
    web: WebTools, webtools_sandbox: SandboxServer, tmp_path: Path
) -> None:
    loader = WebPageLoader(_pages(webtools_sandbox), web=web, text_max_characters=500)
    records = InMemoryRecordManager("pages")
    records.create_schema()
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    settings: Any = {"cleanup": "incremental", "source_id_key": "source", "key_encoder": "sha256"}
    none = {"num_added": 0, "num_updated": 0, "num_deleted": 0}
    assert index(loader, records, store, **settings) == {**none, "num_added": 3, "num_skipped": 0}
    assert index(loader, records, store, **settings) == {**none, "num_skipped": 3}
    assert await aindex(loader, records, store, **settings) == {**none, "num_skipped": 3}
    assert len(store.store) == 3


def test_indexing_deletes_nothing_because_nothing_could_be_loaded(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    loader = WebPageLoader(_pages(webtools_sandbox), web=web, text_max_characters=500)
    records = InMemoryRecordManager("pages")
    records.create_schema()
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    settings: Any = {"cleanup": "full", "source_id_key": "source", "key_encoder": "sha256"}
    index(loader, records, store, **settings)
    webtools_sandbox.fault(status=503, times=None)
    with pytest.raises(UnavailableError):
        index(loader, records, store, **settings)
    assert len(store.store) == 3


@pytest.mark.parametrize("down", range(3))
def test_full_cleanup_keeps_a_page_that_was_down_if_the_first_failure_ends_the_run(
    down: int,
) -> None:
    urls = [f"https://{name}.example/" for name in "abc"]
    pages = {url: Page(url=url, text=f"Text of {url}") for url in urls}

    class Site(Fixed):
        def fetch(self, urls: Any, **settings: Any) -> FetchResponse:
            response = super().fetch(urls, **settings)
            return response.model_copy(update={"pages": [pages[url] for url in urls]})

    records = InMemoryRecordManager("pages")
    records.create_schema()
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    settings: Any = {"cleanup": "full", "source_id_key": "source", "key_encoder": "sha256"}
    strict = WebPageLoader(urls, web=Site(), continue_on_failure=False)
    index(strict, records, store, **settings)
    pages[urls[down]] = Page(url=urls[down], error="HTTP 503")
    with pytest.raises(WebToolsError):
        index(strict, records, store, **settings)
    assert len(store.store) == 3
    index(WebPageLoader(urls, web=Site()), records, store, **settings)  # as the docs warn
    assert len(store.store) == 2
