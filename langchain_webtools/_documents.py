"""Convert search results and pages to LangChain documents."""

from typing import Any
from uuid import NAMESPACE_URL, uuid5

from langchain_core.documents import Document

from webtools.adapters import plain_text
from webtools.page_urls import other_host
from webtools.results import Page, SearchResult

_FIELDS = {"title", "published_at", "author"}


def result_document(result: SearchResult, rank: int | None = None) -> Document:
    """Convert a result: its content if requested, else its snippet, else its title.

    Without a `rank`, the metadata do not depend on the query. Retrievers that send several queries
    and compare whole documents then recognize duplicates.
    """
    included = _FIELDS if rank is None else _FIELDS | {"score", "query"}
    facts = result.model_dump(mode="json", include=included, exclude_none=True)
    facts |= {"provider": result.source_provider} | ({} if rank is None else {"rank": rank})
    content = plain_text(result.content) if result.content else ""
    return _document(result.url, content or result.snippet or result.title, facts)


def page_document(page: Page) -> Document:
    """Convert a page: its summary, highlights and text.

    The metadata of an unchanged page never change, so that it is indexed once.
    """
    facts = page.model_dump(mode="json", include=_FIELDS, exclude_none=True)
    if page.url_final and other_host(page.url, page.url_final):
        facts["url_final"] = page.url_final
    return _document(page.url, plain_text(page), facts)


def _document(url: str, content: str, facts: dict[str, Any]) -> Document:
    return with_id(Document(content, metadata={"source": url, "url": url, **facts}), url)


def with_id(document: Document, name: str) -> Document:
    """Set the id of a document, in its metadata too: retrievers read an `id_key` from there.

    Its key is not `id`, which some vector stores reserve.
    """
    document.id = document.metadata["document_id"] = str(uuid5(NAMESPACE_URL, name))
    return document
