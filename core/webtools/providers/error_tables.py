"""Turn HTTP error responses into webtools errors, by status and by a table of the error body."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from webtools._internal.text.cutting import shortened
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
from webtools.messages import CLIENT_ERRORS, OK, REDIRECTS, SERVER_ERRORS, Response
from webtools.providers.about import About, Account, Capability
from webtools.providers.error_words import (
    codes_of,
    find_words,
    is_bot_check,
    is_contained,
    is_html,
    is_nothing,
    is_unknown_route,
    kind_by_words,
    limit_kind,
    plain_text,
    stated_status,
    waits_in,
)
from webtools.providers.parsing import clean_quote, maybe_object, maybe_objects, strings
from webtools.providers.waiting_times import read_wait, retry_after, seconds_until_reset

WHOLE_BODY = ""
"""In `ErrorTable.faults`: the body itself is the fault."""

_MAX_MESSAGE_CHARACTERS, _MAX_MESSAGES_CHARACTERS = 500, 700  # of one, of all
_MINUTE = 60.0
_FORBIDDEN = 403
_GATEWAY_BUDGETS = frozenset({400, 422})  # with which some gateways report a budget
_NO_ROUTE = (404, 405)
_CLASSES: dict[int, type[ProviderError]] = {
    401: AuthenticationError,
    402: QuotaError,
    403: AuthenticationError,
    408: UnavailableError,
    425: UnavailableError,
    429: RateLimitError,
}
# Statuses of which a page is about the key or a limit, whatever words it has.
_LIMIT_STATUSES = frozenset({401, 402, 429})
_NOT_REACHABLE = (
    'The API of provider "{name}" is not reachable: a bot check or a gateway in front of it '
    "refused the request. Check the network, or use another provider."
)
_WRONG_ADDRESS = (
    'The server has no such address. Check the baseUrl of provider "{name}", or use another one.'
)
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
        kind: The error class. Default: by the HTTP status and the messages.
        hint: Advice on what to do. Default: the usual advice for the error class.
        wait: Seconds to wait according to the body. A `Retry-After` header takes precedence.
    """
    if kind is None and _is_not_of_the_api(response, ()):
        kind, hint = UnavailableError, hint or _NOT_REACHABLE.format(name=account.name)
    kind = kind or _kind_of(response, messages)
    text = f"{title} API returned HTTP {response.status}"
    if response.status < REDIRECTS:
        text = f"{title} API error"
    elif response.status < CLIENT_ERRORS:
        text += " (redirects are not followed)"
    # Redact before cutting: half a key would not be recognized.
    quotes = [clean_quote(m, account) for m in messages if isinstance(m, str) and m.strip()]
    if quotes:
        words = ", ".join(shortened(quote, _MAX_MESSAGE_CHARACTERS) for quote in quotes)
        text += f": {shortened(words, _MAX_MESSAGES_CHARACTERS)}"
    wait = _wait(kind, response, wait)
    remedy = hint or _REMEDIES[kind].format(name=account.name)
    if kind is BadRequestError and response.status in _NO_ROUTE and not hint:
        is_route = is_unknown_route(response, messages)
        remedy = _WRONG_ADDRESS.format(name=account.name) if is_route else remedy
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
        seconds = seconds_until_reset(response)
    return default if seconds is None else seconds


def _is_not_of_the_api(response: Response, pages: Collection[int]) -> bool:
    """Return whether a bot check or a gateway in front of the API responded.

    Args:
        response: The response with the status of an error.
        pages: Statuses with which the API itself sends HTML.
    """
    status = response.status
    if response.is_success:
        return False
    if is_bot_check(response, with_words=status not in _LIMIT_STATUSES):
        return True
    return status == _FORBIDDEN and status not in pages and is_html(response)


def _kind_of(response: Response, texts: Sequence[Any]) -> type[ProviderError]:
    """Return the error class by the status, and by words and codes where it is not enough."""
    if response.status == OK:
        status = stated_status(response.json_or_none())
        default = error_class(status) if status else ProviderError
        return kind_by_words(texts, is_certain=status is not None) or default
    kind = error_class(response.status)
    limit = limit_kind(texts)
    if response.status in _GATEWAY_BUDGETS:
        return limit if limit is QuotaError else kind
    is_ambiguous = kind in (AuthenticationError, RateLimitError)
    return (limit if is_ambiguous else None) or kind


# --- bodies ------------------------------------------------------------------------------------


class Meaning(NamedTuple):
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


class ErrorTable(NamedTuple):
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
        pages: Statuses with which the API itself sends HTML. Otherwise HTML with HTTP 403 is from a
            bot check or a gateway in front of the API.
    """

    faults: tuple[str, ...]
    code: str
    words: tuple[str, ...]
    shown: tuple[str, ...] = ()
    details: str = ""
    wait: str = ""
    meanings: tuple[Meaning, ...] = ()
    harmless: str | None = None
    statuses: Mapping[int, type[ProviderError]] = MappingProxyType({})
    free_per: Literal["", "minute", "day"] = ""
    pages: tuple[int, ...] = ()


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
    words: list[str]
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
    """Read an error body. Messages outside of the fields of the table are added.

    The body of a response with HTTP 200 is read as an error too: call this only if it is one.
    """
    value = response.json_or_none()
    body = maybe_object(value) or next(iter(maybe_objects(value)), {})
    faults = _faults(body, table)
    details = [detail for fault in faults for detail in maybe_objects(fault.get(table.details))]
    words = strings([_message(fault, table) for fault in faults])
    codes = [str(code) for fault in faults if (code := fault.get(table.code)) is not None] or [""]
    others = [*find_words(value), *strings([_message(detail, table) for detail in details])]
    words += [word for word in others if not is_contained(word, words)]
    words = words or codes_of(value)[:1] or [plain_text(response)]
    status = response.status
    if status == OK:
        status = stated_status(value) or OK
    kind, remedy = table.statuses.get(status), ""
    for meaning in table.meanings:
        if any(meaning.applies_to(code, status) for code in codes):
            kind, remedy = meaning.kind, meaning.remedy.format(name=account.name)
            break
    if _is_not_of_the_api(response, table.pages):
        kind, remedy = UnavailableError, _NOT_REACHABLE.format(name=account.name)
    kind = kind or _kind_of(response, [*words, *codes, *codes_of(value)])
    waits = [*(fault.get(table.wait) for fault in faults), *waits_in(value, words)]
    wait = next(filter(None, map(read_wait, waits)), None)
    return ErrorBody(faults, words, kind, remedy, wait, table.free_per)


def read_failure(
    about: About,
    table: ErrorTable,
    response: Response,
    account: Account,
    _capability: Capability | None = None,
) -> ProviderError | None:
    """Return the error of a response, or None for a success and harmless codes.

    A provider's `read_error` can be `partial(read_failure, ABOUT, table)`.
    """
    if response.is_success:
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
        if is_nothing(value):
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
