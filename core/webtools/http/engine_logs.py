"""What httpx and httpcore may log of our requests.

At level DEBUG, httpcore logs the headers of each response, in which a server can repeat a key, and
what it found wrong with them. At level INFO, httpx logs URLs, which hold queries. Filters take
these out of the records of our own requests alone.
"""

from __future__ import annotations

import logging
from contextvars import ContextVar

import httpx

from webtools.text.patterns import compiled

_STATUS = r"return_value=\(b'HTTP/[\d.]+', (\d{3}), "
_FAULT = r"exception=(\w+)"

IN_OURS: ContextVar[bool] = ContextVar("webtools_request", default=False)  # a request of ours


def _without_answer(record: logging.LogRecord) -> bool:
    if IN_OURS.get():
        name, _, rest = record.getMessage().partition(" ")
        if status := compiled(_STATUS).match(rest):
            record.msg, record.args = f"{name} status={status[1]}", ()
        elif fault := compiled(_FAULT).match(rest):
            record.msg, record.args = f"{name} exception={fault[1]}", ()
    return True


def _without_path(record: logging.LogRecord) -> bool:
    if IN_OURS.get():
        record.args = tuple(_origin(value) for value in record.args or ())
    return True


def _origin(value: object) -> object:
    if isinstance(value, httpx.URL):
        return f"{value.scheme}://{value.netloc.decode('ascii')}"
    return value


logging.getLogger("httpx").addFilter(_without_path)
for _name in ("http11", "http2", "proxy", "socks", "connection"):
    logging.getLogger(f"httpcore.{_name}").addFilter(_without_answer)
