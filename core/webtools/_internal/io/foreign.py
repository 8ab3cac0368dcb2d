"""Calls the user's code, such as a model of an agent framework, with a deadline."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from webtools._internal.text.cleaning import one_line
from webtools._internal.text.cutting import shortened
from webtools.errors import RequestError, RequestTimeoutError

_MAX_MESSAGE = 300  # characters
TOO_LATE = "no response in time"


def call_in_thread(function: Callable[[], Any], deadline: float) -> Any:
    """Call a function in a daemon thread that has the caller's context variables.

    Raises:
        RequestError: The function raised. The text has the exception's type and message; the
            exception itself is dropped, since it may hold a key.
        RequestTimeoutError: It did not return before `deadline`. It may still be running.
    """
    return return_or_raise(_outcome_in_thread(function, deadline))


def _outcome_in_thread(function: Callable[[], Any], deadline: float) -> Any:
    outcomes: list[tuple[Any, BaseException | None]] = []

    def work() -> None:
        try:
            outcomes.append((function(), None))
        except BaseException as error:  # noqa: BLE001  # raised in the waiting thread
            outcomes.append((None, error))

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(work,), name="webtools-call", daemon=True)
    seconds = deadline - time.monotonic()
    if seconds > 0:
        thread.start()
        thread.join(min(seconds, threading.TIMEOUT_MAX))
    if not outcomes:
        return RequestTimeoutError(TOO_LATE)
    result, error = outcomes.pop()
    return result if error is None else to_request_error(error)


def to_request_error(error: BaseException) -> RequestError:
    """Convert an exception. One that ends the program is raised again."""
    if not isinstance(error, Exception):
        raise error
    kind = RequestTimeoutError if isinstance(error, TimeoutError) else RequestError
    return kind(describe_error(error))


def describe_error(error: Exception) -> str:
    """Return the type and the message of an exception on one line, shortened."""
    message = ""
    with suppress(Exception):  # its `__str__` is the user's code, too
        message = shortened(one_line(str(error)), _MAX_MESSAGE)
    return ": ".join(filter(None, [type(error).__name__, message]))


def return_or_raise(outcome: Any) -> Any:
    """Return a result, or raise an error whose frames do not hold the foreign exception."""
    try:
        if isinstance(outcome, RequestError):
            raise outcome
        return outcome
    finally:
        del outcome  # otherwise an error and this frame would refer to each other
