"""The errors that public methods raise.

    WebToolsError
    ├── ConfigError                 a key or a setting is missing or malformed
    ├── InputError                  the caller's arguments are invalid
    ├── RequestError                no response
    │   └── RequestTimeoutError     no response in time
    └── ProviderError               the provider responded with an error
        ├── AuthenticationError     401, 403: the key is not accepted
        ├── QuotaError              402: credit or budget is used up
        ├── RateLimitError          429: too many calls
        ├── BadRequestError         other 4xx: the provider refuses the request
        ├── UnavailableError        5xx: the provider is not available
        └── ResponseFormatError     not the documented format

None derives from `RuntimeError`, whose messages LlamaIndex replaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from webtools._internal.faults import Fault

__all__ = [
    "AuthenticationError",
    "BadRequestError",
    "ConfigError",
    "InputError",
    "ProviderError",
    "QuotaError",
    "RateLimitError",
    "RequestError",
    "RequestTimeoutError",
    "ResponseFormatError",
    "UnavailableError",
    "WebToolsError",
]


URL_NOT_SEEN = "url_not_seen"
"""The `code` of the error of a URL that a session must not open."""
OTHER_USER = "other_user"
"""The `code` of the error of a state that was made for another user, or cannot be checked."""
SESSION_LIMIT = "session_limit"
"""The `code` of the error of a call that passes a limit of its session."""


class Payment(NamedTuple):
    """What a site charges for a page, as it states it.

    Attributes:
        price: Amount, or None if the site states none.
        currency: Currency of the amount, or None.
        scheme: `x402`, `pay-per-crawl`, `rsl`, or None for no known scheme.
    """

    price: str | None = None
    currency: str | None = None
    scheme: str | None = None


class WebToolsError(Exception):
    """Base class of all errors. The message says what failed, and what to do.

    Attributes:
        provider: Configured name of the provider, or None if no provider was called.
        status: HTTP status of the response, or None without a response.
        retryable: Whether the same call may succeed later.
        retry_after: Seconds to wait according to the provider, or None.
        cost_usd: Cost of the failed call according to the provider, or None.
        code: Why the call failed, as a word for programs such as `payment_required`, or None.
        payment: What the site charges for the page, or None.
    """

    default_retryable: ClassVar[bool] = False
    # For our own code: what to do next, and the name of an unknown host in the message.
    fault = Fault.NONE
    unknown_host = ""

    def __init__(
        self,
        message: str,
        *,
        provider: str | None = None,
        status: int | None = None,
        retryable: bool | None = None,
        retry_after: float | None = None,
        cost_usd: float | None = None,
        code: str | None = None,
        payment: Payment | None = None,
    ) -> None:
        """Create an error."""
        super().__init__(message)
        self.provider = provider
        self.status = status
        self.retryable = self.default_retryable if retryable is None else retryable
        self.retry_after = retry_after
        self.cost_usd = cost_usd
        self.code = code
        self.payment = payment

    @property
    def message(self) -> str:
        """The message, the same as `str(error)`."""
        return str(self)

    def with_message(self, message: str) -> WebToolsError:
        """Return a copy with another message, and without causes and a traceback."""
        return _copy_of(type(self), message, vars(self))

    def to_details(self) -> dict[str, Any]:
        """Return the error as plain JSON, as in `ToolResult.details["error"]`."""
        details = {
            "type": type(self).__name__,
            "message": str(self),
            "provider": self.provider,
            "status": self.status,
            "retryable": self.retryable,
            "retry_after": self.retry_after,
            "code": self.code,
        }
        return details if self.payment is None else details | self.payment._asdict()

    def _render_traceback_(self) -> list[str]:
        """Return the message without a traceback, for notebooks."""
        return [f"{type(self).__name__}: {self}"]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the attributes, too, which the constructor takes by keyword."""
        return _copy_of, (type(self), str(self), vars(self))


def _copy_of(
    kind: type[WebToolsError], message: str, attributes: Mapping[str, Any]
) -> WebToolsError:
    error = kind.__new__(kind, message)
    vars(error).update(attributes)
    return error


class ConfigError(WebToolsError):
    """A key or a setting is missing or malformed."""


class InputError(WebToolsError):
    """The caller's arguments are invalid. Nothing was sent."""


class RequestError(WebToolsError):
    """No response, because the name lookup, the connection or the transfer failed."""

    default_retryable = True


class RequestTimeoutError(RequestError):
    """No response before the time-out."""


class ProviderError(WebToolsError):
    """The provider responded with an error."""


class AuthenticationError(ProviderError):
    """The provider does not accept the key, or the key is not valid for this call."""


class QuotaError(ProviderError):
    """The credit, the plan or the budget is used up."""

    @property
    def is_own_budget(self) -> bool:
        """Whether a budget of yours refused the request, which was not sent."""
        return self.status is None


class RateLimitError(ProviderError):
    """Too many requests. `retry_after` is the time to wait in seconds, if known."""

    default_retryable = True


class BadRequestError(ProviderError):
    """The provider refuses the request."""


class UnavailableError(ProviderError):
    """The provider is not available."""

    default_retryable = True


class ResponseFormatError(ProviderError):
    """The response does not match the documented format."""
