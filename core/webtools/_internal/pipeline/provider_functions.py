"""Calls the functions of a provider. Whatever they raise becomes an error of ours."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TypeVar, cast

from webtools._internal.http.messages import Request, Response
from webtools._internal.pipeline.api_call import ApiCall
from webtools.errors import Fault, ProviderError, ResponseFormatError, WebToolsError
from webtools.providers import PROVIDERS, Capability
from webtools.providers.faults import describe_failure

T = TypeVar("T")

# The functions that build a request and read its response, for messages.
_BUILDERS: dict[Capability, str] = {
    "search": "search_request",
    "fetch": "fetch_request",
    "summarize": "summary_request",
    "synthesize": "synthesis_request",
}
_READERS: dict[Capability, str] = {
    "search": "read_search",
    "fetch": "read_pages",
    "summarize": "read_summary",
    "docs": "lookup",
    "synthesize": "read_synthesis",
}


def build_request(api_call: ApiCall, build: Callable[[], Request]) -> Request:
    """Build a request.

    Raises:
        ProviderError: The provider's function raised an error, or returned no request.
    """
    try:
        request = cast("object", build())
    except WebToolsError:
        raise
    except Exception as error:  # noqa: BLE001  # a provider's function may raise anything
        failure = build_error(api_call, error)
    else:
        if isinstance(request, Request):
            return request
        name = _BUILDERS[api_call.capability]
        failure = _build_error(api_call, _describe_type(api_call, name, request, Request))
    raise failure  # outside the handler, as for a response


def read_value(
    api_call: ApiCall, response: Response, read: Callable[[Response], T], expected: type[T]
) -> T:
    """Read a response.

    Raises:
        ProviderError: The provider reports an error.
        ResponseFormatError: The response does not match the documented format, or the value has
            another type than `expected`, such as None for a forgotten `return`.
    """
    raise_error(api_call, response)
    value = _parse(api_call, response, lambda: read(response))
    if isinstance(value, expected):
        return value
    raise type_error(api_call, value, expected)


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
    return ResponseFormatError(
        message,
        provider=api_call.account.name,
        status=response.status,
        retryable=is_cut,
        fault=Fault.ADVISED if is_cut else Fault.NONE,
    )


def type_error(api_call: ApiCall, value: object, expected: type) -> ResponseFormatError:
    """Return the error for a value of the wrong type."""
    fault = _describe_type(api_call, _READERS[api_call.capability], value, expected)
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
