"""All tools at once."""

from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool, BaseToolkit
from pydantic import ConfigDict, Field

from langchain_webtools._web import Web
from langchain_webtools.research import WebResearchTool
from langchain_webtools.tools import (
    SummarizeTool,
    WebFetchTool,
    WebReadTool,
    WebSearchTool,
)

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
        llm: BaseChatModel | None
            Writes the answers of web_research; without one, sentences of the sources are quoted.
        prefix: str
            Goes before the names of the tools. An agent silently drops the first of two tools
            with the same name, so give each of several toolkits its own.
        suffix: str
            Goes after the names of the tools.

    Instantiation:
        ```python
        from langchain_webtools import WebToolkit
        from webtools import WebTools

        toolkit = WebToolkit()
        toolkit = WebToolkit(WebTools("team.json"), prefix="team_")
        ```

    Tools:
        ```python
        from langchain.agents import create_agent

        agent = create_agent("openai:gpt-5", toolkit.get_tools())
        ```
    """

    model_config = ConfigDict(
        extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True
    )

    web: Web = Field(default=None, validate_default=True, exclude=True)
    llm: BaseChatModel | None = None
    prefix: str = ""
    suffix: str = ""

    def __init__(
        self,
        web: "WebTools | None" = None,
        *,
        llm: BaseChatModel | None = None,
        prefix: str = "",
        suffix: str = "",
        **more: Any,
    ) -> None:
        """Take what the tools work with; anything else is refused."""
        more |= {"web": web, "llm": llm, "prefix": prefix, "suffix": suffix}
        super().__init__(**more)

    def get_tools(self) -> list[BaseTool]:
        """Make the tools: web_search, web_fetch, summarize, web_research, web_read."""
        tools: list[BaseTool] = [
            WebSearchTool(web=self.web),
            WebFetchTool(web=self.web),
            SummarizeTool(web=self.web),
            WebResearchTool(web=self.web, llm=self.llm),
            WebReadTool(web=self.web),
        ]
        for tool in tools:
            tool.name = f"{self.prefix}{tool.name}{self.suffix}"
        return tools
