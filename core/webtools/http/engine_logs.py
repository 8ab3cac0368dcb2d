"""What httpcore may log of our requests: a server can repeat a key in any header of its answer.

At level DEBUG, httpcore logs the headers of each answer, and what it found wrong with them. A
filter takes the values out, in our own requests alone: other users of httpcore keep their logs.
"""

from __future__ import annotations

import logging
from contextvars import ContextVar

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


for _name in ("http11", "http2", "proxy", "socks", "connection"):
    logging.getLogger(f"httpcore.{_name}").addFilter(_without_answer)
