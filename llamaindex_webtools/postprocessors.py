"""A postprocessor that replaces snippets by texts of pages."""

import asyncio
from typing import TYPE_CHECKING, Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import Field
from llama_index.core.callbacks import CallbackManager
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, TextNode

from llamaindex_webtools._component import WebComponent, log_warnings
from llamaindex_webtools._nodes import first_urls, page_id
from llamaindex_webtools._passages import best_passages
from webtools import FetchResponse, Page
from webtools.adapters import url_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webtools import WebTools
    from webtools.config.config_models import Key

__all__ = ["FetchPagePostprocessor"]

_ERROR_KEY = "fetch_error"
_FETCHED_KEY = "fetched"


class FetchPagePostprocessor(WebComponent, BaseNodePostprocessor):
    """Fetch the pages of the first nodes, and put their texts into the nodes.

        engine = RetrieverQueryEngine.from_args(
            WebRetriever(), llm=llm, node_postprocessors=[FetchPagePostprocessor()]
        )

    The nodes can come from any retriever, but need a `url` in their metadata. A long page is
    reduced to the passages that fit the query, ranked as in `web_fetch` and `web_research`. You can
    add an embedding model or a reranker. Scores, ids and order do not change. Nodes with page text
    are copies, with `fetched` in their metadata. If a page fails, the node keeps its text, and
    `fetch_error` says why. If all pages fail, the error is raised. Models do not see these keys. If
    several nodes have the same page, only the first one gets its text.

    Missing or malformed settings raise `ConfigError`.

    Args:
        web: The `WebTools` to use. Default: a new one.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, instead of `web`.

    Attributes:
        top_n: Maximum number of pages to read, 1 to 100.
        max_characters: Maximum length of page text per node, in characters.
        keep_snippet: Append the page's text to the node's text instead of replacing it.
        provider: Configured name of the provider to use, or None.
        embed_model: Embedding model, or None. The similarity to the query is added to the score.
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
        """Return the name in serialized postprocessors."""
        return "FetchPagePostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not (urls := self._urls(nodes)):
            return nodes
        response = self.web.fetch(urls, text=True, provider=self.provider)
        return self._with_pages(nodes, response, query_bundle)

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not (urls := self._urls(nodes)):
            return nodes
        response = await self.web.afetch(urls, text=True, provider=self.provider)
        if all(len(page.text or "") <= self.max_characters for page in response.pages):
            return self._with_pages(nodes, response, query_bundle)
        return await asyncio.to_thread(self._with_pages, nodes, response, query_bundle)

    def _urls(self, nodes: list[NodeWithScore]) -> list[str]:
        """List the URLs of the first pages, with one URL per page."""
        urls = [url for node in nodes if (url := _url(node.node))]
        return first_urls(urls)[: self.top_n]

    def _with_pages(
        self, nodes: list[NodeWithScore], response: FetchResponse, query: QueryBundle | None
    ) -> list[NodeWithScore]:
        log_warnings(response)
        query_text = query.query_str if query else ""
        pages = {page_id(page.url): page for page in response.pages}
        changed: list[NodeWithScore] = []
        for scored in nodes:
            page = pages.pop(page_id(_url(scored.node) or ""), None)
            node = scored.node if page is None else self._with_page(scored.node, page, query_text)
            changed.append(NodeWithScore(node=node, score=scored.score))
        return changed

    def _with_page(self, node: BaseNode, page: Page, query: str) -> BaseNode:
        if not page.text:
            return _with_note(node, _ERROR_KEY, page.error or "the page has no text")
        text = best_passages(page.text, query, self.max_characters, self.embed_model, self.reranker)
        copy = _with_note(node, _FETCHED_KEY, note=True)
        copy.set_content(f"{node.get_content()}\n\n{text}" if self.keep_snippet else text)
        copy.embedding = None  # it belonged to the snippet
        if isinstance(copy, TextNode):
            copy.start_char_idx = copy.end_char_idx = None  # likewise
        return copy


def with_fetch_error(source: NodeWithScore, error: Exception) -> NodeWithScore:
    """Copy a source with the reason why its page could not be fetched."""
    return NodeWithScore(node=_with_note(source.node, _ERROR_KEY, str(error)), score=source.score)


def _url(node: BaseNode) -> str | None:
    """Return a node's URL if it is one that can be fetched."""
    url = node.metadata.get("url")
    return url if isinstance(url, str) and not url_error(url) else None


def _with_note(node: BaseNode, key: str, note: Any) -> BaseNode:
    """Copy a node with a note that models do not see. It replaces that of an earlier fetch."""
    notes = (_ERROR_KEY, _FETCHED_KEY)
    metadata = {name: value for name, value in node.metadata.items() if name not in notes}
    changes = {
        "metadata": {**metadata, key: note},
        "excluded_embed_metadata_keys": _with_key(node.excluded_embed_metadata_keys, key),
        "excluded_llm_metadata_keys": _with_key(node.excluded_llm_metadata_keys, key),
    }
    return node.model_copy(update=changes)


def _with_key(keys: list[str], key: str) -> list[str]:
    return keys if key in keys else [*keys, key]
