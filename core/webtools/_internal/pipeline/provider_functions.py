"""Calls the functions of a provider. Whatever they raise becomes an error of ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any, TypeVar, cast

from webtools._internal.faults import Fault, with_fault
from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.text.narrowing import is_object
from webtools.errors import ProviderError, ResponseFormatError, WebToolsError
from webtools.messages import OK, Request, Response
from webtools.providers import PROVIDERS, Account
from webtools.providers.capabilities import CAPABILITIES
from webtools.providers.error_tables import WHOLE_BODY, ErrorTable, read_error_body
from webtools.providers.error_words import (
    codes_of,
    errors_in,
    find_words,
    is_bot_check,
    is_html,
    kind_by_words,
    plain_text,
    says_it_failed,
)
from webtools.providers.faults import describe_failure
from webtools.providers.fetched import NO_PAGE, NO_TEXT
from webtools.providers.parsing import clean_quote
from webtools.providers.protocols import Hits, Pages, Summary, Synthesis

T = TypeVar("T")

_ERROR_DEPTH = 3  # of errors in a body without results
_MAX_WORDS_CHARACTERS = 500
_ANY_ERROR = ErrorTable(faults=("error", "errors", WHOLE_BODY), code="code", words=("message",))


def build_request(api_call: ApiCall) -> Request:
    """Build the request of a call.

    Raises:
        ProviderError: The provider's function raised an error, or returned no request.
    """
    name = CAPABILITIES[api_call.capability].builder
    build = getattr(PROVIDERS[api_call.account.type].provider, name)
    try:
        request: object = build(api_call.query, api_call.account)
    except WebToolsError:
        raise
    except Exception as error:  # noqa: BLE001  # a provider's function may raise anything
        failure = build_error(api_call, error)
    else:
        if isinstance(request, Request):
            return request
        failure = _build_error(api_call, _describe_type(api_call, name, request, Request))
    raise failure  # outside the handler, as for a response


def read_response(api_call: ApiCall, response: Response) -> Any:
    """Read the response to the request of a call.

    Raises:
        ProviderError: The provider reports an error.
        ResponseFormatError: The response does not match the documented format, or the value has
            another type than it should, such as None for a forgotten `return`.
    """
    facts = CAPABILITIES[api_call.capability]
    read = getattr(PROVIDERS[api_call.account.type].provider, facts.reader)
    raise_error(api_call, response)
    try:
        value = _parse(api_call, response, lambda: read(response, api_call.query, api_call.account))
    except ProviderError as error:
        failure = error
    else:
        if isinstance(value, facts.response):
            return check_errors(api_call, response, value)
        raise type_error(api_call, value)
    raise reported_error(api_call, response, failure) or failure


def raise_error(api_call: ApiCall, response: Response) -> None:
    """Raise the error that a response reports, if any.

    Raises:
        ProviderError: The provider reports an error.
        ResponseFormatError: The response does not match the documented format.
    """
    account, provider = api_call.account, PROVIDERS[api_call.account.type].provider
    error = _parse(
        api_call, response, lambda: provider.read_error(response, account, api_call.capability)
    )
    if error is not None:
        raise error


def _parse(api_call: ApiCall, response: Response, function: Callable[[], T]) -> T:
    try:
        return function()
    except WebToolsError:
        raise
    except Exception as error:  # noqa: BLE001  # a provider's function may raise anything
        failure = parse_error(api_call, response, error)
    raise failure  # outside the handler: the original error may quote the whole response


# --- errors in responses with HTTP 200 ---------------------------------------------------------


def reported_error(
    api_call: ApiCall, response: Response, failure: ProviderError | None = None
) -> ProviderError | None:
    """Return the error that the body of a response with HTTP 200 reports, or None.

    Args:
        api_call: The API call.
        response: The response.
        failure: Why it could not be read, or None if it was read and has no results.
    """
    if response.status != OK:
        return None
    account, services = api_call.account, PROVIDERS[api_call.account.type]
    body = response.json_or_none()
    is_unreadable = isinstance(failure, ResponseFormatError)
    words = find_words(body) if is_object(body) else [plain_text(response)]
    has_null = is_object(body) and None in body.values()  # as a section without results may be
    texts = [*words, *codes_of(body)] if is_unreadable else words
    # A message beside an empty list counts only if it is about the key or a limit.
    is_certain = not (is_unreadable or has_null)
    is_error = says_it_failed(body, _ERROR_DEPTH) or kind_by_words(texts, is_certain=is_certain)
    is_blocked = is_unreadable and is_bot_check(response, with_words=is_html(response))
    if not (is_error or is_blocked):
        return _with_words(failure, words, account) if is_unreadable and is_object(body) else None
    marked = replace(response, has_error=True)
    error = _parse(
        api_call, marked, lambda: services.provider.read_error(marked, account, api_call.capability)
    )
    error = error or read_error_body(_ANY_ERROR, marked, account).to_error(
        services.about, marked, account
    )
    error.cost_usd = failure.cost_usd if failure else None
    return error


def _with_words(
    failure: ProviderError | None, words: list[str], account: Account
) -> ProviderError | None:
    if failure is None or not words:
        return failure
    quote = clean_quote(", ".join(words), account)[:_MAX_WORDS_CHARACTERS]
    error = failure.with_message(f"{failure} The response says: {quote}")
    assert isinstance(error, ProviderError)  # noqa: S101  # of the same class
    return error


def check_errors(api_call: ApiCall, response: Response, value: T) -> T:
    """Return a value that was read from a response, with a warning of errors beside the results.

    Raises:
        ProviderError: There are no results, and the response reports an error.
    """
    if not isinstance(value, (Hits, Pages, Summary, Synthesis)):
        return value
    is_empty = isinstance(value, Hits) and not value.results
    if isinstance(value, Pages):
        is_empty = all(page.error in (NO_PAGE, NO_TEXT) for page in value.pages)
    if is_empty and (error := reported_error(api_call, response)):
        raise error
    body = response.json_or_none() if response.is_success else None
    errors = [{"error": error} for error in errors_in(body)]
    if not (errors or is_empty):
        return value
    words = find_words(body if is_empty and is_object(body) else errors)
    if not words:
        return value
    quote = clean_quote(", ".join(words), api_call.account)[:_MAX_WORDS_CHARACTERS]
    warning = f"{_title_of(api_call)} also says: {quote}"
    return cast("T", replace(value, warnings=[*value.warnings, warning]))


# --- the errors --------------------------------------------------------------------------------


def build_error(api_call: ApiCall, error: Exception) -> ProviderError:
    """Return the error for a request that could not be built."""
    return _build_error(api_call, describe_failure(error, _module_of(api_call)))


def _build_error(api_call: ApiCall, cause: str) -> ProviderError:
    return ProviderError(
        f'Provider "{api_call.account.name}" failed to build the request for '
        f'"{api_call.subject}". Cause: {cause}. Use another provider.',
        provider=api_call.account.name,
    )


def parse_error(api_call: ApiCall, response: Response, error: Exception) -> ResponseFormatError:
    """Return the error for a response that a provider's function could not read."""
    is_cut = response.is_cut()
    cause = describe_failure(error, _module_of(api_call))
    fault = (
        "is incomplete. Try again later or use another provider."
        if is_cut
        else f"does not match the documented format. Use another provider. Cause: {cause}."
    )
    message = (
        f"Failed to parse {_title_of(api_call)} API response for "
        f'"{api_call.subject}". The response (HTTP {response.status}) {fault}'
    )
    return with_fault(
        ResponseFormatError(
            message,
            provider=api_call.account.name,
            status=response.status,
            retryable=is_cut,
        ),
        Fault.ADVISED if is_cut else Fault.NONE,
    )


def type_error(api_call: ApiCall, value: object) -> ResponseFormatError:
    """Return the error for a value of the wrong type."""
    facts = CAPABILITIES[api_call.capability]
    fault = _describe_type(api_call, facts.reader, value, facts.response)
    return ResponseFormatError(
        f'Failed to parse {_title_of(api_call)} API response for "{api_call.subject}". '
        f"{fault}. Use another provider.",
        provider=api_call.account.name,
    )


def _describe_type(api_call: ApiCall, function: str, value: object, expected: type) -> str:
    returned = "None" if value is None else f"a value of type {type(value).__name__}"
    module = _module_of(api_call)
    return f"{function} of {module} returned {returned}; return {expected.__name__}"


def _module_of(api_call: ApiCall) -> str:
    provider: object = PROVIDERS[api_call.account.type].provider
    return provider.__name__ if isinstance(provider, ModuleType) else type(provider).__module__


def _title_of(api_call: ApiCall) -> str:
    return PROVIDERS[api_call.account.type].about.title
