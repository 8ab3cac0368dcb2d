"""Context7: documentation of software libraries, found in two steps.

API: https://context7.com/docs/api-guide and the OpenAPI document 2.0.0 (read 2026-11-21).
A look-up first asks for the library's ID, then for its snippets. A key is optional.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote, urlencode

from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ProviderError,
    RequestTimeoutError,
    UnavailableError,
)
from webtools.flows.drivers import Sleep
from webtools.http.messages import OK, Request, Response
from webtools.providers.about import About, Capability, Options
from webtools.providers.errors import (
    ITSELF,
    ErrorTable,
    Meaning,
    bounded,
    kind_of,
    read_error_body,
    retry_after,
)
from webtools.providers.hits import HitFields, Item, Oddities, read_hits, read_items
from webtools.providers.parsing import json_object, maybe_object, number, text
from webtools.providers.prices import estimate
from webtools.providers.protocols import Account, DocsQuery, Hits
from webtools.providers.snippets import by_page, fenced
from webtools.text.cleaning import without_controls

_MOST_ANSWERS = 2  # of a look-up: the library, its snippets; what only turns it is no answer

_NOT_READY, _MOVED, _NOT_FOUND = 202, 301, 404
_MOST_CHARACTERS = 500
_WAITS = (2.0, 4.0, 8.0)  # seconds, while Context7 prepares a library
_NO_LIBRARY, _NO_TAG = "library_not_found", "tag_not_found"
_ERRORS = ErrorTable(
    faults=(ITSELF,),
    code="error",
    words=("message", "error"),
    # The library is private, and the key all right: the next question may be about one for all.
    meanings=(Meaning("access_denied|forbidden", BadRequestError, statuses=(401, 403)),),
)
_NOTHING_THERE = frozenset(
    [_NO_LIBRARY, _NO_TAG, "no_snippets_found", "no_libraries_found", "no_documentation_found"]
)
_PLACEHOLDERS = frozenset({"", "no content available", "no context data available"})

_ID = re.compile(r"/[\w.@+-]+/[\w.+-]*\w(?:[/@][\w.+-]*\w)?", re.ASCII)
_ID_IN_TEXT = re.compile(rf"(?<!\S){_ID.pattern}(?![\w/])", re.ASCII)
_VERSION = r"[vV]?\d+(?:\.\d\w*)*(?:-\w+(?:\.\w+)*)?"
_END = r"(?![\w@]|\.\w)"
_PIN_IN_TEXT = re.compile(rf"(?<!\S)(@?[\w.-]+(?:/[\w.-]+)?)@({_VERSION}){_END}", re.ASCII)
_VERSION_AFTER_NAME = re.compile(rf"(?<![\w.-])([\w.-]{{1,100}}) ({_VERSION}){_END}", re.ASCII)

T = TypeVar("T")
Turns: TypeAlias = Generator[Request | Sleep, Response, T]


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


@dataclass(frozen=True, slots=True)
class _Target:
    """The library to ask.

    Attributes:
        library: Its ID, `/owner/name`.
        version: The tag to ask for, or None for the library's default.
    """

    library: str
    version: str | None = None

    @property
    def id(self) -> str:
        return f"{self.library}@{self.version}" if self.version else self.library


def lookup(query: DocsQuery, account: Account) -> Turns[Hits]:
    """Find the library, then its snippets; a library that is not known has none.

    Raises:
        UnavailableError: Context7 is still preparing the library, or moves it in circles.
    """
    warnings: list[str] = []
    target = _named(query)
    found = (yield from _ask(target, query, account, warnings)) if target else None
    # What looks like an ID in a question may be the path of a file.
    if found is None and (target is None or not query.library):
        target = yield from _found(query, account, warnings)
        found = (yield from _ask(target, query, account, warnings)) if target else None
    found = found or Hits([])
    free = estimate(0.0)  # as calls are within the monthly allowance
    return Hits(found.results[: query.limit], free, [*warnings, *found.warnings])


def lookup_price(_query: DocsQuery, account: Account) -> float:
    """Price a look-up as if the allowance were used up; without a key nobody can be billed."""
    return ABOUT.prices["call"] * _MOST_ANSWERS if account.api_key else 0.0


def _named(query: DocsQuery) -> _Target | None:
    """Take an ID that the caller or the question names."""
    given = query.library or ""
    found = _ID.fullmatch(given) or (None if given else _ID_IN_TEXT.search(query.query))
    return _target(found[0]) if found else None


def _target(identifier: str) -> _Target:
    owner, name = identifier.split("/", 2)[1:]
    name, _, version = re.sub(r"[/@]", " ", name).partition(" ")
    return _Target(f"/{owner}/{name}", version or None)


def _found(query: DocsQuery, account: Account, warnings: list[str]) -> Turns[_Target | None]:
    name, wanted = _split_name(query)
    params = {"libraryName": name, "query": query.query}
    response = yield _request("libs/search", params, account)
    if response.status == _NOT_FOUND:
        return None
    odd = Oddities(account.name, "library", "libraries")
    items = [item for item in read_items(json_object(response.json())["results"], odd) if _id(item)]
    first = next((i for i, item in enumerate(items) if item.text("state") == "finalized"), None)
    warnings += [f"Context7 is still preparing {_id(item)}." for item in items[:first][:1]]
    warnings += odd.warnings()
    if first is None:
        return None
    wanted = wanted or _version_said(items[first], query)
    return _pinned(items[first], wanted, warnings)


def _split_name(query: DocsQuery) -> tuple[str, str | None]:
    """Return the library's name as far as it is known, and the version wanted as `name@version`."""
    pin = _PIN_IN_TEXT.search(query.library or query.query)
    if pin:
        return pin[1], pin[2]
    return query.library or query.query, None


def _id(item: Item) -> str:
    found = _ID.fullmatch(item.text("id"))
    return found[0] if found else ""


def _version_said(item: Item, query: DocsQuery) -> str | None:
    """Find a version that stands right behind the library's name."""
    names = set(re.findall(r"[\w.-]+", f"{item.text('title')} {_id(item)}".lower()))
    for said in _VERSION_AFTER_NAME.finditer(f"{query.library or ''} {query.query}"):
        if said[1].lower() in names:
            return said[2]
    return None


def _pinned(item: Item, wanted: str | None, warnings: list[str]) -> _Target:
    target = _Target(_id(item))
    if wanted is None:
        return target
    known = [tag for tag in item.texts("versions") if _ID.fullmatch(f"/x/x@{tag}")]
    bare = wanted.lower().removeprefix("v")
    tag = next((tag for tag in known if tag.lower().removeprefix("v") == bare), None)
    if tag is None:
        warnings.append(_unpinned(target, wanted, known))
    return replace(target, version=tag)


def _unpinned(target: _Target, version: str, known: list[str]) -> str:
    there = f" (there are {', '.join(known[:5])})" if known else ""
    return (
        f"Context7 has no version {version} of {target.library}{there}, so the snippets are of "
        "its default version."
    )


def _ask(
    target: _Target, query: DocsQuery, account: Account, warnings: list[str]
) -> Turns[Hits | None]:
    """Ask for the snippets until they are there; None when there is no such library.

    The library may be in preparation, have moved, or have lost the version asked for; each of
    these ways round is gone a bounded number of times.
    """
    moved, waits = False, iter(_WAITS)
    while True:
        params = {"libraryId": target.id, "query": query.query, "type": "json"}
        response = yield _request("context", params, account)
        missing = _missing(response)
        if response.status == _NOT_READY:
            yield from _wait_for(target, response, next(waits, None), account)
        elif response.status == _MOVED:
            if moved:
                words = f"Context7 moved {target.id} twice (HTTP {_MOVED}). Name another library."
                raise UnavailableError(words, provider=account.name, status=_MOVED, retryable=False)
            new = _target(_new_id(maybe_object(response.json_or_none())))
            moved, target = True, replace(new, version=target.version or new.version)
        elif target.version and missing == _NO_TAG:
            warnings.append(_unpinned(target, target.version, []))
            target = replace(target, version=None)
        elif missing == _NO_LIBRARY:
            return None
        else:
            return _read_snippets(response, target, query, account)


def _missing(response: Response) -> Any:
    if response.status != _NOT_FOUND:
        return None
    return maybe_object(response.json_or_none()).get("error")


def _wait_for(
    target: _Target, response: Response, seconds: float | None, account: Account
) -> Turns[None]:
    late = UnavailableError(
        f"Context7 is still preparing {target.id} (HTTP {_NOT_READY}). Try again in a minute.",
        provider=account.name,
        status=_NOT_READY,
        retry_after=retry_after(response),
    )
    if seconds is None:
        raise late
    try:
        yield Sleep(max(seconds, retry_after(response) or 0.0))
    except RequestTimeoutError:
        raise late from None


def _new_id(answer: dict[str, Any]) -> str:
    """Find where a library has moved to; the message names it when the field is missing."""
    given = text(answer.get("redirectUrl"))
    found = _ID.fullmatch(given)
    if found is None and not given:
        *_, found = [None, *_ID_IN_TEXT.finditer(text(answer.get("message")).rstrip(". "))]
    return found[0] if found else ""


def _request(path: str, params: dict[str, str], account: Account) -> Request:
    fields = {name: words[:_MOST_CHARACTERS] for name, words in params.items()}
    if account.options.fast:
        fields["fast"] = "true"
    headers = {"authorization": f"Bearer {account.key}"} if account.api_key else {}
    url = f"{account.base_url}/api/v2/{path}?{urlencode(fields, quote_via=quote)}"
    return Request("GET", url, headers=headers)


def _read_snippets(response: Response, target: _Target, query: DocsQuery, account: Account) -> Hits:
    """Read code snippets, then texts; those of a page are one hit, ranked as the page's best is.

    `rules` are words of the library's owner to a model, untrusted, and left alone.
    """
    start = response.body[:100].decode(errors="replace")
    if response.status == _NOT_FOUND or _is_placeholder(start):
        return Hits([])
    answer = json_object(response.json())
    home = f"{ABOUT.origin}{quote(target.library, safe='/@+')}"
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
    said.wait = bounded(number(answer.get("retryAfterSeconds")))
    return said.failure(ABOUT, response, account)


def _goes_on(status: int, answer: dict[str, Any]) -> bool:
    if status == _NOT_FOUND:
        return str(answer.get("error")) in _NOTHING_THERE
    if status == _MOVED:
        return bool(_new_id(answer))
    return status in (OK, _NOT_READY)
