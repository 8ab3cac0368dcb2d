"""The web tools for pydantic-ai: search, fetch, summarize, research.

    from pydantic_ai import Agent
    from pydantic_ai_webtools import web_toolset

    agent = Agent("anthropic:claude-sonnet-4-6", toolsets=[web_toolset()])

`WebSearch` is one object that searches on the vendor's side where that serves your filters and
limits, else with `web_search`. Requires the extra `pydantic-ai`.
"""

from pydantic_ai_webtools._native import WebSearch, read_model_response
from pydantic_ai_webtools._tools import web_tool, web_toolset

__all__ = ["WebSearch", "read_model_response", "web_tool", "web_toolset"]
