"""LangChain's own standard tests, against the sandbox."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.tools import BaseTool
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from langchain_webtools import (
    SummarizeTool,
    WebFetchTool,
    WebReadTool,
    WebResearchTool,
    WebSearchTool,
)
from webtools import WebTools


class Setting:
    """Where the standard tests find the tool under test."""

    tool_class: type[BaseTool]

    @pytest.fixture(autouse=True)
    def _setting(self, web: WebTools, page: str) -> None:
        self.web = web
        self.page = page

    @property
    def tool_constructor(self) -> type[BaseTool]:
        return self.tool_class

    @property
    def tool_constructor_params(self) -> dict[str, Any]:
        return {"web": self.web}


class SearchSetting(Setting):
    tool_class = WebSearchTool

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"queries": ["read json"], "limit": 2}


class FetchSetting(Setting):
    tool_class = WebFetchTool

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"urls": [self.page], "text_max_characters": 500}


class SummarizeSetting(Setting):
    tool_class = SummarizeTool

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"url": self.page, "summary_type": "takeaway"}


class ResearchSetting(Setting):
    tool_class = WebResearchTool

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"query": "read json", "command": "web-deep", "limit": 2}


@pytest.mark.usefixtures("own_temp")
class ReadSetting(Setting):
    tool_class = WebReadTool

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        names = ["typing", "doctest", "inspect", "difflib"]  # together too long for one answer
        pages = [self.page.replace("json", name) for name in names]
        handle = self.web.call_tool("web_fetch", {"urls": pages}).details["read_handle"]
        return {"handle": handle, "find": "doctest"}


class TestSearchUnit(SearchSetting, ToolsUnitTests):
    pass


class TestSearchIntegration(SearchSetting, ToolsIntegrationTests):
    pass


class TestFetchUnit(FetchSetting, ToolsUnitTests):
    pass


class TestFetchIntegration(FetchSetting, ToolsIntegrationTests):
    pass


class TestSummarizeUnit(SummarizeSetting, ToolsUnitTests):
    pass


class TestSummarizeIntegration(SummarizeSetting, ToolsIntegrationTests):
    pass


class TestResearchUnit(ResearchSetting, ToolsUnitTests):
    pass


class TestResearchIntegration(ResearchSetting, ToolsIntegrationTests):
    pass


class TestReadUnit(ReadSetting, ToolsUnitTests):
    pass


class TestReadIntegration(ReadSetting, ToolsIntegrationTests):
    pass
