"""Arguments that a developer fixes when a tool is made."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.llms import MockLLM

from llamaindex_webtools import (
    summarize_tool,
    web_fetch_tool,
    web_research_tool,
    web_search_tool,
)
from webtools import InputError, WebTools
from webtools.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from llama_index.core.tools import FunctionTool

    from webtools_sandbox import SandboxServer

FIXED: list[tuple[Callable[..., FunctionTool], dict[str, Any]]] = [
    (web_search_tool, {"include_domains": ["docs.python.org"], "limit": 2}),
    (web_fetch_tool, {"text_max_characters": 300, "provider": "direct"}),
    (summarize_tool, {"summary_type": "takeaway"}),
    (web_research_tool, {"command": "web-news", "limit": 3}),
]


@pytest.mark.parametrize(("factory", "fixed"), FIXED)
def test_a_model_is_not_shown_what_is_fixed(
    factory: Callable[..., FunctionTool], fixed: dict[str, Any]
) -> None:
    tool = factory(**fixed)
    every = TOOLS[tool.metadata.get_name()].input_model.model_fields
    left = [name for name in every if name not in fixed]
    assert list(tool.metadata.get_parameters_dict()["properties"]) == left
    for function in (tool.real_fn, tool.async_fn):
        assert list(inspect.signature(function).parameters) == left
        assert not any(f"    {name}: " in (function.__doc__ or "") for name in fixed)


async def test_a_fixed_argument_goes_with_every_call(web: WebTools) -> None:
    tool = web_search_tool(web, limit=2, exclude_domains=["example.com"])
    arguments = {"queries": ["read json"], "limit": 2, "exclude_domains": ["example.com"]}
    expected = web.call_tool("web_search", arguments).text
    assert tool.call(queries=["read json"]).content == expected
    assert (await tool.acall(queries=["read json"])).content == expected
    assert tool.call(queries=["read json"], limit=0).content == expected  # 0 is left out


@pytest.mark.parametrize("fixed", [{}, {"limit": 2}])
@pytest.mark.parametrize("cache", ["use", "refresh", "bypass"])
def test_a_tool_treats_the_cache_as_it_was_made_to(
    webtools_sandbox: SandboxServer, cache: Any, fixed: Any
) -> None:
    web = WebTools({**webtools_sandbox.config(), "cache": {}})
    tool = web_search_tool(web, cache=cache, **fixed)
    for _ in range(2):
        tool.call(queries=["read json"])
    requests = webtools_sandbox.stats()["requests"]["/exa/search"]
    assert requests == (1 if cache == "use" else 2)


@pytest.mark.parametrize("factory", [factory for factory, _ in FIXED])
def test_another_word_for_the_cache_is_refused_at_once(factory: Any) -> None:
    with pytest.raises(InputError, match="cache"):
        factory(cache="never")


def test_a_position_skips_what_is_fixed(web: WebTools) -> None:
    output = web_search_tool(web, limit=2).call("read json", ["docs.python.org"])
    sent = {"queries": "read json", "include_domains": ["docs.python.org"]}
    assert output.raw_input == {"kwargs": sent}


def test_a_model_that_sends_another_value_gets_the_fixed_one_in_the_error(web: WebTools) -> None:
    output = web_search_tool(web, limit=2).call(queries=["a"], limit=9)
    assert output.is_error
    assert 'limit is fixed to "2"' in output.content


def test_a_fixed_value_that_makes_no_sense_is_refused_at_once() -> None:
    with pytest.raises(InputError, match='limit "1000".*100'):
        web_search_tool(limit=1000)
    with pytest.raises(InputError, match='"limt".*"limit"'):
        web_search_tool(limt=3)  # type: ignore[call-arg]
    for spelling in ("queries", "query", "q", "Queries"):
        with pytest.raises(InputError, match="queries"):
            web_search_tool(**{spelling: ["a"]})  # type: ignore[arg-type]


def test_an_agent_that_writes_code_calls_it_by_the_name_that_the_model_knows() -> None:
    tool = web_search_tool(name="python-docs", include_domains=["docs.python.org"])
    assert tool.metadata.name == "python-docs"
    assert tool.real_fn.__name__ == "python_docs"


def test_a_tool_with_fixed_arguments_can_be_copied_and_pickled(
    webtools_sandbox: SandboxServer, tmp_path: Path
) -> None:
    settings = tmp_path / "web-search.json"
    settings.write_text(json.dumps(webtools_sandbox.config()))
    tool = web_search_tool(WebTools(config=settings), name="two", limit=2)
    expected = tool.call(queries=["read json"]).content
    for again in (copy.copy(tool), copy.deepcopy(tool), pickle.loads(pickle.dumps(tool))):
        assert again.metadata.name == "two"
        assert "limit" not in again.metadata.get_parameters_dict()["properties"]
        assert again.call(queries=["read json"]).content == expected


def test_the_language_model_of_a_fixed_research_writes_its_answers(
    web: WebTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    kept = web.call_tool
    monkeypatch.setattr(web, "call_tool", lambda *given, **more: seen.append(more) or kept(*given))
    web_research_tool(web, llm=MockLLM(), command="web").call(query="asyncio")
    assert "synthesizer" in seen[0]
