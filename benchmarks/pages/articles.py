"""Sets of pages with the text or the snippets that a reader should keep."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.pages.readers import Reading
from benchmarks.pages.scores import Counts, Sample, overlap, plain

_URL = re.compile(rb'"url"\s*:\s*"([^"]+)"')
_FACTS = re.compile(r"\A```json.*?```", re.DOTALL)


def gold(root: Path) -> Iterator[Sample]:
    """Yield the pages of trafilatura's evaluation, with wanted and unwanted snippets."""
    pages = json.loads((root / "evaldata.json").read_text(encoding="utf-8"))
    for url, facts in pages.items():
        paths = (root / folder / facts["file"] for folder in ("cache", "eval"))
        path = next((each for each in paths if each.is_file()), None)
        if path is None:
            continue

        def measure(reading: Reading, facts: dict[str, list[str]] = facts) -> Counts:
            text = plain(reading.text)
            return {
                name: (sum(plain(each) in text for each in facts[key]), len(facts[key]))
                for name, key in (("gold snippets kept", "with"), ("gold, unwanted", "without"))
            }

        yield Sample(path.read_bytes(), url, measure)


def readability(root: Path) -> Iterator[Sample]:
    """Yield readability's test pages: the mean F1 of words."""
    from lxml import html

    for folder in sorted(root.glob("*/source.html")):
        tree = html.fromstring((folder.parent / "expected.html").read_text(encoding="utf-8"))
        expected = " ".join(tree.xpath("//text()"))

        def measure(reading: Reading, expected: str = expected) -> Counts:
            hit, read, true = overlap(plain(reading.text), expected)
            return {"readability, F1": (2 * hit / max(1, read + true), 1)}

        yield Sample(folder.read_bytes(), "http://fakehost/test/page.html", measure)


def defuddle(root: Path) -> Iterator[Sample]:
    """Yield defuddle's fixtures: the mean share of words that are kept, and the precision."""
    for path in sorted((root / "fixtures").glob("*.html")):
        body = path.read_bytes()
        url = _URL.search(body[:500])
        expected = (root / "expected" / f"{path.stem}.md").read_text(encoding="utf-8")
        true_text = plain(_FACTS.sub("", expected))

        def measure(reading: Reading, true_text: str = true_text) -> Counts:
            hit, read, true = overlap(plain(reading.text), true_text)
            kept, precision = hit / max(1, true), hit / max(1, read)
            return {"defuddle, words kept": (kept, 1), "defuddle, precision": (precision, 1)}

        yield Sample(body, url[1].decode() if url else f"http://a.example/{path.name}", measure)


def articles(root: Path) -> Iterator[Sample]:
    """Yield scrapinghub's articles: F1 of runs of four words, from the summed shares of pages."""
    truth = json.loads((root / "ground-truth.json").read_text(encoding="utf-8"))
    for key, facts in sorted(truth.items()):

        def measure(reading: Reading, body: str = facts["articleBody"]) -> Counts:
            hit, read, true = overlap(plain(reading.text), body, 4)
            union = max(1, read + true - hit)
            return {"scrapinghub, F1": (2 * hit / union, (read + true) / union)}

        page = gzip.decompress((root / "html" / f"{key}.html.gz").read_bytes())
        yield Sample(page, facts["url"], measure)
