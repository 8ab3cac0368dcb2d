"""What an editor or a notebook offers after a dot: jedi completes the public objects."""

from __future__ import annotations

from typing import Any

import pytest

import webtools
from webtools import Config, WebTools

jedi: Any = pytest.importorskip("jedi")

KEY = "test-key-exa-0001"
CONFIG = Config.model_validate({"providers": [{"name": "exa", "type": "exa", "apiKey": KEY}]})
MODELS = [
    name
    for name in webtools.__all__
    if hasattr(getattr(webtools, name), "model_fields") and name not in {"Config", "ProviderConfig"}
]


def names_after(expression: str, **names: Any) -> set[str]:
    return {completion.name for completion in jedi.Interpreter(expression, [names]).complete()}


def test_the_methods_of_a_client_complete() -> None:
    names = names_after("web.", web=WebTools(CONFIG))
    assert {"search", "asearch", "fetch", "research", "verify", "call_tool", "fence"} <= names
    assert "search" in names_after("web.se", web=WebTools(CONFIG))


@pytest.mark.parametrize(
    ("call", "fields"),
    [
        ("search('x')", {"results", "warnings", "cost_usd"}),
        ("search('x').results[0]", {"title", "url", "snippet"}),
        ("fetch('x').pages[0]", {"title", "text", "error"}),
        ("summarize('x')", {"text", "tokens"}),
        ("research('x')", {"results", "synthesis"}),
        ("research('x').meta", {"confidence", "provider_used"}),
        ("verify('x').claims[0]", {"text", "status"}),
        ("read('x')", {"content", "next_offset"}),
        ("plan('x')", {"chain", "budget"}),
        ("call_tool('web_search', {})", {"text", "details", "is_error"}),
        ("tools()[0]", {"name", "description"}),
    ],
)
def test_the_result_of_a_method_completes_before_the_call(call: str, fields: set[str]) -> None:
    assert fields <= names_after(f"web.{call}.", web=WebTools(CONFIG))


@pytest.mark.parametrize("name", MODELS)
def test_the_fields_of_every_result_complete(name: str) -> None:
    model = getattr(webtools, name)
    values = dict.fromkeys(model.model_fields)
    assert {*model.model_fields} <= names_after("value.", value=model.model_construct(**values))
