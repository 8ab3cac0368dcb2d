"""Requests in the standard `logging`, and the application's tracer of OpenTelemetry.

A record names method and host, never path, query or headers, which hold what was searched for.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from webtools._internal.http.messages import Response
from webtools._internal.http.outgoing import Outgoing
from webtools._version import __version__

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
    """Look the application's tracer up, as it is by now."""
    # The function is missing while another thread is importing the module.
    find = getattr(sys.modules.get(OTEL), "get_tracer_provider", None)
    if find is not None:
        provider = find()  # the application's, or one that does nothing
        is_on = type(provider).__name__ not in _NO_PROVIDERS
        Tracing.tracer = provider.get_tracer("webtools", __version__) if is_on else None


@contextmanager
def logged(outgoing: Outgoing) -> Generator[Callable[[Response], Response], None, None]:
    """Log a request when it has ended; yield a function that takes the response and returns it."""
    facts: dict[str, Any] = {"method": outgoing.request.method, "host": outgoing.host}
    start = time.monotonic()

    def log(response: Response) -> Response:
        facts["status"] = response.status
        return response

    try:
        yield log
    except BaseException as error:
        facts["error"] = type(error).__name__
        raise
    finally:
        if LOGGER.isEnabledFor(logging.DEBUG):
            facts["ms"] = round((time.monotonic() - start) * 1000, 1)
            outcome = facts.get("status") or facts.get("error")
            values = facts["method"], facts["host"], outcome, facts["ms"]
            LOGGER.debug("%s %s %s %s ms", *values, extra={"webtools": facts})


def end_span(span: Any, fault: str | None) -> None:
    """End a span; a fault is named by its type alone, since its text may quote the query."""
    if fault:
        span.set_attribute("error.type", fault)
        span.set_status(sys.modules[OTEL].StatusCode.ERROR)
    span.end()
