"""What httpcore may log of our requests: a server can repeat a key in any header of its answer.

At level DEBUG, httpcore logs the headers of each answer, and what it found wrong with them. A
filter takes the values out, in our own requests alone: other users of httpcore keep their logs.
"""

from __future__ import annotations

import logging
import re
from contextvars import ContextVar, Token
from functools import cache

_LOGGERS = [
    logging.getLogger(f"httpcore.{name}")
    for name in ("http11", "http2", "proxy", "socks", "connection")
]
_ours: ContextVar[bool] = ContextVar("webtools_request", default=False)
_STATUS = re.compile(r"return_value=\(b'HTTP/[\d.]+', (\d{3}), ")
_FAULT = re.compile(r"exception=(\w+)")


def begin_quiet() -> Token[bool] | None:
    """Keep what a server says out of httpcore's logs, until `end_quiet` is given the result."""
    if not _LOGGERS[0].isEnabledFor(logging.DEBUG):
        return None
    _install()
    return _ours.set(True)


def end_quiet(token: Token[bool]) -> None:
    """Let httpcore's logs be as they were."""
    _ours.reset(token)


@cache
def _install() -> None:
    for logger in _LOGGERS:
        logger.addFilter(_without_answer)


def _without_answer(record: logging.LogRecord) -> bool:
    if _ours.get():
        name, _, rest = record.getMessage().partition(" ")
        if status := _STATUS.match(rest):
            record.msg, record.args = f"{name} status={status[1]}", ()
        elif fault := _FAULT.match(rest):
            record.msg, record.args = f"{name} exception={fault[1]}", ()
    return True
