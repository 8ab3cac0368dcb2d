"""Runs the calls of a session: the gate, the limits, and the record of what a call returned."""

from __future__ import annotations

import time
from functools import partial
from math import inf
from typing import Any

from pydantic import BaseModel

from webtools._internal.call.dispatcher import Dispatcher
from webtools._internal.io.runtime import IO
from webtools._internal.pipeline.tape_lines import name_on_tape
from webtools._internal.pipeline.tool_call import Call, CallOptions
from webtools._internal.session.gate import Gate
from webtools._internal.session.history import History, queries_of
from webtools._internal.session.options import SessionOptions
from webtools._internal.session.services import SessionServices
from webtools._internal.session.spending import Spending
from webtools._internal.storage.budget import micro_usd_of
from webtools.config import Settings
from webtools.errors import SESSION_LIMIT, RequestTimeoutError, WebToolsError
from webtools.results import FetchResponse
from webtools.tools import READ, Tool

_MAX_SIZE_ON_LOOP = 128 * 1024  # characters; links of longer pages are searched in a thread


class SessionDispatcher(Dispatcher):
    """See `Dispatcher`.

    Args:
        settings: The settings of the session.
        session_id: Its ID.
        options: What the session may do.
        history: What it has done.
        gate: Which URLs it may open.
        services: Its budget and cache.
        spending: What it has used.
    """

    def __init__(
        self,
        settings: Settings,
        session_id: str,
        options: SessionOptions,
        history: History,
        gate: Gate,
        services: SessionServices,
        spending: Spending,
    ) -> None:
        super().__init__(settings, options.tape())
        self._options = options
        self._history = history
        self._gate = gate
        self._services = services
        self._spending = spending
        self._session_id = session_id
        self._end = inf if options.seconds is None else time.monotonic() + options.seconds

    async def _start_call(
        self, io: IO, tool: Tool, arguments: Any, options: CallOptions
    ) -> tuple[Any, Call]:
        checked, call = await super()._start_call(io, tool, arguments, options)
        services = self._services.known(call.services)
        if services is None:  # the first call, or the settings have changed
            services = await io.call_blocking(partial(self._services.make, call.services))
        call.services = services
        call.cache = call.cache and services.cache
        call.number_of, call.charges = self._history.number_of, []
        call.find_seen = self._gate.as_seen
        call.reader, call.user = self._services.reader, self.user_on_tape()
        end = io.now() + self.seconds_left()
        if end < call.deadline:
            call.deadline = end
            call.time_limit = f"{self._options.seconds:g} s (`seconds` of the session)"
        return checked, call

    def user_on_tape(self) -> str:
        """Return whose calls those of the session are on its tape."""
        tape = self.tape_in_use()
        has_strangers = tape is not None and tape.is_of_strangers
        return name_on_tape(self._options.user or (self._session_id if has_strangers else ""))

    def seconds_left(self) -> float:
        return self._end - time.monotonic()

    async def _run(self, tool: Tool, arguments: BaseModel, call: Call) -> Any:
        """Run a tool: the gate, then the tape or the tool, then the record of what it returned."""
        arguments, admitted = self._gate.admit(tool, arguments)
        if admitted is not None:
            call.as_seen = admitted.as_seen
        self._history.begin(tool, queries_of(vars(arguments)))
        try:
            response = await self._answer(tool, arguments, call)
        except WebToolsError:
            self._history.fail(tool)
            raise
        return response if admitted is None else admitted.restore(response)

    async def _note_response(
        self, response: Any, arguments: BaseModel, call: Call
    ) -> dict[str, int]:
        if call.taped is not None:
            self._history.plan_numbers(call.taped.numbers)
        record = partial(self._history.record, response, getattr(arguments, "question", None))
        if isinstance(response, FetchResponse) and _size(response) > _MAX_SIZE_ON_LOOP:
            await call.io.call_blocking(record, alone=True)
        else:
            record()
        return self._history.numbers_of(response)

    async def _run_tool(self, tool: Tool, arguments: BaseModel, call: Call) -> Any:
        """Run a tool within the limits of the session, and count the call and what it costs."""
        if self.seconds_left() <= 0:
            raise RequestTimeoutError(
                f"The session has ended after its {self._options.seconds:g} s (`seconds`). Answer "
                "with what you have.",
                retryable=False,
                code=SESSION_LIMIT,
            )
        if tool.name != READ.name:
            self._spending.count_calls(self._options.calls)
        try:
            return await super()._run_tool(tool, arguments, call)
        finally:
            charges = call.charges or ()
            self._history.charge(charges)
            if not self._services.counts_usd:
                self._spending.count_usd(sum(micro_usd_of(usd or 0.0) for _, usd in charges))


def _size(response: FetchResponse) -> int:
    """Return the number of characters in which links are searched."""
    return sum(len(page.text or "") for page in response.pages)
