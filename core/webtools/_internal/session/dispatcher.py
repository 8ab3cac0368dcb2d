"""Runs the calls of a session: the gate, the limits, and the record of what a call returned."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from pydantic import BaseModel

from webtools._internal.call.dispatcher import Arguments, Dispatcher, Response, run_tool
from webtools._internal.io.runtime import IO
from webtools._internal.pipeline.tool_call import Call, CallOptions
from webtools._internal.session.gate import Gate
from webtools._internal.session.history import History
from webtools._internal.session.options import SessionOptions
from webtools._internal.text.redaction import Redactor
from webtools.config import Settings
from webtools.tools import Tool


class SessionDispatcher(Dispatcher):
    """See `Dispatcher`.

    Args:
        settings: The settings of the session.
        options: What the session may do.
        history: What it has done.
        gate: Which URLs it may open.
    """

    def __init__(
        self, settings: Settings, options: SessionOptions, history: History, gate: Gate
    ) -> None:
        super().__init__(settings)
        self._options = options
        self._history = history
        self._gate = gate

    async def _start_call(
        self, io: IO, tool: Tool, arguments: Any, options: CallOptions
    ) -> tuple[Any, Call]:
        checked, call = await super()._start_call(io, tool, arguments, options)
        return checked, call

    async def _run(self, tool: Tool, arguments: BaseModel, call: Call) -> Any:
        """Run a tool: the gate, then `_exchange`, then the record of what it returned."""
        arguments, admitted = self._gate.admit(tool, arguments)
        if admitted is not None:
            call.as_seen = admitted.as_seen
        work = partial(run_tool, tool, call=call)
        response = await self._exchange(tool.name, arguments, work, call.accounts.redactor, call.io)
        self._history.record(response)
        return response if admitted is None else admitted.restore(response)

    def _exchange(
        self,
        name: str,
        arguments: Arguments,
        work: Callable[[Arguments], Awaitable[Response]],
        redactor: Redactor,
        io: IO,
    ) -> Coroutine[Any, Any, Response]:
        """Return the response; `record=` and `replay=` belong here.

        `name` is the name of a tool, `plan` or `verify`. The arguments are checked, the response is
        sanitized, and neither has keys. The fetch of a `verify` is a call of its own.
        """
        return super()._exchange(name, arguments, work, redactor, io)
