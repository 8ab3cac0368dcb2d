"""Stand-in for the Context7 API: libraries, and snippets of their documentation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from webtools_sandbox import _context7_libraries as libraries
from webtools_sandbox import digest
from webtools_sandbox.keys import NO_CREDIT, UNKNOWN
from webtools_sandbox.wire import Call, RefusedError, Reply, json_reply

if TYPE_CHECKING:
    from webtools_sandbox._context7_libraries import Package, Section
    from webtools_sandbox.keys import KeyRing
    from webtools_sandbox.library import Library

KEY = "test-key-context7"

_ID = re.compile(r"(/[^/]+/[^/@]+)(?:[/@]([^/]+))?")
_MAX_CHARACTERS = 500
_MAX_LIBRARIES = 4
_MOVED = 301
_RULE = "\n\n" + "-" * 32 + "\n\n"
_ERRORS = {
    202: ("library_not_finalized", "The library is still being processed. Try again later."),
    301: ("library_redirected", "The library has moved to /python/unittest."),
    400: ("validation_error", "The request is not valid."),
    401: ("invalid_api_key", "Invalid API key. API keys start with the prefix 'ctx7sk'."),
    402: ("spending_limit_exceeded", "The monthly spending limit of the team is reached."),
    403: ("access_denied", "You may not use this library."),
    404: ("library_not_found", "The library does not exist."),
    422: ("no_code_found", "The library has no code."),
    429: ("rate_limit_exceeded", "Rate limit exceeded. Try again later."),
    500: ("internal_error", "An internal error occurred."),
    503: ("search_failed", "The search failed."),
    504: ("timeout", "The request took too long."),
}


class Context7Api:
    """Context7's REST API; a key is optional."""

    def __init__(self, library: Library, keys: KeyRing) -> None:
        """Serve packages of `library`, to the holders of `keys` and to anybody."""
        self._library = library
        self._shelf = libraries.Shelf(library)
        self._keys = keys
        self._routes = {
            "/api/v2/libs/search": self._search_libraries,
            "/api/v2/context": self._context,
            "/api/v3/search": self._search,
        }

    def answer(self, call: Call) -> Reply:
        """Answer as context7.com does."""
        handler = self._routes.get(call.path)
        if handler is None or call.method != "GET":
            return self.failure(call, 404, f"No route {call.method} {call.path}")
        if "authorization" in call.headers:
            standing = self._keys.check(KEY, self.sent_key(call))
            if standing is UNKNOWN:
                return self.failure(call, 401)
            if standing is NO_CREDIT:
                return self.failure(call, 402)
        try:
            return handler(call)
        except RefusedError as refused:
            code, moved_to = str(refused.code), refused.location or ""
            return _error(refused.status, code, refused.message, moved_to)

    def failure(self, call: Call, status: int, message: str | None = None) -> Reply:  # noqa: ARG002
        """Return Context7's error body for `status`."""
        code, text = _ERRORS.get(status, ("internal_error", "The request failed."))
        return _error(status, code, message or text, "/python/unittest" if status == _MOVED else "")

    def settings(self, base_url: str) -> dict[str, Any]:
        """Return the entry of a web-search.json."""
        return {"name": "context7", "type": "context7", "apiKey": KEY, "baseUrl": base_url}

    def sent_key(self, call: Call) -> str:
        """Return the token of a Bearer header."""
        scheme, _, token = call.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""

    def reset(self) -> None:
        """Nothing to forget: the answers carry no state."""

    # --- v2 ------------------------------------------------------------------------------------

    def _search_libraries(self, call: Call) -> Reply:
        name, query = _text(call, "libraryName"), _text(call, "query")
        _check_fast(call)
        found = libraries.ranked(name, query)
        results = [self._shelf.described(package) for package in found]
        return json_reply({"results": results, "searchFilterApplied": False})

    def _context(self, call: Call) -> Reply:
        query = _text(call, "query")
        _check_fast(call)
        package = _package(_text(call, "libraryId"))
        kind = call.query.get("type", "txt")
        if kind not in {"txt", "json"}:
            raise RefusedError("type must be txt or json", code="validation_error")
        found = self._shelf.best(package, query)
        if not found:
            raise RefusedError("Nothing fits the query.", code="no_snippets_found", status=404)
        if kind == "txt":
            return self._text_reply(found)
        rules = {"global": [], "libraryOwn": list(package.rules), "libraryTeam": []}
        return json_reply({**self._snippets(found), "rules": rules})

    def _text_reply(self, found: list[Section]) -> Reply:
        parts = [f"### {one.title}\n\nSource: {self._url(one)}\n\n{_body(one)}" for one in found]
        return Reply(200, _RULE.join(parts).encode(), "text/plain; charset=utf-8")

    def _snippets(self, found: list[Section], **more: Any) -> dict[str, list[dict[str, Any]]]:
        return {
            "codeSnippets": [self._code(one) | more for one in found if one.code],
            "infoSnippets": [self._info(one) | more for one in found if not one.code],
        }

    def _url(self, section: Section) -> str:
        return f"{self._library.url(section.page)}#_snippet_{section.number}"

    def _code(self, section: Section) -> dict[str, Any]:
        return {
            "codeTitle": section.title,
            "codeDescription": section.description,
            "codeLanguage": "python",
            "codeTokens": digest.token_count(section.code),
            "codeId": self._url(section),
            "pageTitle": section.page.title,
            "codeList": [{"language": "python", "code": section.code}],
        }

    def _info(self, section: Section) -> dict[str, Any]:
        return {
            "pageId": self._library.url(section.page),
            "breadcrumb": f"{section.page.title} > {section.title}",
            "content": section.description,
            "contentTokens": digest.token_count(section.description),
        }

    # --- v3 ------------------------------------------------------------------------------------

    def _search(self, call: Call) -> Reply:
        """Search up to four libraries at once; one that fails makes the answer a partial one."""
        query = _text(call, "query")
        pairs = parse_qsl(call.query_string, keep_blank_values=True)
        named = [value for name, value in pairs if name == "library"]
        if len(named) > _MAX_LIBRARIES:
            message = f"Too big: expected array to have <={_MAX_LIBRARIES} items"
            raise RefusedError(message, code="validation_error")
        packages = [_named(name) for name in named] or libraries.ranked(query, query)[:1]
        known = [package for package in packages if package is not None]
        if not known:
            raise RefusedError("Nothing found.", code="no_documentation_found", status=404)
        answer: dict[str, list[Any]] = {"codeSnippets": [], "infoSnippets": []}
        for package in known:
            found = self._shelf.best(package, query)
            for name, snippets in self._snippets(found, libraryId=package.id).items():
                answer[name] += snippets
        headers = {"X-Context7-Search-Status": "complete"}
        if len(known) < len(packages):
            headers = {"X-Context7-Search-Status": "partial"}
            headers["X-Context7-Search-Reason"] = "partialSearchFailure"
        return json_reply(answer, headers=headers)


def _error(status: int, code: str, message: str, moved_to: str) -> Reply:
    moved = {"redirectUrl": moved_to} if moved_to else {}
    return json_reply({"error": code, "message": message, **moved}, status=status)


def _named(name: str) -> Package | None:
    return libraries.BY_ID.get(name) or next(iter(libraries.ranked(name, name)), None)


def _body(section: Section) -> str:
    code = f"\n\n```python\n{section.code}\n```" if section.code else ""
    return section.description + code


def _text(call: Call, name: str) -> str:
    value = call.query.get(name, "")
    if not 1 <= len(value) <= _MAX_CHARACTERS:
        message = f"{name}: expected string to have 1 to {_MAX_CHARACTERS} characters"
        raise RefusedError(message, code="validation_error")
    return value


def _check_fast(call: Call) -> None:
    if call.query.get("fast", "false") not in {"true", "false"}:
        raise RefusedError("fast must be true or false", code="validation_error")


def _package(identifier: str) -> Package:
    """Find the package of an id, or refuse it in one of the documented ways."""
    parts = _ID.fullmatch(identifier)
    if parts is None:
        raise RefusedError(f"{identifier} is no library ID", code="invalid_library_id")
    name, version = parts[1], parts[2]
    if name in libraries.MOVED:
        new = libraries.MOVED[name]
        message = f"The library has moved to {new}."
        raise RefusedError(message, code="library_redirected", status=301, location=new)
    package = libraries.BY_ID.get(name)
    if name in libraries.PRIVATE:
        raise RefusedError(_ERRORS[403][1], code="access_denied", status=403)
    if package is None:
        message = f"The library {name} does not exist."
        raise RefusedError(message, code="library_not_found", status=404)
    if package.state != "finalized":
        raise RefusedError(_ERRORS[202][1], code="library_not_finalized", status=202)
    if version is not None and version not in package.versions:
        tags = ", ".join(package.versions) or "none"
        message = f"Tag {version} not found. Available tags: {tags}"
        raise RefusedError(message, code="tag_not_found", status=404)
    return package
