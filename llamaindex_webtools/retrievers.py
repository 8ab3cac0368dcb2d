"""A retriever over web search."""

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_webtools._component import given_or_new, log_warnings
from llamaindex_webtools._nodes import hits

if TYPE_CHECKING:
    from webtools import SearchResponse, WebTools

__all__ = ["WebRetriever"]


class WebRetriever(BaseRetriever):
    """Searches the web; runs wherever LlamaIndex takes a retriever.

        engine = RetrieverQueryEngine.from_args(WebRetriever(), llm=llm)

    A node's text is the hit's snippet, its score lies between 0 and 1. The metadata that models
    see are `title`, `url`, `published_at` (ISO 8601) and `author`, so far as they are known;
    `provider`, `query` and `rank` are for programs. Ids come from the URL, and the source that a
    node names is the document that `WebPageReader` makes of the page.

    Failures raise the errors of `webtools.errors`. What a search has to warn of, such as a filter
    that nobody could apply, is logged.

    Args:
        web: What does the work; a `WebTools()` of its own when left out.
        similarity_top_k: Most nodes per query, 1 to 100.
        include_domains: Only results from these hosts and their sub-domains.
        exclude_domains: No results from these.
        start_published_date: Only results published on or after it (ISO 8601).
        end_published_date: Only results published on or before it (ISO 8601).
        category: Kind of page; the names are in `webtools.tools.CATEGORIES`.
        provider: Configured name of the provider to use.
        callback_manager: Told of every retrieval.
        verbose: Print what is done.

    Attributes:
        web: What does the work.
        similarity_top_k: Most nodes per query; may be set.
    """

    def __init__(
        self,
        web: "WebTools | None" = None,
        *,
        similarity_top_k: int = 5,
        include_domains: str | Sequence[str] = (),
        exclude_domains: str | Sequence[str] = (),
        start_published_date: str | date | None = None,
        end_published_date: str | date | None = None,
        category: str | None = None,
        provider: str | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
    ) -> None:
        self.web = given_or_new(web)
        self.similarity_top_k = similarity_top_k
        self._filters: dict[str, Any] = {
            "include_domains": include_domains,
            "exclude_domains": exclude_domains,
            "start_published_date": start_published_date,
            "end_published_date": end_published_date,
            "category": category,
            "provider": provider,
        }
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            callback_manager=callback_manager, verbose=verbose
        )

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(self.web.search([query_bundle.query_str], **self._settings()))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(await self.web.asearch([query_bundle.query_str], **self._settings()))

    def _settings(self) -> dict[str, Any]:
        return {"limit": self.similarity_top_k, **self._filters}


def _nodes(response: "SearchResponse") -> list[NodeWithScore]:
    log_warnings(response)
    return hits(response.results)
