"""Run in an environment that has one of these clients: list the tools, call one, print both."""
# ruff: noqa: PLC0415, T201

import asyncio
import json
import sys
from typing import Any

TOKEN = "test-token-of-some-length"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


async def llama_index(url: str) -> tuple[list[str], str]:
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    client = BasicMCPClient(url, headers=BEARER)
    listed = await McpToolSpec(client).to_tool_list_async()
    tools = {tool.metadata.get_name(): tool for tool in listed}
    output = await tools["web_search"].acall(queries=["heap"])
    return [*tools], output.content


async def langchain_adapters(url: str) -> tuple[list[str], str]:
    from langchain_mcp_adapters.client import MultiServerMCPClient

    server: Any = {"transport": "streamable_http", "url": url, "headers": BEARER}
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"w": server}).get_tools()}
    return [*tools], str(await tools["web_search"].ainvoke({"queries": ["heap"]}))


async def langchain(url: str) -> tuple[list[str], str]:
    from fastmcp import Client
    from langchain.mcp import MCPAdapter

    async with MCPAdapter(Client(url, auth=TOKEN)) as adapter:
        tools = {tool.name: tool for tool in await adapter.list_tools()}
        return [*tools], str(await tools["web_search"].ainvoke({"queries": ["heap"]}))


CLIENTS = {
    "llama-index": llama_index,
    "langchain-adapters": langchain_adapters,
    "langchain": langchain,
}

if __name__ == "__main__":
    names, text = asyncio.run(CLIENTS[sys.argv[1]](sys.argv[2]))
    print(json.dumps({"tools": names, "text": text}))
