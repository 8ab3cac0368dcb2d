from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from pydantic_ai import FunctionToolset, RunContext, Tool, ToolReturn
from pydantic_ai.exceptions import ToolFailed

from webtools import WebTools
from webtools import tools as webtools_tools
from webtools.adapters import web_of

Web: TypeAlias = WebTools | Callable[[RunContext[Any]], WebTools]


def web_tool(tool: webtools_tools.Tool | str, web: Web | None = None, **fixed: Any) -> Tool[Any]:
    """Return a web tool.

    Its result has the details for your program in `metadata`, which the model does not see. A
    failed call is a failed tool result that the model reads; it does not count as a retry.

    Args:
        tool: A tool of `webtools.tools`, such as `SEARCH`, or its name.
        web: A `WebTools` or session, or a function of the run's context that returns one, such as
            `lambda ctx: ctx.deps`.
        fixed: Arguments of the tool that the model neither sees nor changes.

    Raises:
        InputError: An argument is not valid.
    """
    used, find = webtools_tools.tool_of(tool), web_of(web)
    if fixed:
        used = used.with_fixed(fixed)

    async def call(context: RunContext[Any], **arguments: Any) -> ToolReturn:
        result = await find(context).acall_tool(used, arguments)
        if result.is_error:
            raise ToolFailed(result.text)
        return ToolReturn(result.text, metadata=result.details)

    schema = used.input_model.model_json_schema()
    return Tool.from_schema(call, used.name, used.paragraph, schema, takes_ctx=True)


def web_toolset(
    web: Web | None = None,
    *,
    tools: Iterable[webtools_tools.Tool | str] | None = None,
    id: str = "webtools",  # noqa: A002  # as pydantic-ai names it
    **settings: Any,
) -> FunctionToolset[Any]:
    """Return the web tools as a toolset.

    Args:
        web: As for `web_tool`.
        tools: Tools of `webtools.tools`, or their names. Default: those that your providers serve.
        id: ID of the toolset, which durable execution needs.
        settings: Arguments of `WebTools`, such as `api_keys`, instead of `web`.

    Raises:
        InputError: An argument is not valid.
        ConfigError: A setting is not valid.
    """
    find = web_of(web, **settings)
    if tools is None:
        is_function = callable(web) and not isinstance(web, WebTools)
        tools = webtools_tools.TOOLS.values() if is_function else find(None).tools()
    return FunctionToolset([web_tool(tool, find) for tool in tools], id=id)
