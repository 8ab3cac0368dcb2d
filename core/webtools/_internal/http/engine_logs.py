"""What httpx and httpcore may log of our requests; other users of them keep their logs.

At level DEBUG, httpcore logs the headers of each response, in which a server can repeat a key, and
what it found wrong with them; a filter removes the values. At level INFO, httpx logs the URL, which
can hold a query; our own log has method and host instead.
"""

from __future__ import annotations

import logging
import re
from contextvars import ContextVar

_STATUS = re.compile(r"return_value=\(b'HTTP/[\d.]+', (\d{3}), ")
_FAULT = re.compile(r"exception=(\w+)")

IN_OURS: ContextVar[bool] = ContextVar("webtools_request", default=False)  # a request of ours


def _without_answer(record: logging.LogRecord) -> bool:
    if IN_OURS.get():
        name, _, rest = record.getMessage().partition(" ")
        if status := _STATUS.match(rest):
            record.msg, record.args = f"{name} status={status[1]}", ()
        elif fault := _FAULT.match(rest):
            record.msg, record.args = f"{name} exception={fault[1]}", ()
    return True


def _is_not_ours(_: logging.LogRecord) -> bool:
    return not IN_OURS.get()


logging.getLogger("httpx").addFilter(_is_not_ours)
for _name in ("http11", "http2", "proxy", "socks", "connection"):
    logging.getLogger(f"httpcore.{_name}").addFilter(_without_answer)
