"""Context7: documentation of software libraries, found in two steps.

API: https://context7.com/docs/api-guide and the OpenAPI document 2.0.0 (read 2026-11-21).
A look-up first asks for the library's ID, then for its snippets. A key is optional.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from webtools._internal.http.messages import OK, Request, Response
from webtools._internal.text.cleaning import without_controls
from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ProviderError,
    RequestTimeoutError,
    UnavailableError,
)
from webtools.providers.about import About, Account, Capability, Options
from webtools.providers.context7_libraries import Library, id_of, moved_to, name_of, pinned
from webtools.providers.error_tables import (
    ITSELF,
    ErrorTable,
    Meaning,
    kind_of,
    read_error_body,
    retry_after,
)
from webtools.providers.hits import HitFields, Item, Oddities, read_hits, read_items
from webtools.providers.parsing import estimate, inside, json_object, maybe_object
from webtools.providers.protocols import DocsCall, DocsQuery, Hits
from webtools.providers.snippets import by_page, fenced

_MOST_ANSWERS = 2  # of a look-up: the library, its snippets; what only turns it is no answer

_NOT_READY, _MOVED, _NOT_FOUND = 202, 301, 404
_MOST_CHARACTERS = 500
_WAITS = (2.0, 4.0, 8.0)  # seconds, while Context7 prepares a library
_NO_LIBRARY, _NO_TAG = "library_not_found", "tag_not_found"
_ERRORS = ErrorTable(
    faults=(ITSELF,),
    code="error",
    words=("message", "error"),
    wait="retryAfterSeconds",
    # The library is private, and the key all right: the next question may be about one for all.
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
        fast: Skip the re-ranking by a language model: quicker and less precise.
    """

    fast: bool = False


ABOUT = About(
    name="context7",
    title="Context7",
    origin="https://context7.com",
    docs="https://context7.com/docs/api-guide",
    read="2026-11-21",
    key_variables=("CONTEXT7_API_KEY",),
    needs_key=False,
    options=Context7Options,
    prices={"call": 0.01},  # beyond a paid plan's allowance
    price_list="2026-11",
)


async def lookup(query: DocsQuery, account: Account, call: DocsCall) -> Hits:
    """Find the library, then its snippets; a library that is not known has none.

    Raises:
        UnavailableError: Context7 is still preparing the library, or moves it in circles.
    """
    warnings: list[str] = []
    library = Library.named(query)
    found = await _ask(library, query, account, call, warnings) if library else None
    # What looks like an ID in a question may be the path of a file.
    if found is None and (library is None or not query.library):
        library = await _found(query, account, call, warnings)
        found = await _ask(library, query, account, call, warnings) if library else None
    found = found or Hits([])
    free = estimate(0.0)  # as calls are within the monthly allowance
    return Hits(found.results[: query.limit], free, [*warnings, *found.warnings])


def lookup_price(_query: DocsQuery, account: Account) -> float:
    """Price a look-up as if the allowance were used up; without a key nobody can be billed."""
    return ABOUT.prices["call"] * _MOST_ANSWERS if account.api_key else 0.0


async def _found(
    query: DocsQuery, account: Account, call: DocsCall, warnings: list[str]
) -> Library | None:
    params = {"libraryName": name_of(query), "query": query.query}
    response = await call.send(_request("libs/search", params, account))
    if response.status == _NOT_FOUND:
        return None
    odd = Oddities(account.name, "library", "libraries")
    items = [*filter(id_of, read_items(json_object(response.json())["results"], odd))]
    first = next((i for i, item in enumerate(items) if item.text("state") == "finalized"), None)
    warnings += [f"Context7 is still preparing {id_of(item)}." for item in items[:first][:1]]
    warnings += odd.warnings()
    return None if first is None else pinned(items[first], query, warnings)


async def _ask(
    library: Library, query: DocsQuery, account: Account, call: DocsCall, warnings: list[str]
) -> Hits | None:
    """Ask for the snippets until they are there; None when there is no such library.

    The library may be in preparation, have moved, or have lost the version asked for; each of
    these ways round is gone a bounded number of times.
    """
    moved, waits = False, iter(_WAITS)
    while True:
        params = {"libraryId": library.id, "query": query.query, "type": "json"}
        response = await call.send(_request("context", params, account))
        missing = response.status == _NOT_FOUND and inside(response.json_or_none(), "error")
        if response.status == _NOT_READY:
            await _wait_for(library, response, next(waits, None), account, call)
        elif response.status == _MOVED:
            if moved:
                words = f"Context7 moved {library.id} twice (HTTP {_MOVED}). Name another library."
                raise UnavailableError(words, provider=account.name, status=_MOVED, retryable=False)
            new = Library.of(moved_to(maybe_object(response.json_or_none())))
            moved, library = True, replace(new, version=library.version or new.version)
        elif library.version and missing == _NO_TAG:
            warnings.append(library.lacks(library.version, []))
            library = replace(library, version=None)
        elif missing == _NO_LIBRARY:
            return None
        else:
            return _read_snippets(response, library, query, account)


async def _wait_for(
    library: Library,
    response: Response,
    seconds: float | None,
    account: Account,
    call: DocsCall,
) -> None:
    late = UnavailableError(
        f"Context7 is still preparing {library.id} (HTTP {_NOT_READY}). Try again in a minute.",
        provider=account.name,
        status=_NOT_READY,
        retry_after=retry_after(response),
    )
    if seconds is None:
        raise late
    try:
        await call.sleep(max(seconds, retry_after(response) or 0.0))
    except RequestTimeoutError:
        raise late from None


def _request(path: str, params: dict[str, str], account: Account) -> Request:
    fields = {name: words[:_MOST_CHARACTERS] for name, words in params.items()}
    if account.options.fast:
        fields["fast"] = "true"
    headers = {"authorization": f"Bearer {account.key}"} if account.api_key else {}
    url = f"{account.base_url}/api/v2/{path}?{urlencode(fields, quote_via=quote)}"
    return Request("GET", url, headers=headers)


def _read_snippets(
    response: Response, library: Library, query: DocsQuery, account: Account
) -> Hits:
    """Read code snippets, then texts; those of a page are one hit, ranked as the page's best is.

    `rules` are words of the library's owner to a model, untrusted, and left alone.
    """
    start = response.body[:100].decode(errors="replace")
    if response.status == _NOT_FOUND or _is_placeholder(start):
        return Hits([])
    answer = json_object(response.json())
    home = f"{ABOUT.origin}{quote(library.path, safe='/@+')}"
    found = [
        read_hits(answer.get(name, []), replace(fields, home=home), query, account)
        for name, fields in _FIELDS.items()
    ]
    results = by_page((result for hits in found for result in hits.results), account)
    warnings = dict.fromkeys(warning for hits in found for warning in hits.warnings)
    return Hits(results, warnings=list(warnings))


def _is_placeholder(words: str) -> bool:
    return words.strip().strip('".').lower() in _PLACEHOLDERS


def _code_text(item: Item) -> str:
    """Write a snippet's description and its blocks of code in Markdown, the code to the letter."""
    blocks = [
        fenced(each.text("code"), each.line("language")) for each in item.children("codeList")
    ]
    described = without_controls(item.text("codeDescription")).strip()
    return "\n\n".join(filter(None, [described, *blocks]))


def _info_text(item: Item) -> str:
    words = without_controls(item.text("content")).strip()
    return "" if _is_placeholder(words) else words


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


def read_error(response: Response, account: Account, _able: Capability) -> ProviderError | None:
    """Read `{"error", "message"}`; what only turns the dialogue is no error."""
    answer = maybe_object(response.json_or_none())
    if _goes_on(response.status, answer):
        return None
    said = read_error_body(_ERRORS, response, account)
    if account.api_key is None and kind_of(response.status) is AuthenticationError:
        said.kind = AuthenticationError
        said.remedy = f'Give provider "{account.name}" an API key: without one this is not allowed.'
    return said.failure(ABOUT, response, account)


def _goes_on(status: int, answer: dict[str, Any]) -> bool:
    if status == _NOT_FOUND:
        return str(answer.get("error")) in _NOTHING_THERE
    if status == _MOVED:
        return bool(moved_to(answer))
    return status in (OK, _NOT_READY)
