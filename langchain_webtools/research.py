"""The tool that researches: apart from the others, as it needs LangChain's language models."""

from typing import Any, ClassVar

from langchain_core.tools import ArgsSchema

from langchain_webtools._base import WebTool
from langchain_webtools._model import Model
from webtools._internal.text.choices import Command
from webtools.tools import RESEARCH, Tool


class WebResearchTool(WebTool):
    """Research a question: sources from a chain of providers, and an answer with citations.

    Setup:
        Install the package, and give it a provider's key in `web-search.json` or, without such a
        file, in the environment:

        ```bash
        pip install 'agent-webtools[langchain,fetch]'
        export EXA_API_KEY="your-key"  # or BRAVE_API_KEY
        ```

    Key init args:
        web: WebTools | None
            What carries out the calls; one of its own by default. Share one among tools.
        api_keys: Mapping[str, str] | None
            API keys by provider type, such as `{"exa": "..."}`, in place of `web`.
        llm: BaseChatModel | Runnable | None
            Writes the answers of `web-deep`; every citation is checked. Without one, sentences of
            the sources are quoted. A model made by `with_fallbacks` or `with_retry` will do.
        name: str
            The name the model knows it by, "web_research".
        handle_tool_error: bool | str | Callable[[ToolException], str] | None
            True: a failure is an answer with status "error". False: it is raised as
            `WebToolException`, for middleware.
        cache: "use" | "refresh" | "bypass"
            Use cached results (the default), replace them, or ignore the cache.
        content_blocks: bool
            True: results come as `search_result` blocks, for models with native citations.
        compact_artifact: bool
            True: the artifact leaves out the texts of pages, which the content holds.
        command, limit, recency_days, synthesis
            Fixed for every call when given: a model neither sees nor changes them.

    Instantiation:
        ```python
        from langchain_webtools import WebResearchTool
        from webtools import WebTools

        tool = WebResearchTool()
        tool = WebResearchTool(web=WebTools(config="web-search.json"), llm=None)
        ```

    Invocation with args:
        ```python
        tool.invoke({"query": "how does asyncio cancel a task?", "command": "web-deep"})
        tool.invoke("how does asyncio cancel a task?")
        ```

    Invocation with ToolCall:
        ```python
        message = tool.invoke(
            {
                "name": "web_research",
                "args": {"query": "how does asyncio cancel a task?"},
                "id": "call_1",
                "type": "tool_call",
            }
        )
        message.content  # the answer, its sources, and how sure one may be
        message.artifact["meta"]  # the envelope as data: results, meta, synthesis
        ```

    Async:
        ```python
        await tool.ainvoke({"query": "python 3.14 release", "command": "web-news"})
        ```
    """

    _tool: ClassVar[Tool] = RESEARCH

    llm: Model = None
    name: str = RESEARCH.name
    description: str = RESEARCH.description
    args_schema: ArgsSchema | None = RESEARCH.input_model

    command: Command | None = None
    limit: int | None = None
    recency_days: int | None = None
    synthesis: str | None = None

    def _options(self) -> dict[str, Any]:
        options = super()._options()
        if self.llm is None:
            return options
        from langchain_webtools.synthesis import ChatModelSynthesizer  # noqa: PLC0415

        return {**options, "synthesizer": ChatModelSynthesizer(self.llm)}
