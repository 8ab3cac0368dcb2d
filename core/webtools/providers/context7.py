"""Context7: documentation of software libraries.

API: https://context7.com/docs/api-guide and the OpenAPI document 2.0.0 (read 2026-11-21).
A look-up sends two requests: for the ID of the library, then for snippets. A key is optional.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from webtools._internal.text.cleaning import without_controls
from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ProviderError,
    RequestTimeoutError,
    UnavailableError,
)
from webtools.messages import OK, Request, Response
from webtools.providers import filters
from webtools.providers.about import About, Account, Capability, Options
from webtools.providers.context7_libraries import (
    Library,
    library_id,
    library_in,
    library_name,
    redirect_target,
    with_version,
)
from webtools.providers.error_tables import (
    WHOLE_BODY,
    ErrorTable,
    Meaning,
    read_error_body,
)
from webtools.providers.hits import HitFields, Item, SkippedValues, read_hits, read_items
from webtools.providers.parsing import (
    estimate,
    get_nested,
    json_object,
    maybe_object,
    success_object,
)
from webtools.providers.protocols import DocsCall, DocsQuery, Hits
from webtools.providers.snippets import by_page, fenced
from webtools.providers.waiting_times import retry_after

_MAX_BILLED_RESPONSES = 2  # the library and its snippets; redirects and waiting are free

_NOT_READY, _MOVED, _NOT_FOUND = 202, 301, 404
_REFUSALS = (401, 403)
_MAX_CHARACTERS = 500
_WAITS = (2.0, 4.0, 8.0)  # seconds, while Context7 prepares a library
_NO_LIBRARY, _NO_TAG = "library_not_found", "tag_not_found"
_ERRORS = ErrorTable(
    faults=(WHOLE_BODY,),
    code="error",
    words=("message", "error"),
    wait="retryAfterSeconds",
    # The library is private; the key is valid for others.
    meanings=(Meaning("access_denied|forbidden", BadRequestError, statuses=(401, 403)),),
)
_NOTHING_THERE = frozenset(
    [_NO_LIBRARY, _NO_TAG, "no_snippets_found", "no_libraries_found", "no_documentation_found"]
)
_PLACEHOLDERS = frozenset({"", "no content available", "no context data available"})

T = TypeVar("T")


class Context7Options(Options):
    """Options of a Context7 entry.

    Attributes:
        fast: Skip the ranking by a language model: faster, less precise.
    """

    fast: bool = False


ABOUT = About(
    name="context7",
    title="Context7",
    origin="https://context7.com",
    docs="https://context7.com/docs/api-guide",
    docs_date="2026-11-21",
    key_variables=("CONTEXT7_API_KEY",),
    key_url="https://context7.com/dashboard",
    free_plan="1,000 calls a month",
    needs_key=False,
    options=Context7Options,
    prices={"call": 0.01},  # above the allowance of a paid plan
    price_list="2026-11",
)


async def lookup(query: DocsQuery, account: Account, call: DocsCall) -> Hits:
    """Find the library, then its snippets. An unknown library has no snippets.

    Raises:
        InputError: The question or the library's name is too long for Context7.
        UnavailableError: Context7 is still preparing the library, or redirected twice.
    """
    for words in (query.query, query.library or ""):
        filters.check_length(words, ABOUT.title, _MAX_CHARACTERS)
    warnings: list[str] = []
    library = library_in(query)
    hits = await _read_library(library, query, account, call, warnings) if library else None
    # What looks like an ID in a question may be the path of a file.
    if hits is None and (library is None or not query.library):
        library = await _search_library(query, account, call, warnings)
        hits = await _read_library(library, query, account, call, warnings) if library else None
    hits = hits or Hits([])
    cost = estimate(0.0)  # calls within the monthly allowance are free
    return Hits(hits.results[: query.limit], cost, [*warnings, *hits.warnings])


def lookup_price(_query: DocsQuery, account: Account) -> float:
    """Return the price above the allowance. Calls without a key are free."""
    return ABOUT.prices["call"] * _MAX_BILLED_RESPONSES if account.api_key else 0.0


async def _search_library(
    query: DocsQuery, account: Account, call: DocsCall, warnings: list[str]
) -> Library | None:
    params = {"libraryName": library_name(query), "query": query.query}
    response = await call.send(_request("libs/search", params, account))
    if response.status == _NOT_FOUND:
        return None
    skipped = SkippedValues(account.name, "library", "libraries")
    items = [*filter(library_id, read_items(json_object(response.json())["results"], skipped))]
    ready = [item for item in items if item.text("state") == "finalized"]
    if items and items[0] not in ready:
        warnings.append(f"Context7 is still preparing {library_id(items[0])}.")
    warnings += skipped.warnings()
    return with_version(ready[0], query, warnings) if ready else None


async def _read_library(
    library: Library, query: DocsQuery, account: Account, call: DocsCall, warnings: list[str]
) -> Hits | None:
    """Return the snippets, or None if the library does not exist.

    Waits while Context7 prepares the library, follows one redirect, and falls back to the default
    version if the tag does not exist.
    """
    is_moved, waits = False, iter(_WAITS)
    while True:
        params = {"libraryId": library.id, "query": query.query, "type": "json"}
        response = await call.send(_request("context", params, account))
        fault = response.status == _NOT_FOUND and get_nested(response.json_or_none(), "error")
        if response.status == _NOT_READY:
            await _wait_until_ready(library, response, next(waits, None), account, call)
        elif response.status == _MOVED:
            if is_moved:
                message = f"Context7 moved {library.id} twice (HTTP {_MOVED}). Use another library."
                raise UnavailableError(
                    message, provider=account.name, status=_MOVED, retryable=False
                )
            target = Library.parse(redirect_target(maybe_object(response.json_or_none())))
            library = target._replace(version=library.version or target.version)
            is_moved = True
        elif library.version and fault == _NO_TAG:
            warnings.append(library.version_warning(library.version, []))
            library = library._replace(version=None)
        elif fault == _NO_LIBRARY:
            return None
        else:
            return _read_snippets(response, library, query, account)


async def _wait_until_ready(
    library: Library,
    response: Response,
    seconds: float | None,
    account: Account,
    call: DocsCall,
) -> None:
    not_ready = UnavailableError(
        f"Context7 is still preparing {library.id} (HTTP {_NOT_READY}). Try again in a minute.",
        provider=account.name,
        status=_NOT_READY,
        retry_after=retry_after(response),
    )
    if seconds is None:
        raise not_ready
    try:
        await call.sleep(max(seconds, retry_after(response) or 0.0))
    except RequestTimeoutError:
        raise not_ready from None


def _request(path: str, params: dict[str, str], account: Account) -> Request:
    fields = params | ({"fast": "true"} if account.options.fast else {})
    headers = {"authorization": f"Bearer {account.key}"} if account.api_key else {}
    url = f"{account.base_url}/api/v2/{path}?{urlencode(fields, quote_via=quote)}"
    return Request("GET", url, headers=headers)


def _read_snippets(
    response: Response, library: Library, query: DocsQuery, account: Account
) -> Hits:
    """Read code snippets, then texts. The snippets of a page become one result.

    `rules` are instructions of the library's owner to a model. They are untrusted, so ignore them.
    """
    start = response.body[:100].decode(errors="replace")
    if response.status == _NOT_FOUND or _is_placeholder(start):
        return Hits([])
    answer = success_object(response, *_FIELDS)
    home = f"{ABOUT.origin}{quote(library.path, safe='/@+')}"
    parts = [
        read_hits(answer.get(name, []), replace(fields, home=home), query, account)
        for name, fields in _FIELDS.items()
    ]
    results = by_page((result for hits in parts for result in hits.results), account)
    warnings = dict.fromkeys(warning for hits in parts for warning in hits.warnings)
    return Hits(results, warnings=list(warnings))


def _is_placeholder(text: str) -> bool:
    return text.strip().strip('".').lower() in _PLACEHOLDERS


def _code_text(item: Item) -> str:
    """Return the description and the code blocks of a snippet as Markdown."""
    blocks = [
        fenced(code.text("code"), code.line("language")) for code in item.children("codeList")
    ]
    description = without_controls(item.text("codeDescription")).strip()
    return "\n\n".join(filter(None, [description, *blocks]))


def _info_text(item: Item) -> str:
    text = without_controls(item.text("content")).strip()
    return "" if _is_placeholder(text) else text


_FIELDS = {
    "codeSnippets": HitFields(
        url=lambda item: item.text("codeId"),
        title=lambda item: item.line("codeTitle", "pageTitle") or "Code",
        snippet=_code_text,
    ),
    "infoSnippets": HitFields(
        url=lambda item: item.text("pageId"),
        title=lambda item: item.line("breadcrumb") or "Documentation",
        snippet=_info_text,
    ),
}


def read_error(
    response: Response, account: Account, _capability: Capability
) -> ProviderError | None:
    """Read `{"error", "message"}`. Responses that `lookup` handles itself are not errors."""
    answer = maybe_object(response.json_or_none())
    if not response.has_error and _is_handled(response.status, answer):
        return None
    body = read_error_body(_ERRORS, response, account)
    # Without a key, any refusal may be due to the missing key.
    is_refused = response.status in _REFUSALS and body.kind in (
        AuthenticationError,
        BadRequestError,
    )
    if account.api_key is None and is_refused:
        body.kind = AuthenticationError
        body.remedy = f'This needs an API key. Set one for provider "{account.name}".'
    return body.to_error(ABOUT, response, account)


def _is_handled(status: int, answer: dict[str, Any]) -> bool:
    if status == _NOT_FOUND:
        return str(answer.get("error")) in _NOTHING_THERE
    if status == _MOVED:
        return bool(redirect_target(answer))
    return status in (OK, _NOT_READY)
