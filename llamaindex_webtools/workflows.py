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
from llamaindex_webtools.postprocessors import FetchPagePostprocessor
from llamaindex_webtools.progress import WebProgressEvent
from llamaindex_webtools.retrievers import WebRetriever
from webtools._internal.text.fencing import wrapping

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

_HEAD = f"<{secrets.token_hex(8)}-{{}}>"  # begins a source: no page can know it
_HEADS = re.compile(rf"^{_HEAD.format('([0-9]+)')}$", re.MULTILINE)
_NOTHING_FOUND = "The web search found nothing for this question."
_CITED = re.compile(r"\[(\d{1,4}(?:\s{0,2},\s{0,2}\d{1,4}){0,50})\]")
_TIMEOUT = 180.0  # seconds of a run; LlamaIndex's own 45 are few for pages and a long answer


def _restored(value: Any) -> Any:
    """Make the node anew when an event comes back from JSON: LlamaIndex cannot tell its class."""
    if not isinstance(value, Mapping):
        return value
    data = cast("Mapping[str, Any]", value)
    return NodeWithScore(node=WebNode.from_dict(data["node"]), score=data["score"])


Source = Annotated[NodeWithScore, BeforeValidator(_restored)]


class WebQuestionEvent(StartEvent):
    """Starts a run.

    Attributes:
        query: The question.
    """

    query: str


class _SourceEvent(Event):
    """A hit on its way to the answer.

    Attributes:
        query: The question.
        number: Its place among the hits, from 1.
        total: How many hits there are.
        source: The hit.
    """

    query: str
    number: int
    total: int
    source: Source


class PageToFetchEvent(_SourceEvent):
    """A hit whose page is to be read."""


class PageFetchedEvent(_SourceEvent):
    """A hit with the text of its page, or with its snippet where that could not be had."""


class WebAnswerEvent(StopEvent):
    """Ends a run; `str` gives the answer.

    Attributes:
        query: The question.
        answer: The answer; `[n]` in it cites the n-th of the sources.
        sources: What the model was shown, best first.
    """

    query: str
    answer: str
    sources: list[Source]

    @property
    def citations(self) -> list[NodeWithScore]:
        """The sources that the answer cites, in the order in which it first does."""
        found = ",".join(_CITED.findall(self.answer)).split(",")
        numbers = [int(number) for number in found if number]
        return [self.sources[n - 1] for n in dict.fromkeys(numbers) if 0 < n <= len(self.sources)]

    def __str__(self) -> str:
        """Return the answer alone."""
        return self.answer


class SearchFetchSynthesizeWorkflow(Workflow):
    """Searches the web, reads the best pages at the same time, and answers with citations.

        workflow = SearchFetchSynthesizeWorkflow(llm=llm)
        handler = workflow.run(query="What does asyncio.TaskGroup do?")
        async for event in handler.stream_events():
            if isinstance(event, WebProgressEvent):
                print(event.stage, event.done, "of", event.total, event.subject)
        answer = await handler
        print(answer)
        for source in answer.citations:
            print(source.metadata["url"])

    The result is a `WebAnswerEvent`. In the prompt each source stands inside a fence, under a
    sentence that says that it is data, unless `fence` in the settings of the fetcher's `WebTools`
    is "off"; the sources that are returned have none. A page that cannot be read leaves its
    snippet; a search that fails ends the run with an error of `webtools.errors`, which older
    versions of LlamaIndex wrap in their own; one that finds nothing ends it without asking the
    model. A subclass may replace a step.

    Args:
        web: What does the work; a `WebTools()` of its own when left out.
        llm: Writes the answer; `Settings.llm` at the run when left out.
        retriever: Searches, with filters or a fusion of your choice; a `WebRetriever(web)` when
            left out.
        fetcher: Reads pages, as many as its `top_n` says; a `FetchPagePostprocessor(web)` when
            left out.
        timeout: Seconds that a run may take, or None.
        options: What else `Workflow` takes.
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
        """Find sources, and let the pages of the best be read."""
        self._model()  # a missing one is told before anything is spent
        _tell(ctx, "searching", 0, 1)
        sources = await self.retriever.aretrieve(ev.query)
        _tell(ctx, "searching", 1, 1, ev.query)
        if not sources:
            return WebAnswerEvent(query=ev.query, answer=_NOTHING_FOUND, sources=[])
        await ctx.store.set("fetched", 0)
        _tell(ctx, "fetching", 0, self._pages(len(sources)))
        for number, source in enumerate(sources, 1):
            kind = PageToFetchEvent if number <= self.fetcher.top_n else PageFetchedEvent
            ctx.send_event(kind(query=ev.query, number=number, total=len(sources), source=source))
        return None

    @step(num_workers=8)  # pyright: ignore[reportUntypedFunctionDecorator]
    async def fetch(self, ctx: Context, ev: PageToFetchEvent) -> PageFetchedEvent:
        """Read the page of one source."""
        [source] = await self.fetcher.apostprocess_nodes([ev.source], query_str=ev.query)
        async with ctx.store.edit_state() as state:
            state["fetched"] = done = state["fetched"] + 1
        url = str(source.metadata.get("url", ""))
        failed = "fetch_error" in source.metadata
        _tell(ctx, "fetching", done, self._pages(ev.total), url, failed=failed)
        return PageFetchedEvent(query=ev.query, number=ev.number, total=ev.total, source=source)

    @step
    async def synthesize(self, ctx: Context, ev: PageFetchedEvent) -> WebAnswerEvent | None:
        """Answer from all sources once the last is there."""
        events = ctx.collect_events(ev, [PageFetchedEvent] * ev.total)
        if events is None:
            return None
        fetched = sorted(cast("list[PageFetchedEvent]", events), key=lambda each: each.number)
        sources = [each.source for each in fetched]
        _tell(ctx, "synthesizing", 0, 1)
        answer = await self._answer(ev.query, sources)
        _tell(ctx, "synthesizing", 1, 1, ev.query)
        return WebAnswerEvent(query=ev.query, answer=answer, sources=sources)

    async def _answer(self, query: str, sources: list[NodeWithScore]) -> str:
        wrap = wrapping(self.fetcher.web.fence, is_page=True)
        showing = partial(_showing, wrap=wrap, count=len(sources))
        synthesizer = get_response_synthesizer(
            llm=self._model(),
            text_qa_template=showing(CITATION_QA_TEMPLATE, "context_str"),
            refine_template=showing(CITATION_REFINE_TEMPLATE, "context_msg"),
        )
        numbered = [_numbered(number, source) for number, source in enumerate(sources, 1)]
        return str(await synthesizer.asynthesize(query, numbered))

    def _model(self) -> LLM:
        return self.llm or Settings.llm

    def _pages(self, sources: int) -> int:
        return min(sources, self.fetcher.top_n)


def _tell(
    ctx: Context, stage: str, done: int, total: int, subject: str = "", *, failed: bool = False
) -> None:
    ctx.write_event_to_stream(
        WebProgressEvent(stage=stage, done=done, total=total, subject=subject, failed=failed)
    )


def _numbered(number: int, source: NodeWithScore) -> NodeWithScore:
    """Make what the model reads of a source: its number, metadata and text."""
    text = f"{_HEAD.format(number)}\n{source.get_content(MetadataMode.LLM)}"
    return NodeWithScore(node=TextNode(text=text), score=source.score)


def _showing(
    template: BasePromptTemplate, variable: str, *, wrap: Callable[[str], str], count: int
) -> PromptTemplate:
    """Make a prompt that shows each source under its number, wrapped.

    The prompt has to do it: LlamaIndex joins the sources and cuts that into prompts that fit the
    model, so that a source may end in another one than it begins in. It measures the empty prompt
    before, so that one shows as many empty sources as there may be.
    """
    blank = "\n\n".join([wrap("")] * (count + 1))

    def shown(**values: Any) -> str:
        return _wrapped(values[variable], wrap) or blank

    return PromptTemplate(template.get_template(), function_mappings={variable: shown})


def _wrapped(joined: str, wrap: Callable[[str], str]) -> str:
    before, *parts = _HEADS.split(joined)
    texts = [wrap(before.strip())] if before.strip() else []
    for number, text in zip(parts[::2], parts[1::2], strict=True):
        texts.append(f"Source {number}:\n{wrap(text.strip())}")
    return "\n\n".join(texts)
