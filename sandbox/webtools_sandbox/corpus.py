"""The documents of the sandbox and a ranked search over them (Okapi BM25)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from webtools_sandbox import news, stdlib_docs
from webtools_sandbox.digest import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

Collection = Literal["docs", "news"]

_K1 = 1.2
_B = 0.6
_TITLE_WEIGHT = 4
_STOP_WORDS = frozenset(
    str.split(
        "a an and are as at be by do does for from how i in is it its me of on or so that the this"
        " to was were what when where which who why will with you"
    )
)


@dataclass(frozen=True, eq=False)
class Document:
    """A page of the corpus, without a host.

    Attributes:
        collection: `docs` or `news`. Each has its own base URL.
        path: Relative to the base URL, such as `library/json.html`.
        title: May be empty, as on real pages.
        text: Markdown, without the title.
        author: None when unknown.
        published: The date on the page: full, naive or date-only ISO 8601. None when unknown.
    """

    collection: Collection
    path: str
    title: str
    text: str
    author: str | None = None
    published: str | None = None

    @property
    def markdown(self) -> str:
        """The whole page, with its title as the heading."""
        return f"# {self.title}\n\n{self.text}" if self.title else self.text


class Corpus:
    """All documents, indexed by word."""

    def __init__(self, documents: Iterable[Document]) -> None:
        """Count the words of every document."""
        self.documents = tuple(documents)
        counts = [_count_words(document) for document in self.documents]
        lengths = [sum(count.values()) for count in counts]
        average = sum(lengths) / max(1, len(lengths))
        self._norms = [_K1 * (1 - _B + _B * length / max(1.0, average)) for length in lengths]
        self._postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for index, count in enumerate(counts):
            for word, times in count.items():
                self._postings[word].append((index, times))

    def as_of(self, today: date) -> Corpus:
        """Return this corpus with the dates of news as they are on another day."""
        other = copy(self)  # the index is shared, because the words are the same
        other.documents = tuple(_move_date(document, today) for document in self.documents)
        return other

    def search(self, query: str) -> list[tuple[Document, float]]:
        """Return the documents with a word of `query` and their scores, best first.

        An empty query matches all documents.
        """
        if not query.strip():
            return [(document, 0.0) for document in self.documents]
        scores: defaultdict[int, float] = defaultdict(float)
        for word in query_terms(query):
            self._add_scores(word, scores)
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        return [(self.documents[index], score) for index, score in ranked]

    def _add_scores(self, word: str, scores: defaultdict[int, float]) -> None:
        postings = self._postings.get(word, ())
        rarity = math.log(1 + (len(self.documents) - len(postings) + 0.5) / (len(postings) + 0.5))
        for index, times in postings:
            scores[index] += rarity * times * (_K1 + 1) / (times + self._norms[index])


def query_terms(text: str) -> list[str]:
    """Return the distinct words of `text` without stop words, in order."""
    unique_words = dict.fromkeys(words(text))
    return [word for word in unique_words if word not in _STOP_WORDS] or list(unique_words)


def _move_date(document: Document, today: date) -> Document:
    if document.collection != "news" or document.published is None:
        return document
    return replace(document, published=news.moved(document.published, today))


def _count_words(document: Document) -> Counter[str]:
    count = Counter(words(document.text))
    for word in words(document.title):
        count[word] += _TITLE_WEIGHT
    return count


@lru_cache(maxsize=1)
def standard_corpus() -> Corpus:
    """Read and index the standard corpus, once per process (about a second)."""
    return Corpus([*_news_documents(), *_docs_documents()])


def _news_documents() -> Iterator[Document]:
    for item in news.read_items():
        yield Document("news", item.path, item.title, item.text, item.author, item.published)


def _docs_documents() -> Iterator[Document]:
    for page in stdlib_docs.read_pages():
        yield Document("docs", page.path, page.title, page.text, page.author)
