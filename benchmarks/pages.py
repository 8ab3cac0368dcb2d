"""The parts of a page that survive reading, compared with trafilatura alone if it is installed.

`--docs DIR` is a folder into which the Debian packages python3.11-doc, postgresql-doc-15, git-doc,
sqlite3-doc, apache2-doc, rust-doc and debian-policy were unpacked; `--articles DIR` one with
`ground-truth.json` (`{id: {articleBody, url}}`) and `html/ID.html.gz`. Without either, one page of
our own is read.
"""

import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from benchmarks.report import QUICK, Row

Shown = Callable[[bytes, str], str]
_FENCED = re.compile(r"^(`{3,})[^`\n]*\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(<?([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)>?\)")
_HEADING = re.compile(r"^(#{1,6}) (.*)$", re.MULTILINE)
_MARKS = re.compile(r"[*`_~\\¶]|\s+")
_PERMALINKS = {"", "¶", "#", "§", "\ue5d5", "\U0001f517"}
_HAS_PEER = find_spec("trafilatura") is not None
_PER_PROJECT = 2 if QUICK else 17
_OWN_PAGE = (
    "<!doctype html><title>Ferries</title><main><h1>Ferries</h1>"
    + "<p>The ferry of the northern route charges for <a href='/t'>seven minutes</a> a day.</p>"
    "<dl><dt><code>speed()</code></dt><dd>Return knots.<pre>def speed():\n\n    return 12\n</pre>"
    "</dd></dl>" * 40
)


@dataclass(frozen=True)
class Project:
    """Where the pages of a documentation lie, what of each is content, what its titles end in."""

    name: str
    folders: tuple[str, ...]
    pattern: str
    main: str
    without: str
    title_ends: str = r"$^"


_CHROME = (
    ".//script|.//style|.//nav|.//*[contains(concat(' ',@class,' '),' headerlink ')]|.//button"
)
PROJECTS = (
    Project(
        "Python",
        ("usr/share/doc/python3.11/html",),
        "*/*.html",
        "//div[@role='main']",
        _CHROME,
        r" — Python [\d.]+ documentation$",
    ),
    Project(
        "PostgreSQL",
        ("usr/share/doc/postgresql-doc-15/html",),
        "*.html",
        "//body",
        f"{_CHROME}|.//*[@class='navheader' or @class='navfooter']",
    ),
    Project(
        "Git", ("usr/share/doc/git-doc", "usr/share/doc/git/html"), "*.html", "//body", _CHROME
    ),
    Project(
        "SQLite",
        ("usr/share/doc/sqlite3",),
        "*.html",
        "//body",
        f"{_CHROME}|.//*[contains(@class,'nosearch')]",
    ),
    Project(
        "Apache",
        ("usr/share/doc/apache2-doc/manual/en",),
        "**/*.html",
        "//div[@id='page-content']",
        f"{_CHROME}|.//*[contains(@class,'lang')][contains(@class,'top') or "
        "contains(@class,'bottom')]|.//*[@class='top']|.//*[@id='quickview']|.//*[@id='comments_section']",
        r" - Apache HTTP Server.*$",
    ),
    Project(
        "Rust",
        ("usr/share/doc/rust-doc/html/std", "usr/share/doc/rust-doc/html/book"),
        "**/*.html",
        "//main",
        f"{_CHROME}|.//*[@class='sub' or @class='out-of-band' or @class='notable-traits'"
        " or @class='test-arrow']",
        r" - (?:Rust|The Rust Programming Language)$",
    ),
    Project(
        "Debian policy",
        ("usr/share/doc/debian-policy/policy.html",),
        "*.html",
        "//div[@role='main']",
        _CHROME,
        r" — Debian Policy Manual.*$",
    ),
)


def rows(docs: Path | None = None, articles: Path | None = None) -> Iterator[Row]:
    """Measure the pages in the given folders."""
    if docs is None and articles is None:
        yield _times("read one page", [(_OWN_PAGE.encode(), "https://docs.example/")] * 5)
    if docs is not None:
        yield from _documentation(docs)
    if articles is not None:
        yield from _articles(articles)


def ours(body: bytes, url: str) -> str:
    """Read a page with this package; what is refused has no text."""
    return _read(body, url).text


def _read(body: bytes, url: str) -> Any:
    from webtools._internal.pages.reading import Content, Source, read
    from webtools.errors import WebToolsError

    try:
        return read(Source(body, "text/html", url, url))
    except WebToolsError as error:
        return Content("", title=str(error))


def alone(body: bytes, url: str) -> str:
    """Read a page with trafilatura as it comes, as Markdown with links."""
    if not _HAS_PEER:
        return ""
    from trafilatura import extract

    found = extract(
        body, url=url, output_format="markdown", include_links=True, include_comments=False
    )
    return found or ""


# --- documentation -----------------------------------------------------------------------------


def _documentation(root: Path) -> Iterator[Row]:
    kept = {"ours": Counter[str](), "peer": Counter[str]()}
    total: Counter[str] = Counter()
    pages = []
    for project in PROJECTS:
        for body, url in _pages(root, project):
            pages.append((body, url))
            gold = _gold(body, url, project)
            total.update({kind: len(items) for kind, items in gold.items()})
            found = _read(body, url)
            title = gold["title"][0] if gold["title"] else ""
            kept["ours"]["title"] += _plain(found.title or "") == title
            _count(kept["ours"], gold, found.text)
            _count(kept["peer"], gold, alone(body, url))
    for kind, least in (("code", 0.97), ("inline", 0.97), ("links", 0.95), ("headings", 0.95)):
        yield _share(f"{kind} of {len(pages)} pages of documentation", kind, kept, total, least)
    yield _share("titles of documentation", "title", kept, total, 0.95)
    yield _times("read a page of documentation", pages)


def _pages(root: Path, project: Project) -> list[tuple[bytes, str]]:
    files: list[Path] = []
    for folder in project.folders:
        files += sorted(path for path in (root / folder).glob(project.pattern) if _fits(path))
    step = max(1, len(files) // _PER_PROJECT)
    chosen = files[::step][:_PER_PROJECT]
    return [
        (each.read_bytes(), f"https://docs.example/{each.relative_to(root)}") for each in chosen
    ]


def _fits(path: Path) -> bool:
    body = path.read_bytes() if path.stat().st_size < 1_000_000 else b""
    return b"<pre" in body and len(body) > 5000


def _gold(body: bytes, url: str, project: Project) -> dict[str, list[str]]:
    from lxml import html

    tree = html.document_fromstring(body, parser=html.HTMLParser(encoding="utf-8"))
    title = re.sub(project.title_ends, "", tree.findtext(".//title") or "", flags=re.DOTALL)
    main = tree.xpath(project.main)[0]
    for each in main.xpath(project.without):
        each.drop_tree()
    for each in main.iter("br"):
        each.tail = "\n" + (each.tail or "")
    return {
        "title": [_plain(title)],
        "code": [text for each in main.iter("pre") if (text := _code(each))],
        "inline": [
            " ".join(each.text_content().split())
            for each in main.iter("code")
            if not any(above.tag == "pre" for above in each.iterancestors())
            and each.text_content().strip()
        ],
        "links": list(_gold_links(main, url)),
        "headings": [
            f"{each.tag[1]} {_plain(each.text_content())}"
            for each in main.iter("h1", "h2", "h3", "h4", "h5", "h6")
            if _plain(each.text_content())
        ],
    }


def _code(pre: Any) -> str:
    return pre.text_content().strip("\n").rstrip()


def _gold_links(main: Any, url: str) -> Iterator[str]:
    for each in main.iter("a"):
        target = urljoin(url, each.get("href", ""))
        inside = any(above.tag == "pre" for above in each.iterancestors())
        text = each.text_content().strip()
        inside = inside or (each.get("href", "#")[0] == "#" and _stands_in_heading(each))
        if (
            each.get("href")
            and target.startswith("http")
            and text not in _PERMALINKS
            and not inside
        ):
            yield target


def _stands_in_heading(link: Any) -> bool:
    return any(above.tag in {"h1", "h2", "h3", "h4", "h5", "h6"} for above in link.iterancestors())


def _count(kept: Counter[str], gold: dict[str, list[str]], text: str) -> None:
    blocks = "\0".join(match[2] for match in _FENCED.finditer(text))
    kept["code"] += sum(code in blocks for code in gold["code"])
    folded = " ".join(text.split())
    kept["inline"] += sum(code in folded for code in gold["inline"])
    links = Counter(match[2] for match in _LINK.finditer(text))
    kept["links"] += (links & Counter(gold["links"])).total()
    headings = Counter(
        f"{len(match[1])} {_plain(_LINK.sub(_label, match[2]))}"
        for match in _HEADING.finditer(text)
    )
    kept["headings"] += (headings & Counter(gold["headings"])).total()


def _label(match: re.Match[str]) -> str:
    return match[1]


def _plain(text: str) -> str:
    return _MARKS.sub(lambda match: " " if match[0].isspace() else "", text).strip()


def _share(
    what: str, kind: str, kept: dict[str, Counter[str]], total: Counter[str], least: float
) -> Row:
    mine, other = (kept[side][kind] / max(1, total[kind]) for side in ("ours", "peer"))
    return Row(what, f"{mine:.1%}", f"{other:.1%}", mine, f"≥ {least}", mine >= least)


# --- articles ----------------------------------------------------------------------------------


def _articles(root: Path) -> Iterator[Row]:
    truth = json.loads((root / "ground-truth.json").read_text(encoding="utf-8"))
    known = list(truth.items())[: 10 if QUICK else None]
    pages = [
        (gzip.decompress((root / "html" / f"{key}.html.gz").read_bytes()), facts["url"])
        for key, facts in known
    ]
    gold = [facts["articleBody"] for _, facts in known]
    mine, other = (_score(read, pages, gold) for read in (ours, alone))
    what = f"F1 of the main text of {len(pages)} articles"
    yield Row(what, f"{mine:.3f}", f"{other:.3f}", mine - other, "≥ 0 more", mine >= other)
    yield _times("read an article", pages)


def _score(read: Shown, pages: Sequence[tuple[bytes, str]], gold: Sequence[str]) -> float:
    shares = [
        _overlap(_prose(read(body, url)), text)
        for (body, url), text in zip(pages, gold, strict=True)
    ]
    hit, extra, lost = (sum(side) for side in zip(*shares, strict=True))
    precision, recall = hit / max(1e-9, hit + extra), hit / (hit + lost)
    return 2 * precision * recall / max(1e-9, precision + recall)


def _overlap(text: str, gold: str) -> tuple[float, float, float]:
    """Return the shares of four-word sequences that are in both, only read, and only in gold."""
    read, true = _shingles(text), _shingles(gold)
    hit = (read & true).total()
    extra, lost = read.total() - hit, true.total() - hit
    total = max(1, hit + extra + lost)
    return hit / total, extra / total, lost / total


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = re.findall(r"\w+", text)
    return Counter(tuple(words[at : at + 4]) for at in range(max(1, len(words) - 3)))


def _prose(text: str) -> str:
    """Return the text without marks and targets of links, and without images."""
    text = re.sub(r"!\[[^\]]*\]\([^()\s]*(?:\([^()\s]*\))?[^()\s]*\)", " ", text)
    return re.sub(r"[*`~]", "", _LINK.sub(_label, text))


# --- time --------------------------------------------------------------------------------------


def _times(what: str, pages: Sequence[tuple[bytes, str]]) -> Row:
    """Time ours and trafilatura with metadata on each page in turn, the quicker of two goes."""
    if not _HAS_PEER:
        mine = 1e3 * sum(_seconds(ours, *page) for page in pages) / len(pages)
        return Row(what, f"{mine:.1f} ms", "no trafilatura", mine, "\u2013", None)
    from trafilatura import bare_extraction

    def peer(body: bytes, url: str) -> str:
        bare_extraction(body, url=url, with_metadata=True, include_comments=False)
        return ""

    spent = {"ours": 0.0, "peer": 0.0}
    for body, url in pages:
        for name, read in (("ours", ours), ("peer", peer)):
            spent[name] += min(_seconds(read, body, url) for _ in range(2))
    mine, other = (1e3 * each / len(pages) for each in spent.values())
    value = mine / other
    return Row(
        f"{what}, with metadata",
        f"{mine:.1f} ms",
        f"{other:.1f} ms",
        value,
        "≤ 1.5 ×",
        value <= 1.5,
    )


def _seconds(read: Shown, body: bytes, url: str) -> float:
    start = time.process_time()
    read(body, url)
    return time.process_time() - start
