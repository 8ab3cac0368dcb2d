"""Stand-in for the Context7 API: libraries, and snippets of their documentation.

https://context7.com/docs/api-guide (read 2026-11-21).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import (
    Api,
    Json,
    QueryRequest,
    RefusedError,
    Route,
    said,
    where,
)
from webtools_sandbox.apis.context7_libraries import BY_ID, Package, Section, Shelf, ranked
from webtools_sandbox.keys import CONTEXT7_KEY, KeyRing
from webtools_sandbox.library import Library
from webtools_sandbox.wire import Call, Reply

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_DATA = data_files.table("context7")
_ID = re.compile(r"(/[^/]+/[^/@]+)(?:[/@]([^/]+))?")
_RULE = "\n\n" + "-" * 32 + "\n\n"

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
    type: Literal["txt", "json"] = "txt"
    fast: Literal["true", "false"] = "false"


class Context7Api(Api):
    """Context7's REST API; a key is optional."""

    name = "context7"
    key = CONTEXT7_KEY
    keyless = True
    usual = True
    data = _DATA

    def __init__(self, library: Library, keys: KeyRing) -> None:
        """Serve packages of `library`, to the holders of `keys` and to anybody."""
        super().__init__(library, keys)
        self._shelf = Shelf(library)

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:  # noqa: ARG002
        """Return the error for a parameter."""
        return self.refusal(400, f"{where(fault)}: {said(fault)}")

    @Route(LibraryRequest, "GET /api/v2/libs/search")
    def libraries(self, request: LibraryRequest) -> Json:
        """Answer with the libraries of a name."""
        found = ranked(request.library_name, request.query)
        results = [self._shelf.described(package) for package in found]
        return {"results": results, "searchFilterApplied": False}

    @Route(ContextRequest, "GET /api/v2/context")
    def context(self, request: ContextRequest) -> Any:
        """Answer with what a library's documentation says of a question, as text or as JSON."""
        package = self._package(request.library_id)
        found = self._shelf.best(package, request.query)
        if not found:
            raise self.refusal(404, "Nothing fits the query.", "no_snippets_found")
        if request.type == "txt":
            parts = [self._text(one) for one in found]
            return Reply(200, _RULE.join(parts).encode(), "text/plain; charset=utf-8")
        return {
            "codeSnippets": [self._code(one) for one in found if one.code],
            "infoSnippets": [self._info(one) for one in found if not one.code],
            "rules": {"global": [], "libraryOwn": list(package.rules), "libraryTeam": []},
        }

    def _package(self, identifier: str) -> Package:
        """Find the package of an id, or refuse it in one of the documented ways."""
        parts = _ID.fullmatch(identifier)
        if parts is None:
            raise self.refusal(400, f"{identifier} is no library ID", "invalid_library_id")
        name, version = parts[1], parts[2]
        if moved := _DATA["moved"].get(name):
            raise self.refusal(301, f"The library has moved to {moved}.", moved_to=moved)
        package = BY_ID.get(name)
        if package is None:
            raise self.refusal(404, f"The library {name} does not exist.")
        if version is not None and version not in package.versions:
            tags = ", ".join(package.versions) or "none"
            message = f"Tag {version} not found. Available tags: {tags}"
            raise self.refusal(404, message, "tag_not_found")
        return package

    def _url(self, section: Section) -> str:
        return f"{self.library.url(section.page)}#_snippet_{section.number}"

    def _text(self, section: Section) -> str:
        code = f"\n\n```python\n{section.code}\n```" if section.code else ""
        head = f"### {section.title}\n\nSource: {self._url(section)}\n\n"
        return head + section.description + code

    def _code(self, section: Section) -> Json:
        return {
            "codeTitle": section.title,
            "codeDescription": section.description,
            "codeLanguage": "python",
            "codeTokens": digest.token_count(section.code),
            "codeId": self._url(section),
            "pageTitle": section.page.title,
            "codeList": [{"language": "python", "code": section.code}],
        }

    def _info(self, section: Section) -> Json:
        return {
            "pageId": self.library.url(section.page),
            "breadcrumb": f"{section.page.title} > {section.title}",
            "content": section.description,
            "contentTokens": digest.token_count(section.description),
        }
