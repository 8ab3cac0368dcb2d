"""Documentation to ask about: the pages of Debian's packages, searched by BM25, read by ours.

    apt-get download python3.11-doc postgresql-doc-15 git-doc sqlite3-doc apache2-doc rust-doc \
        debian-policy
    for each in *.deb; do dpkg -x "$each" docs; done
"""

import html
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

HERE = Path(__file__).parent
LIBRARY = Path("usr/share/doc")
# By project: where its pages are, and in which folders.
PROJECTS = {
    "python": ("python3.11/html", ("library", "howto", "tutorial", "reference", "using", "faq")),
    "postgresql": ("postgresql-doc-15/html", ("",)),
    "git": ("git-doc", ("",)),
    "sqlite": ("sqlite3", ("",)),
    "apache": ("apache2-doc/manual/en", ("",)),
    "apache-de": ("apache2-doc/manual/de", ("",)),
    "apache-es": ("apache2-doc/manual/es", ("",)),
    "apache-fr": ("apache2-doc/manual/fr", ("",)),
    "apache-ja": ("apache2-doc/manual/ja", ("",)),
    "debian-policy": ("debian-policy/policy.html", ("",)),
    "rust": ("rust-doc/html", ("book", "reference")),
}
INDEXES = {"genindex.html", "search.html", "bookindex.html", "print.html", "genindex-all.html"}
TOP = 5
_LOOKED_AT = 25  # pages that those without the answer are taken from, best first
_HIDDEN = re.compile(r"<(script|style|head|nav)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^<>]+>")
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.DOTALL | re.IGNORECASE)
_WORDS = re.compile(r"[^\W_]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
Reader = Callable[[str, str], str]


@dataclass(frozen=True)
class Question:
    """A question, and what any right answer has; no `answer` when the pages have none."""

    question: str
    project: str
    page: str | None
    answer: str | None
    language: str
    split: str


@dataclass(frozen=True)
class Read:
    """A page that was read."""

    url: str
    title: str
    text: str


@dataclass(frozen=True)
class Found:
    """What is read for a question.

    Attributes:
        question: The question.
        pages: The best five pages.
        near: The best five of those that lack the answer: an answer from them is wrong.
    """

    question: Question
    pages: list[Read]
    near: list[Read]


def questions() -> list[Question]:
    """Return all questions; half of them, by their hash, are held out."""
    lines = (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [Question(**json.loads(line)) for line in lines]


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; of scripts without spaces pairs of signs."""
    found: list[str] = []
    for word in _WORDS.findall(text.lower()):
        pairs = [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        found += pairs if _CJK.search(word) else [word]
    return found


class BM25:
    """Plain BM25 over texts: what we compare with, and the search of pages."""

    def __init__(self, texts: Sequence[str], k1: float = 1.2, b: float = 0.75) -> None:
        self._counts = [Counter(words(text)) for text in texts]
        self._found = Counter(word for counts in self._counts for word in counts)
        lengths = [sum(counts.values()) for counts in self._counts]
        average = sum(lengths) / max(1, len(lengths))
        self._norms = [k1 * (1 - b + b * each / max(1, average)) for each in lengths]
        self._k1 = k1

    def order(self, question: str) -> list[int]:
        """Return the numbers of the texts that match, best first."""
        scores = [0.0] * len(self._counts)
        for word in set(words(question)):
            found = self._found[word]
            rarity = math.log(1 + (len(scores) - found + 0.5) / (found + 0.5))
            for number, counts in enumerate(self._counts):
                if count := counts.get(word):
                    norm = self._norms[number]
                    scores[number] += rarity * count * (self._k1 + 1) / (count + norm)
        ranked = sorted(range(len(scores)), key=lambda number: -scores[number])
        return [number for number in ranked if scores[number]]


def found_pages(
    folder: Path | None, reader: Reader, *, every: int = 1, near: int = TOP
) -> Iterator[Found]:
    """Return each question, or every Nth, with the best pages of its project, as they are read.

    Without a folder of documentation, only the questions on our own pages.
    """
    asked = questions()[::every]
    for project in sorted({each.project for each in asked}):
        paths = _paths(project, folder)
        texts = [path.read_text("utf-8", "replace") for path in paths]
        search = BM25([_plain(text) for text in texts])
        read = lru_cache(maxsize=None)(
            lambda at, texts=texts, paths=paths: _read(paths[at], texts[at], reader)
        )
        for each in asked if paths else ():
            if each.project == project:
                order = search.order(each.question)
                best = [read(at) for at in order[:TOP]]
                yield Found(each, best, list(islice(_near(each, map(read, order)), near)))


def _near(question: Question, pages: Iterable[Read]) -> Iterator[Read]:
    """Yield pages about the same that lack what any right answer has."""
    if question.answer:
        answer = re.compile(question.answer)
        for page in islice(pages, _LOOKED_AT):
            if not answer.search(page.text):
                yield page


def _paths(project: str, folder: Path | None) -> list[Path]:
    if project not in PROJECTS:
        return sorted((HERE / "pages" / project.removeprefix("own-")).rglob("*.md"))
    if folder is None:
        return []
    home, parts = PROJECTS[project]
    base = folder / LIBRARY / home
    found = sorted({path for part in parts for path in (base / part).rglob("*.html")})
    return [path for path in found if path.name not in INDEXES and path.is_file()]


def _plain(text: str) -> str:
    return html.unescape(_TAG.sub(" ", _HIDDEN.sub(" ", text)))


def _read(path: Path, text: str, reader: Reader) -> Read:
    if path.suffix == ".md":
        return Read(path.as_uri(), "", text)
    title = _TITLE.search(text)
    return Read(
        path.as_uri(), html.unescape(title[1]).strip() if title else "", reader(text, path.as_uri())
    )


def read_ours(text: str, url: str) -> str:
    """Read a page as `direct` does."""
    from webtools._internal.pages.reading import Source, read
    from webtools.errors import WebToolsError

    try:
        return read(Source(text.encode(), "text/html; charset=utf-8", url, url)).text
    except WebToolsError:
        return ""


def read_markdownify(text: str, _url: str) -> str:
    """Read a page with markdownify, to measure apart from our reading of pages."""
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    page = BeautifulSoup(text, "lxml")
    aside = "a.headerlink, script, style, nav, div.related, div.sphinxsidebar, div.navheader"
    for element in page.select(f"{aside}, div.navfooter, div.footer, div#preamble, div.nosearch"):
        element.decompose()
    for link in page.find_all("a"):
        link.unwrap()
    options = {"escape_underscores": False, "escape_asterisks": False, "escape_misc": False}
    markdown = MarkdownConverter(heading_style="ATX", **options).convert_soup(page)
    return re.sub(r"\n{3,}", "\n\n", markdown).strip()


READERS: dict[str, Reader] = {"ours": read_ours, "markdownify": read_markdownify}
