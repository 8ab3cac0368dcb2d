"""Turns HTTP error answers into our errors: by their status, and by a table of their bodies."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from webtools._internal.http.messages import CLIENT_ERRORS, OK, REDIRECTS, SERVER_ERRORS, Response
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
from webtools.providers.parsing import http_date, maybe_object, maybe_objects, number, quotable

ITSELF = ""  # as the place of the faults: the body is the fault

_LONGEST_MESSAGE = 500
_LONGEST_WAIT = 86_400.0  # seconds
_MINUTE = 60.0
_UNIX_TIMES = 1e9  # a reset of more is a moment, of less a number of seconds
_RESETS = ("x-ratelimit-reset", "ratelimit-reset")
_KINDS: dict[int, type[ProviderError]] = {
    401: AuthenticationError,
    402: QuotaError,
    403: AuthenticationError,
    408: UnavailableError,
    425: UnavailableError,
    429: RateLimitError,
}
_LIMITS = (AuthenticationError, QuotaError, RateLimitError)  # of those who ask without a key
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
    """Return the error class of an HTTP status; of a success it is one that reports a fault."""
    if status == OK:
        return ProviderError
    if status in _KINDS:
        return _KINDS[status]
    if status >= SERVER_ERRORS:
        return UnavailableError
    return BadRequestError if status >= CLIENT_ERRORS else ResponseFormatError


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
    """Return the error for an answer: what failed, status, the provider's words, what to do.

    `wait` is for a provider whose body says how many seconds to wait, where no header does.
    """
    kind = kind or kind_of(response.status)
    head = f"{title} API returned HTTP {response.status}"
    if response.status < REDIRECTS:
        head = f"{title} API error"
    elif response.status < CLIENT_ERRORS:
        head += ", a redirect, which is refused"
    told = [quotable(m, account) for m in messages if isinstance(m, str) and m.strip()]
    said = [words[:_LONGEST_MESSAGE] for words in told]
    text = f"{head}: {', '.join(said)}" if said else head
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


def _wait(kind: type[ProviderError], response: Response, otherwise: float | None) -> float | None:
    if kind not in (RateLimitError, UnavailableError):
        return None
    asked = retry_after(response)
    if asked is None and kind is RateLimitError:
        asked = _until_reset(response)
    return otherwise if asked is None else asked


def retry_after(response: Response) -> float | None:
    """Read `Retry-After-Ms`, else `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3)."""
    milliseconds = number(response.headers.get("retry-after-ms"), least=0)
    if milliseconds is not None:
        return bounded(milliseconds / 1000)
    value = response.headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        return bounded(float(value))
    except ValueError:
        moment = http_date(value)
        return wait_until(moment.timestamp()) if moment else None


def _until_reset(response: Response) -> float | None:
    """Return the seconds until a rate limit resets; of several limits, the first is the shortest.

    A moment is in whole seconds, so that it may be up to one later.
    """
    value = next(filter(None, map(response.headers.get, _RESETS)), "")
    reset = number(value.partition(",")[0].strip())
    if reset is not None and reset > _UNIX_TIMES:
        return max(1.0, wait_until(reset))
    return bounded(reset)


def bounded(seconds: float | None) -> float | None:
    """Take a time to wait, at most a day; a negative one or NaN counts as unknown."""
    return min(seconds, _LONGEST_WAIT) if seconds is not None and seconds >= 0 else None


def wait_until(moment: float) -> float:
    """Turn a moment in Unix time into whole seconds to wait from now; a past one gives 0."""
    return float(round(min(max(0.0, moment - time.time()), _LONGEST_WAIT)))


# --- bodies ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a code says, where it says more than the status.

    Attributes:
        code: Regular expression for the whole of the code.
        kind: The class of the error.
        statuses: Statuses with which it means that; none for all.
        remedy: What to do, unless it is what one does about every error of the class; `{name}`
            stands for the provider's name.
    """

    code: str
    kind: type[ProviderError]
    statuses: tuple[int, ...] = ()
    remedy: str = ""

    def fits(self, code: str, status: int) -> bool:
        """Return whether a code of an answer is meant."""
        known = not self.statuses or status in self.statuses
        return known and re.fullmatch(self.code, code) is not None


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """How the error bodies of an API are made.

    Attributes:
        faults: Fields that hold the faults, of which the first that is filled counts: an object,
            a list, or words alone. `ITSELF` for a body that is the fault.
        code: Field of a fault with its code.
        words: Fields of a fault with its message, of which the first that is filled counts.
        shown: Fields that are told in brackets behind the message, where all are there.
        details: Field of a fault with a list of further ones, whose messages are told as well.
        wait: Field of a fault with the seconds to wait.
        meanings: What codes mean; the first that fits counts.
        harmless: Regular expression for the whole of a code that means no error.
        statuses: What statuses mean that HTTP does not define.
        free_per: What time the limit on calls without a key is for, where the API takes any.
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
    """What an error body said; a provider that knows better changes it.

    Attributes:
        faults: The faults, as the API sent them.
        words: A message of each.
        kind: The class of the error: what a code means, else what the status does.
        remedy: What to do, or "" for what one does about every such error.
        wait: Seconds to wait, where no header says how many.
        free_per: What time the limit on calls without a key is for, where there are any.
    """

    faults: list[dict[str, Any]]
    words: list[Any]
    kind: type[ProviderError]
    remedy: str = ""
    wait: float | None = None
    free_per: str = ""

    def read_limit_without_key(self, about: About, response: Response, account: Account) -> None:
        """Read what a limit means for those who ask without a key, and what they are to do.

        A rate comes with a time to wait; without one the free calls of the time are used up.
        """
        if account.api_key is not None or self.kind not in _LIMITS:
            return
        says_when = self.wait is not None or retry_after(response) is not None
        if self.kind is RateLimitError and not says_when:
            by_minute = self.free_per == "minute"
            self.kind, self.wait = (self.kind, _MINUTE) if by_minute else (QuotaError, None)
        self.remedy = f"Without a key {about.title} takes few calls: try again later, or get a key."

    def failure(self, about: About, response: Response, account: Account) -> ProviderError:
        """Return the error."""
        if self.free_per:
            self.read_limit_without_key(about, response, account)
        kind, hint, wait = self.kind, self.remedy, self.wait
        return failure(about.title, response, account, self.words, kind=kind, hint=hint, wait=wait)


def read_error_body(table: ErrorTable, response: Response, account: Account) -> ErrorBody:
    """Read an error body; one that is no JSON has no faults."""
    faults, status = _faults(maybe_object(response.json_or_none()), table), response.status
    words = [_words(fault, table) for fault in faults]
    details = [each for fault in faults for each in maybe_objects(fault.get(table.details))]
    words += [_words(detail, table) for detail in details]
    codes = [str(fault.get(table.code)) for fault in faults] or [""]
    kind, remedy = table.statuses.get(status) or kind_of(status), ""
    for meaning in table.meanings:
        if any(meaning.fits(code, status) for code in codes):
            kind, remedy = meaning.kind, meaning.remedy.format(name=account.name)
            break
    waits = (number(fault.get(table.wait)) for fault in faults)
    wait = bounded(next(filter(None, waits), None))
    return ErrorBody(faults, words, kind, remedy, wait, table.free_per)


def read_failure(
    about: About,
    table: ErrorTable,
    response: Response,
    account: Account,
    _capability: Capability | None = None,
) -> ProviderError | None:
    """Return the error that an answer means by a table; None for a success, which is HTTP 200.

    With the first two arguments given it is the `read_error` of a provider.
    """
    if response.status == OK:
        return None
    said = read_error_body(table, response, account)
    codes = [str(fault.get(table.code)) for fault in said.faults]
    if table.harmless and any(re.fullmatch(table.harmless, code) for code in codes):
        return None
    return said.failure(about, response, account)


def _faults(body: dict[str, Any], table: ErrorTable) -> list[dict[str, Any]]:
    for name in table.faults:
        value = body.get(name) if name else body
        if not value:
            continue
        if isinstance(value, str):
            return [{**body, table.words[0]: value}]
        found: list[Any] = value if is_list(value) else [value]
        return [each if is_object(each) else {table.words[0]: each} for each in found]
    return []


def _words(fault: dict[str, Any], table: ErrorTable) -> Any:
    said = next(filter(None, (fault.get(name) for name in table.words)), None)
    shown = [fault.get(name) for name in table.shown]
    if isinstance(said, str) and shown and all(isinstance(each, (str, int)) for each in shown):
        return f"{said.rstrip('. ')} ({', '.join(map(str, shown))})"
    return said or fault.get(table.code)
