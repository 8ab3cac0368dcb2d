"""Brave's API: what its searches have in common, what it costs, and what its errors mean.

API: https://api-dashboard.search.brave.com/app/documentation (read 2026-11-21).
"""

from __future__ import annotations

from typing import Any, Literal

from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ProviderError,
    QuotaError,
    RateLimitError,
)
from webtools.http.messages import OK, Response
from webtools.providers.about import About, Account, Capability, SearchOptions
from webtools.providers.errors import ErrorTable, Meaning, read_error_body
from webtools.providers.parsing import inside, maybe_object, maybe_objects, number, strings

MOST_RESULTS = {"web": 20, "news": 50, "context": 50}
_PLAN = 'The plan of provider "{name}" lacks it: change its options or the plan.'
_ERRORS = ErrorTable(
    faults=("error", "errors"),  # the latter on some pages of the documentation
    code="code",
    words=("detail", "message", "msg"),
    meanings=(
        Meaning("SUBSCRIPTION_TOKEN_INVALID|SUBSCRIPTION_NOT_FOUND", AuthenticationError),
        Meaning("OPTION_NOT_IN_PLAN|RESOURCE_NOT_ALLOWED", BadRequestError, remedy=_PLAN),
        Meaning("RATE_LIMITED", RateLimitError),
        Meaning("QUOTA_LIMITED", QuotaError),
    ),
)
TOKEN_HEADER = "x-subscription-token"  # noqa: S105  # the header's name


class BraveOptions(SearchOptions):
    """Options of a Brave entry.

    Attributes:
        country: Where results should come from: two letters, or `ALL`.
        search_lang: Language of the results, such as `en` or `zh-hans`.
        safesearch: How much is filtered; always sent, as the API's own default differs by kind.
        extra_snippets: Add further extracts to each snippet, where the plan allows it.
    """

    country: str | None = None
    search_lang: str | None = None
    safesearch: Literal["off", "moderate", "strict"] = "moderate"
    extra_snippets: bool = False


ABOUT = About(
    name="brave",
    title="Brave",
    origin="https://api.search.brave.com",
    docs="https://api-dashboard.search.brave.com/app/documentation/web-search/get-started",
    read="2026-11-21",
    key_variables=("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"),
    options=BraveOptions,
    max_results=max(MOST_RESULTS.values()),
    prices={"search": 0.005},  # each answered request
    price_list="2026-09",
)


def read_error(response: Response, account: Account, _able: Capability) -> ProviderError | None:
    """Read the faults, whose codes decide; too many calls of a month that is used up is a quota."""
    if response.status == OK:
        return None
    said = read_error_body(_ERRORS, response, account)
    details = [detail for fault in said.faults for detail in _details(fault)[:3]]
    if any(TOKEN_HEADER in place for place, _ in details):
        said.kind = AuthenticationError
    if said.kind is RateLimitError and is_used_up(response, said.faults):
        said.kind = QuotaError
    said.words += [f"{'.'.join(place)}: {words}" for place, words in details]
    return said.failure(ABOUT, response, account)


def _details(fault: dict[str, Any]) -> list[tuple[list[str], Any]]:
    """Return what is wrong with parts of a request: where, and the words."""
    found = maybe_objects(inside(fault, "meta", "errors"))
    return [(strings(each.get("loc")), each.get("msg")) for each in found]


def is_used_up(response: Response, faults: list[dict[str, Any]]) -> bool:
    """Return whether nothing is left of the month; a limit of 0 is a plan that has none."""
    limit, left = _of_month(response, "limit"), _of_month(response, "remaining")
    metas = [maybe_object(fault.get("meta")) for fault in faults]
    pairs = [(number(meta.get("quota_limit")), number(meta.get("quota_current"))) for meta in metas]
    if limit is not None and left is not None:
        pairs.append((limit, limit - left))
    return any(most and used is not None and used >= most for most, used in pairs)


def _of_month(response: Response, name: str) -> float | None:
    """Return a number of the rate limit, of which the first is that of the second."""
    _, _, month = response.headers.get(f"x-ratelimit-{name}", "").partition(",")
    return number(month.partition(",")[0].strip())
