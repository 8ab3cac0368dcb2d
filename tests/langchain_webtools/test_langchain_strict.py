"""Strict tool calls: what LangChain sends, and what a model that must send everything may say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from side_installs import why_missing

from langchain_webtools import WebToolkit
from webtools import WebTools
from webtools.tools import TOOLS

# They are imported by the process that makes the requests, and take seconds to load.
pytestmark = pytest.mark.skipif(
    not all(map(find_spec, ("langchain_openai", "langchain_anthropic"))),
    reason="needs langchain-openai and langchain-anthropic",
)
MODELS = ("openai", "azure", "claude")  # of `strict_requests`
# An older LangChain, which the Makefile puts beside the one that is installed.
OLDER = Path(sys.prefix) / "langchain-1.3"
REFUSED = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"}
REFUSED |= {"uniqueItems", "minLength", "maxLength", "pattern", "anyOf", "oneOf", "allOf", "not"}
REFUSED |= {"$ref", "$defs", "default"}


def run_with(folder: Path | None) -> dict[str, Any]:
    script = Path(__file__).with_name("strict_requests.py")
    environment = os.environ | ({"PYTHONPATH": str(folder)} if folder else {})
    done = subprocess.run(
        [sys.executable, str(script)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module", params=["installed", "older"])
def requests(request: pytest.FixtureRequest) -> dict[str, Any]:
    if request.param == "installed":
        return run_with(None)
    if not OLDER.exists():
        pytest.skip(f"LangChain 1.3 is not installed by make{why_missing('langchain-1.3')}")
    found = run_with(OLDER)
    assert found["version"].startswith("1.3.")
    return found


def arguments(sent: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments, as either API is sent it."""
    function = sent.get("function", sent)
    found: dict[str, Any] = function.get("parameters") or function["input_schema"]
    return found


def words(schema: Any) -> set[str]:
    """Name the keywords of a JSON schema, and the values of `type`."""
    if isinstance(schema, list):
        return set().union(*map(words, schema))
    if not isinstance(schema, dict):
        return set()
    inner = [words(item) for item in schema.get("properties", {}).values()]
    rest = {key: value for key, value in schema.items() if key != "properties"}
    return set().union(rest, *inner, *map(words, rest.values()))


def test_no_request_holds_a_word_that_an_api_refuses(requests: dict[str, Any]) -> None:
    for model, how in product(MODELS, ("agent", "bound")):
        sent = requests[f"{model} {how}"]["tools"]
        assert len(sent) == len(TOOLS)
        for schema in map(arguments, sent):
            assert not words(schema) & REFUSED, (model, how, schema)
            for name, part in schema["properties"].items():
                assert part["type"] in {"string", "integer", "boolean", "array"}, (model, how, name)
                assert part["description"], (model, how, name)


def test_a_strict_request_requires_every_argument(requests: dict[str, Any]) -> None:
    for model in MODELS:
        sent = requests[f"{model} bound"]["tools"]
        assert len(sent) == len(TOOLS)
        for item in sent:
            assert item.get("function", item)["strict"] is True, model
            schema = arguments(item)
            assert schema["required"] == [*schema["properties"]], model
            assert schema["additionalProperties"] is False, model


def test_a_call_with_every_argument_means_the_same_as_with_the_required_one(
    web: WebTools, page: str, own_temp: None
) -> None:
    urls = [page.replace("json", name) for name in ("typing", "doctest", "inspect", "difflib")]
    handle = web.call_tool("web_fetch", {"urls": urls}).details["read_handle"]
    subjects: dict[str, Any] = {"queries": ["read json"], "urls": [page], "url": page}
    subjects |= {"query": "read json", "handle": handle}
    nothing = {"string": "", "integer": 0, "boolean": False, "array": []}
    for tool in WebToolkit(web).get_tools():
        first = TOOLS[tool.name].first_field
        every = {
            name: subjects[name] if name == first else part.get("enum", [nothing[part["type"]]])[0]
            for name, part in tool.args.items()
        }
        assert tool.invoke(every) == web.call_tool(tool.name, {first: subjects[first]}).text
