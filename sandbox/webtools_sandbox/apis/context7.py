"""Stand-in for the Context7 API: libraries, and snippets of their documentation.

https://context7.com/docs/api-guide (read 2026-11-21).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import Api, Json, QueryRequest, RefusedError, Route, said, where
from webtools_sandbox.apis.context7_libraries import (
    BY_ID,
    MOVED,
    PRIVATE,
    Package,
    Section,
    Shelf,
    ranked,
)
from webtools_sandbox.keys import CONTEXT7_KEY, KeyRing
from webtools_sandbox.library import Library
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

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
    errors = data_files.errors("context7")

    def __init__(self, library: Library, keys: KeyRing) -> None:
        """Serve packages of `library`, to the holders of `keys` and to anybody."""
        super().__init__(library, keys)
        self._shelf = Shelf(library)

    def routes(self) -> dict[str, Route]:
        """Return what Context7 serves here."""
        return {
            "GET /api/v2/libs/search": Route(LibraryRequest, self._search_libraries),
            "GET /api/v2/context": Route(ContextRequest, self._context),
        }

    def check_key(self, call: Call) -> None:
        """Refuse a wrong key; none is fine."""
        if "authorization" in call.headers:
            super().check_key(call)

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:  # noqa: ARG002
        """Return the error for a parameter."""
        return RefusedError(400, f"{where(fault)}: {said(fault)}", "validation_error")

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:  # noqa: ARG002
        """Return Context7's error body; one for a library that moved names its new id."""
        body: Json = {"error": refused.code, "message": refused.message}
        if refused.status == 301:  # noqa: PLR2004
            body["redirectUrl"] = refused.more.get("moved_to", "/python/unittest")
        return json_reply(body, status=refused.status)

    def _search_libraries(self, request: LibraryRequest) -> Json:
        found = ranked(request.library_name, request.query)
        results = [self._shelf.described(package) for package in found]
        return {"results": results, "searchFilterApplied": False}

    def _context(self, request: ContextRequest) -> Any:
        package = self._package(request.library_id)
        found = self._shelf.best(package, request.query)
        if not found:
            raise RefusedError(404, "Nothing fits the query.", "no_snippets_found")
        if request.type == "txt":
            return self._text_reply(found)
        return {
            "codeSnippets": [self._code(one) for one in found if one.code],
            "infoSnippets": [self._info(one) for one in found if not one.code],
            "rules": {"global": [], "libraryOwn": list(package.rules), "libraryTeam": []},
        }

    def _package(self, identifier: str) -> Package:
        """Find the package of an id, or refuse it in one of the documented ways."""
        parts = _ID.fullmatch(identifier)
        if parts is None:
            raise RefusedError(400, f"{identifier} is no library ID", "invalid_library_id")
        name, version = parts[1], parts[2]
        if name in MOVED:
            message = f"The library has moved to {MOVED[name]}."
            raise RefusedError(301, message, "library_redirected", moved_to=MOVED[name])
        if name in PRIVATE:
            raise self.refusal(403)
        package = BY_ID.get(name)
        if package is None:
            raise RefusedError(404, f"The library {name} does not exist.", "library_not_found")
        if package.state != "finalized":
            raise self.refusal(202)
        if version is not None and version not in package.versions:
            tags = ", ".join(package.versions) or "none"
            message = f"Tag {version} not found. Available tags: {tags}"
            raise RefusedError(404, message, "tag_not_found")
        return package

    def _text_reply(self, found: list[Section]) -> Reply:
        parts = [f"### {one.title}\n\nSource: {self._url(one)}\n\n{_body(one)}" for one in found]
        return Reply(200, _RULE.join(parts).encode(), "text/plain; charset=utf-8")

    def _url(self, section: Section) -> str:
        return f"{self.library.url(section.page)}#_snippet_{section.number}"

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


def _body(section: Section) -> str:
    code = f"\n\n```python\n{section.code}\n```" if section.code else ""
    return section.description + code
