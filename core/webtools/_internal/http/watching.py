"""Logs requests with the standard `logging`, and finds the application's OpenTelemetry tracer.

A record has method and host. It never has path, query or headers, which can contain the query.
"""

from __future__ import annotations

import logging
import sys
import time
from typing import TYPE_CHECKING, Any

from webtools._internal.http.outgoing import Outgoing
from webtools._version import __version__

if TYPE_CHECKING:
    from typing import Self

    from webtools.messages import Response

LOGGER = logging.getLogger("webtools.http")
# Without any handler, `logging` would write our warnings to stderr.
logging.getLogger("webtools").addHandler(logging.NullHandler())
OTEL = "opentelemetry.trace"  # an application that traces has imported it
_NO_PROVIDERS = frozenset({"ProxyTracerProvider", "NoOpTracerProvider", "_DefaultTracerProvider"})


class Tracing:
    """The application's tracing.

    Attributes:
        tracer: A tracer of OpenTelemetry, or None.
    """

    tracer: Any = None


def find_tracer() -> None:
    """Set `Tracing.tracer`. The application may have set its own up since the last call."""
    # The function is missing while another thread is importing the module.
    find = getattr(sys.modules.get(OTEL), "get_tracer_provider", None)
    if find is not None:
        provider = find()  # the application's, or one that does nothing
        is_on = type(provider).__name__ not in _NO_PROVIDERS
        Tracing.tracer = provider.get_tracer("webtools", __version__) if is_on else None


class LoggedRequest:
    """Logs a request when the block ends.

    Attributes:
        response: The response, which the block sets.
    """

    def __init__(self, outgoing: Outgoing) -> None:
        self.response: Response | None = None
        self._outgoing = outgoing
        self._start = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if not LOGGER.isEnabledFor(logging.DEBUG):
            return
        ms = round((time.monotonic() - self._start) * 1000, 1)
        facts: dict[str, Any] = {"method": self._outgoing.request.method}
        facts |= {"host": self._outgoing.host}
        if kind is not None:
            facts["error"] = kind.__name__
        elif self.response is not None:
            facts["status"] = self.response.status
        values = *facts.values(), ms
        LOGGER.debug("%s %s %s %s ms", *values, extra={"webtools": {**facts, "ms": ms}})


def end_span(span: Any, error_type: str | None) -> None:
    """End a span. Of an error it has the type only, because the message may quote the query."""
    if error_type:
        span.set_attribute("error.type", error_type)
        span.set_status(sys.modules[OTEL].StatusCode.ERROR)
    span.end()
