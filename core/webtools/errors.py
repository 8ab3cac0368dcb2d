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

from enum import Flag, auto
from typing import Any, ClassVar, NamedTuple

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


class Fault(Flag):
    """Facts about an error for our own code. They are not in `to_details`.

    Attributes:
        NONE: No further fact.
        GONE: The site says that the page does not exist.
        REFUSED: webtools refuses to read the address.
        FORBIDDEN: The operator's settings forbid pages of the host.
        DISALLOWED: The site disallows the page: in robots.txt, or for models.
        ADVISED: The message says to check the URL, or to try again later.
        BROKEN_PLUGIN: An installed package announces a provider that cannot be loaded.
        NOT_SENT: There was no connection, so the request did not reach the provider.
    """

    NONE = 0
    GONE = auto()
    REFUSED = auto()
    FORBIDDEN = auto()
    DISALLOWED = auto()
    ADVISED = auto()
    BROKEN_PLUGIN = auto()
    NOT_SENT = auto()


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
        fault: Fault = Fault.NONE,
        unknown_host: str = "",
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
        # For our own code: the kind of fault, and the name of an unknown host in the message.
        self.fault = fault
        self.unknown_host = unknown_host

    @property
    def message(self) -> str:
        """The message, the same as `str(error)`."""
        return str(self)

    def with_message(self, message: str) -> WebToolsError:
        """Return the same error with another message."""
        return type(self)(message, **self._arguments())

    def to_details(self) -> dict[str, Any]:
        """Return the error as plain JSON, as in `ToolResult.details["error"]`."""
        details = {"type": type(self).__name__, "message": str(self), **self._facts()}
        return details if self.payment is None else details | self.payment._asdict()

    def _facts(self) -> dict[str, Any]:
        return {
            "provider": self.provider,
            "status": self.status,
            "retryable": self.retryable,
            "retry_after": self.retry_after,
            "code": self.code,
        }

    def _arguments(self) -> dict[str, Any]:
        return self._facts() | {
            "cost_usd": self.cost_usd,
            "payment": self.payment,
            "fault": self.fault,
            "unknown_host": self.unknown_host,
        }

    def _render_traceback_(self) -> list[str]:
        """Return the message without a traceback, for notebooks."""
        return [f"{type(self).__name__}: {self}"]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the keyword arguments, which `Exception` would drop."""
        return _rebuild, (type(self), str(self), self._arguments())


def _rebuild(kind: type[WebToolsError], message: str, facts: dict[str, Any]) -> WebToolsError:
    return kind(message, **facts)


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
