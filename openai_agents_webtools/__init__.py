"""The web tools for the OpenAI Agents SDK: search, fetch, summarize, research.

    from agents import Agent
    from openai_agents_webtools import web_tools

    agent = Agent(name="Researcher", tools=web_tools())

`HostedSearch` is the hosted search of OpenAI where it serves your filters and limits, else
`web_search`. Requires the extra `openai-agents`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from agents import (
    Agent,
    FunctionTool,
    ModelSettings,
    RunContextWrapper,
    RunHooks,
    WebSearchTool,
)
from agents.run import CallModelData, ModelInputData

from webtools import Session, WebTools
from webtools import tools as webtools_tools
from webtools.adapters import check_web, native_or_own, web_of
from webtools.native import NotNative, Route, read_response, without_sources

__all__ = ["HostedSearch", "strip_sources", "web_tool", "web_tools"]

Web: TypeAlias = WebTools | Callable[[RunContextWrapper[Any]], WebTools]


def web_tool(tool: webtools_tools.Tool | str, web: Web | None = None, **fixed: Any) -> FunctionTool:
    """Return a web tool.

    A failed call is a text that the model reads.

    Args:
        tool: A tool of `webtools.tools`, such as `SEARCH`, or its name.
        web: A `WebTools` or session, or a function of the run's context that returns one, such as
            `lambda context: context.context`.
        fixed: Arguments of the tool that the model neither sees nor changes.

    Raises:
        InputError: An argument is not valid.
    """
    used, find = webtools_tools.tool_of(tool), web_of(web)
    if fixed:
        used = used.with_fixed(fixed)

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
    tools: Iterable[webtools_tools.Tool | str] | None = None,
    **settings: Any,
) -> list[FunctionTool]:
    """Return the web tools.

    Args:
        web: As for `web_tool`.
        tools: Tools of `webtools.tools`, or their names. Default: those that your providers serve.
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


class HostedSearch(RunHooks[Any]):
    """Web search for one run: OpenAI's hosted search if it serves all, else `web_search`.

        search = HostedSearch(session, model="gpt-5.2", base_url=url, include_domains=domains)
        agent = Agent(name="Researcher", model="gpt-5.2", tools=[search.tool])
        await Runner.run(agent, question, hooks=search)

    As hooks of the run, it adds what OpenAI searched to the session, and refuses sources outside
    the domains. The SDK cannot replace a hosted tool during a run, so the search is chosen now:
    make one for each run. On an event loop, make it in a thread if a file has the settings.

    Args:
        web: The session of the run, or a `WebTools`. Default: a new `WebTools`.
        model: Name of the model. Use the tool with an `OpenAIResponsesModel` of this name only.
        base_url: Base URL of the client, such as `str(client.base_url)`.
        model_settings: The settings of the agent or the run, if there are any. Some do not go with
            the hosted search.
        native_overshoot: Use the hosted search although it can spend more than what is left of the
            money.
        filters: Arguments of `web_search` that the model neither sees nor changes.

    Attributes:
        tool: The tool for the agent.
        reason: Why the hosted search is not used; empty if it is.

    Raises:
        InputError: An argument is not valid.
        ConfigError: A setting is not valid.
    """

    def __init__(
        self,
        web: WebTools | None = None,
        *,
        model: str,
        base_url: str,
        model_settings: ModelSettings | None = None,
        native_overshoot: bool = False,
        **filters: Any,
    ) -> None:
        self._web, self._model = check_web(web), model
        filters = webtools_tools.SEARCH.with_fixed(filters).fixed
        self._domains = [filters.get(f"{word}_domains") or () for word in ("include", "exclude")]
        own = web_tool(webtools_tools.SEARCH, self._web, **filters)  # checks the filters
        settings = model_settings or ModelSettings()
        effort = settings.reasoning.effort if settings.reasoning else None
        route = Route(base_url, "responses", model, effort or "", has_functions=True)
        choice = _other_request(settings) or native_or_own(
            self._web, route, filters, overshoot=native_overshoot
        )
        self.tool: WebSearchTool | FunctionTool = own
        self.reason = ""
        if isinstance(choice, NotNative):
            self.reason = choice.reason
            notes = [f"web_search was used: {choice.reason}"]
        else:
            place, domains = choice.tool["user_location"], choice.tool.get("filters")
            self.tool, notes = WebSearchTool(place, domains), [*choice.notes]
        if isinstance(self._web, Session):
            self._web.record_native(vendor="openai", notes=notes)

    async def on_llm_end(
        self,
        context: RunContextWrapper[Any],  # noqa: ARG002
        agent: Agent[Any],  # noqa: ARG002
        response: Any,
    ) -> None:
        """Add what OpenAI searched for a response to the session."""
        if isinstance(self._web, Session):
            searches = read_response("openai", {"output": response.output}, model=self._model)
            facts = searches.within(*self._domains).record()
            # In a thread, because the store or the tape can be written.
            await asyncio.to_thread(self._web.record_native, **facts)


def _other_request(settings: ModelSettings) -> NotNative | None:
    """Return why the request is not the one of the table, or None."""
    for name in ("extra_body", "extra_args", "tool_choice"):
        if getattr(settings, name) not in (None, "auto", {}):
            return NotNative(f"the request has its own {name}")
    return None


def strip_sources(data: CallModelData[Any]) -> ModelInputData:
    """Remove what OpenAI refuses: pass it as `RunConfig(call_model_input_filter=...)`.

    You need it if you request the sources of searches (`response_include`).
    """
    items = without_sources([*data.model_data.input])
    return ModelInputData(input=items, instructions=data.model_data.instructions)
