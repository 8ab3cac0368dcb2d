"""Stand-in for the Context7 API: libraries, and snippets of their documentation.

https://context7.com/docs/api-guide (read 2026-11-21). Its libraries are packages of the standard
library.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import Api, Json, QueryRequest, Route
from webtools_sandbox.corpus import Document, query_terms
from webtools_sandbox.keys import CONTEXT7_KEY, KeyRing
from webtools_sandbox.library import Library

_DATA = data_files.table("context7")
_PACKAGES: dict[str, Json] = {package["id"]: package for package in _DATA["packages"]}
_ID = re.compile(r"(/[^/]+/[^/@]+)(?:[/@]([^/]+))?")
_HEADING = re.compile(r"^#{2,4} ", re.MULTILINE)
_CODE = re.compile(r"^```python\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_MAX_SNIPPETS = 5
_UNKNOWN = -1

_Words = Annotated[str, Field(min_length=1, max_length=500)]


class LibraryRequest(QueryRequest):
    """The parameters of a search for libraries."""

    library_name: _Words = Field(alias="libraryName")
    query: _Words
    fast: Literal["true", "false"] = "false"


class ContextRequest(QueryRequest):
    """The parameters of a question about one library."""

    library_id: _Words = Field(alias="libraryId")
    query: _Words
    type: Literal["json"]
    fast: Literal["true", "false"] = "false"


class Snippet:
    """A section of a page: the documentation of one class or function.

    Args:
        url: Of the page.
        page: The page.
        number: Of the section; the first one is the introduction.
        text: Its Markdown.
    """

    def __init__(self, url: str, page: Document, number: int, text: str) -> None:
        head, _, rest = text.partition("\n") if number else (page.title, "", text)
        self.page = page
        self.page_url, self.url = url, f"{url}#_snippet_{number}"
        self.title = head.strip().strip("`")
        self.code = "\n\n".join(_CODE.findall(rest))
        self.description = " ".join(digest.sentences(rest)[:3]) or self.title

    def score(self, terms: frozenset[str]) -> int:
        """Count the words in common with a question. Words of the title weigh more."""
        in_title = terms.intersection(digest.words(self.title))
        return 3 * len(in_title) + len(terms.intersection(digest.words(self.description)))

    @property
    def as_code(self) -> Json:
        """The JSON form of a snippet with code."""
        return {
            "codeTitle": self.title,
            "codeDescription": self.description,
            "codeLanguage": "python",
            "codeTokens": digest.token_count(self.code),
            "codeId": self.url,
            "pageTitle": self.page.title,
            "codeList": [{"language": "python", "code": self.code}],
        }

    @property
    def as_info(self) -> Json:
        """The JSON form of a snippet without code."""
        return {
            "pageId": self.page_url,
            "breadcrumb": f"{self.page.title} > {self.title}",
            "content": self.description,
            "contentTokens": digest.token_count(self.description),
        }


class Context7Api(Api):
    """Context7's REST API; a key is optional."""

    name = "context7"
    key = CONTEXT7_KEY
    keyless = True
    is_default = True
    data = _DATA

    def __init__(self, library: Library, keys: KeyRing) -> None:
        """Serve packages of `library`, with or without a key."""
        super().__init__(library, keys)
        self._snippets = cache(self._cut)

    @Route(LibraryRequest, "GET /api/v2/libs/search", cached=True)
    def libraries(self, request: LibraryRequest) -> Json:
        """Answer with the libraries that share a word with a name, best first."""
        name, query = (
            frozenset(query_terms(item)) for item in (request.library_name, request.query)
        )
        words = {
            id_: frozenset(digest.words(f"{id_} {package['description']}"))
            for id_, package in _PACKAGES.items()
        }
        found = [id_ for id_ in words if name & words[id_]]
        found.sort(key=lambda id_: (-len(name & words[id_]), -len(query & words[id_])))
        return {"results": [self._describe(id_) for id_ in found], "searchFilterApplied": False}

    @Route(ContextRequest, "GET /api/v2/context")
    def context(self, request: ContextRequest) -> Json:
        """Answer a question from a library's documentation."""
        package = self._package(request.library_id)
        terms = frozenset(query_terms(request.query)) - frozenset(digest.words(package["id"]))
        all_snippets: list[Snippet] = self._snippets(package["id"])
        scored = sorted(
            ((item.score(terms), item) for item in all_snippets), key=lambda pair: -pair[0]
        )
        relevant = [item for score, item in scored if score or not terms]
        code = [item for item in relevant if item.code][:_MAX_SNIPPETS]
        info = [item for item in relevant if not item.code][:_MAX_SNIPPETS]
        if not relevant:
            raise self.refusal(404, "No snippets match the query.", "no_snippets_found")
        rules: Json = {"global": [], "libraryOwn": package.get("rules", []), "libraryTeam": []}
        return {
            "codeSnippets": [item.as_code for item in code],
            "infoSnippets": [item.as_info for item in info],
            "rules": rules,
        }

    def _package(self, identifier: str) -> Json:
        """Return the package of an id, or raise one of the documented errors."""
        parts = _ID.fullmatch(identifier)
        if parts is None:
            raise self.refusal(400, f"{identifier} is not a library ID", "invalid_library_id")
        name, version = parts[1], parts[2]
        if moved := _DATA["moved"].get(name):
            raise self.refusal(301, f"The library has moved to {moved}.", moved_to=moved)
        package = _PACKAGES.get(name)
        if package is None:
            raise self.refusal(404, f"The library {name} does not exist.")
        versions = package.get("versions", [])
        if version is not None and version not in versions:
            message = f"Tag {version} not found. Available tags: {', '.join(versions) or 'none'}"
            raise self.refusal(404, message, "tag_not_found")
        return package

    def _describe(self, name: str) -> Json:
        """Return an entry of a library search. Unknown values are -1 or missing."""
        package = _PACKAGES[name]
        is_trusted = package.get("trust", 9.5) >= 0
        tokens = sum(digest.token_count(page.text) for page in self._pages(name))
        entry: Json = {
            "id": name,
            "title": name.rpartition("/")[2],
            "description": package["description"],
            "branch": "main",
            "lastUpdateDate": "2026-08-01T10:00:00.000Z",
            "state": "finalized",
            "totalTokens": tokens if is_trusted else _UNKNOWN,
            "totalSnippets": len(self._snippets(name)) if is_trusted else _UNKNOWN,
            "trustScore": package.get("trust", 9.5),
            "benchmarkScore": package.get("benchmark", 88.1),
        }
        if is_trusted:
            entry["stars"] = 60_000
        if "versions" in package:  # those that are listed, and are no longer there, too
            entry["versions"] = [*package["versions"], *package.get("lost", [])]
        return entry

    def _pages(self, name: str) -> list[Document]:
        """Return the pages of a package that this interpreter has."""
        paths = {f"library/{module}.html" for module in _PACKAGES[name]["modules"]}
        return [document for document in self.library.documents if document.path in paths]

    def _cut(self, name: str) -> list[Snippet]:
        """Split the pages of a package at their headings. `_snippets` adds a cache."""
        return [
            Snippet(self.library.url(page), page, number, text)
            for page in self._pages(name)
            for number, text in enumerate(_HEADING.split(page.text))
        ]
