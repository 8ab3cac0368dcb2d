"""The web tools for the OpenAI Agents SDK: search, fetch, summarize, research.

    from agents import Agent
    from openai_agents_webtools import web_tools

    agent = Agent(name="Researcher", tools=web_tools())

`search_tool` is the hosted search of OpenAI where it serves your filters and limits, else
`web_search`. Requires the extra `openai-agents`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from agents import Agent, FunctionTool, RunContextWrapper, RunHooks, WebSearchTool
from agents.run import CallModelData, ModelInputData

from webtools import Session, WebTools
from webtools import tools as webtools_tools
from webtools.adapters import native_or_own, web_of
from webtools.native import NotNative, Route, read_response, without_sources

__all__ = ["NativeHooks", "choose_native", "search_tool", "strip_sources", "web_tool", "web_tools"]

Web: TypeAlias = WebTools | Callable[[RunContextWrapper[Any]], WebTools]


def web_tool(tool: webtools_tools.Tool, web: Web | None = None, **fixed: Any) -> FunctionTool:
    """Return a web tool.

    A failed call is a text that the model reads.

    Args:
        tool: A tool of `webtools.tools`, such as `SEARCH`.
        web: A `WebTools` or session, or a function of the run's context that returns one, such as
            `lambda context: context.context`.
        fixed: Arguments of the tool that the model neither sees nor changes.

    Raises:
        InputError: An argument is not valid.
    """
    used, find = tool.with_fixed(fixed) if fixed else tool, web_of(web)

    async def invoke(context: RunContextWrapper[Any], arguments: str) -> str:
        try:
            values = json.loads(arguments or "{}")
        except ValueError:
            values = arguments  # `acall_tool` explains what is wrong
        return (await find(context).acall_tool(used, values)).text

    return FunctionTool(
        name=used.name,
        description=used.paragraph,
        params_json_schema=used.input_model.model_json_schema(),
        on_invoke_tool=invoke,
        strict_json_schema=False,  # a strict schema makes every filter required
    )


def web_tools(
    web: Web | None = None,
    *,
    tools: Iterable[webtools_tools.Tool] | None = None,
    **settings: Any,
) -> list[FunctionTool]:
    """Return the web tools.

    Args:
        web: As for `web_tool`.
        tools: Tools of `webtools.tools`. Default: those that your providers serve.
        settings: Arguments of `WebTools`, such as `api_keys`, instead of `web`.

    Raises:
        InputError: An argument is not valid.
        ConfigError: A setting is not valid.
    """
    find = web_of(web, **settings)
    if tools is None:
        is_function = callable(web) and not isinstance(web, WebTools)
        tools = webtools_tools.TOOLS.values() if is_function else find(None).tools()
    return [web_tool(tool, find) for tool in tools]


def search_tool(
    web: WebTools | None = None,
    *,
    model: str,
    base_url: str,
    native_overshoot: bool = False,
    **filters: Any,
) -> WebSearchTool | FunctionTool:
    """Return OpenAI's hosted search if it serves all filters and limits, else `web_search`.

    The SDK cannot replace a hosted tool during a run, so this is decided now: call it for each run.

    Args:
        web: The `WebTools`, or the session of the run.
        model: Name of the model. Use the tool with an `OpenAIResponsesModel` of this name only.
        base_url: Base URL of the client, such as `str(client.base_url)`.
        native_overshoot: Use the hosted search although it can spend more than what is left of the
            money.
        filters: Arguments of `web_search` that the model neither sees nor changes.

    Raises:
        InputError: An argument is not valid.
    """
    web = web_of(web)(None)
    choice = choose_native(
        web, model=model, base_url=base_url, native_overshoot=native_overshoot, **filters
    )
    if not isinstance(choice, NotNative):
        return choice
    if isinstance(web, Session):
        web.record_native(vendor="openai", notes=[f"web_search was used: {choice.reason}"])
    return web_tool(webtools_tools.SEARCH, web, **filters)


def choose_native(
    web: WebTools, *, model: str, base_url: str, native_overshoot: bool = False, **filters: Any
) -> WebSearchTool | NotNative:
    """Return the hosted search, or the reason why not. The arguments are those of `search_tool`."""
    route = Route(base_url, "responses", model, has_functions=True)
    choice = native_or_own(web, route, filters, overshoot=native_overshoot)
    if isinstance(choice, NotNative):
        return choice
    tool = choice.tool
    return WebSearchTool(user_location=tool["user_location"], filters=tool.get("filters"))


class NativeHooks(RunHooks[Any]):
    """Adds what OpenAI searched to a session: `Runner.run(..., hooks=NativeHooks(session))`.

    Args:
        web: The session, or a function of the run's context that returns it.
        include_domains: The domains of the search. Other sources are refused.
        exclude_domains: Domains of which sources are refused.
    """

    def __init__(
        self, web: Web, include_domains: Iterable[str] = (), exclude_domains: Iterable[str] = ()
    ) -> None:
        self._find = web_of(web)
        self._domains = ([*include_domains], [*exclude_domains])

    async def on_llm_end(
        self, context: RunContextWrapper[Any], agent: Agent[Any], response: Any
    ) -> None:
        """Read a response of the model."""
        session = self._find(context)
        model = agent.model if isinstance(agent.model, str) else getattr(agent.model, "model", "")
        found = read_response("openai", {"output": response.output}, model=str(model))
        if isinstance(session, Session) and (found.searches or found.pending or found.sources):
            session.record_native(**found.within(*self._domains).record())


def strip_sources(data: CallModelData[Any]) -> ModelInputData:
    """Remove what OpenAI refuses: pass it as `RunConfig(call_model_input_filter=...)`.

    You need it if you request the sources of searches (`response_include`).
    """
    items = without_sources([*data.model_data.input])
    return ModelInputData(input=items, instructions=data.model_data.instructions)
