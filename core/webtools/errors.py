"""The errors that public methods raise, all of them.

    WebToolsError
    ├── ConfigError                 a key or a setting is missing or malformed
    ├── InputError                  the caller's arguments make no sense
    ├── RequestError                no answer came
    │   └── RequestTimeoutError     … within the time allowed
    └── ProviderError               an answer came, and it is no success
        ├── AuthenticationError     401, 403: the key is not accepted
        ├── QuotaError              402: credit or budget is used up
        ├── RateLimitError          429: too many calls for now
        ├── BadRequestError         other 4xx: the provider refuses the request
        ├── UnavailableError        5xx: the provider is in trouble
        └── ResponseFormatError     not the documented shape

None derives from `RuntimeError`: LlamaIndex replaces the text of those.
"""

from __future__ import annotations

from enum import Flag, auto
from typing import Any, ClassVar

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
    """What our own code wants to know of an error beyond its class; it is not in the details.

    Attributes:
        NONE: Nothing more.
        GONE: The site says that there is no such page.
        REFUSED: Our own policy lets nobody read that address.
        FORBIDDEN: The operator's settings let nobody read pages from there.
        DISALLOWED: The site's robots.txt lets us not read the page.
        ADVISED: The message says to check the URL, or to try again later.
        BROKEN_PLUGIN: An installed package announces a provider that cannot be loaded.
    """

    NONE = 0
    GONE = auto()
    REFUSED = auto()
    FORBIDDEN = auto()
    DISALLOWED = auto()
    ADVISED = auto()
    BROKEN_PLUGIN = auto()


class WebToolsError(Exception):
    """Base of all errors here; its text is one sentence to act on.

    Attributes:
        provider: The configured name of the provider, or None when none was asked.
        status: HTTP status of the answer, or None when there was none.
        retryable: Whether the same call may succeed later.
        retry_after: Seconds the provider asks to wait, or None.
        cost_usd: What the failed call cost by the provider's own figure, or None.
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
        fault: Fault = Fault.NONE,
        unknown_host: str = "",
    ) -> None:
        """Keep the message and what a caller needs to decide on a retry."""
        super().__init__(message)
        self.provider = provider
        self.status = status
        self.retryable = self.default_retryable if retryable is None else retryable
        self.retry_after = retry_after
        self.cost_usd = cost_usd
        # For our own code, which never reads a message: the kind of fault, and the words by which
        # the message names a host that could not be looked up.
        self.fault = fault
        self.unknown_host = unknown_host

    @property
    def message(self) -> str:
        """The text, as `str(error)` gives it."""
        return str(self)

    def with_message(self, message: str) -> WebToolsError:
        """Make the same error with another text."""
        return type(self)(message, **self._arguments())

    def to_details(self) -> dict[str, Any]:
        """Return the plain JSON form that `ToolResult.details["error"]` carries."""
        return {"type": type(self).__name__, "message": str(self), **self._facts()}

    def _facts(self) -> dict[str, Any]:
        return {
            "provider": self.provider,
            "status": self.status,
            "retryable": self.retryable,
            "retry_after": self.retry_after,
        }

    def _arguments(self) -> dict[str, Any]:
        own = {"cost_usd": self.cost_usd, "fault": self.fault, "unknown_host": self.unknown_host}
        return self._facts() | own

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: the message, without the frames of this package."""
        return [f"{type(self).__name__}: {self}"]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the keyword attributes, which `Exception` would drop."""
        return _rebuild, (type(self), str(self), self._arguments())


def _rebuild(kind: type[WebToolsError], message: str, facts: dict[str, Any]) -> WebToolsError:
    return kind(message, **facts)


class ConfigError(WebToolsError):
    """A key or a setting is missing or malformed."""


class InputError(WebToolsError):
    """The caller's arguments make no sense; nothing was sent."""


class RequestError(WebToolsError):
    """No answer came: name lookup, connection or transfer failed."""

    default_retryable = True


class RequestTimeoutError(RequestError):
    """No answer came within the time allowed."""


class ProviderError(WebToolsError):
    """The provider answered, and the answer is no success."""


class AuthenticationError(ProviderError):
    """The provider does not accept the key, or not for this call."""


class QuotaError(ProviderError):
    """Credit, plan or budget at the provider is used up."""


class RateLimitError(ProviderError):
    """Too many calls for now; `retry_after` says how long to wait if known."""

    default_retryable = True


class BadRequestError(ProviderError):
    """The provider refuses the request as it stands."""


class UnavailableError(ProviderError):
    """The provider is in trouble."""

    default_retryable = True


class ResponseFormatError(ProviderError):
    """The response does not match the documented format."""
