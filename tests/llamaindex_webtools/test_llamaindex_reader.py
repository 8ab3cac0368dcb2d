from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from llama_index import core
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import Document, MetadataMode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore
from pydantic import ValidationError

from llamaindex_webtools._nodes import page_id
from llamaindex_webtools.readers import WebPageReader
from llamaindex_webtools.retrievers import WebRetriever
from webtools import (
    AuthenticationError,
    Config,
    ConfigError,
    FetchResponse,
    InputError,
    Page,
    ProviderError,
    RequestError,
    WebTools,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from webtools_sandbox import SandboxServer

    Load = Callable[[WebPageReader, Any], Awaitable[list[Document]]]


async def load(reader: WebPageReader, urls: Any) -> list[Document]:
    return reader.load_data(urls)


async def aload(reader: WebPageReader, urls: Any) -> list[Document]:
    return await reader.aload_data(urls)


async def lazy(reader: WebPageReader, urls: Any) -> list[Document]:
    return list(reader.lazy_load_data(urls))


WAYS = [load, aload, lazy]
every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
awaited_and_not = pytest.mark.parametrize("way", [load, aload], ids=["blocking", "awaited"])


@pytest.fixture(autouse=True)
def _no_download(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let older versions find the splitter's data where they have them."""
    monkeypatch.setattr("nltk.data.path", [f"{core.__path__[0]}/_static/nltk_cache"])


@pytest.fixture
def urls(webtools_sandbox: SandboxServer) -> list[str]:
    names = ["json", "asyncio.queues", "asyncio.tasks"]
    return [f"{webtools_sandbox.docs_url}/library/{name}.html" for name in names]


class Stub(WebTools):
    """Pages whose text is their URL, but for those that fail or are empty."""

    def __init__(
        self, *, failing: str = "\0", error: Exception | None = None, times: int = 1000
    ) -> None:
        super().__init__()
        self._times = times
        self.asked: list[list[str]] = []
        self.settings: dict[str, Any] = {}
        self._failing = failing
        self._error = error

    def fetch(self, urls: Any, **settings: Any) -> FetchResponse:
        self.asked.append(urls)
        self.settings = settings
        if self._error and len(self.asked) <= self._times:
            raise self._error
        return FetchResponse(provider="exa", pages=[self._page(url) for url in urls])

    async def afetch(self, urls: Any, **settings: Any) -> FetchResponse:
        return self.fetch(urls, **settings)

    def _page(self, url: str) -> Page:
        if self._failing in url:
            return Page(url=url, error="there is no such page")
        return Page(url=url, text="" if "empty" in url else url)


def stub(**settings: Any) -> Any:
    return Stub(**settings)


def many(count: int) -> list[str]:
    return [f"https://example.com/{number}" for number in range(count)]


# --- documents ---------------------------------------------------------------------------------


@every_way
async def test_a_document_is_a_page(web: WebTools, urls: list[str], way: Load) -> None:
    pages = web.fetch(urls).pages
    documents = await way(WebPageReader(web), urls)
    assert [document.text for document in documents] == [page.text for page in pages]
    assert [document.metadata["url"] for document in documents] == urls
    assert [document.metadata["title"] for document in documents] == [page.title for page in pages]
    assert all(type(document) is Document for document in documents)


def test_ids_are_uuids_that_come_from_the_url(web: WebTools, urls: list[str]) -> None:
    [document] = WebPageReader(web).load_data(urls[0])
    assert document.doc_id == page_id(urls[0])
    assert UUID(document.doc_id).version == 5


def test_a_document_is_the_source_of_what_the_retriever_finds(web: WebTools) -> None:
    [node] = WebRetriever(web, similarity_top_k=1).retrieve("json")
    [document] = WebPageReader(web).load_data(node.metadata["url"])
    assert node.node.source_node is not None
    assert node.node.source_node.node_id == document.doc_id


@every_way
async def test_urls_of_one_page_give_one_document(way: Load) -> None:
    web = stub()
    given = ["https://a.example/x#1", "https://b.example", "https://A.example/x"]
    documents = await way(WebPageReader(web), given)
    assert [document.text for document in documents] == given[:2]
    assert web.asked == [given[:2]]
    urls = [document.metadata["url"] for document in documents]
    assert urls == ["https://a.example/x", "https://b.example/"]


def test_the_settings_are_passed_on() -> None:
    web = stub()
    WebPageReader(web, text_max_characters=9, provider="exa").load_data("https://a.example")
    assert web.settings == {"text": True, "text_max_characters": 9, "provider": "exa"}


@awaited_and_not
async def test_any_number_of_urls_is_read(way: Load) -> None:
    web = stub()
    assert len(await way(WebPageReader(web), many(250))) == 250
    assert [len(urls) for urls in web.asked] == [100, 100, 50]


def test_a_lazy_caller_reads_no_more_than_it_asks_for() -> None:
    web = stub()
    documents = iter(WebPageReader(web).lazy_load_data(many(25)))
    assert web.asked == []
    next(documents)
    assert [len(urls) for urls in web.asked] == [10]
    assert len(list(documents)) == 24
    assert [len(urls) for urls in web.asked] == [10, 10, 5]


# --- failures ----------------------------------------------------------------------------------


@every_way
async def test_a_failing_page_is_an_error_on_demand(way: Load) -> None:
    urls = [*many(2), "https://example.com/doomed"]
    named = "https://example.com/doomed.*no such page.*continue_on_failure"
    with pytest.raises(ProviderError, match=named) as caught:
        await way(WebPageReader(stub(failing="doomed"), continue_on_failure=False), urls)
    assert caught.value.provider == "exa"


@every_way
async def test_failing_pages_are_left_out_and_logged(
    way: Load, caplog: pytest.LogCaptureFixture
) -> None:
    urls = ["https://example.com/doomed", *many(2), "https://example.com/empty"]
    reader = WebPageReader(stub(failing="doomed"))
    documents = await way(reader, urls)
    assert [document.text for document in documents] == many(2)
    doomed, empty = (record.getMessage() for record in caplog.records)
    assert urls[0] in doomed
    assert urls[-1] in empty
    assert {record.name for record in caplog.records} == {"llamaindex_webtools"}


@every_way
async def test_a_page_without_text_is_an_error_on_demand(way: Load) -> None:
    with pytest.raises(ProviderError, match=r"https://example\.com/empty"):
        await way(WebPageReader(stub(), continue_on_failure=False), "https://example.com/empty")


@every_way
async def test_a_call_without_an_answer_is_an_error_on_demand(way: Load) -> None:
    error = RequestError("no answer")
    with pytest.raises(RequestError) as caught:
        await way(WebPageReader(stub(error=error), continue_on_failure=False), many(1))
    assert caught.value is error


@every_way
async def test_where_no_page_can_be_read_the_end_raises_the_first_failure(
    way: Load, caplog: pytest.LogCaptureFixture
) -> None:
    web = stub(error=RequestError("no answer"))
    with pytest.raises(InputError, match="file:///etc/passwd"):
        await way(WebPageReader(web), ["file:///etc/passwd", *many(150)])
    assert sum(map(len, web.asked)) == 150
    assert len(caplog.records) == 1 + len(web.asked)


@every_way
async def test_a_wrong_url_does_not_lose_the_others(
    way: Load, caplog: pytest.LogCaptureFixture
) -> None:
    web = stub()
    documents = await way(WebPageReader(web), ["file:///etc/passwd", *many(1)])
    assert [document.text for document in documents] == many(1)
    [record] = caplog.records
    assert "file:///etc/passwd" in record.getMessage()
    with pytest.raises(InputError, match="file:///etc/passwd"):
        await way(WebPageReader(web, continue_on_failure=False), ["file:///etc/passwd"])


@pytest.mark.parametrize("most", [0, -1])
def test_a_bound_out_of_range_is_refused_at_once(most: int) -> None:
    with pytest.raises(ValidationError, match="text_max_characters"):
        WebPageReader(stub(), text_max_characters=most)


@every_way
async def test_what_a_call_warns_of_is_logged(
    way: Load, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [Page(url=many(1)[0], text="x")]
    found = FetchResponse(provider="exa", pages=pages, warnings=["Mind the gap."])
    monkeypatch.setattr(Stub, "fetch", lambda *_, **__: found)
    assert len(await way(WebPageReader(stub()), many(1))) == 1
    assert [record.getMessage() for record in caplog.records] == ["Mind the gap."]


@every_way
@pytest.mark.parametrize(
    "error", [AuthenticationError("bad key"), ConfigError("no key"), InputError("no URL")], ids=repr
)
async def test_what_fails_every_page_is_always_an_error(way: Load, error: Exception) -> None:
    with pytest.raises(type(error)):
        await way(WebPageReader(stub(error=error)), many(1))


# --- ingestion ---------------------------------------------------------------------------------


class CountingEmbedding(MockEmbedding):
    _texts: list[str] = PrivateAttr(default_factory=list)

    def __init__(self) -> None:
        super().__init__(embed_dim=3)

    @property
    def texts(self) -> list[str]:
        return self._texts

    def _get_text_embedding(self, text: str) -> list[float]:
        self._texts.append(text)
        return super()._get_text_embedding(text)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embedding(text)


def pipeline(**settings: Any) -> tuple[IngestionPipeline, CountingEmbedding]:
    counting = CountingEmbedding()
    settings = {"docstore_strategy": DocstoreStrategy.UPSERTS, **settings}
    made = IngestionPipeline(
        transformations=[SentenceSplitter(chunk_size=256), counting],
        docstore=SimpleDocumentStore(),
        vector_store=SimpleVectorStore(),
        disable_cache=True,  # else that would spare the embeddings
        **settings,
    )
    return made, counting


@pytest.mark.parametrize("strategy", DocstoreStrategy, ids=lambda strategy: strategy.name)
def test_ingesting_unchanged_pages_again_embeds_nothing(
    web: WebTools, urls: list[str], strategy: DocstoreStrategy
) -> None:
    made, counting = pipeline(docstore_strategy=strategy)
    made.run(documents=WebPageReader(web).load_data(urls))
    embedded = len(counting.texts)
    assert embedded >= len(urls)
    again = WebPageReader(web).load_data([f"{url}#top" for url in reversed(urls)])
    assert made.run(documents=again) == []
    assert len(counting.texts) == embedded


def test_a_changed_page_alone_is_embedded_again(web: WebTools, urls: list[str]) -> None:
    made, counting = pipeline()
    documents = WebPageReader(web).load_data(urls)
    made.run(documents=documents)
    counting.texts.clear()
    documents[0].set_content("Something new.")
    made.run(documents=documents)
    [text] = counting.texts
    assert text.endswith("Something new.")


def test_the_price_of_a_page_and_who_served_it_change_no_hash(
    webtools_sandbox: SandboxServer, urls: list[str]
) -> None:
    hashes: set[str] = set()
    settings = webtools_sandbox.config()
    [exa] = [entry for entry in settings["providers"] if entry["type"] == "exa"]
    for name in ("exa", "other"):
        named = settings | {"providers": [exa | {"name": name}], "defaultProvider": name}
        with WebTools(Config.model_validate(named)) as web:
            hashes |= {document.hash for document in WebPageReader(web).load_data(urls[0])}
    assert len(hashes) == 1


def test_search_hits_are_kept_beside_the_pages_they_lead_to(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    made, counting = pipeline()
    found = [item.node for item in WebRetriever(web, similarity_top_k=2).retrieve("json")]
    documents = WebPageReader(web).load_data([node.metadata["url"] for node in found])
    pages = len(made.run(documents=documents))
    assert len(made.run(nodes=found)) == 2
    assert made.run(documents=documents) == made.run(nodes=found) == []
    assert len(counting.texts) == pages + 2
    assert isinstance(made.vector_store, SimpleVectorStore)
    assert len(made.vector_store.to_dict()["embedding_dict"]) == pages + 2


def test_metadata_never_outgrow_a_chunk() -> None:
    long = "https://example.com/?" + "x/" * 2000
    [document] = WebPageReader(stub()).load_data(long)
    assert document.metadata["url"] == long
    assert document.get_metadata_str(MetadataMode.LLM) == ""
    assert SentenceSplitter(chunk_size=128, chunk_overlap=0)([document])


# --- the component -----------------------------------------------------------------------------


def test_a_dict_holds_the_settings_and_no_key(web: WebTools) -> None:
    reader = WebPageReader(web, provider="exa", continue_on_failure=False, text_max_characters=9)
    data = reader.to_dict()
    assert data == {
        "class_name": "WebPageReader",
        "continue_on_failure": False,
        "is_remote": True,
        "provider": "exa",
        "text_max_characters": 9,
    }
    assert json.loads(reader.to_json()) == data
    copy = WebPageReader.from_dict(data, web=web)
    assert copy.to_dict() == data
    assert copy.web is web
    assert isinstance(WebPageReader.from_json(reader.to_json()).web, WebTools)


def test_a_pickle_keeps_where_the_settings_are(tmp_path: Path) -> None:
    reader = WebPageReader(WebTools(tmp_path / "mine.json"), provider="exa")
    copy = pickle.loads(pickle.dumps(reader))
    assert repr(copy.web) == repr(reader.web)
    assert copy.to_dict() == reader.to_dict()


def test_a_pickle_refuses_keys_given_in_code(web: WebTools) -> None:
    reader = WebPageReader(web)
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(reader)
    assert reader.web is web


@pytest.mark.parametrize("given", [{"text_max_characters": "many"}, {"colour": "red"}], ids=str)
def test_a_wrong_setting_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        WebPageReader(**given)
