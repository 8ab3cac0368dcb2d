"""The exception of a failed tool call, for code that handles errors itself."""

from typing import Any

from langchain_core.tools import ToolException


class WebToolException(ToolException):
    """A failed tool call; its text is one sentence for the model to act on.

    Use the attributes in middleware such as `ToolRetryMiddleware`, on tools with
    `handle_tool_error=False`: `retry_on=lambda error: getattr(error, "retryable", False)`.

    Attributes:
        provider: The configured name of the provider, or None if no request was sent.
        status_code: HTTP status of the response, or None without a response.
        retryable: Whether the same call may succeed later.
        retry_after: Seconds to wait, as the provider says, or None.
        details: `webtools.ToolResult.details` of this call.
    """

    def __init__(self, message: str, details: dict[str, Any] | None = None) -> None:
        """Copy the text and the details of a `webtools.ToolResult`."""
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
