"""A retriever over web search."""

import asyncio
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_webtools._component import check_count, log_warnings
from llamaindex_webtools._nodes import result_nodes
from llamaindex_webtools._passages import best_passages
from llamaindex_webtools.postprocessors import FetchPagePostprocessor
from webtools.adapters import check_web, plain_text
from webtools.tools import MAX_LIMIT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webtools import SearchResponse, SearchResult, WebTools
    from webtools.config.config_models import Key

__all__ = ["WebRetriever"]


class WebRetriever(BaseRetriever):
    """Retrieve nodes with a web search.

        engine = RetrieverQueryEngine.from_args(WebRetriever(), llm=llm)

    The text of a node is the snippet of the result. With `fetch`, it consists of the passages of
    the page that fit the query. With `content`, these passages come from the page content that the
    provider sends with the results. To use your own embeddings or reranker, or another retriever,
    use `FetchPagePostprocessor`.

    Scores are between 0 and 1. If the provider sends none, they are made from the ranks, from 1
    down in equal steps, and the metadata have `score_from_rank`. A `SimilarityPostprocessor` would
    then remove a fixed share of the nodes.

    Models see `title`, `url` and, if known, `published_at` (ISO 8601) and `author` in the metadata.
    They do not see `provider`, `query` and `rank`. The id depends on the URL, so that a page has
    one node, with all its snippets. The source of a node is the document that `WebPageReader`
    returns for the page.

    Failures raise the errors of `webtools.errors`. Warnings, such as about a filter that no
    provider supports, are logged.

    Args:
        web: The `WebTools` to use. Default: a new one.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, instead of `web`.
        similarity_top_k: Maximum number of nodes per query, 1 to 100.
        include_domains: Only results from these hosts and their sub-domains.
        exclude_domains: No results from these hosts and their sub-domains.
        start_published_date: Only results published on or after it (ISO 8601).
        end_published_date: Only results published on or before it (ISO 8601).
        category: Category of the pages, one of `webtools.tools.CATEGORIES`.
        country: Two-letter code of the country of the results, such as `DE`.
        language: Two-letter code of the language of the results, such as `de`.
        safe_search: `off`, `moderate` or `strict`.
        content: Use the page content that the provider sends with the results. Some providers send
            none, and some charge for it.
        provider: Configured name of the provider to use.
        fetch: Fetch the page of each result.
        max_characters: Maximum length of page text per node, in characters.
        callback_manager: Receives the events of each retrieval.
        verbose: Print each retrieval.

    Attributes:
        web: The `WebTools` in use.
        similarity_top_k: Maximum number of nodes per query. You can set it.
        fetch: Whether pages are fetched. You can set it.
        max_characters: Maximum length of page text per node. You can set it.

    Raises:
        InputError: A number is out of range, or `web` is not a `WebTools`.
    """

    def __init__(
        self,
        web: "WebTools | None" = None,
        *,
        api_keys: "Mapping[str, Key] | None" = None,
        similarity_top_k: int = 5,
        include_domains: str | Sequence[str] = (),
        exclude_domains: str | Sequence[str] = (),
        start_published_date: str | date | None = None,
        end_published_date: str | date | None = None,
        category: str | None = None,
        country: str | None = None,
        language: str | None = None,
        safe_search: Literal["off", "moderate", "strict"] | None = None,
        content: bool = False,
        provider: str | None = None,
        fetch: bool = False,
        max_characters: int = 4000,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
    ) -> None:
        self.web = check_web(web, api_keys=api_keys)
        self.web.warn_if_unconfigured()
        self.similarity_top_k = similarity_top_k
        self._filters: dict[str, Any] = {
            "include_domains": include_domains,
            "exclude_domains": exclude_domains,
            "start_published_date": start_published_date,
            "end_published_date": end_published_date,
            "category": category,
            "country": country,
            "language": language,
            "safe_search": safe_search,
            "content": content,
            "provider": provider,
        }
        self.fetch = fetch
        self.max_characters = check_count("max_characters", max_characters)
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            callback_manager=callback_manager, verbose=verbose
        )

    @property
    def similarity_top_k(self) -> int:
        """Maximum number of nodes per query."""
        return self._similarity_top_k

    @similarity_top_k.setter
    def similarity_top_k(self, count: int) -> None:
        self._similarity_top_k = check_count("similarity_top_k", count, MAX_LIMIT)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        response = self.web.search([query_bundle.query_str], **self._settings())
        nodes = _nodes(response, query_bundle.query_str, self.max_characters)
        return self._reader().postprocess_nodes(nodes, query_bundle) if self.fetch else nodes

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query, max_characters = query_bundle.query_str, self.max_characters
        response = await self.web.asearch([query], **self._settings())
        if self._filters["content"]:  # ranking passages takes time
            nodes = await asyncio.to_thread(_nodes, response, query, max_characters)
        else:
            nodes = _nodes(response, query, max_characters)
        if not self.fetch:
            return nodes
        return await self._reader().apostprocess_nodes(nodes, query_bundle)

    def _reader(self) -> FetchPagePostprocessor:
        return FetchPagePostprocessor(
            self.web, top_n=self.similarity_top_k, max_characters=self.max_characters
        )

    def _settings(self) -> dict[str, Any]:
        return {"limit": self.similarity_top_k, "snippets": True, **self._filters}


def _nodes(response: "SearchResponse", query: str, max_characters: int) -> list[NodeWithScore]:
    log_warnings(response)

    def text_of(result: "SearchResult") -> str:
        text = plain_text(result.content) if result.content else ""
        return best_passages(text, query, max_characters) if text else result.snippet

    return result_nodes(response.results, text_of)
