"""Extracts of a page: sentences, sections, summaries. Deterministic."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'“(`])")
_NOT_PROSE = ("#", ">", "...", "|", "- ", "   ")
_BETWEEN = re.compile(r"\n{2,}")
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(?=#{2,6} )", re.MULTILINE)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(text.lower())


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without headings, code, lists and tables."""
    all_sentences: list[str] = []
    for paragraph in _BETWEEN.split(_FENCED.sub("", text)):
        if not paragraph.startswith(_NOT_PROSE):
            all_sentences += _SENTENCE_END.split(" ".join(paragraph.split()))
    return [sentence for sentence in all_sentences if sentence]


def best_sentences(text: str, terms: AbstractSet[str], *, count: int) -> list[str]:
    """Return the `count` sentences with the most of `terms`, in the order of the page.

    Without a match, return the first sentences, like the snippet of a search engine.
    """
    return _best(sentences(text), terms, count)


def best_sections(text: str, terms: AbstractSet[str], *, count: int) -> list[str]:
    """Return the `count` sections with the most of `terms`, with their headings and code."""
    sections = (section.strip() for section in _HEADING.split(text))
    return _best([section for section in sections if section], terms, count)


def _best(texts: list[str], terms: AbstractSet[str], count: int) -> list[str]:
    hits = [len(terms & set(words(text))) for text in texts]
    ranked = sorted(range(len(texts)), key=lambda index: (-hits[index], index))
    return [texts[index] for index in sorted(ranked[:count])]


def clip(text: str, max_chars: int | None) -> str:
    """Cut to `max_chars` characters, at a space if one is near."""
    if max_chars is None or len(text) <= max_chars:
        return text
    cut = text[:max_chars]
    space = cut.rfind(" ")
    return cut[:space] if space > max_chars * 0.8 else cut


def summary(text: str, *, count: int = 4) -> str:
    """Return the first `count` sentences as one paragraph."""
    return " ".join(sentences(text)[:count]) or clip(" ".join(text.split()), 300)


def takeaways(text: str, *, count: int = 5) -> str:
    """Return `count` sentences spread over the page as a Markdown list."""
    lines = sentences(text) or [clip(" ".join(text.split()), 300)]
    step = max(1, len(lines) // count)
    return "\n".join(f"- {line}" for line in lines[::step][:count])


def token_count(text: str) -> int:
    """Estimate how many tokens a language model counts in `text`: four to three words."""
    return max(1, len(text.split()) * 4 // 3)
