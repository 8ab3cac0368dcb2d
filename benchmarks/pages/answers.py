"""Whether the answers of the questions on documentation are in the text and in the passages."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.answers.documentation import Read, found_pages
from benchmarks.answers.measuring import LENGTHS, rank_pages
from benchmarks.pages.readers import Reader
from benchmarks.pages.scores import Counts


def answers(docs: Path, readers: Sequence[Reader], every: int) -> Iterator[dict[str, Counts]]:
    """Yield, by reader, what is found of each answer in the five best pages of its question."""
    texts: dict[str, dict[str, str]] = defaultdict(dict)

    def read(text: str, url: str) -> str:
        for reader in readers:
            texts[reader.name][url] = reader.read(text.encode(), url).text
        return ""

    for found in found_pages(docs, read, every=every, near=0):
        if found.question.answer is None or found.question.project.startswith("own-"):
            continue
        has: Callable[[str], object] = re.compile(found.question.answer).search
        counts: dict[str, Counts] = {}
        for reader in readers:
            pages = [
                Read(page.url, page.title, texts[reader.name][page.url]) for page in found.pages
            ]
            counts[reader.name] = {
                "answers in the text": (any(has(page.text) for page in pages), 1)
            }
            for length in LENGTHS:
                passages = rank_pages(found.question, pages, length)
                kept = any(has(f"{each.heading}\n{each.text}") for each in passages)
                counts[reader.name][f"answers in {length:,} characters"] = (kept, 1)
        yield counts
