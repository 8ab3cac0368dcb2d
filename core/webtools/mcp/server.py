"""The MCP server: lists and calls the tools, and returns stored outputs."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qs, urlsplit

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

from webtools._internal.http.event_loops import in_thread
from webtools._internal.text.nested_texts import with_texts
from webtools._version import __version__
from webtools.client import WebTools
from webtools.errors import ConfigError
from webtools.mcp.clients import Clients, connection
from webtools.mcp.listing import INSTRUCTIONS, describe
from webtools.mcp.progress_reports import progress_callback
from webtools.mcp.structured import structured_content
from webtools.tools import ALL_TOOLS, READ, TOOLS, Tool, ToolResult
from webtools.truncation import MAX_BYTES

T = TypeVar("T")
Page: TypeAlias = types.PaginatedRequestParams | None

_SCHEME, _FOLDER = "webtools", "output"
_TEMPLATE = f"{_SCHEME}://{_FOLDER}/{{handle}}{{?offset}}"
_TEXT = "text/plain"
_FOLDER_PATH = re.compile(r"(?<![\w:/.\\-])(?:[A-Za-z]:)?[/\\](?:[^\s/\\:\"'`]+[/\\])+")  # absolute
_STORED = types.ResourceTemplate(
    name="stored output",
    description="Part of a truncated output, as web_read returns it.",
    uri_template=_TEMPLATE,
    mime_type=_TEXT,
)


def make_server(
    web: WebTools,
    *,
    is_remote: bool = False,
    extra_tools: Sequence[str] = (),
    session: Mapping[str, Any] | None = None,
) -> Server[Any]:
    """Return a server whose calls share one cache, one budget and one set of connections.

    Args:
        web: Makes the calls. The caller closes it.
        is_remote: Whether clients run elsewhere. Errors then name no folder of this machine.
        extra_tools: Optional tools to offer, such as `web_map`.
        session: Arguments of `WebTools.session`, such as `{"fetch": "seen"}`. Each client gets a
            session of its own.

    Raises:
        InputError: `web` is a session of one user, and any number of clients would share it; or an
            argument of the session is not valid.
    """
    clients = Clients(web, session, is_remote=is_remote)
    handlers = _Handlers(web, clients, is_remote, tuple(ALL_TOOLS[name] for name in extra_tools))
    return Server(
        "webtools",
        version=__version__,
        instructions=INSTRUCTIONS,
        lifespan=connection,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        # Some clients request prompts without checking whether the server has any.
        on_list_prompts=_always(types.ListPromptsResult(prompts=[])),
        # Only a client with the handle may read a stored output.
        on_list_resources=_always(types.ListResourcesResult(resources=[])),
        on_list_resource_templates=_always(
            types.ListResourceTemplatesResult(resource_templates=[_STORED])
        ),
        on_read_resource=handlers.read_resource,
    )


def _always(result: T) -> Callable[[ServerRequestContext, Page], Awaitable[T]]:
    """Return a handler that always returns the same result."""

    async def handle(_: ServerRequestContext, __: Page) -> T:
        return result

    return handle


@dataclass(frozen=True, slots=True)
class _Handlers:
    """Handles the requests of the protocol."""

    web: WebTools
    clients: Clients
    is_remote: bool
    extra_tools: tuple[Tool, ...]

    async def list_tools(self, _: ServerRequestContext, __: Page) -> types.ListToolsResult:
        tools = await in_thread(self.web.tools)
        offered = (*tools, *self.extra_tools)
        return types.ListToolsResult(tools=[describe(tool) for tool in offered])

    async def call_tool(
        self, ctx: ServerRequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Call a tool. Cancelling the request cancels this task and its HTTP requests."""
        name = params.name
        is_optional = name in ALL_TOOLS and name not in TOOLS
        if is_optional and ALL_TOOLS[name] not in self.extra_tools:
            message = f"{name} is not offered; `webtools mcp --tool {name}` offers it."
            raise MCPError(types.INVALID_PARAMS, message)
        web = self.clients.web_for(ctx)
        async with progress_callback(ctx) as progress:
            result = await web.acall_tool(params.name, params.arguments or {}, progress=progress)
        if self.is_remote or ctx.request is not None:
            result = self._without_folders(result)
        fence = await in_thread(self._fence)
        structured = structured_content(params.name, result.details, fence)
        return types.CallToolResult(
            content=_content(result), structured_content=structured, is_error=result.is_error
        )

    def _without_folders(self, result: ToolResult) -> ToolResult:
        """Remove the folders of the settings and of tapes from errors and warnings."""
        error = result.details.get("error")
        is_of_settings = error is not None and error["type"] == "ConfigError"

        def change(text: str, _: str = "") -> str:
            text = self.clients.without_folders(text)
            return _FOLDER_PATH.sub("", text) if is_of_settings else text

        return replace(result, text=change(result.text), details=with_texts(result.details, change))

    def _fence(self) -> str:
        """Return the setting, or the strictest one if the settings are invalid."""
        try:
            return self.web.fence
        except ConfigError:
            return "all"

    async def read_resource(
        self, ctx: ServerRequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Read a part as `web_read` does, within the same limits and fence."""
        result = await self.clients.web_for(ctx).acall_tool(READ, _read_arguments(params.uri))
        if result.is_error:
            raise MCPError(types.INVALID_PARAMS, result.text)
        contents = types.TextResourceContents(uri=params.uri, mime_type=_TEXT, text=result.text)
        return types.ReadResourceResult(contents=[contents])


def _content(result: ToolResult) -> list[types.ContentBlock]:
    """Return the text, and a link to the full output if the text was cut."""
    text = types.TextContent(text=result.text)
    handle, cut = result.details["read_handle"], result.details["truncation"]
    if handle is None or cut is None:
        return [text]
    link = types.ResourceLink(
        name="whole output",
        uri=f"{_SCHEME}://{_FOLDER}/{handle}",
        description=f"The full output. Each read returns up to {MAX_BYTES:,} bytes.",
        mime_type=_TEXT,
        size=cut["total_bytes"],
    )
    return [text, link]


def _read_arguments(uri: str) -> dict[str, Any]:
    """Return the arguments for `web_read`, which checks them.

    Raises:
        MCPError: The URI is not one of a stored output.
    """
    parts = urlsplit(uri)
    if (parts.scheme, parts.netloc) != (_SCHEME, _FOLDER):
        raise MCPError(types.INVALID_PARAMS, f"Unknown resource; use {_TEMPLATE}.")
    offsets = parse_qs(parts.query).get("offset", [])
    return {"handle": parts.path.removeprefix("/"), **({"offset": offsets[0]} if offsets else {})}
