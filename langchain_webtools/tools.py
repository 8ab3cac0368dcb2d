"""The tools. Their names, descriptions and schemas come from `webtools.tools`."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from langchain_core.tools import ArgsSchema

from langchain_webtools._base import SCHEMAS, WebTool
from langchain_webtools._fields import Model
from langchain_webtools.synthesis import ChatModelSynthesizer
from webtools.choices import Command
from webtools.tools import FETCH, MAP, READ, RESEARCH, SEARCH, SUMMARIZE, Tool


class WebSearchTool(WebTool):
    """Search the web with one or several queries at the same time.

    Setup:
        Install the package, and set the key of a provider:

        ```bash
        pip install 'agent-webtools[langchain]'
        export EXA_API_KEY="your-key"
        ```

    Key init args:
        - `limit`, `include_domains`, `exclude_domains`, `category`, `country`, `language`,
          `provider`, …: Fixed for all calls. The model does not see them and cannot change
          them.
        - `web`, `api_keys`, `name`, `handle_tool_error`, `cache`, `content_blocks`,
          `compact_artifact`: As described in `WebTool`.

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
    args_schema: ArgsSchema | None = SCHEMAS[SEARCH.name]

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
        Install the package, and set the key of a provider:

        ```bash
        pip install 'agent-webtools[langchain]'
        export EXA_API_KEY="your-key"
        ```

    Key init args:
        - `question`, `highlights`, `summary`, `text_max_characters`, `whole`, `pages`,
          `provider`, …: Fixed for all calls. The model does not see them and cannot change them.
        - `web`, `api_keys`, `name`, `handle_tool_error`, `cache`, `content_blocks`,
          `compact_artifact`: As described in `WebTool`.

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
    args_schema: ArgsSchema | None = SCHEMAS[FETCH.name]

    question: str | None = None
    text: bool | None = None
    highlights: bool | None = None
    summary: bool | None = None
    text_max_characters: int | None = None
    whole: bool | None = None
    pages: str | None = None
    provider: str | None = None


class SummarizeTool(WebTool):
    """Summarize a page, PDF, video or audio by its URL.

    Setup:
        Install the package, and set the key of a provider:

        ```bash
        pip install 'agent-webtools[langchain]'
        export KAGI_API_KEY="your-key"
        ```

    Key init args:
        - `summary_type`, `engine`, `target_language`, `provider`:
          Fixed for all calls. The model does not see them and cannot change them.
        - `web`, `api_keys`, `name`, `handle_tool_error`, `cache`, `content_blocks`,
          `compact_artifact`: As described in `WebTool`.

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
    args_schema: ArgsSchema | None = SCHEMAS[SUMMARIZE.name]

    summary_type: Literal["summary", "takeaway"] | None = None
    engine: Literal["cecil", "agnes"] | None = None
    target_language: str | None = None
    provider: str | None = None


class WebResearchTool(WebTool):
    """Search, read and check sources for a question, and answer it with citations.

    Setup:
        Install the package, and set the key of a provider:

        ```bash
        pip install 'agent-webtools[langchain,fetch]'
        export EXA_API_KEY="your-key"
        ```

    Key init args:
        - `llm` (`BaseChatModel | Runnable | None`): Writes the answers of `web-deep`. Each
          claim is checked. Without a model, answers quote the sources. The result of
          `with_fallbacks` or `with_retry` works too.
        - `command`, `limit`, `recency_days`, `synthesis`:
          Fixed for all calls. The model does not see them and cannot change them.
        - `web`, `api_keys`, `name`, `handle_tool_error`, `cache`, `content_blocks`,
          `compact_artifact`: As described in `WebTool`.

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
        message.content  # the answer, its sources and the confidence
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
    args_schema: ArgsSchema | None = SCHEMAS[RESEARCH.name]

    command: Command | None = None
    limit: int | None = None
    recency_days: int | None = None
    synthesis: str | None = None

    def _options(self) -> dict[str, Any]:
        options = super()._options()
        if self.llm is None:
            return options
        return {**options, "synthesizer": ChatModelSynthesizer(self.llm)}


class WebReadTool(WebTool):
    """Read the rest of an output that another tool cut, or find words in it.

    Setup:
        Install the package. You need no key, because the tool sends no requests:

        ```bash
        pip install 'agent-webtools[langchain]'
        ```

    Key init args:
        - `web`, `api_keys`, `handle_tool_error`: As described in `WebTool`.
        - `name` (`str`): The name of the tool for the model. Keep "web_read" if you can,
          because the notice in a truncated output contains this name.

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
        message.content  # the part, and a note on how to read the next one
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
    args_schema: ArgsSchema | None = SCHEMAS[READ.name]


class WebMapTool(WebTool):
    """List the pages of a site.

    Setup:
        Install the package. You need no key, because the site itself is read:

        ```bash
        pip install 'agent-webtools[langchain,fetch]'
        ```

    Key init args:
        - `find`, `limit`: Fixed for all calls. The model does not see them and cannot change
          them.
        - `web`, `api_keys`, `name`, `handle_tool_error`, `cache`, `compact_artifact`: As
          described in `WebTool`.

    Instantiation:
        ```python
        from langchain_webtools import WebMapTool
        from webtools import WebTools

        tool = WebMapTool()
        tool = WebMapTool(web=WebTools(config="web-search.json"), limit=20)
        ```

    Invocation with args:
        ```python
        tool.invoke({"url": "https://docs.python.org/3/", "find": "match statement"})
        tool.invoke("https://docs.python.org/3/")
        ```

    Invocation with ToolCall:
        ```python
        message = tool.invoke(
            {
                "name": "web_map",
                "args": {"url": "https://docs.python.org/3/", "find": "match statement"},
                "id": "call_1",
                "type": "tool_call",
            }
        )
        message.content  # the text for the model
        message.artifact["results"]  # the same as data: url, title, from
        ```

    Async:
        ```python
        await tool.ainvoke({"url": "https://docs.python.org/3/"})
        ```
    """

    _tool: ClassVar[Tool] = MAP

    name: str = MAP.name
    description: str = MAP.description
    args_schema: ArgsSchema | None = SCHEMAS[MAP.name]

    find: str | None = None
    limit: int | None = None
