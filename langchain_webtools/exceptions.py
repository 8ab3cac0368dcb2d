"""The exception of a failed tool call, for code that handles errors itself."""

from typing import Any

from langchain_core.tools import ToolException


class WebToolException(ToolException):
    """A failed tool call. Its text says what failed, and what to do.

    Tools with `handle_tool_error=False` raise it. Use its attributes in middleware. For
    `ToolRetryMiddleware`, pass `retry_on=lambda error: getattr(error, "retryable", False)`.

    Attributes:
        provider: Configured name of the provider, or None if no request was sent.
        status_code: HTTP status of the response, or None without a response.
        retryable: Whether the same call may succeed later.
        retry_after: Seconds to wait according to the provider, or None.
        details: The `details` of the `webtools.ToolResult`.
    """

    def __init__(self, message: str, details: dict[str, Any] | None = None) -> None:
        """Create an exception from the text and the details of a `webtools.ToolResult`."""
        super().__init__(message)
        self.details: dict[str, Any] = details or {}
        error: dict[str, Any] = self.details.get("error") or {}
        self.provider: str | None = error.get("provider")
        self.status_code: int | None = error.get("status")
        self.retryable: bool = error.get("retryable", False)
        self.retry_after: float | None = error.get("retry_after")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the details, which `Exception` would drop."""
        return type(self), (str(self), self.details)
