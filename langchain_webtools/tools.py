"""The tools; what a model is told about each comes from `webtools.tools`."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from langchain_core.tools import ArgsSchema

from langchain_webtools._base import WebTool
from webtools.tools import FETCH, READ, SEARCH, SUMMARIZE, Tool


class WebSearchTool(WebTool):
    """Search the web with one or several queries at the same time.

    Setup:
        Install the package, and give it a provider's key in `web-search.json` or, without such a
        file, in the environment:

        ```bash
        pip install 'agent-webtools[langchain]'
        export EXA_API_KEY="your-key"  # or KAGI_API_KEY
        ```

    Key init args:
        web: WebTools | None
            What carries out the calls; one of its own by default. Share one among tools.
        api_keys: Mapping[str, str] | None
            API keys by provider type, such as `{"exa": "..."}`, in place of `web`.
        name: str
            The name the model knows it by, "web_search".
        handle_tool_error: bool | str | Callable[[ToolException], str] | None
            True: a failure is an answer with status "error". False: it is raised as
            `WebToolException`, for middleware.
        cache: "use" | "refresh" | "bypass"
            Use cached results (the default), replace them, or ignore the cache.
        content_blocks: bool
            True: results come as `search_result` blocks, for models with native citations.
        compact_artifact: bool
            True: the artifact leaves out the texts of pages, which the content holds.
        limit, include_domains, exclude_domains, category, country, language, provider, …
            Fixed for every call when given: a model neither sees nor changes them.

    Instantiation:
        ```python
        from langchain_webtools import WebSearchTool
        from webtools import WebTools

        tool = WebSearchTool()
        tool = WebSearchTool(web=WebTools(config="web-search.json"))
        python_only = WebSearchTool(include_domains=["docs.python.org"], limit=5)
        ```

    Invocation with args:
        ```python
        tool.invoke({"queries": ["structural pattern matching"], "limit": 3})
        tool.invoke("structural pattern matching")
        ```

    Invocation with ToolCall:
        ```python
        message = tool.invoke(
            {
                "name": "web_search",
                "args": {"queries": ["structural pattern matching"]},
                "id": "call_1",
                "type": "tool_call",
            }
        )
        message.content  # the text for the model
        message.artifact["results"]  # the same as data: title, url, snippet, published_at, …
        ```

    Async:
        ```python
        await tool.ainvoke({"queries": ["structural pattern matching", "match statement"]})
        ```
    """

    _tool: ClassVar[Tool] = SEARCH

    name: str = SEARCH.name
    description: str = SEARCH.description
    args_schema: ArgsSchema | None = SEARCH.input_model

    limit: int | None = None
    include_domains: str | Sequence[str] = ()
    exclude_domains: str | Sequence[str] = ()
    start_published_date: str | None = None
    end_published_date: str | None = None
    category: str | None = None
    country: str | None = None
    language: str | None = None
    safe_search: Literal["off", "moderate", "strict"] | None = None
    page: int | None = None
    content: bool | None = None
    similar: bool | None = None
    provider: str | None = None


class WebFetchTool(WebTool):
    """Read one or several web pages.

    Setup:
        Install the package, and give it a provider's key in `web-search.json` or, without such a
        file, in the environment:

        ```bash
        pip install 'agent-webtools[langchain]'
        export EXA_API_KEY="your-key"
        ```

    Key init args:
        web: WebTools | None
            What carries out the calls; one of its own by default. Share one among tools.
        api_keys: Mapping[str, str] | None
            API keys by provider type, such as `{"exa": "..."}`, in place of `web`.
        name: str
            The name the model knows it by, "web_fetch".
        handle_tool_error: bool | str | Callable[[ToolException], str] | None
            True: a failure is an answer with status "error". False: it is raised as
            `WebToolException`, for middleware.
        cache: "use" | "refresh" | "bypass"
            Use cached results (the default), replace them, or ignore the cache.
        content_blocks: bool
            True: results come as `search_result` blocks, for models with native citations.
        compact_artifact: bool
            True: the artifact leaves out the texts of pages, which the content holds.
        question, highlights, summary, text_max_characters, provider, …
            Fixed for every call when given: a model neither sees nor changes them.

    Instantiation:
        ```python
        from langchain_webtools import WebFetchTool
        from webtools import WebTools

        tool = WebFetchTool()
        tool = WebFetchTool(web=WebTools(config="web-search.json"))
        ```

    Invocation with args:
        ```python
        tool.invoke({"urls": ["https://peps.python.org/pep-0634/"], "text_max_characters": 4000})
        tool.invoke("https://peps.python.org/pep-0634/")
        ```

    Invocation with ToolCall:
        ```python
        message = tool.invoke(
            {
                "name": "web_fetch",
                "args": {"urls": ["https://peps.python.org/pep-0634/"]},
                "id": "call_1",
                "type": "tool_call",
            }
        )
        message.content  # the text for the model
        message.artifact["results"]  # the same as data: url, title, text, error, …
        ```

    Async:
        ```python
        await tool.ainvoke({"urls": ["https://peps.python.org/pep-0634/"], "highlights": True})
        ```
    """

    _tool: ClassVar[Tool] = FETCH

    name: str = FETCH.name
    description: str = FETCH.description
    args_schema: ArgsSchema | None = FETCH.input_model

    question: str | None = None
    text: bool | None = None
    highlights: bool | None = None
    summary: bool | None = None
    text_max_characters: int | None = None
    provider: str | None = None


class SummarizeTool(WebTool):
    """Summarize a page, PDF, video or audio by its URL.

    Setup:
        Install the package, and give it a provider's key in `web-search.json` or, without such a
        file, in the environment:

        ```bash
        pip install 'agent-webtools[langchain]'
        export KAGI_API_KEY="your-key"
        ```

    Key init args:
        web: WebTools | None
            What carries out the calls; one of its own by default. Share one among tools.
        api_keys: Mapping[str, str] | None
            API keys by provider type, such as `{"exa": "..."}`, in place of `web`.
        name: str
            The name the model knows it by, "summarize".
        handle_tool_error: bool | str | Callable[[ToolException], str] | None
            True: a failure is an answer with status "error". False: it is raised as
            `WebToolException`, for middleware.
        cache: "use" | "refresh" | "bypass"
            Use cached results (the default), replace them, or ignore the cache.
        content_blocks: bool
            True: results come as `search_result` blocks, for models with native citations.
        compact_artifact: bool
            True: the artifact leaves out the texts of pages, which the content holds.
        summary_type, engine, target_language, provider
            Fixed for every call when given: a model neither sees nor changes them.

    Instantiation:
        ```python
        from langchain_webtools import SummarizeTool
        from webtools import WebTools

        tool = SummarizeTool()
        tool = SummarizeTool(web=WebTools(config="web-search.json"))
        ```

    Invocation with args:
        ```python
        tool.invoke({"url": "https://peps.python.org/pep-0634/", "summary_type": "takeaway"})
        tool.invoke("https://peps.python.org/pep-0634/")
        ```

    Invocation with ToolCall:
        ```python
        message = tool.invoke(
            {
                "name": "summarize",
                "args": {"url": "https://peps.python.org/pep-0634/"},
                "id": "call_1",
                "type": "tool_call",
            }
        )
        message.content  # the summary alone
        message.artifact["engine"]  # the data beside it: url, summary_type, engine, tokens, …
        ```

    Async:
        ```python
        await tool.ainvoke({"url": "https://peps.python.org/pep-0634/", "engine": "agnes"})
        ```
    """

    _tool: ClassVar[Tool] = SUMMARIZE

    name: str = SUMMARIZE.name
    description: str = SUMMARIZE.description
    args_schema: ArgsSchema | None = SUMMARIZE.input_model

    summary_type: Literal["summary", "takeaway"] | None = None
    engine: Literal["cecil", "agnes"] | None = None
    target_language: str | None = None
    provider: str | None = None


class WebReadTool(WebTool):
    """Read on where the output of another tool was cut, or find a passage in it.

    Setup:
        Install the package; nothing is requested from the web, so no key is needed:

        ```bash
        pip install 'agent-webtools[langchain]'
        ```

    Key init args:
        web: WebTools | None
            What carries out the calls; one of its own by default. Share one among tools.
        api_keys: Mapping[str, str] | None
            API keys by provider type, such as `{"exa": "..."}`, in place of `web`.
        name: str
            The name the model knows it by, "web_read". The notice of an output that was cut names
            it, so keep the name, or tell the model of the other one.
        handle_tool_error: bool | str | Callable[[ToolException], str] | None
            True: a failure is an answer with status "error". False: it is raised as
            `WebToolException`, for middleware.

    Instantiation:
        ```python
        from langchain_webtools import WebReadTool
        from webtools import WebTools

        tool = WebReadTool()
        tool = WebReadTool(web=WebTools(config="web-search.json"))
        ```

    Invocation with args:
        ```python
        handle = "0123456789abcdef0123456789abcdef"  # `artifact["read_handle"]` of a message
        tool.invoke({"handle": handle, "offset": 51000})
        tool.invoke({"handle": handle, "find": "guard clause"})
        ```

    Invocation with ToolCall:
        ```python
        message = tool.invoke(
            {
                "name": "web_read",
                "args": {"handle": handle},
                "id": "call_1",
                "type": "tool_call",
            }
        )
        message.content  # the part, and how to read on
        message.artifact["next_offset"]  # the part as data: content, offset, total_characters, …
        ```

    Async:
        ```python
        await tool.ainvoke({"handle": handle, "offset": 51000})
        ```
    """

    _tool: ClassVar[Tool] = READ

    name: str = READ.name
    description: str = READ.description
    args_schema: ArgsSchema | None = READ.input_model
