"""The libraries that the imitated Context7 knows: packages of the standard library."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from webtools_sandbox import data_files, digest
from webtools_sandbox.corpus import query_terms

if TYPE_CHECKING:
    from webtools_sandbox.corpus import Document
    from webtools_sandbox.library import Library

_INDEXED = "2026-08-01T10:00:00.000Z"
_MOST_SNIPPETS = 5
_HEADING = re.compile(r"^#{2,4} ", re.MULTILINE)
_CODE = re.compile(r"^```python\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_UNKNOWN = -1


@dataclass(frozen=True)
class Package:
    """A library of Context7.

    Attributes:
        id: `/owner/name`.
        modules: The modules whose pages it has.
        description: One sentence.
        versions: Tags that can be asked for.
        lost: Tags that are listed too, but no longer there.
        trust: 0 to 10, or -1 for unknown.
        benchmark: 0 to 100; 0 means not measured.
        rules: What its owner wants to tell a model.
    """

    id: str
    modules: tuple[str, ...]
    description: str
    versions: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    trust: float = 9.5
    benchmark: float = 88.1
    rules: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The last part of the id."""
        return self.id.rpartition("/")[2]


_PACKAGES = TypeAdapter(list[Package]).validate_python(data_files.table("context7")["packages"])
BY_ID = {package.id: package for package in _PACKAGES}


def ranked(name: str, query: str) -> list[Package]:
    """Return the packages that share a word with `name`, best first."""
    wanted, asked = frozenset(query_terms(name)), frozenset(query_terms(query))
    scored = [
        (len(wanted & _words(package)), len(asked & _words(package)), package)
        for package in _PACKAGES
    ]
    found = [each for each in scored if each[0]]
    return [package for *_, package in sorted(found, key=lambda each: (-each[0], -each[1]))]


def _words(package: Package) -> frozenset[str]:
    return frozenset(digest.words(f"{package.id} {package.description}"))


@dataclass(frozen=True)
class Section:
    """A piece of a page: the documentation of one class or function."""

    page: Document
    number: int
    title: str
    description: str
    code: str


class Shelf:
    """The packages' pages, cut into sections once."""

    def __init__(self, library: Library) -> None:
        """Take the pages from `library`."""
        self._library = library
        self.sections = lru_cache(maxsize=None)(self._sections)
        self.described = lru_cache(maxsize=None)(self._described)

    def _described(self, package: Package) -> dict[str, Any]:
        """Return an entry of a library search; what is not known is -1, or is not there."""
        known = package.trust >= 0
        tokens = sum(digest.token_count(page.text) for page in self._pages(package))
        entry: dict[str, Any] = {
            "id": package.id,
            "title": package.title,
            "description": package.description,
            "branch": "main",
            "lastUpdateDate": _INDEXED,
            "state": "finalized",
            "totalTokens": tokens if known else _UNKNOWN,
            "totalSnippets": len(self.sections(package)) if known else _UNKNOWN,
            "trustScore": package.trust,
            "benchmarkScore": package.benchmark,
        }
        if known:
            entry["stars"] = 60_000
        if package.versions:
            entry["versions"] = [*package.versions, *package.lost]
        return entry

    def _pages(self, package: Package) -> list[Document]:
        """Return the pages of a package that this interpreter has."""
        names = {f"library/{module}.html" for module in package.modules}
        return [document for document in self._library.documents if document.path in names]

    def _sections(self, package: Package) -> list[Section]:
        """Cut the pages of a package at their headings."""
        return [
            _section(page, number, part)
            for page in self._pages(package)
            for number, part in enumerate(_HEADING.split(page.text))
        ]

    def best(self, package: Package, query: str) -> list[Section]:
        """Return the sections that fit a question, best first: with code, then without."""
        terms = frozenset(query_terms(query)) - frozenset(digest.words(package.id))
        scored = [(_score(one, terms), one) for one in self.sections(package)]
        found = sorted(scored, key=lambda each: -each[0])
        chosen = [one for score, one in found if score or not terms]
        with_code = [one for one in chosen if one.code][:_MOST_SNIPPETS]
        return with_code + [one for one in chosen if not one.code][:_MOST_SNIPPETS]


def _section(page: Document, number: int, part: str) -> Section:
    head, _, rest = part.partition("\n") if number else (page.title, "", part)
    title = head.strip().strip("`")
    code = "\n\n".join(_CODE.findall(rest))
    prose = " ".join(digest.sentences(rest)[:3]) or title
    return Section(page, number, title, prose, code)


def _score(section: Section, terms: frozenset[str]) -> int:
    in_title = terms & set(digest.words(section.title))
    return 3 * len(in_title) + len(terms & set(digest.words(section.description)))
