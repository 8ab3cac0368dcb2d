"""Run in an environment that has one of these clients: list the tools, call one, print both."""
# ruff: noqa: PLC0415, T201

import asyncio
import json
import sys
from typing import Any

COMMAND = "import sys; from webtools.cli import main; sys.exit(main(['mcp', *sys.argv[1:]]))"


async def llama_index(python: str, config: str) -> tuple[list[str], str]:
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    client = BasicMCPClient(python, args=["-c", COMMAND, "--config", config])
    tools = {
        tool.metadata.get_name(): tool for tool in await McpToolSpec(client).to_tool_list_async()
    }
    output = await tools["web_search"].acall(queries=["heap"])
    return [*tools], output.content


async def langchain_adapters(python: str, config: str) -> tuple[list[str], str]:
    from langchain_mcp_adapters.client import MultiServerMCPClient

    arguments = ["-c", COMMAND, "--config", config]
    server: Any = {"transport": "stdio", "command": python, "args": arguments}
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"w": server}).get_tools()}
    return [*tools], str(await tools["web_search"].ainvoke({"queries": ["heap"]}))


async def langchain(python: str, config: str) -> tuple[list[str], str]:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport
    from langchain.mcp import MCPAdapter

    transport = StdioTransport(command=python, args=["-c", COMMAND, "--config", config])
    async with MCPAdapter(Client(transport)) as adapter:
        tools = {tool.name: tool for tool in await adapter.list_tools()}
        return [*tools], str(await tools["web_search"].ainvoke({"queries": ["heap"]}))


CLIENTS = {
    "llama-index": llama_index,
    "langchain-adapters": langchain_adapters,
    "langchain": langchain,
}

if __name__ == "__main__":
    name, python, config = sys.argv[1:]
    names, text = asyncio.run(CLIENTS[name](python, config))
    print(json.dumps({"tools": names, "text": text}))
