"""All tools at once."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from langchain_core.tools import BaseTool, BaseToolkit
from pydantic import ConfigDict, Field, model_validator

from langchain_webtools._arguments import known_arguments
from langchain_webtools._model import ChatModel, Model
from langchain_webtools._web import Web, given_or_new, warn_if_unconfigured
from langchain_webtools.research import WebResearchTool
from langchain_webtools.tools import (
    SummarizeTool,
    WebFetchTool,
    WebReadTool,
    WebSearchTool,
)
from webtools.config.overrides import ClientArguments
from webtools.tools import FETCH, READ, RESEARCH, SEARCH, SUMMARIZE, no_such_tool

if TYPE_CHECKING:
    from webtools import WebTools


class WebToolkit(BaseToolkit):
    """All web tools over one `WebTools`, which share its settings and connections.

    Setup:
        Install the package, and give it a provider's key in `web-search.json` or, without such a
        file, in the environment:

        ```bash
        pip install 'agent-webtools[langchain]'
        export EXA_API_KEY="your-key"  # or KAGI_API_KEY
        ```

    Key init args:
        web: WebTools | None
            What carries out the calls; one of its own by default.
        api_keys, max_results, budget, transport, …
            The arguments of `WebTools`, in place of `web`.
        llm: BaseChatModel | Runnable | None
            Writes the answers of web_research; without one, sentences of the sources are quoted.
        prefix: str
            Goes before the names of the tools. An agent silently drops the first of two tools
            with the same name, so give each of several toolkits its own.
        suffix: str
            Goes after the names of the tools.
        compact_artifact: bool
            True: artifacts leave out the texts of pages, which the messages hold.

    Instantiation:
        ```python
        from langchain_webtools import WebToolkit
        from webtools import WebTools

        toolkit = WebToolkit()
        toolkit = WebToolkit(api_keys={"exa": "your-key"}, budget={"usd_per_day": 5})
        toolkit = WebToolkit(WebTools("team.json"), prefix="team_")
        ```

    Tools:
        ```python
        from langchain.agents import create_agent

        agent = create_agent("openai:gpt-5", toolkit.get_tools())
        agent = create_agent("openai:gpt-5", toolkit.get_tools(["web_search", "web_fetch"]))
        ```
    """

    model_config = ConfigDict(
        extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True
    )

    web: Web = Field(default=None, validate_default=True, exclude=True)
    llm: Model = None
    prefix: str = ""
    suffix: str = ""
    compact_artifact: bool = False
    passed_on: ClassVar[frozenset[str]] = frozenset(ClientArguments.__annotations__)
    _known = model_validator(mode="before")(known_arguments)

    def __init__(
        self,
        web: "WebTools | None" = None,
        *,
        llm: ChatModel | None = None,
        prefix: str = "",
        suffix: str = "",
        compact_artifact: bool = False,
        **settings: Unpack[ClientArguments],
    ) -> None:
        """Take what the tools work with; other arguments are those of `WebTools`."""
        named: dict[str, Any] = {**settings}
        client = {name: named.pop(name) for name in [*named] if name in self.passed_on}
        if client:
            web = given_or_new(web, **client)
        del settings, client  # a traceback that shows local variables would show the keys
        named |= {"web": web, "llm": llm, "prefix": prefix, "suffix": suffix}
        super().__init__(**named | {"compact_artifact": compact_artifact})
        warn_if_unconfigured(self.web)

    def get_tools(self, names: Sequence[str] | None = None) -> list[BaseTool]:
        """Make the tools.

        Args:
            names: Those wanted, such as `["web_search", "web_fetch"]`. By default all that the
                settings can serve of web_search, web_fetch, summarize, web_research, web_read;
                all of them where nothing is configured yet.

        Raises:
            ValueError: There is no tool of a name.
        """
        chosen = [tool.name for tool in self.web.tools()] if names is None else names
        chosen = [chosen] if isinstance(chosen, str) else chosen
        return [self._make(name) for name in chosen]

    def _make(self, name: str) -> BaseTool:
        if name not in _CLASSES:
            raise ValueError(no_such_tool(name))
        tool = _CLASSES[name](web=self.web, compact_artifact=self.compact_artifact)
        if isinstance(tool, WebResearchTool):
            tool.llm = self.llm
        tool.name = f"{self.prefix}{tool.name}{self.suffix}"
        return tool


_CLASSES: dict[str, Callable[..., BaseTool]] = {
    SEARCH.name: WebSearchTool,
    FETCH.name: WebFetchTool,
    SUMMARIZE.name: SummarizeTool,
    RESEARCH.name: WebResearchTool,
    READ.name: WebReadTool,
}
