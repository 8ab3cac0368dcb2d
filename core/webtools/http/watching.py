"""Requests as others see them: a record of the standard `logging` each, and a span if one traces.

Both name method and host, never path, query or headers: those hold what was asked.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any, TypeAlias

from webtools._version import __version__
from webtools.http.messages import Request, Response
from webtools.http.translation import target_of

Exchange: TypeAlias = "Callable[[Request, float], Coroutine[Any, Any, Response]]"
LOGGER = logging.getLogger("webtools.http")
# Without any handler, `logging` would write our warnings to stderr.
logging.getLogger("webtools").addHandler(logging.NullHandler())
OTEL = "opentelemetry.trace"  # nobody traces where the application has not imported it
_NO_PROVIDERS = frozenset({"ProxyTracerProvider", "NoOpTracerProvider", "_DefaultTracerProvider"})
_FIRST_FAULT = 400


class Tracing:
    """What looks on at the calls of this process.

    Attributes:
        tracer: A tracer of OpenTelemetry, or None.
        is_on: Whether requests are logged or traced.
    """

    tracer: Any = None
    is_on = False


def look_for_watchers() -> None:
    """Take up the application's tracer and level of logging, as they are by now."""
    # None in it yet where another thread is importing it just now.
    find = getattr(sys.modules.get(OTEL), "get_tracer_provider", None)
    if find is not None:
        provider = find()  # the application's, or one that does nothing
        is_on = type(provider).__name__ not in _NO_PROVIDERS
        Tracing.tracer = provider.get_tracer("webtools", __version__) if is_on else None
    Tracing.is_on = Tracing.tracer is not None or LOGGER.isEnabledFor(logging.DEBUG)


def watched(exchange: Exchange) -> Exchange:
    """Wrap what exchanges a request for its response: each is logged and traced."""

    async def told(request: Request, deadline: float) -> Response:
        with _logged(request, Tracing.tracer) as tell:
            response = await exchange(request, deadline)
            tell(response)
        return response

    return told


@contextmanager
def _logged(request: Request, trace: Any) -> Generator[Callable[[Response], None], None, None]:
    """Log and trace a request when it has ended, however it did."""
    url = target_of(request.url).core_url
    host = url.host.decode()
    facts: dict[str, Any] = {"method": request.method, "host": host}
    start = time.monotonic()

    def tell(response: Response) -> None:
        facts["status"] = response.status

    span = _begun(trace, request.method, url) if trace is not None else None
    try:
        yield tell
    except BaseException as error:
        facts["error"] = type(error).__name__
        raise
    finally:
        facts["ms"] = round((time.monotonic() - start) * 1000, 1)
        if span is not None:
            _end(span, facts)
        if LOGGER.isEnabledFor(logging.DEBUG):
            outcome = facts.get("status") or facts.get("error")
            told = request.method, host, outcome, facts["ms"]
            LOGGER.debug("%s %s %s %s ms", *told, extra={"webtools": facts})


def _begun(trace: Any, method: str, url: Any) -> Any:
    """Begin a span by OpenTelemetry's conventions for HTTP clients, but for `url.full`."""
    attributes = {
        "http.request.method": method,
        "server.address": url.host.decode(),
        "server.port": url.origin.port,
        "url.scheme": url.scheme.decode(),
    }
    kind = sys.modules[OTEL].SpanKind.CLIENT
    return trace.start_span(method, kind=kind, attributes=attributes)


def _end(span: Any, facts: dict[str, Any]) -> None:
    fault = facts.get("error")
    if (status := facts.get("status")) is not None:
        span.set_attribute("http.response.status_code", status)
        fault = fault or (str(status) if status >= _FIRST_FAULT else None)
    end_span(span, fault)


def end_span(span: Any, fault: str | None) -> None:
    """End a span; a fault is named by its type alone, for its text may quote what was asked."""
    if fault:
        span.set_attribute("error.type", fault)
        span.set_status(sys.modules[OTEL].StatusCode.ERROR)
    span.end()
