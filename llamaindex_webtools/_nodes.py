"""Web pages and search hits as LlamaIndex has them: ids, metadata, nodes."""

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

from webtools.results import Page, SearchResult
from webtools.results.scores import scores_of

_SEEN = ("title", "url", "published_at", "author")  # by models; all else is for programs
_LONGEST_SEEN = 300  # characters; a splitter refuses a text whose metadata outgrow its chunks
_DEFAULT_PORT = {"http": ":80", "https": ":443"}


class WebNode(TextNode):
    """A search hit. It differs from other text nodes in what stores and fusion know it by.

    Several queries or providers give hits of one page that differ in their snippets; a fusion
    retriever merges nodes of one hash, so that is the hash of the page's address. And a store
    replaces what it has under a node's `ref_doc_id`: with the page's id, a hit would push out the
    page that `WebPageReader` read. Its source is the page nevertheless.
    """

    @property
    def hash(self) -> str:
        """Return what tells pages apart."""
        url = self.metadata.get("url")
        return sha256(page_id(url).encode()).hexdigest() if isinstance(url, str) else super().hash

    @property
    def ref_doc_id(self) -> str:
        """Return what a store keeps it by: its own id."""
        return self.id_


class _Described(Protocol):
    """What a hit and a page have in common."""

    @property
    def title(self) -> str | None: ...
    @property
    def url(self) -> str: ...
    @property
    def published_at(self) -> datetime | None: ...
    @property
    def author(self) -> str | None: ...


def page_id(url: str) -> str:
    """Return the id of a page: a UUID, as some stores want one, the same for each spelling."""
    return str(uuid5(NAMESPACE_URL, _canonical(url)))


def document(page: Page) -> Document:
    """Make the document of a page that was fetched.

    It holds nothing that two fetches of an unchanged page would tell differently: a document's
    hash covers its metadata too, and one of another hash is embedded again. So the URL's
    spelling is the one that its id comes from.
    """
    metadata = _described(page) | {"url": _canonical(page.url)}
    return Document(
        id_=page_id(page.url),
        text=page.text,
        metadata=metadata,
        excluded_embed_metadata_keys=_unseen(metadata),
        excluded_llm_metadata_keys=_unseen(metadata),
    )


def hits(results: list[SearchResult]) -> list[NodeWithScore]:
    """Make the nodes of the hits of one query, in the provider's order."""
    return [*map(_hit, results, count(1), scores_of(results))]


def _unseen(metadata: dict[str, Any]) -> list[str]:
    """List what is kept from models: what is for programs, or too long."""
    return [
        key
        for key, value in metadata.items()
        if key not in _SEEN or len(str(value)) > _LONGEST_SEEN
    ]


def _hit(result: SearchResult, rank: int, score: float) -> NodeWithScore:
    described = _described(result)
    metadata = described | {
        "provider": result.source_provider,
        "query": result.query,
        "rank": rank,
    }
    page = page_id(result.url)
    source = RelatedNodeInfo(node_id=page, node_type=ObjectType.DOCUMENT, metadata=described)
    node = WebNode(
        id_=str(uuid5(UUID(page), "hit")),  # not the page's own: a store may hold both
        text=result.snippet or result.title,
        extra_info=metadata,
        relationships={NodeRelationship.SOURCE: source},
        excluded_embed_metadata_keys=_unseen(metadata),
        excluded_llm_metadata_keys=_unseen(metadata),
    )
    return NodeWithScore(node=node, score=score)


def _described(item: _Described) -> dict[str, Any]:
    """Return what is known of a page, flat and without nulls: some vector stores take no others."""
    date = item.published_at
    known = {
        "title": item.title,
        "url": item.url,
        "published_at": date.isoformat() if date else None,
        "author": item.author,
    }
    return {key: value for key, value in known.items() if value}


def _canonical(url: str) -> str:
    """Spell a URL as all do that surely lead to the same page; fragments are never sent."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url
    user, at, host = parts.netloc.rpartition("@")
    host = host.lower().removesuffix(":").removesuffix(_DEFAULT_PORT.get(parts.scheme, ":"))
    return urlunsplit((parts.scheme, user + at + host, parts.path or "/", parts.query, ""))
