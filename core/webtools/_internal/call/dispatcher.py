"""Runs calls: checks arguments, reads the settings, runs a tool, sanitizes and presents results."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from datetime import date
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from webtools._internal.call.sanitize import sanitize
from webtools._internal.call.tracing import begin_span
from webtools._internal.http.watching import Tracing
from webtools._internal.io.runtime import IO
from webtools._internal.late_imports import resolve
from webtools._internal.logs.events import new_call_id
from webtools._internal.logs.records import LOGGER
from webtools._internal.pipeline.tool_call import Call, CallOptions, CallServices, call_services
from webtools._internal.text.domains import read_registry_suffixes
from webtools._internal.text.narrowing import is_iterable, is_mapping
from webtools._internal.text.quoting import SHORTEST_KEY
from webtools._internal.text.redaction import Redactor, redactor_for
from webtools.config import Accounts, Settings
from webtools.config.paths import ENVIRONMENT, RECORD_VARIABLE, REPLAY_VARIABLE, TAPE
from webtools.errors import (
    ConfigError,
    InputError,
    RequestTimeoutError,
    WebToolsError,
)
from webtools.inputs.tool_inputs import MAX_TEXT_CHARACTERS
from webtools.tools import (
    ALL_TOOLS,
    FETCH,
    RESEARCH,
    SEARCH,
    TOOLS,
    Tool,
    ToolResult,
    no_such_tool,
    read_input,
)

if TYPE_CHECKING:
    from webtools._internal.pipeline.tape import Tape
    from webtools.providers.drafts import Synthesizer
    from webtools.results import FetchResponse, ResearchPlan, Verified

T = TypeVar("T")
_LATE_SECONDS = 0.05  # how early a request may be given up
_MAX_ANSWER = 1_000_000  # characters; a check reads far fewer
_LIST_ARGUMENTS = {"include_domains", "exclude_domains"}
_OPTIONS = {
    "cache",
    "progress",
    "robots",
    "snippets",
    "timeout",
}  # arguments of methods, not of tools
# What a search does not need is imported at its first use, as the operations of the tools.
_PRESENT = "_internal.call.present:present"
_PLAN = "_internal.operations.research.planning:plan"
_HAS_RUNNING_LOOP = "_internal.http.event_loops:has_running_loop"
_AS_SYNTHESIZER = "providers.function_synthesizer:as_synthesizer"
_AMBIENT_TAPE = "_internal.pipeline.tape:ambient_tape"
_VERIFY = "_internal.operations.answer_verification:verify"


class Dispatcher:
    """Runs the calls of one `WebTools`.

    Args:
        settings: The settings, which are read again when they have changed.
        tape: Records and answers the calls. Default: that of the environment, if any.
    """

    def __init__(self, settings: Settings, tape: Tape | None = None) -> None:
        self.settings = settings
        self.tape = tape
        self._settings_read: tuple[Accounts, CallServices] | None = None  # of the last settings

    async def call(self, io: IO, tool: Tool, arguments: dict[str, Any]) -> Any:
        """Call a tool with the arguments of a method, and return its response."""
        values, options = _split_options(arguments)
        checked, call = await self._start_call(io, tool, values, options)
        return await self._run(tool, checked, call)

    async def call_tool(
        self, io: IO, name: str | Tool, arguments: Mapping[str, Any], options: CallOptions
    ) -> ToolResult:
        """Call a tool as a model does. A failed call returns a result with `is_error`."""
        call: Call | None = None
        try:
            tool = await self._check(io, _find_tool, name)
            checked, call = await self._start_call(io, tool, arguments, options)
            outcome = await self._run(tool, checked, call)
        except WebToolsError as error:
            outcome = error
        presented: ToolResult = await resolve(_PRESENT)(outcome, call, io)
        return presented

    async def plan(self, io: IO, arguments: dict[str, Any]) -> ResearchPlan:
        """Describe what a research call with these arguments would do."""
        values, options = _split_options(arguments)
        checked, call = await self._start_call(io, RESEARCH, values, options)
        work = partial(resolve(_PLAN), checked, call=call)
        plan: ResearchPlan = await sanitize(work, call.accounts.redactor, io)
        return plan

    async def verify(
        self,
        io: IO,
        answer: Any,
        sources: Any,
        verifier: Any,
        options: dict[str, Any],
        *,
        fetch: bool,
    ) -> Verified:
        """Check an answer. The settings are needed only if a source is a URL."""
        timeout = CallOptions(**options).timeout
        accounts = await self._accounts_or_substitute(io)
        redactor, timeout_ms = accounts.redactor, accounts.config.timeout_ms
        timeout = timeout or (timeout_ms / 1000 if timeout_ms else inf)
        deadline = io.now() + min(timeout, self.seconds_left())

        async def read(urls: list[str]) -> FetchResponse:
            arguments = {"urls": urls, "text_max_characters": MAX_TEXT_CHARACTERS, **options}
            response: FetchResponse = await self.call(io, FETCH, arguments)
            return response

        text = answer[:_MAX_ANSWER] if isinstance(answer, str) else ""
        # A verifier reads the answer, so no key may be in it.
        source_list = _list_sources(sources)
        clean = redactor.text

        async def work() -> Verified:
            arguments = (clean(text), source_list, verifier, read, clean, io, deadline)
            verified: Verified = await resolve(_VERIFY)(*arguments, fetch=fetch)
            return verified

        return await sanitize(work, redactor, io)

    def _run(self, tool: Tool, arguments: BaseModel, call: Call) -> Coroutine[Any, Any, Any]:
        """Run a tool with checked arguments. A session checks and counts the call here."""
        return self._answer(tool, arguments, call)

    async def _answer(self, tool: Tool, arguments: BaseModel, call: Call) -> Any:
        """Answer a call from the tape if there is one, else run the tool, and record the call."""
        tape, io = self.tape_in_use(), call.io

        async def work() -> Any:
            if tape is not None and not tape.is_open:
                await io.call_blocking(tape.open)
            taped = None if tape is None else tape.take(call, arguments)
            return await self._run_tool(tool, arguments, call) if taped is None else taped.outcome()

        try:
            response = await sanitize(work, call.accounts.redactor, io)
        except WebToolsError as error:
            if tape is not None and tape.records(call):
                await io.call_blocking(partial(self._record, tape, call, arguments, error))
            raise
        numbers = await self._note_response(response, arguments, call)
        if tape is not None and tape.records(call):
            write = partial(self._record, tape, call, arguments, response, numbers)
            return await io.call_blocking(write)
        return response

    def _record(
        self,
        tape: Tape,
        call: Call,
        arguments: BaseModel,
        outcome: Any,
        numbers: Mapping[str, int] | None = None,
    ) -> Any:
        """Record a call without the keys that are known now: some may be set while it runs."""
        return tape.write(call, arguments, outcome, numbers, self.redactor())

    async def _note_response(
        self, _response: Any, _arguments: BaseModel, _call: Call
    ) -> dict[str, int]:
        """Add what a response shows to a session, and return the numbers of its sources by URL."""
        return {}

    async def _run_tool(self, tool: Tool, arguments: BaseModel, call: Call) -> Any:
        if call.accounts.origin == TAPE:  # the settings are needed now
            self.settings.accounts()  # raises
        return await run_tool(tool, arguments, call)

    def tape_in_use(self) -> Tape | None:
        """Return the tape of the session, else that of the environment, if there is one."""
        if self.tape is None and (RECORD_VARIABLE in os.environ or REPLAY_VARIABLE in os.environ):
            ambient: Tape | None = resolve(_AMBIENT_TAPE)()
            return ambient
        return self.tape

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools that the settings can serve, without optional ones.

        If nothing is configured or the settings cannot be read, all tools are returned. Their
        first call reports what is missing. A tape may answer any tool.
        """
        if (tape := self.tape_in_use()) is not None and tape.replay:
            return tuple(TOOLS.values())
        accounts = self._accounts_or_error()
        if isinstance(accounts, Exception):
            LOGGER.warning(
                "All tools are offered, because the settings cannot be read: %s", accounts
            )
            return tuple(TOOLS.values())
        if not (accounts.accounts or accounts.stand_ins):
            return tuple(TOOLS.values())
        tools = tuple(tool for tool in TOOLS.values() if not _error_of_tool(accounts, tool))
        if missing := [tool.name for tool in TOOLS.values() if tool not in tools]:
            names = ", ".join(missing)
            LOGGER.info(
                "Tools that no provider in %s can serve are not offered: %s.",
                accounts.origin,
                names,
            )
        return tools

    def missing(self, tool: Tool | None = None) -> str:
        """Return the error of a call if nothing is configured; empty if a provider can serve it.

        Args:
            tool: The tool. Default: search.
        """
        if (tape := self.tape_in_use()) is not None and tape.replay:
            return ""
        accounts = self._accounts_or_error()
        if isinstance(accounts, Exception) or accounts.origin != ENVIRONMENT:
            return ""
        if accounts.accounts or accounts.stand_ins:
            return ""
        return _error_of_tool(accounts, tool or SEARCH)

    def redactor(self) -> Redactor:
        """Return what redacts the configured keys, also if the settings cannot be read."""
        return self.settings.redactor()

    def seconds_left(self) -> float:
        """Return the seconds until all calls end. A session can have a limit."""
        return inf

    def _accounts_or_error(self) -> Accounts | Exception:
        """Return the accounts, or why the settings cannot be read here."""
        try:
            return self.settings.latest()
        except Exception as error:
            # On an event loop, a tool that detects blocking calls can forbid reading the file.
            if isinstance(error, ConfigError) or resolve(_HAS_RUNNING_LOOP)():
                return error
            raise

    def accounts(self, *, is_current: bool = False) -> Accounts:
        """Return the providers of the settings; none for a replay without valid settings.

        Args:
            is_current: Whether to raise the error of a detector of blocking calls, instead of
                returning the settings that were read last.

        Raises:
            ConfigError: The settings are invalid.
        """
        try:
            return self.settings.accounts() if is_current else self.settings.latest()
        except ConfigError:
            if (tape := self.tape_in_use()) is None or tape.replay is None:
                raise
        return self.settings.substitute()

    async def _read_settings(self, io: IO) -> tuple[Accounts, CallServices]:
        """Return the accounts, after a check whether the settings have changed, and the services.

        On an event loop a thread does so if a tool that detects blocking calls forbids it there.
        The blocking methods, which have no thread, then use the settings that were read last.
        """

        def read() -> tuple[Accounts, CallServices]:
            return self._services_of(self.accounts(is_current=True))

        try:
            return read()
        except WebToolsError:
            raise
        except Exception:  # noqa: BLE001  # detectors raise any type; other errors are raised again
            try:
                return await io.call_blocking(read)
            except WebToolsError:
                raise
            except Exception:  # noqa: BLE001
                return self._services_of(self.accounts())

    def _services_of(self, accounts: Accounts) -> tuple[Accounts, CallServices]:
        if self._settings_read is None or self._settings_read[0] is not accounts:
            self._settings_read = accounts, call_services(accounts)
        return self._settings_read

    async def _accounts_or_substitute(self, io: IO) -> Accounts:
        """Return the accounts, or what replaces settings that cannot be read."""
        with suppress(ConfigError):
            return (await self._read_settings(io))[0]
        return self.settings.substitute()

    async def _start_call(
        self, io: IO, tool: Tool, arguments: Any, options: CallOptions
    ) -> tuple[Any, Call]:
        """Check the arguments and read the settings.

        Returns:
            The arguments as the tool's input model, and the call.
        """
        if is_mapping(arguments) and any("omain" in str(name) for name in arguments):
            await io.call_blocking(read_registry_suffixes)  # the check of domains needs them
        checked = await self._check(io, partial(read_input, tool.input_model), arguments)
        accounts, services = await self._read_settings(io)
        # A key in the arguments must be neither sent nor quoted. Shorter secrets stay, such as the
        # user name of a proxy: they may be words of the query.
        cleaned = redactor_for(accounts.secrets, SHORTEST_KEY).clean(checked)
        call = Call(new_call_id(), tool.name, accounts, services, io, options)
        if options.cache != "bypass":
            call.cache = services.cache
        if call.timeout is not None:
            call.deadline = io.now() + call.timeout
            call.time_limit = f"{call.timeout:g} s (`timeout`, or timeoutMs of the settings)"
        return cleaned, call

    async def _check(self, io: IO, check: Callable[[Any], T], value: Any) -> T:
        """Check a value of the caller, and redact the keys that an error may quote."""
        try:
            return check(value)
        except InputError as error:
            failed = error
        redactor = (await self._accounts_or_substitute(io)).redactor
        # Quote the redacted value: a quotation can be cut, and half a key would not be redacted.
        try:
            check(redactor.clean(value))
        except InputError as error:
            failed = error
        except RecursionError:
            message = "The arguments are nested too deeply. Pass strings or lists of strings."
            raise InputError(message) from None
        raise redactor.error(failed).with_message(redactor.text(str(failed))) from None


def _find_tool(name: Any) -> Tool:
    if isinstance(name, Tool):
        return name
    tool = ALL_TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        raise InputError(no_such_tool(name))
    return tool


def _error_of_tool(accounts: Accounts, tool: Tool) -> str:
    """Return the error of a tool that no provider can serve; empty if one can."""
    faults: list[str] = []
    for capability in tool.capabilities:
        try:
            accounts.chain(capability)
        except ConfigError as error:
            faults.append(str(error))
        else:
            return ""
    return faults[0] if faults else ""


# --- arguments ---------------------------------------------------------------------------------


def arguments(**values: Any) -> dict[str, Any]:
    """Convert the arguments of a method to what a model would send, without the defaults."""
    return {
        name: _to_json(value)
        for name, value in values.items()
        if value is not None
        and value is not False
        and not (name in _LIST_ARGUMENTS and isinstance(value, tuple) and not value)
    }


def _to_json(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (str, bool, int)) or not is_iterable(value):
        return value
    return list(value)


def _split_options(values: dict[str, Any]) -> tuple[dict[str, Any], CallOptions]:
    """Separate the arguments of the tool from the options of the call."""
    options = {name: value for name, value in values.items() if name in _OPTIONS}
    values = {name: value for name, value in values.items() if name not in _OPTIONS}
    synthesis = values.get("synthesis")
    if synthesis is None or isinstance(synthesis, str):
        return values, CallOptions(**options)
    synthesizer = read_synthesizer(synthesis)
    return values | {"synthesis": "llm"}, CallOptions(**options, synthesizer=synthesizer)


def read_synthesizer(value: Any) -> Synthesizer | None:
    """Return a synthesizer for what a caller passed.

    Raises:
        InputError: It is not a synthesizer.
    """
    synthesizer: Synthesizer | None = None if value is None else resolve(_AS_SYNTHESIZER)(value)
    return synthesizer


def _list_sources(value: Any) -> list[Any]:
    """List the sources of an answer.

    Raises:
        InputError: A source is neither a URL nor an object with a URL and a text.
    """
    is_single = isinstance(value, str) or hasattr(value, "url") or not is_iterable(value)
    sources: list[Any] = [value] if is_single else [*value]
    for source in sources:
        if not _is_source(source):
            kind = type(source).__name__
            raise InputError(f"Invalid source of type {kind}: expected a URL or a page.")
    return sources


def _is_source(value: Any) -> bool:
    if isinstance(value, str):
        return True
    has_text = hasattr(value, "text") and isinstance(value.text or "", str)
    return has_text and isinstance(getattr(value, "url", None), str)


# --- one call ----------------------------------------------------------------------------------


async def run_tool(tool: Tool, arguments: BaseModel, call: Call) -> Any:
    """Run a tool with checked arguments, and record the outcome in the log and the trace.

    Raises:
        WebToolsError: The call failed.
    """
    start = time.monotonic()
    tracer = Tracing.tracer
    span = begin_span(tracer, tool.name, arguments, call) if tracer is not None else None
    is_logged = call.services.log is not None or LOGGER.isEnabledFor(logging.INFO)
    if is_logged:
        call.log("call", tool=tool.name, **_arguments_to_log(arguments, call.accounts))
    facts: dict[str, Any] = {}  # stays empty if the call is canceled
    try:
        response = await _run_in_time(tool, arguments, call)
        if is_logged or span is not None:
            facts = {"is_error": False, **response.log_facts()}
    except WebToolsError as error:
        facts = {"is_error": True, "error": type(error).__name__, "message": str(error)}
        raise
    except Exception as error:  # such as an error of the caller's progress callback
        facts = {"is_error": True, "error": type(error).__name__}
        raise
    except BaseException:  # canceled, interrupted, or closed
        call.log("cancelled")
        raise
    finally:
        if facts:
            call.log("done", ms=round((time.monotonic() - start) * 1000, 1), **facts)
        call.write_log()
        if span is not None:
            span.end(facts)
    return response


async def _run_in_time(tool: Tool, arguments: BaseModel, call: Call) -> Any:
    """Run a tool. If it fails after its time limit, the error names the limit."""
    try:
        return await resolve(tool.operation)(arguments, call)
    except WebToolsError as error:
        if not call.time_limit or call.io.now() < call.deadline - _LATE_SECONDS:
            raise
        late = RequestTimeoutError(
            f"The call did not end within its time limit of {call.time_limit}. {error}",
            provider=error.provider,
        )
    raise late


def _arguments_to_log(arguments: BaseModel, accounts: Accounts) -> dict[str, Any]:
    """Return the arguments that the caller passed; `provider` only if it names a provider."""
    facts = {
        name: value for name, value in vars(arguments).items() if name in arguments.model_fields_set
    }
    if "provider" in facts and accounts.named(facts["provider"]) is None:
        del facts["provider"]
    return facts
