"""A workflow that answers questions from the web: search, fetch, synthesize."""

import re
import secrets
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.bridge.pydantic import BeforeValidator
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate, PromptTemplate
from llama_index.core.query_engine.citation_query_engine import (
    CITATION_QA_TEMPLATE,
    CITATION_REFINE_TEMPLATE,
)
from llama_index.core.response_synthesizers import (
    get_response_synthesizer,  # pyright: ignore[reportUnknownVariableType]
)
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode
from llama_index.core.settings import Settings
from llama_index.core.workflow import (
    Context,
    Event,
    StartEvent,
    StopEvent,
    Workflow,
    step,  # pyright: ignore[reportUnknownVariableType]
)

import webtools
from llamaindex_webtools._nodes import WebNode
from llamaindex_webtools.postprocessors import FetchPagePostprocessor, with_fetch_error
from llamaindex_webtools.progress import WebProgressEvent
from llamaindex_webtools.retrievers import WebRetriever
from webtools.errors import ProviderError, RequestError
from webtools.fencing import fence_function

if TYPE_CHECKING:
    from webtools import WebTools

__all__ = [
    "PageFetchedEvent",
    "PageToFetchEvent",
    "SearchFetchSynthesizeWorkflow",
    "WebAnswerEvent",
    "WebProgressEvent",
    "WebQuestionEvent",
]

_HEADING = f"<{secrets.token_hex(8)}-{{}}>"  # of a source; no page can contain it
_HEADINGS = re.compile(rf"^{_HEADING.format('([0-9]+)')}$", re.MULTILINE)
_NOTHING_FOUND = "The web search returned no results for this question."
_CITED = re.compile(r"\[(\d{1,4}(?:\s{0,2},\s{0,2}\d{1,4}){0,50})\]")
_TIMEOUT = 180.0  # seconds; LlamaIndex's 45 are too few for pages and a long answer


def _restore_node(value: Any) -> Any:
    """Restore the node of an event from JSON, in which LlamaIndex does not store its class."""
    if not isinstance(value, Mapping):
        return value
    data = cast("Mapping[str, Any]", value)
    return NodeWithScore(node=WebNode.from_dict(data["node"]), score=data["score"])


Source = Annotated[NodeWithScore, BeforeValidator(_restore_node)]


class WebQuestionEvent(StartEvent):
    """The start of a run.

    Attributes:
        query: The question.
    """

    query: str


class _SourceEvent(Event):
    """A source on its way to the answer.

    Attributes:
        query: The question.
        number: The number of the source, from 1.
        total: The number of sources.
        source: The search result.
    """

    query: str
    number: int
    total: int
    source: Source


class PageToFetchEvent(_SourceEvent):
    """A source whose page is to be fetched."""


class PageFetchedEvent(_SourceEvent):
    """A source with the text of its page, or with its snippet if the page failed."""


class WebAnswerEvent(StopEvent):
    """The end of a run. `str(event)` is the answer.

    Attributes:
        query: The question.
        answer: The answer. `[n]` cites the n-th source.
        sources: The sources in the prompt, best first.
    """

    query: str
    answer: str
    sources: list[Source]

    @property
    def citations(self) -> list[NodeWithScore]:
        """The sources that the answer cites, in the order of the first citations."""
        cited = ",".join(_CITED.findall(self.answer)).split(",")
        numbers = dict.fromkeys(int(number) for number in cited if number)
        return [self.sources[n - 1] for n in numbers if 0 < n <= len(self.sources)]

    def __str__(self) -> str:
        """Return the answer alone."""
        return self.answer


class SearchFetchSynthesizeWorkflow(Workflow):
    """Search the web, read the best pages and answer with citations.

        workflow = SearchFetchSynthesizeWorkflow(llm=llm)
        handler = workflow.run(query="What does asyncio.TaskGroup do?")
        async for event in handler.stream_events():
            if isinstance(event, WebProgressEvent):
                print(event.stage, event.done, "of", event.total, event.subject)
        answer = await handler
        print(answer)
        for source in answer.citations:
            print(source.metadata["url"])

    The result is a `WebAnswerEvent`. In the prompt, each source is wrapped in a fence that marks it
    as data, unless `fence` in the settings is "off". The returned sources have no fence. If a page
    fails, its snippet is used. If the search fails, the run ends with an error of
    `webtools.errors`, which older versions of LlamaIndex wrap in their own. If the search has no
    results, the run ends without a call of the model. A subclass can replace a step.

    Args:
        web: The `WebTools` to use. Default: a new one.
        llm: Writes the answer. Default: `Settings.llm` at the time of the run.
        retriever: Searches, for example with filters or fusion. Default: `WebRetriever(web)`.
        fetcher: Fetches `top_n` pages. Default: `FetchPagePostprocessor(web)`.
        timeout: Maximum duration of a run in seconds, or None.
        options: Further arguments of `Workflow`.
    """

    def __init__(
        self,
        web: "WebTools | None" = None,
        *,
        llm: LLM | None = None,
        retriever: BaseRetriever | None = None,
        fetcher: FetchPagePostprocessor | None = None,
        timeout: float | None = _TIMEOUT,
        **options: Any,
    ) -> None:
        super().__init__(timeout=timeout, **options)
        web = webtools.WebTools() if web is None else web
        self.llm = llm
        self.retriever: BaseRetriever = retriever or WebRetriever(web)
        self.fetcher = fetcher or FetchPagePostprocessor(web)

    @step
    async def search(
        self, ctx: Context, ev: WebQuestionEvent
    ) -> PageToFetchEvent | PageFetchedEvent | WebAnswerEvent | None:
        """Search for sources, and send the best ones to `fetch`."""
        self._model()  # raises if there is no model, before anything is spent
        _report(ctx, "searching", 0, 1)
        sources = await self.retriever.aretrieve(ev.query)
        _report(ctx, "searching", 1, 1, ev.query)
        if not sources:
            return WebAnswerEvent(query=ev.query, answer=_NOTHING_FOUND, sources=[])
        await ctx.store.set("fetched", 0)
        _report(ctx, "fetching", 0, self._pages(len(sources)))
        for number, source in enumerate(sources, 1):
            kind = PageToFetchEvent if number <= self.fetcher.top_n else PageFetchedEvent
            ctx.send_event(kind(query=ev.query, number=number, total=len(sources), source=source))
        return None

    @step(num_workers=8)  # pyright: ignore[reportUntypedFunctionDecorator]
    async def fetch(self, ctx: Context, ev: PageToFetchEvent) -> PageFetchedEvent:
        """Fetch the page of one source."""
        try:
            [source] = await self.fetcher.apostprocess_nodes([ev.source], query_str=ev.query)
        except (ProviderError, RequestError) as error:
            source = with_fetch_error(ev.source, error)
        async with ctx.store.edit_state() as state:
            state["fetched"] = done = state["fetched"] + 1
        url = str(source.metadata.get("url", ""))
        failed = "fetch_error" in source.metadata
        _report(ctx, "fetching", done, self._pages(ev.total), url, failed=failed)
        return PageFetchedEvent(query=ev.query, number=ev.number, total=ev.total, source=source)

    @step
    async def synthesize(self, ctx: Context, ev: PageFetchedEvent) -> WebAnswerEvent | None:
        """Write the answer when all sources have arrived.

        Raises:
            ProviderError: No page could be fetched.
        """
        events = ctx.collect_events(ev, [PageFetchedEvent] * ev.total)
        if events is None:
            return None
        fetched = sorted(cast("list[PageFetchedEvent]", events), key=lambda event: event.number)
        sources = [event.source for event in fetched]
        requested = sources[: self._pages(len(sources))]
        errors = [source.metadata.get("fetch_error") for source in requested]
        if all(errors):
            raise ProviderError(f"None of the {len(errors)} pages could be fetched: {errors[0]}")
        _report(ctx, "synthesizing", 0, 1)
        answer = await self._answer(ev.query, sources)
        _report(ctx, "synthesizing", 1, 1, ev.query)
        return WebAnswerEvent(query=ev.query, answer=answer, sources=sources)

    async def _answer(self, query: str, sources: list[NodeWithScore]) -> str:
        wrap = fence_function(self.fetcher.web.fence, is_page=True)
        prompt = partial(_prompt, wrap=wrap, count=len(sources))
        synthesizer = get_response_synthesizer(
            llm=self._model(),
            text_qa_template=prompt(CITATION_QA_TEMPLATE, "context_str"),
            refine_template=prompt(CITATION_REFINE_TEMPLATE, "context_msg"),
        )
        numbered = [_numbered(number, source) for number, source in enumerate(sources, 1)]
        return str(await synthesizer.asynthesize(query, numbered))

    def _model(self) -> LLM:
        return self.llm or Settings.llm

    def _pages(self, sources: int) -> int:
        return min(sources, self.fetcher.top_n)


def _report(
    ctx: Context, stage: str, done: int, total: int, subject: str = "", *, failed: bool = False
) -> None:
    ctx.write_event_to_stream(
        WebProgressEvent(stage=stage, done=done, total=total, subject=subject, failed=failed)
    )


def _numbered(number: int, source: NodeWithScore) -> NodeWithScore:
    """Return a node with the number, metadata and text of a source."""
    text = f"{_HEADING.format(number)}\n{source.get_content(MetadataMode.LLM)}"
    return NodeWithScore(node=TextNode(text=text), score=source.score)


def _prompt(
    template: BasePromptTemplate, variable: str, *, wrap: Callable[[str], str], count: int
) -> PromptTemplate:
    """Make a prompt that shows each source under its number, inside a fence.

    The fence is added in the prompt because LlamaIndex joins the sources and splits the text into
    prompts that fit the model: a source may be split over two prompts. LlamaIndex measures the
    empty prompt first, so that one contains as many empty sources as there can be.
    """
    empty_sources = "\n\n".join([wrap("")] * (count + 1))

    def fenced(**values: Any) -> str:
        return _fenced_sources(values[variable], wrap) or empty_sources

    return PromptTemplate(template.get_template(), function_mappings={variable: fenced})


def _fenced_sources(joined: str, wrap: Callable[[str], str]) -> str:
    before, *parts = _HEADINGS.split(joined)
    texts = [wrap(before.strip())] if before.strip() else []
    for number, text in zip(parts[::2], parts[1::2], strict=True):
        texts.append(f"Source {number}:\n{wrap(text.strip())}")
    return "\n\n".join(texts)
