"""Find what an error body says, and which kind of error that is.

APIs, frameworks and gateways write errors in many forms: `{"error": {"message"}}`, problem details
(RFC 9457), lists of `{"loc", "msg"}`, messages by field. One rule reads them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from webtools._internal.text.narrowing import is_list, is_object
from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ProviderError,
    QuotaError,
    RateLimitError,
    UnavailableError,
)
from webtools.messages import Response

_MAX_DEPTH = 4
_MAX_ITEMS = 5  # of a list
_MAX_WORDS = 20
_MAX_CHARACTERS = 1000  # of a text that decides the kind of an error
_MAX_TEXT_CHARACTERS = 300  # of a body that is plain text; a longer one is a page
# Names of fields, in lower case and without underscores and hyphens.
_NO_SEPARATORS = str.maketrans("", "", "_-")
_ERRORS = ("error", "errors", "fault", "exception")
_MESSAGES = (
    *("message", "msg", "detail", "details", "title", "errordescription", "errormessage"),
    *("description", "faultstring", "reason", "info", "constraints"),
)
_PLACES = ("loc", "path", "field", "param", "property", "pointer", "source")
_CODES = ("code", "errorcode", "type", "tag", "name", "status")
_STATUSES = ("status", "statuscode", "code", "httpstatus", "httpstatuscode", "errorcode")
_WAITS = ("retryafter", "retryafterseconds", "retrydelay", "retryin", "waitseconds")
_NO_ERRORS = frozenset({"", "null", "none", "false", "0", "no error"})
_FAILED = frozenset({"error", "errorresponse", "fail", "failed", "failure", "exception"})

# Patterns of errors are compiled when there is one: `re` keeps those that it has compiled.
_MONEY = (
    r"(?:credits?|quotas?|balance|funds?|budget|allowance|billing|spend(?:ing)?(?: (?:limit|cap))?"
    r"|usage limits?|plan limits?)"
)
_USED_UP = (
    r"(?:exhausted|exceed\w*|used up|depleted|reached|insufficient|not enough|no more|out of|spent"
    r"|r[ua]n out(?: of)?|consumed|limited|empty|not sufficient)"
)
_LONG_PERIOD = r"(?:month|day|week|year|billing (?:period|cycle))"
_QUOTA = (
    rf"{_MONEY}\b[^.!?]{{0,40}}\b{_USED_UP}|{_USED_UP}\b[^.!?]{{0,40}}\b{_MONEY}"
    rf"|\b(?:no|0|zero) (?:more |remaining |available |api )*{_MONEY}|payment required"
    r"|(?:monthly|daily|weekly|yearly|annual)\b[^.!?]{0,20}\b(?:quota|limit|allowance|cap|usage)"
    rf"|\b(?:requests|searches|queries|calls|credits|limit|quota)\b[^.!?]{{0,20}}"
    rf"\b(?:per|a|each|this|for the|for this) {_LONG_PERIOD}\b"
    r"|(?:trial|subscription)\b[^.!?]{0,20}\b(?:expired|ended|inactive)"
)
_RATE = (
    r"rate ?limit|too many|throttl|concurren|slow down|\bper (?:second|minute|hour)\b"
    r"|/ ?(?:s|sec|second|min|minute|h|hour)\b|\b[rq]p[sm]\b"
)
_CERTAIN_QUOTA = (
    r"credits?\b|balance|funds|budget|billing|payment|spend|usage limit|month|dai?ly"
    rf"|{_LONG_PERIOD}"
)
_RATE_OR_QUOTA = r"(?:rate ?limit\w*|too many requests?)\b[^.!?]{0,20}\bor\b"
_KEY = r"(?:api ?keys?|\bkeys?\b|tokens?\b|credentials?|authori[sz]ation|signature)"
_BAD_KEY = (
    r"(?:invalid|missing|incorrect|wrong|bad|expired|revoked|unknown|unrecogni[sz]ed|malformed"
    r"|disabled|required|no|not (?:valid|found|provided|recogni[sz]ed))"
)
_AUTHENTICATION = (
    rf"\b{_BAD_KEY}\b[^.!?]{{0,30}}{_KEY}|{_KEY}[^.!?]{{0,30}}\b{_BAD_KEY}\b|unauthori[sz]ed"
    r"|unauthenticated|not authori[sz]ed|authenticat|forbidden|access denied|permission"
)
_UNAVAILABLE = (
    r"unavailable|internal (?:server )?error|server error|overload|maintenance|tim(?:ed|e) ?out"
    r"|bad gateway|upstream|try again|temporar|outage|at capacity|went wrong"
)
_BAD_REQUEST = (
    r"invalid|validation|bad request|malformed|missing|required|unsupported|unprocessable|not valid"
    r"|too long|\bmust\b|not found"
)
_UNKNOWN_ROUTE = (
    r"\broutes?\b|\bendpoint|\bcannot (?:get|post) /|method not allowed"
    r"|(?:invalid|unknown) (?:url|path)"
    r"|(?:^|http )(?:404)?\W*(?:(?:page|path|url|resource) )?not found\W*$"
)
_NEXT_TRY = (
    r"(?:again|retry|wait|available|resets?|replenished)(?: (?:in|after|for|at least|about))* ?"
    r"((?:\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|sec(?:ond)?s?|m|min(?:ute)?s?|h|hours?|d|days?)"
    r"(?![a-z])[ ,]{0,2})+|\d{1,3}:\d\d:\d\d|p(?:t?\d{1,6}[wdhms])+)"
)
_BOT_CHECK_HEADERS = ("cf-mitigated", "x-amzn-waf-action", "x-vercel-mitigated")
_BOT_CHECK = (
    rb"captcha|challenge|cloudflare|just a moment|attention required|checking your|human|robot"
    rb"|access denied|been blocked|ddos|incapsula|imperva|datadome|akamai|sucuri|anubis"
    rb"|unusual traffic|error code: 1\d\d\d"
)


def find_words(body: Any) -> list[str]:
    """Return the messages in a body, the most general first, each once."""
    words: list[str] = []
    found = chain(_words(body, _MAX_DEPTH), _words_of_errors(body, _MAX_DEPTH))
    for word in islice(found, _MAX_WORDS):
        if word.strip() and not is_contained(word, words):
            words.append(word)
    return words


def is_contained(word: str, words: Iterable[str]) -> bool:
    """Return whether one of the words contains a word."""
    return any(word.lower() in other.lower() for other in words)


def _words(value: Any, depth: int) -> Iterator[str]:
    """Yield the messages of an object, a list or a string, with the places that they are about."""
    if isinstance(value, str):
        yield value
    elif depth and is_list(value):
        for item in value[:_MAX_ITEMS]:
            yield from _words(item, depth - 1)
    elif depth and is_object(value):
        fields = _by_plain_name(value)
        place = next(filter(None, (_place(fields.get(name)) for name in _PLACES)), "")
        names = [name for name in (*_MESSAGES, *_ERRORS) if not is_nothing(fields.get(name))]
        for name in names:
            for word in _words_or_fields(fields[name], depth - 1):
                yield f"{place}: {word}" if place and name in _MESSAGES else word


def _words_or_fields(value: Any, depth: int) -> Iterator[str]:
    """Yield messages. An object without any is one of messages by field."""
    words = list(_words(value, depth))
    yield from words
    if not words and depth and is_object(value):
        for name, item in list(value.items())[:_MAX_ITEMS]:
            if name.lower() not in _CODES:
                yield from (f"{name}: {word}" for word in _words(item, depth - 1))


def _words_of_errors(value: Any, depth: int) -> Iterator[str]:
    """Yield the messages of errors that are deeper in the body."""
    for error in errors_in(value, depth):
        yield from _words_or_fields(error, depth)


def _place(value: Any) -> str:
    if is_object(value):
        value = value.get("pointer") or value.get("parameter")
    parts = value if is_list(value) else [value]
    return ".".join(str(part) for part in parts if isinstance(part, (str, int)))


def _by_plain_name(value: dict[str, Any]) -> dict[str, Any]:
    return {name.translate(_NO_SEPARATORS).lower(): item for name, item in value.items()}


def errors_in(value: Any, depth: int = 1) -> Iterator[Any]:
    """Yield the values of the fields that are for errors, down to a depth."""
    if is_object(value):
        fields = _by_plain_name(value)
        yield from (fields[name] for name in _ERRORS if not is_nothing(fields.get(name)))
        value = list(value.values())
    if depth > 1 and is_list(value):
        for item in value[: 4 * _MAX_ITEMS]:
            yield from errors_in(item, depth - 1)


def is_nothing(value: Any) -> bool:
    """Return whether the value of a field for errors means "no error"."""
    if isinstance(value, str):
        return value.strip().lower() in _NO_ERRORS
    if is_object(value):
        value = list(value.values())
    return all(map(is_nothing, value)) if is_list(value) else not value


def says_it_failed(body: Any, depth: int = 1) -> bool:
    """Return whether a body states an error, whatever else it contains.

    It has a field for errors that is not empty, the status of an error, or says `success: false`.
    """
    if any(True for _ in errors_in(body, depth)) or stated_status(body):
        return True
    fields = _by_plain_name(body) if is_object(body) else {}
    return (
        any(fields.get(name) is False for name in ("success", "ok", "succeeded"))
        or fields.get("iserror") is True
        or any(str(fields.get(name)).lower() in _FAILED for name in ("status", "type", "result"))
    )


def stated_status(body: Any) -> int | None:
    """Return the HTTP status of an error that is in the body, at the top or in its error."""
    for holder in (body, *errors_in(body), *(body[:1] if is_list(body) else [])):
        first = holder[0] if is_list(holder) and holder else holder
        fields = _by_plain_name(first) if is_object(first) else {}
        for name in _STATUSES:
            status = str(fields.get(name))
            if re.fullmatch("[45][0-9][0-9]", status):
                return int(status)
    return None


def _codes(body: Any) -> Iterator[str]:
    for holder in (body, *errors_in(body, _MAX_DEPTH)):
        for item in holder[:_MAX_ITEMS] if is_list(holder) else [holder]:
            fields = _by_plain_name(item) if is_object(item) else {}
            for name in _CODES:
                if isinstance(code := fields.get(name), str) and code:
                    yield code


def codes_of(body: Any) -> list[str]:
    """Return the codes in an error body."""
    return list(_codes(body))


def waits_in(body: Any, words: Iterable[str], depth: int = _MAX_DEPTH) -> Iterator[Any]:
    """Yield the waiting times in a body: in fields for them, else in its words."""
    if is_object(body):
        fields = _by_plain_name(body)
        yield from (fields[name] for name in _WAITS if name in fields)
        if "retryafterms" in fields:
            yield f"{fields['retryafterms']}ms"
        body = list(body.values())
    if depth and is_list(body):
        for item in body[: 4 * _MAX_ITEMS]:
            yield from waits_in(item, (), depth - 1)
    for word in words:
        for match in re.finditer(_NEXT_TRY, word[:_MAX_CHARACTERS].lower()):
            yield match[1].strip(" ,")


# --- kinds of errors ---------------------------------------------------------------------------


def limit_kind(texts: Iterable[Any]) -> type[ProviderError] | None:
    """Return `QuotaError` or `RateLimitError` if words or codes say so, else None."""
    text = _plain_text(texts)
    quota, is_rate = re.search(_QUOTA, text), re.search(_RATE, text) is not None
    if quota is None or re.search(_RATE_OR_QUOTA, text):
        return RateLimitError if is_rate else None
    is_certain = not is_rate or re.search(_CERTAIN_QUOTA, quota[0])
    return QuotaError if is_certain else RateLimitError


def kind_by_words(texts: Iterable[Any], *, is_certain: bool) -> type[ProviderError] | None:
    """Return the kind of an error without an HTTP status of its own, or None if it is unknown.

    Args:
        texts: Its words and codes.
        is_certain: Whether to look only for words about the key, quotas and rates.
    """
    texts = list(texts)
    if kind := limit_kind(texts):
        return kind
    text = _plain_text(texts)
    if re.search(_AUTHENTICATION, text):
        return AuthenticationError
    if is_certain:
        return None
    if re.search(_UNAVAILABLE, text):
        return UnavailableError
    return BadRequestError if re.search(_BAD_REQUEST, text) else None


def _plain_text(texts: Iterable[Any]) -> str:
    """Join texts and codes such as `NO_MORE_CREDITS` or `quotaExceeded` in lower case."""
    joined = ". ".join(text[:_MAX_CHARACTERS] for text in texts if isinstance(text, str))
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[\s_-]+", " ", joined).lower()


# --- bodies that are not of the API ------------------------------------------------------------


def plain_text(response: Response) -> str:
    """Return a body that is a short text, or "". HTML and JSON are not texts."""
    body = response.json_or_none()
    text = body if isinstance(body, str) else ""
    if body is None and not is_html(response):
        text = response.body[: 2 * _MAX_TEXT_CHARACTERS].decode(errors="replace").strip()
        text = "" if text[:1] in ("{", "[", "") else text
    return text if len(text) <= _MAX_TEXT_CHARACTERS else ""


def is_html(response: Response) -> bool:
    """Return whether a body is an HTML page."""
    start = response.body[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    is_declared = "html" in response.headers.get("content-type", "")
    return start.startswith((b"<!doctype", b"<html", b"<head", b"<body", b"<center", b"<!--")) or (
        is_declared and start.startswith(b"<")
    )


def is_unknown_route(response: Response, words: Iterable[Any]) -> bool:
    """Return whether a server has nothing at an address; not only no page or library of a name."""
    if response.json_or_none() is None:
        return True
    texts = (word.lower().strip() for word in words if isinstance(word, str))
    return any(re.search(_UNKNOWN_ROUTE, text[:_MAX_CHARACTERS]) for text in texts)


def is_bot_check(response: Response, *, with_words: bool) -> bool:
    """Return whether something in front of the API refuses clients that are not browsers.

    It says so in a header, or in the words of a body that is not JSON if they count.
    """
    if any(name in response.headers for name in _BOT_CHECK_HEADERS):
        return True
    if not with_words:
        return False
    body = response.json_or_none()
    if is_object(body):
        has_captcha = b"captcha" in response.body[:20_000].lower()
        return bool(body.get("cloudflare_error")) or (has_captcha and not find_words(body))
    if body is not None or re.search(_KEY, plain_text(response), re.IGNORECASE):
        return False
    return re.search(_BOT_CHECK, response.body[:20_000], re.IGNORECASE) is not None
