"""Logs requests with the standard `logging`, and finds the application's OpenTelemetry tracer.

A record has method and host. It never has path, query or headers, which can contain the query.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

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
    """Set `Tracing.tracer`. The application may have set its own up since the last call."""
    # The function is missing while another thread is importing the module.
    find = getattr(sys.modules.get(OTEL), "get_tracer_provider", None)
    if find is not None:
        provider = find()  # the application's, or one that does nothing
        is_on = type(provider).__name__ not in _NO_PROVIDERS
        Tracing.tracer = provider.get_tracer("webtools", __version__) if is_on else None


@contextmanager
def log_request(outgoing: Outgoing) -> Generator[dict[str, Any], None, None]:
    """Log a request when it ends. Yields the facts to log, to which the block adds `status`."""
    facts: dict[str, Any] = {"method": outgoing.request.method, "host": outgoing.host}
    start = time.monotonic()
    try:
        yield facts
    except BaseException as error:
        facts["error"] = type(error).__name__
        raise
    finally:
        if LOGGER.isEnabledFor(logging.DEBUG):
            facts["ms"] = round((time.monotonic() - start) * 1000, 1)
            outcome = facts.get("status") or facts.get("error")
            values = facts["method"], facts["host"], outcome, facts["ms"]
            LOGGER.debug("%s %s %s %s ms", *values, extra={"webtools": facts})


def end_span(span: Any, error_type: str | None) -> None:
    """End a span. Of an error it has the type only, because the message may quote the query."""
    if error_type:
        span.set_attribute("error.type", error_type)
        span.set_status(sys.modules[OTEL].StatusCode.ERROR)
    span.end()
