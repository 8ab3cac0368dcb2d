"""Filters that keep keys and queries out of what httpx and httpcore log about our requests.

At level DEBUG, httpcore logs the headers of each response, in which a server can repeat a key. Of
these records, only the status or the type of the exception is kept. httpcore also logs the login
of a SOCKS proxy, which is removed.

At level INFO, httpx logs the URL, which can contain a query. These records are dropped:
`webtools.http` logs method and host.

Requests of the application's own httpx clients are logged as usual.
"""

from __future__ import annotations

import logging
import re
from contextvars import ContextVar

_STATUS = re.compile(r"return_value=\(b'HTTP/[\d.]+', (\d{3}), ")
_EXCEPTION = re.compile(r"exception=(\w+)")
_LOGIN = re.compile(r" auth=\(")  # the last of the facts

# Whether the current task or thread is sending a request of webtools.
IN_OUR_REQUEST: ContextVar[bool] = ContextVar("webtools_request", default=False)


def _remove_secrets(record: logging.LogRecord) -> bool:
    if IN_OUR_REQUEST.get():
        name, _, rest = record.getMessage().partition(" ")
        if status := _STATUS.match(rest):
            record.msg, record.args = f"{name} status={status[1]}", ()
        elif exception := _EXCEPTION.match(rest):
            record.msg, record.args = f"{name} exception={exception[1]}", ()
        elif login := _LOGIN.search(rest):
            record.msg, record.args = f"{name} {rest[: login.start()]}", ()
    return True


def _is_not_ours(_: logging.LogRecord) -> bool:
    return not IN_OUR_REQUEST.get()


logging.getLogger("httpx").addFilter(_is_not_ours)
for _name in ("http11", "http2", "proxy", "socks", "connection"):
    logging.getLogger(f"httpcore.{_name}").addFilter(_remove_secrets)
