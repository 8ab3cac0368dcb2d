"""From results and pages to LangChain documents."""

from typing import Any
from uuid import NAMESPACE_URL, uuid5

from langchain_core.documents import Document

from webtools._internal.operations.loading import plain_text
from webtools.results import Page, SearchResult

_FACTS = {"title", "published_at", "author"}


def document_id(url: str) -> str:
    """Make the id of the document behind a URL: always the same, so that a store updates it."""
    return str(uuid5(NAMESPACE_URL, url))


def result_document(result: SearchResult, rank: int | None = None) -> Document:
    """Show a search result: its content if asked for, its snippet, or else its title.

    Without a `rank`, nothing in the metadata depends on the query, so that retrievers which ask
    several and compare whole documents see that two are one.
    """
    included = _FACTS if rank is None else _FACTS | {"score", "query"}
    facts = result.model_dump(mode="json", include=included, exclude_none=True)
    facts |= {"provider": result.source_provider} | ({} if rank is None else {"rank": rank})
    content = plain_text(result.content) if result.content else ""
    return _document(result.url, content or result.snippet or result.title, facts)


def page_document(page: Page) -> Document:
    """Show a page: its summary, highlights and text, as far as asked for.

    Nothing in the metadata changes while the page does not, so that it is indexed once.
    """
    facts = page.model_dump(mode="json", include=_FACTS, exclude_none=True)
    return _document(page.url, plain_text(page), facts)


def _document(url: str, content: str, facts: dict[str, Any]) -> Document:
    return Document(content, id=document_id(url), metadata={"source": url, "url": url, **facts})
