"""The tools over the Model Context Protocol: a server for stdio and for streamable HTTP.

Needs the extra `mcp`. `webtools mcp` starts it. Your own program can serve `make_server(web)`.
"""

try:
    from webtools.mcp.server import make_server
    from webtools.mcp.serving import serve_http, serve_stdio
except ImportError as error:
    if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types", "starlette", "uvicorn"}:
        raise
    _MISSING = "MCP needs the MCP SDK 2.3 or later: pip install 'agent-webtools[mcp]'"
    raise ImportError(_MISSING) from error

__all__ = ["make_server", "serve_http", "serve_stdio"]
