"""The facade: every tool, blocking and async, over one set of flows."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from webtools._calls import CALLS, find_tool
from webtools._flow import Flow, arun, run
from webtools._narrowing import is_iterable
from webtools._redaction import Redactor, redacted, redactor_for
from webtools._toolcalls import PRESENTERS, answer
from webtools._transport import BlockingTransport, LoopTransports
from webtools.config import Config, Settings
from webtools.errors import ConfigError, InputError
from webtools.results import FetchResponse, SearchResponse, SummaryResponse
from webtools.tools import FETCH, SEARCH, SUMMARIZE, Tool, ToolResult, read_input

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")
Strings: TypeAlias = str | Sequence[str]
Moment: TypeAlias = str | date | None


class WebTools:
    """Web search, page fetching and summaries over the configured providers.

    The settings are read at the calls, not here: what `config` names, else the config file, else
    the environment. One instance serves any number of threads and event loops; its blocking
    methods also work inside a running loop. Close it, or use it as a context manager, to close
    its connections.

    Args:
        config: A `Config`, or what a config file holds, or the path of one; None looks for one.
    """

    def __init__(
        self, config: Config | Mapping[str, Any] | str | os.PathLike[str] | None = None
    ) -> None:
        """Remember where the settings are; nothing is read or opened."""
        self._settings = Settings(config)
        self._blocking = BlockingTransport()
        self._loops = LoopTransports()

    # --- blocking ------------------------------------------------------------------------------

    def search(
        self,
        queries: Strings,
        *,
        limit: int | None = None,
        include_domains: Strings = (),
        exclude_domains: Strings = (),
        start_published_date: Moment = None,
        end_published_date: Moment = None,
        category: str | None = None,
        provider: str | None = None,
    ) -> SearchResponse:
        """Search the web with one or several queries, which run at the same time.

        Args:
            queries: One query or several, at most 20.
            limit: Most results per query, 1 to 100; None takes the configured number.
            include_domains: Only results from these hosts and their sub-domains.
            exclude_domains: No results from these.
            start_published_date: Only results published on or after it (ISO 8601).
            end_published_date: Only results published on or before it (ISO 8601).
            category: Kind of page; the names are in `webtools.tools.CATEGORIES`.
            provider: Configured name of the provider to use.

        Returns:
            The results by query, then by the provider's rank; failed queries in `errors`.

        Raises:
            InputError: The arguments make no sense.
            ConfigError: The settings are missing or malformed, or no provider can do it.
            RequestError: No answer came.
            ProviderError: Every query failed at the provider.
        """
        flow: Flow[SearchResponse] = self._call(SEARCH, _arguments(locals()))
        return self._run(flow)

    def fetch(
        self,
        urls: Strings,
        *,
        text: bool | None = None,
        highlights: bool = False,
        summary: bool = False,
        text_max_characters: int | None = None,
        provider: str | None = None,
    ) -> FetchResponse:
        """Read one or several pages.

        Args:
            urls: One absolute http(s) URL or several, at most 100.
            text: Return the text; None means yes unless highlights or a summary are asked for.
            highlights: Return the most relevant extracts.
            summary: Return a summary of each page.
            text_max_characters: Most characters of text per page.
            provider: Configured name of the provider to use.

        Returns:
            One page per URL in the order given; those that failed carry `error`.

        Raises:
            InputError: The arguments make no sense.
            ConfigError: The settings are missing or malformed, or no provider can do it.
            RequestError: No answer came.
            ProviderError: The provider failed, or not one page could be had.
        """
        flow: Flow[FetchResponse] = self._call(FETCH, _arguments(locals()))
        return self._run(flow)

    def summarize(
        self,
        url: str,
        *,
        summary_type: Literal["summary", "takeaway"] = "summary",
        engine: Literal["cecil", "agnes"] = "cecil",
        target_language: str | None = None,
        provider: str | None = None,
    ) -> SummaryResponse:
        """Summarize the document behind a URL.

        Args:
            url: Absolute http(s) URL of a page, PDF, video or audio.
            summary_type: `summary` for prose, `takeaway` for a list of key points.
            engine: `cecil` for general purposes, `agnes` for technical texts.
            target_language: Language code of the output, e.g. `DE`; None keeps the document's.
            provider: Configured name of the provider to use.

        Raises:
            InputError: The arguments make no sense.
            ConfigError: The settings are missing or malformed, or no provider can do it.
            RequestError: No answer came.
            ProviderError: The provider failed or gave no summary.
        """
        flow: Flow[SummaryResponse] = self._call(SUMMARIZE, _arguments(locals()))
        return self._run(flow)

    def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool as a model does: by name, with loosely spelled arguments.

        Returns:
            Text within the output budget, and details. A failure that a model or a user can
            cause is a result with `is_error`, never an exception.
        """
        return self._run(answer(self._presented(name, arguments)))

    def close(self) -> None:
        """Close the connections of the blocking methods; later calls open new ones."""
        self._blocking.close()

    # --- async ---------------------------------------------------------------------------------

    async def asearch(
        self,
        queries: Strings,
        *,
        limit: int | None = None,
        include_domains: Strings = (),
        exclude_domains: Strings = (),
        start_published_date: Moment = None,
        end_published_date: Moment = None,
        category: str | None = None,
        provider: str | None = None,
    ) -> SearchResponse:
        """Search as `search` does, awaited; cancelling the task ends the requests."""
        flow: Flow[SearchResponse] = self._call(SEARCH, _arguments(locals()))
        return await self._arun(flow)

    async def afetch(
        self,
        urls: Strings,
        *,
        text: bool | None = None,
        highlights: bool = False,
        summary: bool = False,
        text_max_characters: int | None = None,
        provider: str | None = None,
    ) -> FetchResponse:
        """Fetch as `fetch` does, awaited."""
        flow: Flow[FetchResponse] = self._call(FETCH, _arguments(locals()))
        return await self._arun(flow)

    async def asummarize(
        self,
        url: str,
        *,
        summary_type: Literal["summary", "takeaway"] = "summary",
        engine: Literal["cecil", "agnes"] = "cecil",
        target_language: str | None = None,
        provider: str | None = None,
    ) -> SummaryResponse:
        """Summarize as `summarize` does, awaited."""
        flow: Flow[SummaryResponse] = self._call(SUMMARIZE, _arguments(locals()))
        return await self._arun(flow)

    async def acall_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool as `call_tool` does, awaited."""
        return await self._arun(answer(self._presented(name, arguments)))

    async def aclose(self) -> None:
        """Close the connections of the running loop and those of the blocking methods."""
        self._blocking.close()
        await self._loops.aclose()

    # --- inside --------------------------------------------------------------------------------

    def _run(self, flow: Flow[T]) -> T:
        return run(flow, self._blocking)

    async def _arun(self, flow: Flow[T]) -> T:
        return await arun(flow, await self._loops.current())

    def _call(self, tool: Tool, arguments: Mapping[str, Any]) -> Flow[Any]:
        """Check the arguments, read the settings, call; every result passes the redactor."""
        checked = self._checked(partial(read_input, tool.input_model), arguments)
        accounts = self._settings.accounts()
        redactor = redactor_for(accounts.secrets)
        # The arguments too: a key in a query must not be sent, nor quoted and cut in a message.
        work = CALLS[tool.name](redactor.clean(checked), accounts)
        return (yield from redacted(work, redactor))

    def _presented(self, name: str, arguments: Mapping[str, Any]) -> Flow[ToolResult]:
        tool = self._checked(find_tool, name)
        response = yield from self._call(tool, arguments)
        return (yield from PRESENTERS[tool.name](response))

    def _checked(self, check: Callable[[Any], T], given: Any) -> T:
        """Check what the caller gave; a complaint quotes it without the keys it may hold."""
        try:
            return check(given)
        except InputError as error:
            failed = error
        # Cleaned before it is quoted: quoting cuts and respells, and half a key is a key too.
        redactor = self._redactor()
        try:
            check(redactor.clean(given))
        except InputError as error:
            failed = error
        raise redactor.error(failed).with_message(redactor.text(str(failed))) from None

    def _redactor(self) -> Redactor:
        try:
            return redactor_for(self._settings.accounts().secrets)
        except ConfigError:
            return Redactor(())

    def __repr__(self) -> str:
        """Name the source of the settings, nothing in them."""
        return f"WebTools({self._settings!r})"

    def __copy__(self) -> WebTools:
        """Share the instance: it holds connections, and is safe to share."""
        return self

    def __deepcopy__(self, memo: object) -> WebTools:
        """Share the instance, likewise."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as where the settings are; a config that holds keys refuses."""
        return type(self), self._settings.__reduce__()[1]

    def __enter__(self) -> Self:
        """Give the instance itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the connections."""
        self.close()

    async def __aenter__(self) -> Self:
        """Give the instance itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the connections."""
        await self.aclose()


def _arguments(named: dict[str, Any]) -> dict[str, Any]:
    """Bring a method's arguments into the form that a model sends: text, lists, no dates."""
    named.pop("self")
    return {name: _plain(value) for name, value in named.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    return value if isinstance(value, str) or not is_iterable(value) else list(value)
