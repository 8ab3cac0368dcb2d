"""`WebTools`: every tool, blocking and async."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import httpx

from webtools._internal.call.awaited import AsyncMethods, Moment, Strings
from webtools._internal.call.dispatcher import arguments, read_synthesizer
from webtools._internal.late_imports import resolve
from webtools._internal.pipeline.tool_call import CallOptions
from webtools._internal.representation import load_display
from webtools.choices import CacheMode, CacheScope, Command, Fence, FetchGate
from webtools.config import (
    BudgetConfig,
    CacheConfig,
    Config,
    FetchConfig,
    LogConfig,
    ProviderConfig,
    ResearchConfig,
    StorageConfig,
)
from webtools.config.config_models import Key, KeywordSettings
from webtools.config.overrides import read_overrides, secret_keys, unknown_setting
from webtools.errors import InputError
from webtools.progress import ProgressCallback
from webtools.results import FetchResponse, ReadResponse, SearchResponse, SiteMap, SummaryResponse
from webtools.tools import (
    FETCH,
    MAP,
    READ,
    RESEARCH,
    SEARCH,
    SUMMARIZE,
    Tool,
    ToolResult,
)

if TYPE_CHECKING:
    from typing import Never, NoReturn

    from webtools._internal.session.core import SessionCore
    from webtools._internal.session.options import SessionOptions
    from webtools.native import NativeTool
    from webtools.providers.drafts import SynthesizerLike
    from webtools.results import (
        AnswerCheck,
        Remaining,
        ResearchEnvelope,
        ResearchPlan,
        SessionSource,
        Verified,
    )
    from webtools.verifiers import SourceLike, Verifier

_SESSION = "_internal.session"  # imported by the first session


class WebTools(AsyncMethods):
    """Web search, page fetching, summaries and research with the configured providers.

        web = WebTools(api_keys={"exa": "..."}, max_results=5, budget={"usd_per_day": 5})

    The settings come from `config`, else from the config file, else from the environment. Keyword
    settings apply on top. They are read at the first call, and again after a change.

    Each blocking method has an async twin whose name begins with `a`. You can share one instance
    among threads and event loops. Blocking methods also work inside a running event loop. To close
    the connections, call `close` or use the instance as a context manager.

    Args:
        config: A `Config`, a dict with the contents of a config file, or the path of one.
        api_keys: API keys by provider type. A key replaces that of the configured provider of its
            type. Without such a provider, one is added.
        providers: Replaces the list of providers, as `providers` of a config file.
        default_provider: Name of the provider for calls that name none.
        max_results: Default and maximum number of results per query, 1 to 100.
        timeout_ms: Time limit of a whole call in milliseconds, however many providers and retries
            it takes. Default: none; each provider has its own.
        failover: Whether to try the next provider if one fails. Default: True.
        keyless: Whether to search with providers that need no key if no configured provider
            can search. Default: False.
        fence: Which web content is wrapped in a fence before a model reads it: `pages`, `all` or
            `off`. Default: `pages`.
        cache: False for no cache, or settings such as `{"ttl_ms": 60_000}`.
        log: False for no log, or settings such as `{"path": "calls.ndjson"}`.
        research: Settings such as `{"synthesis": "none"}`.
        budget: Limits such as `{"usd_per_day": 5, "calls_per_process": 100}`.
        fetch: Which pages may be read, such as `{"allow_domains": ["python.org"]}`.
        storage: A shared store, such as `{"url": "redis://127.0.0.1:6379/0"}`.
        transport: Your own httpx transport for all requests, such as one with a client
            certificate. webtools does not close it, and ignores all proxy settings.
        async_transport: The transport of the async methods. Default: `transport`, if it has both.

    Raises:
        ConfigError: A keyword setting is not valid.
        InputError: A transport is not an httpx transport.
        TypeError: An argument is unknown.
    """

    def __init__(
        self,
        config: Config | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        *,
        api_keys: Mapping[str, Key] | None = None,
        providers: Sequence[ProviderConfig | Mapping[str, Any]] | None = None,
        default_provider: str | None = None,
        max_results: int | None = None,
        timeout_ms: int | None = None,
        failover: bool | None = None,
        keyless: bool | None = None,
        fence: Fence | None = None,
        cache: bool | CacheConfig | Mapping[str, Any] | None = None,
        log: bool | LogConfig | Mapping[str, Any] | None = None,
        research: ResearchConfig | Mapping[str, Any] | None = None,
        budget: BudgetConfig | Mapping[str, Any] | None = None,
        fetch: FetchConfig | Mapping[str, Any] | None = None,
        storage: StorageConfig | Mapping[str, Any] | None = None,
        transport: httpx.BaseTransport | None = None,
        async_transport: httpx.AsyncBaseTransport | None = None,
        **unknown: Never,
    ) -> None:
        """Check the arguments; no file is read and no connection opened.

        Raises:
            ConfigError: A keyword setting is not valid.
            InputError: A transport is not an httpx transport.
            TypeError: An argument has an unknown name.
        """
        keys = secret_keys(api_keys)
        del api_keys  # a traceback that shows local variables would show the keys
        if unknown:
            raise unknown_setting(next(iter(unknown)), _parameters(type(self)))
        settings: KeywordSettings = {
            "providers": providers,
            "default_provider": default_provider,
            "max_results": max_results,
            "timeout_ms": timeout_ms,
            "failover": failover,
            "keyless": keyless,
            "fence": fence,
            "cache": cache,
            "log": log,
            "research": research,
            "budget": budget,
            "fetch": fetch,
            "storage": storage,
        }
        self._set_up(config, read_overrides(keys, settings), transport, async_transport)

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
        country: str | None = None,
        language: str | None = None,
        safe_search: Literal["off", "moderate", "strict"] | None = None,
        page: int | None = None,
        content: bool = False,
        similar: bool = False,
        snippets: bool = False,
        provider: str | None = None,
        cache: CacheMode = "use",
        timeout: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> SearchResponse:
        """Search the web with one or several queries, which run at the same time.

        Args:
            queries: One query or several, at most 20.
            limit: Maximum number of results per query, 1 to 100. Default, or 0: the configured
                number.
            include_domains: Only results from these hosts and their subdomains, such as
                `python.org`, or below these public suffixes, such as `.gov`.
            exclude_domains: No results from these. Written in the same way.
            start_published_date: Only results published on or after it (ISO 8601).
            end_published_date: Only results published on or before it (ISO 8601).
            category: Category of the pages, one of `webtools.tools.CATEGORIES`.
            country: Two-letter code of the country of the results, such as `DE`.
            language: Two-letter code of the language of the results, such as `de`.
            safe_search: How strictly to omit adult content. Default: the provider's setting.
            page: Page of results, 1 to 10. Default: the first.
            content: Also return the page contents that the provider sends, as `content` of each
                result.
            similar: Treat the queries as URLs and search for similar pages.
            snippets: Request snippets even where the provider omits them by default, as Exa does
                without `searchHighlights`.
            provider: Configured name of the provider to use.
            cache: `use` cached responses, `refresh` them, or `bypass` the cache.
            timeout: Seconds for the whole call. Default: `timeout_ms` of the settings.
            progress: Called when part of the work is done.

        Returns:
            The results by query, then by the provider's rank; failed queries in `errors`.

        Raises:
            InputError: An argument is not valid.
            ConfigError: The settings are missing or malformed, or no provider can do it.
            RequestError: No response came.
            ProviderError: Every query failed at the provider.
        """
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
        response: SearchResponse = self._call(SEARCH, values)
        return response

    def fetch(
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
        timeout: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> FetchResponse:
        """Read one or several pages.

        Args:
            urls: One absolute http(s) URL or several, at most 100.
            question: Return the passages of each page that fit this question, instead of the
                text. Exa chooses the passages. With other providers, webtools caches the whole
                page and chooses them, so another question about the page costs nothing.
            text: Return the text. Default: True, unless you request passages, highlights or a
                summary.
            highlights: Return the most relevant extracts.
            summary: Return a summary of each page.
            text_max_characters: Maximum length of the text, or of the passages, per page.
            whole: Return the whole visible page, not only its main part. `Page.left_out` says
                what is left out otherwise. Only the provider `direct` can do so.
            pages: Pages of PDF files to read, such as `"3-7"`, `"501-"` or `"1,4-6"`.
                `Page.page_count` says how many there are. Only the provider `direct` can do so.
            provider: Configured name of the provider to use.
            robots: Obey robots.txt if webtools fetches the page itself (provider `direct`).
                Requires the extra `bulk`.
            cache: `use` cached responses, `refresh` them, or `bypass` the cache.
            timeout: Seconds for the whole call. Default: `timeout_ms` of the settings.
            progress: Called when part of the work is done.

        Returns:
            One page per URL, in the same order. Pages that failed have an `error`.

        Raises:
            InputError: An argument is not valid.
            ConfigError: The settings are missing or malformed, or no provider can do it.
            RequestError: No response came.
            ProviderError: The provider failed, or no page could be fetched.
        """
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
        response: FetchResponse = self._call(FETCH, values)
        return response

    def summarize(
        self,
        url: str,
        *,
        summary_type: Literal["summary", "takeaway"] = "summary",
        engine: Literal["cecil", "agnes"] = "cecil",
        target_language: str | None = None,
        provider: str | None = None,
        cache: CacheMode = "use",
        timeout: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> SummaryResponse:
        """Summarize a document.

        Args:
            url: Absolute http(s) URL of a page, PDF, video or audio file.
            summary_type: `summary` for prose, `takeaway` for a list of key points.
            engine: `cecil` for general purposes, `agnes` for technical texts.
            target_language: Language code of the output, such as `DE`. Default: the document's.
            provider: Configured name of the provider to use.
            cache: `use` cached responses, `refresh` them, or `bypass` the cache.
            timeout: Seconds for the whole call. Default: `timeout_ms` of the settings.
            progress: Called when part of the work is done.

        Returns:
            The summary, as the provider returned it.

        Raises:
            InputError: An argument is not valid.
            ConfigError: The settings are missing or malformed, or no provider can do it.
            RequestError: No response came.
            ProviderError: The provider failed or returned no summary.
        """
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
        response: SummaryResponse = self._call(SUMMARIZE, values)
        return response

    def research(
        self,
        query: str,
        *,
        command: Command = "web",
        limit: int | None = None,
        recency_days: int | None = None,
        synthesis: str | SynthesizerLike | None = None,
        cache: CacheMode = "use",
        timeout: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> ResearchEnvelope:
        """Find sources for a question, and answer it if requested.

        If a provider fails, the next one of the chain is tried.

        Args:
            query: The question.
            command: `web` for top links, `web-deep` to read the best pages and answer with
                citations, `web-news` for recent news, `web-docs` for library documentation.
            limit: Maximum number of sources, 1 to 10. Default, or 0: `max_results` of the
                settings, else 5.
            recency_days: Maximum age in days of a recent source, 1 to 3650. Default: depends on
                the question.
            synthesis: How to write the answer: `extractive`, `perplexity` or `none`, or your own
                function or synthesizer. Default: the configured method for `web-deep`, `none` for
                the other commands.
            cache: `use` cached responses, `refresh` them, or `bypass` the cache.
            timeout: Seconds for the whole call. Default: `timeout_ms` of the settings.
            progress: Called when part of the work is done.

        Returns:
            The sources, facts about the call, and the answer if one was requested.

        Raises:
            InputError: An argument is not valid.
            ConfigError: The settings are missing or malformed, or no provider can do it.
            RequestError: No provider responded.
            ProviderError: Every provider of the chain failed.
        """
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
        response: ResearchEnvelope = self._call(RESEARCH, values)
        return response

    def read(self, handle: str, offset: int = 0, find: str | None = None) -> ReadResponse:
        """Read the next part of an output that was cut.

        Args:
            handle: The `read_handle` in the details of a tool's result.
            offset: Position of the first character to read, from 0.
            find: Words to search for from `offset`, ignoring case. The part then begins a little
                before the words.

        Returns:
            The part, unchanged. The next part begins at `next_offset`, which is None at the end. If
            the words of `find` do not occur, the part is empty and `found_at` is None.

        Raises:
            InputError: An argument is not valid, or nothing is stored under the handle.
            ConfigError: The settings are malformed.
        """
        values = arguments(handle=handle, offset=offset, find=find)
        response: ReadResponse = self._call(READ, values)
        return response

    def map(
        self,
        url: str,
        *,
        find: str | None = None,
        limit: int | None = None,
        robots: bool = False,
        cache: CacheMode = "use",
        timeout: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> SiteMap:
        """List the pages of a site.

        webtools itself reads its llms.txt, its sitemaps, and the links of the start page, with at
        most 20 requests. It follows the same rules as a fetch by the provider `direct`.

        Args:
            url: Absolute http(s) URL of the site, or of a page or folder of it.
            find: Words to rank the pages by. Default: the order of the sources.
            limit: Maximum number of pages, 1 to 500. Default, or 0: 50.
            robots: Obey robots.txt. Requires the extra `bulk`.
            cache: `use` cached responses, `refresh` them, or `bypass` the cache.
            timeout: Seconds for the whole call. Default: `timeout_ms` of the settings.
            progress: Called when part of the work is done.

        Returns:
            The pages of the site. Files that could not be read are named in `warnings`.

        Raises:
            InputError: An argument is not valid, or the URL must not be fetched.
            ConfigError: The settings are missing or malformed, or the extra `fetch` is missing.
            RequestError: The site does not respond.
            ProviderError: No page could be listed.
        """
        values = arguments(
            url=url,
            find=find,
            limit=limit,
            robots=robots,
            cache=cache,
            timeout=timeout,
            progress=progress,
        )
        response: SiteMap = self._call(MAP, values)
        return response

    def plan(
        self,
        query: str,
        *,
        command: Command = "web",
        limit: int | None = None,
        recency_days: int | None = None,
        synthesis: str | SynthesizerLike | None = None,
    ) -> ResearchPlan:
        """Return the steps and the maximum cost of a research call. No request is sent.

        Args:
            query: The question.
            command: As for `research`.
            limit: As for `research`.
            recency_days: As for `research`.
            synthesis: As for `research`.

        Returns:
            The providers in order, the cost of each step, and what is left of the budget.

        Raises:
            InputError: An argument is not valid.
            ConfigError: The settings are missing or malformed, or no provider can do it.
        """
        values = arguments(
            query=query,
            command=command,
            limit=limit,
            recency_days=recency_days,
            synthesis=synthesis,
        )
        return self._run(lambda io: self._dispatcher.plan(io, values))

    def verify(
        self,
        answer: str,
        sources: str | SourceLike | Sequence[str | SourceLike] = (),
        *,
        fetch: bool = False,
        verifier: Verifier | None = None,
        cache: CacheMode = "use",
        timeout: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> Verified:
        """Check each claim of an answer against the sources that it cites.

        Args:
            answer: Prose or a list, from any model. `[n]` cites the n-th source. Links and
                `[n]: URL` cite by URL. A list of sources cites for all sentences without a
                citation.
            sources: URLs to fetch, pages, passages, or objects of `webtools.synthesis.Source`.
            fetch: Whether to also fetch the URLs that only the answer cites, at most 20. A model
                can have written them. Default: False; claims that cite only them are
                `unsupported`.
            verifier: Judges the claims that are not quotations, such as a `ChatModelVerifier`.
                Without one, no claim is `supported`.
            cache: As for `fetch`.
            timeout: As for `fetch`. The verifier has what is left of it.
            progress: As for `fetch`.

        Returns:
            Every claim with its status and citations, and the answer without its unsupported
            claims. Sources that could not be read are in `warnings`.

        Raises:
            InputError: There is no answer, or no source and no URL in the answer.
            ConfigError: A URL is to be fetched, and the settings are missing or malformed.
            RequestError: No source could be read.
            ProviderError: No source could be read.
        """
        options = {"cache": cache, "progress": progress, "timeout": timeout}
        return self._run(
            lambda io: self._dispatcher.verify(io, answer, sources, verifier, options, fetch=fetch)
        )

    def call_tool(
        self,
        name: str | Tool,
        arguments: Mapping[str, Any],
        *,
        cache: CacheMode = "use",
        timeout: float | None = None,
        progress: ProgressCallback | None = None,
        synthesizer: SynthesizerLike | None = None,
    ) -> ToolResult:
        """Call a tool as a model does: by name, with loosely spelled arguments.

        Args:
            name: Name of the tool, or a tool such as one that `Tool.with_fixed` returned.
            arguments: The arguments that the model sent.
            cache: `use` cached responses, `refresh` them, or `bypass` the cache.
            timeout: Seconds for the whole call. Default: `timeout_ms` of the settings.
            progress: Called when part of the work is done.
            synthesizer: Writes the answers of `web_research`, such as a language model.

        Returns:
            Text within the output budget, and details. If the call fails, `is_error` is True and
            the text says why.
        """
        options = CallOptions(cache, progress, read_synthesizer(synthesizer), timeout=timeout)
        return self._run(lambda io: self._dispatcher.call_tool(io, name, arguments, options))

    def session(
        self,
        *,
        user: str = "",
        id: str = "",  # noqa: A002  # as frameworks name it
        usd: float | None = None,
        usd_per_day: float | None = None,
        calls: int | None = None,
        seconds: float | None = None,
        fetch: FetchGate = "any",
        cache: CacheScope | None = None,
        api_keys: Mapping[str, Key] | None = None,
        record: str | os.PathLike[str] | None = None,
        replay: str | os.PathLike[str] | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> Session:
        """Begin a session: what one user, conversation or run does on the web.

            with web.session(user="customer-7", usd=0.05, calls=20, fetch="seen") as session:
                session.allow(question, origin="user")
                ...
                print(session.report())

        Args:
            user: Name of the user. The session gets a cache of its own, and only this user can
                load its state.
            id: Name of the session. Default: that of `state`, else a random one.
            usd: Maximum cost of the session in USD.
            usd_per_day: Maximum cost of all sessions of the user per UTC day in USD.
            calls: Maximum number of tool calls. `web_read` is not counted.
            seconds: Seconds from now until all calls end.
            fetch: Which URLs may be opened: `any`, those that were `seen` in results, on pages and
                in allowed texts, or the same without links of pages (`strict`).
            cache: Whether the session has a cache of its `own` or the `shared` one. Default: its
                own with `user` or `api_keys`.
            api_keys: API keys by provider type, as for `WebTools`.
            record: File to record the calls to, a tape. An older tape is replaced, or continued
                with `state` or if it is in use. Another file is refused.
            replay: Tape that answers the calls, without keys and requests. With `record`, calls
                that are not on it are made and recorded; without, they fail.
            state: What `Session.state` has returned.

        Returns:
            The session. It has all methods of `WebTools`, and shares the settings and connections.

        Raises:
            InputError: An argument is not valid, or the state belongs to another user or session.
            ConfigError: A key is not valid.
        """
        keys = secret_keys(api_keys)
        del api_keys  # a traceback that shows local variables would show the keys
        options = resolve(f"{_SESSION}.options:SessionOptions")(
            user=user,
            id=id,
            usd=usd,
            usd_per_day=usd_per_day,
            calls=calls,
            seconds=seconds,
            fetch=fetch,
            cache=cache,
            api_keys=keys,
            record=record,
            replay=replay,
            state=state,
        )
        return Session(self, options)


class Session(WebTools):
    """What one user, conversation or run does on the web.

    `WebTools.session` makes it. It has all methods of `WebTools`, with limits of its own, and keeps
    the sources, queries, calls and cost. It goes wherever a `WebTools` goes.

    Its methods can be called from several threads and event loops at the same time. `close` leaves
    the connections open, which belong to the `WebTools`. A session cannot be pickled: pass its
    `state` to another process.

    Args:
        web: Settings and connections.
        options: What the session may do.
    """

    def __init__(self, web: WebTools, options: SessionOptions) -> None:
        """Share the settings and connections of a `WebTools`."""
        if isinstance(web, Session):
            raise InputError("A session has no sessions. Call session() of the WebTools instead.")
        self._has_warned = web._has_warned  # noqa: SLF001 - of our own class
        self._connections = web._connections  # noqa: SLF001
        self._core: SessionCore = resolve(f"{_SESSION}.core:SessionCore")(
            web._settings,  # noqa: SLF001
            options,
        )
        self._settings, self._dispatcher = self._core.settings, self._core.dispatcher

    @property
    def id(self) -> str:
        """Name of the session."""
        return self._core.id

    @property
    def is_limited(self) -> bool:
        """Whether it has a user, keys of its own, a gate or a limit."""
        return self._core.options.is_limited

    @property
    def sources(self) -> list[SessionSource]:
        """The sources, in the order of their numbers. A URL keeps its number."""
        return self._core.sources()

    @property
    def queries(self) -> list[str]:
        """The queries and questions, in order."""
        return self._core.queries()

    def allow(self, *texts: str, origin: Literal["user", "developer"] = "developer") -> list[str]:
        """Let the URLs in some texts be opened.

        Args:
            texts: URLs, or texts with URLs and domains. Never pass text that a model wrote.
            origin: Who wrote them.

        Returns:
            The URLs that were found.

        Raises:
            InputError: A text is not a string, or the origin is unknown.
        """
        return self._core.allow(texts, origin)

    def remaining(self) -> Remaining:
        """Return what is left of the limits.

        With `usd_per_day`, or a budget of the settings for the day, it reads the store: on an event
        loop, call it in a thread.

        Raises:
            ConfigError: The settings or the store cannot be read.
        """
        return self._core.remaining()

    def has_seen(self, url: str) -> bool:
        """Return whether a URL may be opened under the gate of this session.

        Under `any`, whether it would be under `seen`.
        """
        return self._core.has_seen(url)

    @property
    def unused_calls(self) -> list[dict[str, Any]]:
        """The calls on the replayed tape that were not made: `line`, `tool` and `arguments`.

        On an event loop, the tape is read here if no call was made before.

        Raises:
            InputError: The tape cannot be read.
        """
        return self._core.unused_calls()

    def record_native(
        self,
        *,
        vendor: str,
        queries: Sequence[str] = (),
        sources: Sequence[str | Mapping[str, Any]] = (),
        citations: Sequence[str | Mapping[str, Any]] = (),
        unlisted: Sequence[str] = (),
        refused: Sequence[str] = (),
        searches: int = 0,
        cost_usd: float | None = None,
        is_estimate: bool = True,
        notes: Sequence[str] = (),
        choice: NativeTool | None = None,
    ) -> None:
        """Add a search that the vendor of a model has made, not webtools.

        Args:
            vendor: Name of the vendor, such as `openai`. The report lists the cost under it.
            queries: The queries that the vendor reports.
            sources: The URLs that it found, or dicts with `url` and `title`. They may be opened.
            citations: Those that the model cites. A URL that is not in `sources` cannot be opened.
            unlisted: Those that the vendor opened, but that no search has returned: the model may
                have made them up. They are sources, but may not be opened.
            refused: URLs that the developer's filters exclude.
            searches: Number of searches, each of which counts as a call.
            cost_usd: Cost of the searches in USD; None if it is unknown.
            is_estimate: Whether the cost is from a price list.
            notes: What the report should say about the vendor's search, such as why it was not
                used.
            choice: What `webtools.adapters.native_or_own` returned for the request, also for one
                that failed. What is reserved for it is given back.

        Raises:
            InputError: A value is not valid.
        """
        self._core.record_native(
            vendor=vendor,
            queries=queries,
            sources=sources,
            citations=citations,
            unlisted=unlisted,
            refused=refused,
            searches=searches,
            cost_usd=cost_usd,
            is_estimate=is_estimate,
            notes=notes,
            release=choice.release if choice else lambda: None,
        )

    def check(
        self,
        answer: str,
        *,
        verify: bool = False,
        verifier: Verifier | None = None,
        timeout: float | None = None,
    ) -> AnswerCheck:
        """Check the links and numbers of an answer against what the session has seen.

        Args:
            answer: The answer. `[n]` cites the source with that number.
            verify: Whether to also check each claim against the pages that it cites, which are read
                from the cache or fetched again.
            verifier: As for `verify`.
            timeout: As for `verify`.

        Raises:
            InputError: The answer is not a text.
        """
        return self._run(
            lambda io: self._core.check(io, answer, verifier, {"timeout": timeout}, verify=verify)
        )

    async def acheck(
        self,
        answer: str,
        *,
        verify: bool = False,
        verifier: Verifier | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  it bounds blocking calls, too
    ) -> AnswerCheck:
        """Check an answer, as `check` does."""
        return await self._arun(
            lambda io: self._core.check(io, answer, verifier, {"timeout": timeout}, verify=verify)
        )

    def report(self, form: Literal["markdown", "json"] = "markdown") -> Any:
        """Return what the session did: limits, cost by provider, queries and sources.

        Args:
            form: `markdown` for a text, `json` for a dict of plain JSON data.

        Raises:
            InputError: There is no such form.
        """
        return self._core.report(form)

    def state(self) -> dict[str, Any]:
        """Return the session as plain JSON data, for `WebTools.session(state=...)`.

        It has the URLs that were seen, the sources and the spending, and neither page texts nor
        keys.
        """
        return self._core.state()

    def _repr_html_(self) -> str:
        """Return the report as HTML that runs nothing and fetches nothing, for notebooks."""
        html: str = load_display("session_report").draw_html(self.report("json"))
        return html

    def _repr_markdown_(self) -> str:
        """Return the report as Markdown."""
        return str(self.report())

    def close(self) -> None:
        """End the session, and close its tape. The connections stay open."""
        self._core.close()

    async def aclose(self) -> None:
        """End the session, and close its tape. The connections stay open."""
        await self._arun(self._core.aclose)

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled."""
        remedy = "Pass its state() to session(state=...) in the other process."
        raise TypeError(f"A session cannot be pickled. {remedy}")


def _parameters(kind: type[WebTools]) -> list[str]:
    """Name the arguments of the constructor."""
    signature = inspect.signature(kind).parameters.values()
    return [
        parameter.name for parameter in signature if parameter.kind is not parameter.VAR_KEYWORD
    ]
