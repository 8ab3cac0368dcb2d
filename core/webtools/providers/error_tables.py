"""Turn HTTP error responses into webtools errors, by status and by a table of the error body."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from webtools._internal.http.messages import CLIENT_ERRORS, OK, REDIRECTS, SERVER_ERRORS, Response
from webtools._internal.text.cleaning import shortened
from webtools._internal.text.narrowing import is_list, is_object
from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ProviderError,
    QuotaError,
    RateLimitError,
    ResponseFormatError,
    UnavailableError,
)
from webtools.providers.about import About, Account, Capability
from webtools.providers.parsing import clean_quote, http_date, maybe_object, maybe_objects, number

WHOLE_BODY = ""
"""In `ErrorTable.faults`: the body itself is the fault."""

_MAX_MESSAGE_CHARACTERS = 500
_MAX_WAIT = 86_400.0  # seconds
_MINUTE = 60.0
_MIN_UNIX_TIME = 1e9  # a greater reset is a Unix time, a smaller one a number of seconds
_RESET_HEADERS = ("x-ratelimit-reset", "ratelimit-reset")
_CLASSES: dict[int, type[ProviderError]] = {
    401: AuthenticationError,
    402: QuotaError,
    403: AuthenticationError,
    408: UnavailableError,
    425: UnavailableError,
    429: RateLimitError,
}
_LIMITS_WITHOUT_KEY = (AuthenticationError, QuotaError, RateLimitError)
_REMEDIES: dict[type[ProviderError], str] = {
    AuthenticationError: 'Check the API key of provider "{name}".',
    QuotaError: 'Top up the account of provider "{name}" or use another provider.',
    RateLimitError: "Wait before the next call, or set maxRequestsPerSecond.",
    BadRequestError: "Change the request. The same one will fail again.",
    UnavailableError: "Try again later or use another provider.",
    ResponseFormatError: "Check the provider's baseUrl.",
    ProviderError: "Change the request or use another provider.",
}


def error_class(status: int) -> type[ProviderError]:
    """Return the error class of an HTTP status. 200 gives `ProviderError`."""
    if status == OK:
        return ProviderError
    if status in _CLASSES:
        return _CLASSES[status]
    if status >= SERVER_ERRORS:
        return UnavailableError
    return BadRequestError if status >= CLIENT_ERRORS else ResponseFormatError


def make_error(
    title: str,
    response: Response,
    account: Account,
    messages: Sequence[Any] = (),
    *,
    kind: type[ProviderError] | None = None,
    hint: str = "",
    wait: float | None = None,
) -> ProviderError:
    """Return the error for a response, with its status, the messages of the API, and advice.

    Args:
        title: Name of the provider in messages.
        response: The response.
        account: The provider's account.
        messages: The messages of the API. Values that are not strings are ignored.
        kind: The error class. Default: by the HTTP status.
        hint: Advice on what to do. Default: the usual advice for the error class.
        wait: Seconds to wait according to the body. A `Retry-After` header takes precedence.
    """
    kind = kind or error_class(response.status)
    text = f"{title} API returned HTTP {response.status}"
    if response.status < REDIRECTS:
        text = f"{title} API error"
    elif response.status < CLIENT_ERRORS:
        text += " (redirects are not followed)"
    # Redact before cutting: half a key would not be recognized.
    quotes = [clean_quote(m, account) for m in messages if isinstance(m, str) and m.strip()]
    if quotes:
        text += f": {', '.join(shortened(quote, _MAX_MESSAGE_CHARACTERS) for quote in quotes)}"
    wait = _wait(kind, response, wait)
    remedy = hint or _REMEDIES[kind].format(name=account.name)
    if wait is not None and not hint:
        remedy = f"Wait {wait:g} s before the next call."
    return kind(
        f"{text.rstrip('.')}. {remedy}",
        provider=account.name,
        status=response.status,
        retry_after=wait,
    )


def _wait(kind: type[ProviderError], response: Response, default: float | None) -> float | None:
    if kind not in (RateLimitError, UnavailableError):
        return None
    seconds = retry_after(response)
    if seconds is None and kind is RateLimitError:
        seconds = _seconds_until_reset(response)
    return default if seconds is None else seconds


def retry_after(response: Response) -> float | None:
    """Return the seconds to wait from `Retry-After-Ms`, else from `Retry-After`, or None.

    `Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3).
    """
    milliseconds = number(response.headers.get("retry-after-ms"), minimum=0)
    if milliseconds is not None:
        return limit_wait(milliseconds / 1000)
    value = response.headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        return limit_wait(float(value))
    except ValueError:
        moment = http_date(value)
        return wait_until(moment.timestamp()) if moment else None


def _seconds_until_reset(response: Response) -> float | None:
    """Return the seconds until a rate limit resets. If there are several, the first is shortest.

    Unix times are whole seconds, so wait at least one.
    """
    value = next(filter(None, map(response.headers.get, _RESET_HEADERS)), "")
    reset = number(value.partition(",")[0].strip())
    if reset is not None and reset > _MIN_UNIX_TIME:
        return max(1.0, wait_until(reset))
    return limit_wait(reset)


def limit_wait(seconds: float | None) -> float | None:
    """Return a waiting time in seconds, at most one day. A negative number or NaN gives None."""
    return min(seconds, _MAX_WAIT) if seconds is not None and seconds >= 0 else None


def wait_until(moment: float) -> float:
    """Return the whole seconds until a Unix time, at most one day. A time in the past gives 0."""
    return float(round(min(max(0.0, moment - time.time()), _MAX_WAIT)))


# --- bodies ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of an error code of an API, if the HTTP status alone is not enough.

    Attributes:
        code: Regular expression that matches the whole code.
        kind: The error class.
        statuses: HTTP statuses with which the code has this meaning. Empty for all.
        remedy: Advice on what to do. `{name}` is replaced by the name of the provider. Default:
            the usual advice for the error class.
    """

    code: str
    kind: type[ProviderError]
    statuses: tuple[int, ...] = ()
    remedy: str = ""

    def applies_to(self, code: str, status: int) -> bool:
        """Return whether the code has this meaning in a response with this HTTP status."""
        has_status = not self.statuses or status in self.statuses
        return has_status and re.fullmatch(self.code, code) is not None


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """The format of the error bodies of an API.

    Attributes:
        faults: Fields of the body that may contain the faults. The first one that is not empty is
            used. Its value is an object, a list or a string. With `WHOLE_BODY`, the body itself is
            the fault.
        code: Field of a fault with its code.
        words: Fields of a fault that may contain its message. The first one that is not empty is
            used.
        shown: Fields of a fault to add in parentheses to the message, if all are present.
        details: Field of a fault with a list of further faults. Their messages are added.
        wait: Field of a fault with the seconds to wait.
        meanings: Meanings of codes. The first one that applies is used.
        harmless: Regular expression for codes that are not errors.
        statuses: Error classes of non-standard HTTP statuses.
        free_per: The period of the limit on calls without a key, if the API allows such calls.
    """

    faults: tuple[str, ...]
    code: str
    words: tuple[str, ...]
    shown: tuple[str, ...] = ()
    details: str = ""
    wait: str = ""
    meanings: tuple[Meaning, ...] = ()
    harmless: str | None = None
    statuses: Mapping[int, type[ProviderError]] = field(
        default_factory=dict[int, "type[ProviderError]"]
    )
    free_per: Literal["", "minute", "day"] = ""


@dataclass(slots=True)
class ErrorBody:
    """The content of an error body. A provider can change it before it calls `to_error`.

    Attributes:
        faults: The faults, as the API sent them.
        words: The message of each fault, and of its details.
        kind: The error class, by the code or the HTTP status.
        remedy: Advice on what to do, or "" for the usual advice for the error class.
        wait: Seconds to wait according to the body, or None.
        free_per: The period of the limit on calls without a key, if the API allows such calls.
    """

    faults: list[dict[str, Any]]
    words: list[Any]
    kind: type[ProviderError]
    remedy: str = ""
    wait: float | None = None
    free_per: str = ""

    def to_error(self, about: About, response: Response, account: Account) -> ProviderError:
        """Return the error for the response."""
        if self.free_per and account.api_key is None and self.kind in _LIMITS_WITHOUT_KEY:
            self._explain_limit_without_key(about, response)
        kind, hint, wait = self.kind, self.remedy, self.wait
        return make_error(
            about.title, response, account, self.words, kind=kind, hint=hint, wait=wait
        )

    def _explain_limit_without_key(self, about: About, response: Response) -> None:
        """Tell a rate limit, which states a time to wait, from an exhausted daily allowance."""
        has_wait = self.wait is not None or retry_after(response) is not None
        if self.kind is RateLimitError and not has_wait:
            if self.free_per == "minute":
                self.wait = _MINUTE
            else:
                self.kind, self.wait = QuotaError, None
        self.remedy = (
            f"{about.title} accepts few requests without a key. Try again later, or get a key."
        )


def read_error_body(table: ErrorTable, response: Response, account: Account) -> ErrorBody:
    """Read an error body. A body that is not JSON has no faults."""
    faults, status = _faults(maybe_object(response.json_or_none()), table), response.status
    details = [detail for fault in faults for detail in maybe_objects(fault.get(table.details))]
    words = [_message(fault, table) for fault in [*faults, *details]]
    codes = [str(fault.get(table.code)) for fault in faults] or [""]
    kind, remedy = table.statuses.get(status) or error_class(status), ""
    for meaning in table.meanings:
        if any(meaning.applies_to(code, status) for code in codes):
            kind, remedy = meaning.kind, meaning.remedy.format(name=account.name)
            break
    waits = (number(fault.get(table.wait)) for fault in faults)
    wait = limit_wait(next(filter(None, waits), None))
    return ErrorBody(faults, words, kind, remedy, wait, table.free_per)


def read_failure(
    about: About,
    table: ErrorTable,
    response: Response,
    account: Account,
    _capability: Capability | None = None,
) -> ProviderError | None:
    """Return the error of a response, or None for HTTP 200 and harmless codes.

    A provider's `read_error` can be `partial(read_failure, ABOUT, table)`.
    """
    if response.status == OK:
        return None
    body = read_error_body(table, response, account)
    codes = [str(fault.get(table.code)) for fault in body.faults]
    if table.harmless and any(re.fullmatch(table.harmless, code) for code in codes):
        return None
    return body.to_error(about, response, account)


def _faults(body: dict[str, Any], table: ErrorTable) -> list[dict[str, Any]]:
    message_field = table.words[0]
    for name in table.faults:
        value = body.get(name) if name else body
        if not value:
            continue
        if isinstance(value, str):
            return [{**body, message_field: value}]
        faults: list[Any] = value if is_list(value) else [value]
        return [fault if is_object(fault) else {message_field: fault} for fault in faults]
    return []


def _message(fault: dict[str, Any], table: ErrorTable) -> Any:
    message = next(filter(None, (fault.get(name) for name in table.words)), None)
    shown = [fault.get(name) for name in table.shown]
    if isinstance(message, str) and shown and all(isinstance(value, (str, int)) for value in shown):
        return f"{message.rstrip('. ')} ({', '.join(map(str, shown))})"
    return message or fault.get(table.code)
