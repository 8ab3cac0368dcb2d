"""Checks the arguments of a call, and carries it out with the settings in force."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from webtools._internal.call.present import present, present_error
from webtools._internal.call.sanitize import sanitize
from webtools._internal.call.select import carry_out, find_tool, servable, unserved
from webtools._internal.io.runtime import IO
from webtools._internal.logs.records import LOGGER
from webtools._internal.operations.answer_verification import verify
from webtools._internal.operations.research.planning import plan
from webtools._internal.pipeline.tool_call import (
    Call,
    CallOptions,
    CallServices,
    call_services,
)
from webtools._internal.text.narrowing import is_iterable
from webtools._internal.text.quoting import SHORTEST_KEY
from webtools._internal.text.redaction import Redactor, redactor_for
from webtools.config import Accounts, Settings
from webtools.config.paths import ENVIRONMENT
from webtools.errors import ConfigError, InputError, WebToolsError
from webtools.inputs.tool_inputs import MAX_TEXT_CHARACTERS
from webtools.tools import FETCH, RESEARCH, SEARCH, TOOLS, Tool, ToolResult, read_input

if TYPE_CHECKING:
    from webtools.results import FetchResponse, ResearchPlan, Verified

T = TypeVar("T")
_USUAL = CallOptions()
_LONGEST_ANSWER = 1_000_000  # characters; a check reads far fewer
_LISTS = {"include_domains", "exclude_domains"}  # an empty one is none


class Dispatcher:
    """Checks arguments, reads the settings, and carries calls out.

    Args:
        settings: Where the settings are.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._services: tuple[Accounts, CallServices] | None = None

    async def call(self, io: IO, tool: Tool, arguments: dict[str, Any]) -> Any:
        """Call a tool with what a method was given; every result passes the redactor."""
        given, call = await self._begin(io, tool, *_split(arguments))
        work = partial(carry_out, tool, given, call)
        return await sanitize(work, call.accounts.redactor, io)

    async def plan(self, io: IO, arguments: dict[str, Any]) -> ResearchPlan:
        """Describe what a research call with these arguments would do."""
        given, call = await self._begin(io, RESEARCH, *_split(arguments))
        return await sanitize(partial(plan, given, call), call.accounts.redactor, io)

    async def verify(self, io: IO, answer: Any, sources: Any, options: dict[str, Any]) -> Verified:
        """Check an answer; the settings are read only where a source is a URL."""

        async def read(urls: list[str]) -> FetchResponse:
            arguments = {"urls": urls, "text_max_characters": MAX_TEXT_CHARACTERS, **options}
            response: FetchResponse = await self.call(io, FETCH, arguments)
            return response

        verifier = options.pop("verifier", None)
        text = answer[:_LONGEST_ANSWER] if isinstance(answer, str) else ""
        # A verifier reads the answer, so no key may be in it.
        redactor = await io.call_blocking(self.redactor, quick=self.redactor)
        checked = _sources(sources)
        work = partial(verify, redactor.text(text), checked, verifier, read, redactor.text, io)
        return await sanitize(work, redactor, io)

    async def present(
        self, io: IO, name: str | Tool, arguments: Mapping[str, Any], options: CallOptions
    ) -> ToolResult:
        """Call a tool as a model does; what is wrong with the call is a result as well."""
        failed: WebToolsError
        try:
            tool = self._checked(find_tool, name)
            given, call = await self._begin(io, tool, arguments, options)
        except WebToolsError as error:
            failed = error
        else:
            work = partial(carry_out, tool, given, call)
            clean = partial(sanitize, work, call.accounts.redactor, io)
            return await present(tool, clean, call)
        return await present_error(failed, io)

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools that the settings can serve; all where they cannot be read here."""
        try:
            accounts = self.settings.latest()
        except Exception as error:
            # On a loop a detector of blocking calls may forbid the look at the file.
            if not (isinstance(error, ConfigError) or _is_on_loop()):
                raise
            LOGGER.warning("All tools are offered, as the settings cannot be read: %s", error)
            return tuple(TOOLS.values())
        return servable(accounts)

    def missing(self, tool: Tool | None = None) -> str:
        """Return the error of a call where nothing is configured; empty if a provider can serve.

        Args:
            tool: The tool; None for a search.
        """
        try:
            accounts = self.settings.latest()
        except Exception as error:
            if not (isinstance(error, ConfigError) or _is_on_loop()):  # as in `tools`
                raise
            return ""
        if accounts.origin != ENVIRONMENT or accounts.accounts or accounts.stand_ins:
            return ""
        return unserved(accounts, tool or SEARCH)

    def redactor(self) -> Redactor:
        """Return what takes the configured keys out; nothing where the settings cannot be read."""
        try:
            return self.settings.latest().redactor
        except ConfigError:
            return Redactor(())

    async def _begin(
        self, io: IO, tool: Tool, arguments: Mapping[str, Any], options: CallOptions
    ) -> tuple[Any, Call]:
        # It looks whether the settings have changed: a detector of blocking calls may forbid that.
        begin = partial(self._begun, io, tool, arguments, options)
        return await io.call_blocking(begin, quick=begin)

    def _begun(
        self, io: IO, tool: Tool, arguments: Mapping[str, Any], options: CallOptions
    ) -> tuple[Any, Call]:
        """Check the arguments and read the settings.

        Returns:
            The arguments as the tool's input model, and what the call has at hand.
        """
        checked = self._checked(partial(read_input, tool.input_model), arguments)
        accounts = self.settings.accounts()
        # The arguments too: a key in a query must not be sent, nor quoted and cut in a message. A
        # proxy's short user name may be a word of the query.
        given = redactor_for(accounts.secrets, SHORTEST_KEY).clean(checked)
        known = self._services  # found anew when the settings have changed
        if known is None or known[0] is not accounts:
            known = self._services = accounts, call_services(accounts)
        services = known[1]
        # By which the log knows the call.
        name = "" if services.log is None else services.log.new_call_id()
        call = Call(name, tool.name, accounts, services, io, options)
        if options.cache != "bypass":
            call.cache = services.cache
        return given, call

    def _checked(self, check: Callable[[Any], T], given: Any) -> T:
        """Check what the caller gave; a complaint quotes it without the keys it may hold."""
        try:
            return check(given)
        except InputError as error:
            failed = error
        # Cleaned before it is quoted: quoting cuts and respells, and half a key is a key too.
        redactor = self.redactor()
        try:
            check(redactor.clean(given))
        except InputError as error:
            failed = error
        except RecursionError:
            message = "the arguments are nested too deeply to be read; give lists of texts."
            raise InputError(message) from None
        raise redactor.error(failed).with_message(redactor.text(str(failed))) from None


def arguments(**named: Any) -> dict[str, Any]:
    """Bring a method's arguments into the form that a model sends: text, lists, no dates."""
    return {
        name: value if isinstance(value, str) else _plain(value)
        for name, value in named.items()
        if value is not None
        and value is not False  # which says what leaving it out says
        and not (name in _LISTS and isinstance(value, tuple) and not value)
    }


def _split(named: dict[str, Any]) -> tuple[dict[str, Any], CallOptions]:
    """Part what the tool is told from what the caller decides."""
    cache, progress = named.pop("cache", "use"), named.pop("progress", None)
    robots, snippets = named.pop("robots", False), named.pop("snippets", False)
    synthesis = named.get("synthesis")
    if synthesis is None or isinstance(synthesis, str):
        if cache == "use" and progress is None and not (robots or snippets):
            return named, _USUAL
        return named, CallOptions(cache, progress, robots=robots, snippets=snippets)
    if not hasattr(synthesis, "draft"):
        wanted = "a name or one such as ChatModelSynthesizer(model) or LLMSynthesizer(llm)"
        raise InputError(f"synthesis must be {wanted}, not {type(synthesis).__name__}.")
    return named | {"synthesis": None}, CallOptions(cache, progress, synthesis)


def _plain(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (str, bool, int)) or not is_iterable(value):
        return value
    return list(value)


def _sources(given: Any) -> list[Any]:
    """Check what an answer is to be checked against.

    Raises:
        InputError: Something is neither an address nor has one and a text.
    """
    is_one = isinstance(given, str) or hasattr(given, "url") or not is_iterable(given)
    sources: list[Any] = [given] if is_one else [*given]
    for each in sources:
        parts = [each] if isinstance(each, str) else [_part(each, "url"), _part(each, "text") or ""]
        if not all(isinstance(part, str) for part in parts):
            kind = type(each).__name__
            raise InputError(f"a source cannot be of type {kind}; give URLs or pages.")
    return sources


def _part(source: Any, name: str) -> Any:
    return getattr(source, name, _NONE)


_NONE = object()


def _is_on_loop() -> bool:
    asyncio = sys.modules.get("asyncio")  # without it, there is no loop
    try:
        return asyncio is not None and asyncio.get_running_loop() is not None
    except RuntimeError:
        return False
