"""A toolkit with all tools."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from langchain_core.tools import BaseTool, BaseToolkit
from pydantic import ConfigDict, Field, model_validator

from langchain_webtools._fields import ChatModel, Model, Web, check_argument_names, check_web
from langchain_webtools.tools import (
    SummarizeTool,
    WebFetchTool,
    WebMapTool,
    WebReadTool,
    WebResearchTool,
    WebSearchTool,
)
from webtools.config.config_models import ClientArguments
from webtools.config.overrides import show_client_arguments
from webtools.tools import FETCH, MAP, READ, RESEARCH, SEARCH, SUMMARIZE, no_such_tool

if TYPE_CHECKING:
    from webtools import WebTools


class WebToolkit(BaseToolkit):
    """All web tools, with shared settings and connections.

    Setup:
        Install the package, and set the key of a provider:

        ```bash
        pip install 'agent-webtools[langchain]'
        export EXA_API_KEY="your-key"  # or KAGI_API_KEY
        ```

    Key init args:
        - `web` (`WebTools | None`): The `WebTools` to use. Default: a new one.
        - `api_keys`, `max_results`, `budget`, `transport`, …: The arguments of `WebTools`,
          instead of `web`.
        - `llm` (`BaseChatModel | Runnable | None`): Writes the answers of web_research.
          Without a model, answers quote the sources.
        - `prefix` (`str`): Prefix of the names of the tools. If an agent has several
          toolkits, give each its own prefix, because an agent silently drops the first of
          two tools with the same name.
        - `suffix` (`str`): Suffix of the names of the tools.
        - `compact_artifact` (`bool`): Omit the texts of pages from artifacts, because the
          messages already have them. Default: False.

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
    client_arguments: ClassVar[frozenset[str]] = frozenset(ClientArguments.__annotations__)
    _check_names = model_validator(mode="before")(check_argument_names)

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
        """Create a toolkit. `settings` are the arguments of `WebTools`."""
        fields: dict[str, Any] = {**settings}  # an unknown name among them is reported as a field
        client = {name: fields.pop(name) for name in [*fields] if name in self.client_arguments}
        if client:
            web = check_web(web, **client)
        del settings, client  # a traceback that shows local variables would show the keys
        fields |= {"web": web, "llm": llm, "prefix": prefix, "suffix": suffix}
        super().__init__(**fields | {"compact_artifact": compact_artifact})
        self.web.warn_if_unconfigured()

    def get_tools(self, names: Sequence[str] | None = None) -> list[BaseTool]:
        """Return the tools.

        Args:
            names: Names of tools, such as `["web_search", "web_fetch"]`. Default: all that a
                configured provider can serve, without `web_map`, which you must name. If nothing
                is configured, all tools but that.

        Returns:
            The tools, in the order of the names.

        Raises:
            ValueError: A name is unknown.
        """
        if names is None:
            names = [tool.name for tool in self.web.tools()]
        return [self._make(name) for name in ([names] if isinstance(names, str) else names)]

    def _make(self, name: str) -> BaseTool:
        if name not in _CLASSES:
            raise ValueError(no_such_tool(name))
        tool = _CLASSES[name](web=self.web, compact_artifact=self.compact_artifact)
        if isinstance(tool, WebResearchTool):
            tool.llm = self.llm
        tool.name = f"{self.prefix}{tool.name}{self.suffix}"
        return tool


_signature = show_client_arguments(WebToolkit.__init__)
WebToolkit.__signature__ = _signature.replace(parameters=[*_signature.parameters.values()][1:])

_CLASSES: dict[str, Callable[..., BaseTool]] = {
    SEARCH.name: WebSearchTool,
    FETCH.name: WebFetchTool,
    SUMMARIZE.name: SummarizeTool,
    RESEARCH.name: WebResearchTool,
    READ.name: WebReadTool,
    MAP.name: WebMapTool,
}
