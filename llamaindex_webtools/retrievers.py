"""A retriever over web search."""

import asyncio
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_webtools._component import check_count, given_or_new, log_warnings
from llamaindex_webtools._nodes import hits
from llamaindex_webtools._passages import RankingModels
from llamaindex_webtools.postprocessors import FetchPagePostprocessor
from webtools._internal.operations.loading import plain_text
from webtools.tools import MAX_LIMIT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webtools import SearchResponse, WebTools
    from webtools.config.overrides import Key

__all__ = ["WebRetriever"]


class WebRetriever(BaseRetriever):
    """Searches the web; runs wherever LlamaIndex takes a retriever.

        engine = RetrieverQueryEngine.from_args(WebRetriever(), llm=llm)

    A node's text is the hit's snippet, or with `fetch` the passages of its page that bear on the
    query (`FetchPagePostprocessor` does the same for the nodes of any retriever, with embeddings
    or a reranker of your own); with `content` they are those of what the provider has of the page,
    which comes by the search's own request. Its score lies between 0 and 1. The metadata that
    models see are `title`, `url`, `published_at` (ISO 8601) and `author`, so far as they are known;
    `provider`, `query` and `rank` are for programs. Ids come from the URL, and the source that a
    node names is the document that `WebPageReader` makes of the page.

    Failures raise the errors of `webtools.errors`. What a search has to warn of, such as a filter
    that nobody could apply, is logged.

    Args:
        web: What does the work; a `WebTools()` of its own when left out.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, in place of `web`.
        similarity_top_k: Most nodes per query, 1 to 100.
        include_domains: Only results from these hosts and their sub-domains.
        exclude_domains: No results from these.
        start_published_date: Only results published on or after it (ISO 8601).
        end_published_date: Only results published on or before it (ISO 8601).
        category: Kind of page; the names are in `webtools.tools.CATEGORIES`.
        country: Two-letter country that results come from.
        language: Two-letter language of the results.
        safe_search: `off`, `moderate` or `strict`.
        content: Take what the provider has of every page; several have nothing, and some charge
            for it.
        provider: Configured name of the provider to use.
        fetch: Read the page of every hit.
        max_characters: Most characters of a page that is read.
        callback_manager: Told of every retrieval.
        verbose: Print what is done.

    Attributes:
        web: What does the work.
        similarity_top_k: Most nodes per query; may be set.
        fetch: Whether pages are read; may be set.
        max_characters: Most characters of a page that is read; may be set.

    Raises:
        InputError: A number is out of range, or `web` is something else.
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
        self.web = given_or_new(web, api_keys=api_keys)
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
        """Most nodes per query."""
        return self._most

    @similarity_top_k.setter
    def similarity_top_k(self, most: int) -> None:
        self._most = check_count("similarity_top_k", most, MAX_LIMIT)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self.web.search([query_bundle.query_str], **self._settings())
        nodes = _nodes(found, query_bundle.query_str, self.max_characters)
        return self._reader().postprocess_nodes(nodes, query_bundle) if self.fetch else nodes

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = await self.web.asearch([query_bundle.query_str], **self._settings())
        given = found, query_bundle.query_str, self.max_characters
        if self._filters["content"]:
            nodes = await asyncio.to_thread(_nodes, *given)
        else:
            nodes = _nodes(*given)
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
    nodes = hits(response.results)
    models = RankingModels()
    for each, result in zip(nodes, response.results, strict=True):
        if result.content and (text := plain_text(result.content)):
            each.node.set_content(models.best_passages(text, query, max_characters))
    return nodes
