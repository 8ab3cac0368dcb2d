"""Convert search results and pages to LlamaIndex nodes and documents."""

from collections.abc import Callable, Iterable
from datetime import datetime
from hashlib import sha256
from itertools import count
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit
from uuid import NAMESPACE_URL, UUID, uuid5

from llama_index.core.schema import (
    Document,
    NodeRelationship,
    NodeWithScore,
    ObjectType,
    RelatedNodeInfo,
    TextNode,
)

from webtools.page_urls import other_host
from webtools.results import Page, SearchResult
from webtools.results.scores import scores_of

_SHOWN_KEYS = ("title", "url", "published_at", "author")  # to models; the rest is for programs
_MAX_SHOWN_CHARACTERS = 300  # a splitter refuses a text whose metadata are longer than a chunk
_DEFAULT_PORT = {"http": ":80", "https": ":443"}


class WebNode(TextNode):
    """A search result, with the hash and the `ref_doc_id` that fusion and stores need.

    A fusion retriever merges nodes with the same hash. Several queries or providers return the same
    page with different snippets, so the hash is that of the page's URL. A store replaces the nodes
    with the same `ref_doc_id`. With the page's id, a search result would replace the page that
    `WebPageReader` has read, so it is the node's own id. Its source node is the page nevertheless.
    """

    @property
    def hash(self) -> str:
        """The hash of the page's id."""
        url = self.metadata.get("url")
        return sha256(page_id(url).encode()).hexdigest() if isinstance(url, str) else super().hash

    @property
    def ref_doc_id(self) -> str:
        """The node's own id."""
        return self.id_


class _HasPageFacts(Protocol):
    """What search results and pages have in common."""

    @property
    def title(self) -> str | None: ...
    @property
    def url(self) -> str: ...
    @property
    def published_at(self) -> datetime | None: ...
    @property
    def author(self) -> str | None: ...


def page_id(url: str) -> str:
    """Return the id of a page: a UUID, which some stores require, equal for all spellings."""
    return str(uuid5(NAMESPACE_URL, _canonical(url)))


def first_urls(urls: Iterable[str]) -> list[str]:
    """Return the first URL of each page."""
    url_by_page: dict[str, str] = {}
    for url in urls:
        url_by_page.setdefault(page_id(url), url)
    return [*url_by_page.values()]


def page_document(page: Page) -> Document:
    """Convert a page.

    A document with another hash is embedded again, and the hash covers the metadata. So the
    metadata hold nothing that differs between two fetches of an unchanged page, and the URL is in
    its canonical spelling.
    """
    metadata = _page_facts(page) | {"url": _canonical(page.url)}
    if page.url_final and other_host(page.url, page.url_final):
        metadata["url_final"] = page.url_final
    return Document(
        id_=page_id(page.url),
        text=page.text,
        metadata=metadata,
        excluded_embed_metadata_keys=_hidden_keys(metadata),
        excluded_llm_metadata_keys=_hidden_keys(metadata),
    )


def result_nodes(
    results: list[SearchResult], text_of: Callable[[SearchResult], str] | None = None
) -> list[NodeWithScore]:
    """Convert the results of one query, in the provider's order.

    A provider can return several snippets of a page as results. LlamaIndex drops nodes with an id
    that it has seen, so a page has one node with all of them.

    Args:
        results: The results.
        text_of: Returns the text of a result. Default: its snippet.
    """
    nodes: dict[str, NodeWithScore] = {}
    for result, rank, score in zip(results, count(1), scores_of(results), strict=False):
        text = (text_of(result) if text_of else result.snippet) or result.title
        new = _result_node(result, text, rank, score)
        scored = nodes.setdefault(new.node.node_id, new)
        if text not in scored.text:
            scored.node.set_content(f"{scored.text}\n\n{text}")
    return [*nodes.values()]


def _hidden_keys(metadata: dict[str, Any]) -> list[str]:
    """List the metadata that models do not see: those for programs, and long ones."""
    return [
        key
        for key, value in metadata.items()
        if key not in _SHOWN_KEYS or len(str(value)) > _MAX_SHOWN_CHARACTERS
    ]


def _result_node(result: SearchResult, text: str, rank: int, score: float) -> NodeWithScore:
    page_facts = _page_facts(result)
    metadata = page_facts | {
        "provider": result.source_provider,
        "query": result.query,
        "rank": rank,
    }
    if score != result.score:
        metadata["score_from_rank"] = True
    page = page_id(result.url)
    source = RelatedNodeInfo(node_id=page, node_type=ObjectType.DOCUMENT, metadata=page_facts)
    node = WebNode(
        id_=str(uuid5(UUID(page), "hit")),  # not the page's id: a store may hold both
        text=text,
        extra_info=metadata,
        relationships={NodeRelationship.SOURCE: source},
        excluded_embed_metadata_keys=_hidden_keys(metadata),
        excluded_llm_metadata_keys=_hidden_keys(metadata),
    )
    return NodeWithScore(node=node, score=score)


def _page_facts(item: _HasPageFacts) -> dict[str, Any]:
    """Return metadata, flat and without nulls, which some vector stores refuse."""
    date = item.published_at
    facts = {
        "title": item.title,
        "url": item.url,
        "published_at": date.isoformat() if date else None,
        "author": item.author,
    }
    return {key: value for key, value in facts.items() if value}


def _canonical(url: str) -> str:
    """Normalize the parts of a URL that never change the page. Fragments are never sent."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url
    user, at, host = parts.netloc.rpartition("@")
    host = host.lower().removesuffix(":").removesuffix(_DEFAULT_PORT.get(parts.scheme, ":"))
    return urlunsplit((parts.scheme, user + at + host, parts.path or "/", parts.query, ""))
