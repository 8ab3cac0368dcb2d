"""A postprocessor that puts the text of pages where their snippets were."""

import asyncio
from typing import TYPE_CHECKING, Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import Field
from llama_index.core.callbacks import CallbackManager
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, TextNode

from llamaindex_webtools._component import HoldsWeb, log_warnings
from llamaindex_webtools._nodes import page_id
from llamaindex_webtools._passages import RankingModels
from webtools import FetchResponse, Page, ProviderError, RequestError
from webtools._internal.operations.loading import url_fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webtools import WebTools
    from webtools.config.overrides import Key

__all__ = ["FetchPagePostprocessor"]

_FAILED = "fetch_error"
_FETCHED = "fetched"
_NOTES = (_FAILED, _FETCHED)


class FetchPagePostprocessor(HoldsWeb, BaseNodePostprocessor):
    """Reads the pages of the first nodes, and gives the nodes their text.

        engine = RetrieverQueryEngine.from_args(
            WebRetriever(), llm=llm, node_postprocessors=[FetchPagePostprocessor()]
        )

    It takes nodes of any retriever that have a `url` in their metadata. Of a long page it takes
    the passages that bear on the query, by the ranking that `web_fetch` and `web_research` use; an
    embedding model or a reranker of your own can be put in. Scores, ids and order stay, and the
    nodes given are not changed: those filled are copies, with `fetched` in their metadata. Where a
    page cannot be had, the node keeps its text, and `fetch_error` says why; models see neither.
    Where several nodes have the same page, the first gets its text.

    Missing or malformed settings raise `ConfigError`.

    Args:
        web: What does the work; a `WebTools()` of its own when left out.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, in place of `web`.

    Attributes:
        top_n: Most pages to read, 1 to 100.
        max_characters: Most characters of page text per node.
        keep_snippet: Put the page's text after the node's own, not in its place.
        provider: Configured name of the provider to use, or None.
        embed_model: Embeddings whose likeness to the query counts beside our own ranking, or None.
        reranker: A postprocessor that orders the best passages, such as `LLMRerank`, or None.
    """

    top_n: int = Field(default=3, ge=1, le=100)
    max_characters: int = Field(default=4000, ge=1)
    keep_snippet: bool = False
    provider: str | None = None
    embed_model: BaseEmbedding | None = Field(default=None, exclude=True)
    reranker: BaseNodePostprocessor | None = Field(default=None, exclude=True)

    def __init__(
        self,
        web: "WebTools | None" = None,
        *,
        api_keys: "Mapping[str, Key] | None" = None,
        top_n: int = 3,
        max_characters: int = 4000,
        keep_snippet: bool = False,
        provider: str | None = None,
        embed_model: BaseEmbedding | None = None,
        reranker: BaseNodePostprocessor | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(
            web,
            api_keys=api_keys,
            top_n=top_n,
            max_characters=max_characters,
            keep_snippet=keep_snippet,
            provider=provider,
            embed_model=embed_model,
            reranker=reranker,
            callback_manager=callback_manager or CallbackManager(),
        )

    @classmethod
    def class_name(cls) -> str:
        """Return the name that serialized postprocessors bear."""
        return "FetchPagePostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not (urls := self._urls(nodes)):
            return nodes
        try:
            response = self.web.fetch(urls, text=True, provider=self.provider)
        except (RequestError, ProviderError) as error:
            response = _none_read(urls, error)
        return self._filled(nodes, response, query_bundle)

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not (urls := self._urls(nodes)):
            return nodes
        try:
            response = await self.web.afetch(urls, text=True, provider=self.provider)
        except (RequestError, ProviderError) as error:
            response = _none_read(urls, error)
        if all(len(page.text or "") <= self.max_characters for page in response.pages):
            return self._filled(nodes, response, query_bundle)
        return await asyncio.to_thread(self._filled, nodes, response, query_bundle)

    def _urls(self, nodes: list[NodeWithScore]) -> list[str]:
        """List the URLs of the first pages; of those that lead to one page, the first."""
        first_of: dict[str, str] = {}
        for each in nodes:
            if url := _url(each.node):
                first_of.setdefault(page_id(url), url)
        return [*first_of.values()][: self.top_n]

    def _filled(
        self, nodes: list[NodeWithScore], response: FetchResponse, query: QueryBundle | None
    ) -> list[NodeWithScore]:
        log_warnings(response)
        words = query.query_str if query else ""
        page_of = {page_id(page.url): page for page in response.pages}
        filled: list[NodeWithScore] = []
        for each in nodes:
            page = page_of.pop(page_id(_url(each.node) or ""), None)
            node = each.node if page is None else self._with_page(each.node, page, words)
            filled.append(NodeWithScore(node=node, score=each.score))
        return filled

    def _with_page(self, node: BaseNode, page: Page, query: str) -> BaseNode:
        if not page.text:
            return _noted(node, _FAILED, page.error or "the page has no text")
        models = RankingModels(self.embed_model, self.reranker)
        text = models.best_passages(page.text, query, self.max_characters)
        copy = _noted(node, _FETCHED, note=True)
        copy.set_content(f"{node.get_content()}\n\n{text}" if self.keep_snippet else text)
        copy.embedding = None  # it was that of the snippet
        if isinstance(copy, TextNode):
            copy.start_char_idx = copy.end_char_idx = None  # likewise
        return copy


def _url(node: BaseNode) -> str | None:
    """Return a node's URL if it is one that can be fetched."""
    url = node.metadata.get("url")
    return url if isinstance(url, str) and not url_fault(url) else None


def _none_read(urls: list[str], error: RequestError | ProviderError) -> FetchResponse:
    pages = [Page(url=url, error=str(error)) for url in urls]
    return FetchResponse(provider=error.provider or "", pages=pages)


def _noted(node: BaseNode, key: str, note: Any) -> BaseNode:
    """Copy a node with a note that models do not see; one of an earlier attempt goes."""
    kept = {name: value for name, value in node.metadata.items() if name not in _NOTES}
    changes = {
        "metadata": {**kept, key: note},
        "excluded_embed_metadata_keys": _with(node.excluded_embed_metadata_keys, key),
        "excluded_llm_metadata_keys": _with(node.excluded_llm_metadata_keys, key),
    }
    return node.model_copy(update=changes)


def _with(keys: list[str], key: str) -> list[str]:
    return keys if key in keys else [*keys, key]
