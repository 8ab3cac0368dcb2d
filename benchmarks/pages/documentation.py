"""Documentation: what of its code, links and headings survives, and which headed sections."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from benchmarks.pages.readers import Reading
from benchmarks.pages.scores import Counts, Sample, plain, words
from benchmarks.report import QUICK

_FENCED = re.compile(r"^(`{3,})[^`\n]*\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(
    r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(<?([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)>?"
    r"(?:\s+\"[^\"\n]*\")?\)"  # titles, which some readers keep
)
_HEADING = re.compile(r"^(#{1,6}) (.*)$", re.MULTILINE)
_MARKS = re.compile(r"[*`_~\\¶]|\s+")
_PERMALINKS = {"", "¶", "#", "§", "\ue5d5", "\U0001f517"}
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_PER_PROJECT = 2 if QUICK else 17
_OPENING = 8  # words by which the first paragraph of a section is recognized


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
    *(
        Project(
            name,
            (f"usr/share/doc/{package}/html{folder}",),
            "**/*.html",
            "//div[@role='main']",
            _CHROME,
            r" — .*$",
        )
        for name, package, folder in (
            ("Flask", "python-flask-doc", ""),
            ("Tornado", "python-tornado-doc", ""),
            ("Werkzeug", "python-werkzeug-doc", ""),
            ("GHC", "ghc-doc", "/users_guide"),
        )
    ),
)


def pages(root: Path) -> Iterator[Sample]:
    """Yield a choice of pages of each documentation."""
    for project in PROJECTS:
        for body, url in _pages(root, project):
            gold = _gold(body, url, project)

            def measure(
                reading: Reading, gold: dict[str, list[str]] = gold, url: str = url
            ) -> Counts:
                kept = Counter(title=int([_unmarked(reading.title)] == gold["title"]))
                _count(kept, gold, reading.text, url)
                return {
                    f"{kind} of documentation": (float(kept[kind]), float(len(items)))
                    for kind, items in gold.items()
                }

            yield Sample(body, url, measure)


def sections(root: Path) -> Iterator[Sample]:
    """Yield the pages with headed sections that have an id and a paragraph."""
    from lxml import html

    for path in sorted(root.glob("usr/share/doc/**/*.html")):
        if not path.is_file() or b"<section" not in (body := path.read_bytes()):
            continue
        tree = html.document_fromstring(body, parser=html.HTMLParser(encoding="utf-8"))
        openings = [opening for each in tree.iter("section") if (opening := _opening(each))]
        if openings:

            def measure(reading: Reading, openings: list[str] = openings) -> Counts:
                text = f" {' '.join(words(plain(reading.text)))} "
                kept = sum(f" {opening} " in text for opening in openings)
                return {"headed sections": (kept, len(openings))}

            yield Sample(body, f"https://docs.example/{path.relative_to(root)}", measure)


def _opening(section: Any) -> str:
    """Return the first words of the first paragraph, if the section has an id and a heading."""
    children = list(section)
    if not section.get("id") or not any(str(each.tag) in _HEADINGS for each in children):
        return ""
    found = (words(plain(each.text_content())) for each in children if each.tag == "p")
    return " ".join(next((each for each in found if len(each) >= _OPENING), [])[:_OPENING])


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
    main = next(iter(tree.xpath(project.main)), tree)
    for each in main.xpath(project.without):
        each.drop_tree()
    for each in main.iter("br"):
        each.tail = "\n" + (each.tail or "")
    return {
        "title": [_unmarked(title)],
        "code": [text for each in main.iter("pre") if (text := _code(each))],
        "inline": [
            " ".join(each.text_content().split())
            for each in main.iter("code")
            if not any(above.tag == "pre" for above in each.iterancestors())
            and each.text_content().strip()
        ],
        "links": list(_gold_links(main, url)),
        "headings": [
            f"{each.tag[1]} {_unmarked(each.text_content())}"
            for each in main.iter(*_HEADINGS)
            if _unmarked(each.text_content())
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
    return any(above.tag in _HEADINGS for above in link.iterancestors())


def _count(kept: Counter[str], gold: dict[str, list[str]], text: str, url: str) -> None:
    blocks = "\0".join(match[2] for match in _FENCED.finditer(text))
    kept["code"] += sum(code in blocks for code in gold["code"])
    folded = " ".join(text.split())
    kept["inline"] += sum(code in folded for code in gold["inline"])
    links = Counter(urljoin(url, match[2]) for match in _LINK.finditer(text))
    kept["links"] += (links & Counter(gold["links"])).total()
    headings = Counter(
        f"{len(match[1])} {_unmarked(_LINK.sub(_label, match[2]))}"
        for match in _HEADING.finditer(text)
    )
    kept["headings"] += (headings & Counter(gold["headings"])).total()


def _label(match: re.Match[str]) -> str:
    return match[1]


def _unmarked(text: str) -> str:
    return _MARKS.sub(lambda match: " " if match[0].isspace() else "", text).strip()
