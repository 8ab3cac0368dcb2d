"""Cut a page to the passages that are relevant to a query."""

from collections.abc import Sequence

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, TextNode

from webtools.passages import Passage, rank

_GAP = "\n\n[…]\n\n"
_BOUNDARIES = ("\n", ". ", "。", " ")  # where a truncated text may end, in order of preference


def best_passages(
    text: str,
    query: str,
    max_characters: int,
    embed_model: BaseEmbedding | None = None,
    reranker: BaseNodePostprocessor | None = None,
) -> str:
    """Return the passages relevant to a query, in the text's order; if none is, the beginning.

    Args:
        text: Any text.
        query: May be empty.
        max_characters: Maximum length of the returned text, including the marks `[…]`.
        embed_model: Embeddings whose similarity to the query is added to the ranking.
        reranker: A postprocessor that orders the best passages.
    """
    if len(text) <= max_characters:
        return text

    def rerank(query: str, texts: list[str]) -> list[float]:
        assert reranker is not None  # noqa: S101 - passed below only if there is one
        return _scores(reranker, query, texts)

    ranked = rank(
        query,
        [text],
        max_characters=max_characters,
        reranker=rerank if reranker else None,
        embeddings=_Embeddings(embed_model) if embed_model else None,
    )
    passages = _fitting_passages(ranked, max_characters)
    return _joined(text, passages) if passages else _beginning(text, max_characters)


def _scores(reranker: BaseNodePostprocessor, query: str, texts: list[str]) -> list[float]:
    """Score texts by the order that a reranker returns; texts that it drops get 0."""
    nodes = [
        NodeWithScore(node=TextNode(text=text, id_=str(position)), score=0.0)
        for position, text in enumerate(texts)
    ]
    scores = [0.0] * len(texts)
    for place, ranked in enumerate(reranker.postprocess_nodes(nodes, query_str=query)):
        scores[int(ranked.node.node_id)] = float(len(texts) - place)
    return scores


class _Embeddings:
    """A LlamaIndex embedding with the methods that `rank` calls."""

    def __init__(self, model: BaseEmbedding) -> None:
        self._model = model

    def embed_query(self, text: str, /) -> list[float]:
        return self._model.get_query_embedding(text)

    def embed_documents(self, texts: list[str], /) -> list[list[float]]:
        return self._model.get_text_embedding_batch(texts)


def _fitting_passages(ranked: Sequence[Passage], max_characters: int) -> list[Passage]:
    """Return the best passages that fit with the marks between them, in the text's order."""
    passages: list[Passage] = []
    for passage in ranked:
        size = len(passage.text) + (len(_GAP) if passages else 0)
        if size <= max_characters:
            passages.append(passage)
            max_characters -= size
    return sorted(passages, key=lambda passage: passage.offset)


def _joined(text: str, passages: Sequence[Passage]) -> str:
    joined, end = "", 0
    for passage in passages:
        is_adjacent = not text[end : passage.offset].strip()
        joined += ("\n\n" if is_adjacent else _GAP) * bool(joined) + passage.text
        end = passage.offset + len(passage.text)
    return joined


def _beginning(text: str, max_characters: int) -> str:
    """Truncate after a line, a sentence or a word, if it ends in the second half."""
    for boundary in _BOUNDARIES:
        end = text.rfind(boundary, max_characters // 2, max_characters)
        if end > 0:
            return text[:end].rstrip() or text[:max_characters]
    return text[:max_characters]
