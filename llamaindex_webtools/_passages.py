"""The passages of a page that bear on a query, chosen by our ranking and a caller's own models."""

from collections.abc import Sequence

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, TextNode

from webtools.passages import Passage, rank

_GAP = "\n\n[…]\n\n"
_MARKS = ("\n", ". ", "。", " ")  # where a beginning may end, from the best on


class RankingModels:
    """A LlamaIndex embedding and a reranker as `webtools.passages.rank` takes them."""

    def __init__(
        self,
        embed_model: BaseEmbedding | None = None,
        reranker: BaseNodePostprocessor | None = None,
    ) -> None:
        self.embed_model = embed_model
        self.reranker = reranker

    def best_passages(self, text: str, query: str, max_characters: int) -> str:
        """Cut a text to what bears on a query, in the text's order; else to its beginning.

        Args:
            text: Any text.
            query: What it should say something about; may be empty.
            max_characters: Most characters to return, the marks `[…]` included.
        """
        if len(text) <= max_characters:
            return text
        ranked = rank(
            query,
            [text],
            max_characters=max_characters,
            reranker=self._scores if self.reranker else None,
            embeddings=_Embeddings(self.embed_model) if self.embed_model else None,
        )
        chosen = _fitting(ranked, max_characters)
        return _joined(text, chosen) if chosen else _beginning(text, max_characters)

    def _scores(self, query: str, texts: list[str]) -> list[float]:
        """Score texts by the order into which the reranker puts them; what it drops is last."""
        assert self.reranker is not None  # noqa: S101  # see the only use
        nodes = [
            NodeWithScore(node=TextNode(text=text, id_=str(place)), score=0.0)
            for place, text in enumerate(texts)
        ]
        kept = self.reranker.postprocess_nodes(nodes, query_str=query)
        scores = [0.0] * len(texts)
        for place, each in enumerate(kept):
            scores[int(each.node.node_id)] = float(len(texts) - place)
        return scores


class _Embeddings:
    def __init__(self, model: BaseEmbedding) -> None:
        self._model = model

    def embed_query(self, text: str, /) -> list[float]:
        return self._model.get_query_embedding(text)

    def embed_documents(self, texts: list[str], /) -> list[list[float]]:
        return self._model.get_text_embedding_batch(texts)


def _fitting(ranked: Sequence[Passage], room: int) -> list[Passage]:
    """Return the best that fit with the marks between them, in the order of the text."""
    chosen: list[Passage] = []
    for each in ranked:
        size = len(each.text) + (len(_GAP) if chosen else 0)
        if size <= room:
            chosen.append(each)
            room -= size
    return sorted(chosen, key=lambda each: each.offset)


def _joined(text: str, chosen: Sequence[Passage]) -> str:
    joined, end = "", 0
    for each in chosen:
        is_next = not text[end : each.offset].strip()
        joined += ("\n\n" if is_next else _GAP) * bool(joined) + each.text
        end = each.offset + len(each.text)
    return joined


def _beginning(text: str, most: int) -> str:
    """Cut after a line, a sentence or a word, in the second half of what fits."""
    for mark in _MARKS:
        end = text.rfind(mark, most // 2, most)
        if end > 0:
            return text[:end].rstrip() or text[:most]
    return text[:most]
