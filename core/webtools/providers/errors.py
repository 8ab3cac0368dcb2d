"""Sorts HTTP error answers into our errors, with a sentence on what to do."""

from __future__ import annotations

import time
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ProviderError,
    QuotaError,
    RateLimitError,
    ResponseFormatError,
    UnavailableError,
)
from webtools.http.messages import Response
from webtools.providers.parsing import quotable
from webtools.providers.protocols import Account

_LONGEST_MESSAGE = 500
_LONGEST_WAIT = 86_400.0  # seconds
_KINDS: dict[int, type[ProviderError]] = {
    401: AuthenticationError,
    402: QuotaError,
    403: AuthenticationError,
    408: UnavailableError,
    425: UnavailableError,
    429: RateLimitError,
}
_REMEDIES: dict[type[ProviderError], str] = {
    AuthenticationError: 'Check the API key of provider "{name}".',
    QuotaError: 'Top up the account of provider "{name}" or use another provider.',
    RateLimitError: "Wait before the next call, or set maxRequestsPerSecond.",
    BadRequestError: "Change the request; the same one will fail again.",
    UnavailableError: "Try again later or use another provider.",
    ResponseFormatError: "Check the provider's baseUrl.",
    ProviderError: "Change the request or use another provider.",
}


def kind_of(status: int) -> type[ProviderError]:
    """Give the error class of an HTTP status that is no success."""
    if status in _KINDS:
        return _KINDS[status]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return UnavailableError
    return BadRequestError if status >= HTTPStatus.BAD_REQUEST else ResponseFormatError


def failure(
    title: str,
    response: Response,
    account: Account,
    messages: Sequence[Any] = (),
    *,
    kind: type[ProviderError] | None = None,
    hint: str = "",
    wait: float | None = None,
) -> ProviderError:
    """Make the error for an answer: what failed, status, the provider's words, what to do.

    `wait` is for a provider that says in its own way how many seconds to wait; without it,
    `Retry-After` is read.
    """
    kind = kind or kind_of(response.status)
    head = f"{title} API returned HTTP {response.status}"
    if response.status < HTTPStatus.MULTIPLE_CHOICES:
        head = f"{title} API error"
    elif response.status < HTTPStatus.BAD_REQUEST:
        head += ", a redirect, which is refused"
    told = [quotable(m, account) for m in messages if isinstance(m, str) and m.strip()]
    said = [words[:_LONGEST_MESSAGE] for words in told]
    text = f"{head}: {', '.join(said)}" if said else head
    if kind not in (RateLimitError, UnavailableError):
        wait = None
    elif wait is None:
        wait = retry_after(response)
    remedy = hint or _REMEDIES[kind].format(name=account.name)
    if wait is not None and not hint:
        remedy = f"Wait {wait:g} s before the next call."
    return kind(
        f"{text.rstrip('.')}. {remedy}",
        provider=account.name,
        status=response.status,
        retry_after=wait,
    )


def retry_after(response: Response) -> float | None:
    """Read `Retry-After`: seconds, or an HTTP date (RFC 9110, section 10.2.3)."""
    value = response.headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        return bounded(float(value))
    except ValueError:
        return _until(value)


def bounded(seconds: float | None) -> float | None:
    """Take a time to wait, at most a day; a negative one or NaN counts as unknown."""
    return min(seconds, _LONGEST_WAIT) if seconds is not None and seconds >= 0 else None


def wait_until(moment: float | None) -> float | None:
    """Turn a moment in Unix time into whole seconds to wait from now; a past one gives 0."""
    if moment is None:
        return None
    return float(round(min(max(0.0, moment - time.time()), _LONGEST_WAIT)))


def _until(value: str) -> float | None:
    try:
        return wait_until(parsedate_to_datetime(value).timestamp())
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
