"""The async methods of `WebTools`. `client.py` documents them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from webtools._internal.call.dispatcher import arguments, read_synthesizer
from webtools._internal.call.instance import Instance
from webtools._internal.pipeline.tool_call import CallOptions
from webtools.choices import CacheMode, Command
from webtools.progress import ProgressCallback
from webtools.results import FetchResponse, ReadResponse, SearchResponse, SiteMap, SummaryResponse
from webtools.tools import FETCH, MAP, READ, RESEARCH, SEARCH, SUMMARIZE, Tool, ToolResult

if TYPE_CHECKING:
    from webtools.providers.drafts import SynthesizerLike
    from webtools.results import ResearchEnvelope, ResearchPlan, Verified
    from webtools.verifiers import SourceLike, Verifier

Strings: TypeAlias = str | Sequence[str]
Moment: TypeAlias = str | date | None


class AsyncMethods(Instance):
    """The async methods. `WebTools` documents their arguments, results and errors."""

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
        country: str | None = None,
        language: str | None = None,
        safe_search: Literal["off", "moderate", "strict"] | None = None,
        page: int | None = None,
        content: bool = False,
        similar: bool = False,
        snippets: bool = False,
        provider: str | None = None,
        cache: CacheMode = "use",
        timeout: float | None = None,  # noqa: ASYNC109  it bounds blocking calls, too
        progress: ProgressCallback | None = None,
    ) -> SearchResponse:
        """Search the web, as `search` does. If you cancel the task, its requests end."""
        values = arguments(
            queries=queries,
            limit=limit,
            include_domains=include_domains,
            exclude_domains=exclude_domains,
            start_published_date=start_published_date,
            end_published_date=end_published_date,
            category=category,
            country=country,
            language=language,
            safe_search=safe_search,
            page=page,
            content=content,
            similar=similar,
            snippets=snippets,
            provider=provider,
            cache=cache,
            timeout=timeout,
            progress=progress,
        )
        response: SearchResponse = await self._acall(SEARCH, values)
        return response

    async def afetch(
        self,
        urls: Strings,
        *,
        question: str | None = None,
        text: bool | None = None,
        highlights: bool = False,
        summary: bool = False,
        text_max_characters: int | None = None,
        whole: bool = False,
        pages: str = "",
        provider: str | None = None,
        robots: bool = False,
        cache: CacheMode = "use",
        timeout: float | None = None,  # noqa: ASYNC109  it bounds blocking calls, too
        progress: ProgressCallback | None = None,
    ) -> FetchResponse:
        """Read pages, as `fetch` does."""
        values = arguments(
            urls=urls,
            question=question,
            text=text,
            highlights=highlights,
            summary=summary,
            text_max_characters=text_max_characters,
            whole=whole,
            pages=pages,
            provider=provider,
            robots=robots,
            cache=cache,
            timeout=timeout,
            progress=progress,
        )
        response: FetchResponse = await self._acall(FETCH, values)
        return response

    async def asummarize(
        self,
        url: str,
        *,
        summary_type: Literal["summary", "takeaway"] = "summary",
        engine: Literal["cecil", "agnes"] = "cecil",
        target_language: str | None = None,
        provider: str | None = None,
        cache: CacheMode = "use",
        timeout: float | None = None,  # noqa: ASYNC109  it bounds blocking calls, too
        progress: ProgressCallback | None = None,
    ) -> SummaryResponse:
        """Summarize a document, as `summarize` does."""
        values = arguments(
            url=url,
            summary_type=summary_type,
            engine=engine,
            target_language=target_language,
            provider=provider,
            cache=cache,
            timeout=timeout,
            progress=progress,
        )
        response: SummaryResponse = await self._acall(SUMMARIZE, values)
        return response

    async def aresearch(
        self,
        query: str,
        *,
        command: Command = "web",
        limit: int | None = None,
        recency_days: int | None = None,
        synthesis: str | SynthesizerLike | None = None,
        cache: CacheMode = "use",
        timeout: float | None = None,  # noqa: ASYNC109  it bounds blocking calls, too
        progress: ProgressCallback | None = None,
    ) -> ResearchEnvelope:
        """Find sources for a question, as `research` does."""
        values = arguments(
            query=query,
            command=command,
            limit=limit,
            recency_days=recency_days,
            synthesis=synthesis,
            cache=cache,
            timeout=timeout,
            progress=progress,
        )
        response: ResearchEnvelope = await self._acall(RESEARCH, values)
        return response

    async def aread(self, handle: str, offset: int = 0, find: str | None = None) -> ReadResponse:
        """Read the next part of an output, as `read` does."""
        values = arguments(handle=handle, offset=offset, find=find)
        response: ReadResponse = await self._acall(READ, values)
        return response

    async def amap(
        self,
        url: str,
        *,
        find: str | None = None,
        limit: int | None = None,
        robots: bool = False,
        cache: CacheMode = "use",
        timeout: float | None = None,  # noqa: ASYNC109  it bounds blocking calls, too
        progress: ProgressCallback | None = None,
    ) -> SiteMap:
        """List the pages of a site, as `map` does."""
        values = arguments(
            url=url,
            find=find,
            limit=limit,
            robots=robots,
            cache=cache,
            timeout=timeout,
            progress=progress,
        )
        response: SiteMap = await self._acall(MAP, values)
        return response

    async def aplan(
        self,
        query: str,
        *,
        command: Command = "web",
        limit: int | None = None,
        recency_days: int | None = None,
        synthesis: str | SynthesizerLike | None = None,
    ) -> ResearchPlan:
        """Return the steps and the maximum cost of a research call, as `plan` does."""
        values = arguments(
            query=query,
            command=command,
            limit=limit,
            recency_days=recency_days,
            synthesis=synthesis,
        )
        return await self._arun(lambda io: self._dispatcher.plan(io, values))

    async def averify(
        self,
        answer: str,
        sources: str | SourceLike | Sequence[str | SourceLike] = (),
        *,
        fetch: bool = False,
        verifier: Verifier | None = None,
        cache: CacheMode = "use",
        timeout: float | None = None,  # noqa: ASYNC109  it bounds blocking calls, too
        progress: ProgressCallback | None = None,
    ) -> Verified:
        """Check an answer, as `verify` does."""
        options = {"cache": cache, "progress": progress, "timeout": timeout}
        return await self._arun(
            lambda io: self._dispatcher.verify(io, answer, sources, verifier, options, fetch=fetch)
        )

    async def acall_tool(
        self,
        name: str | Tool,
        arguments: Mapping[str, Any],
        *,
        cache: CacheMode = "use",
        timeout: float | None = None,  # noqa: ASYNC109  it bounds blocking calls, too
        progress: ProgressCallback | None = None,
        synthesizer: SynthesizerLike | None = None,
    ) -> ToolResult:
        """Call a tool, as `call_tool` does."""
        options = CallOptions(cache, progress, read_synthesizer(synthesizer), timeout=timeout)
        return await self._arun(lambda io: self._dispatcher.call_tool(io, name, arguments, options))
