"""Result models show their fields in signatures and type hints."""

from __future__ import annotations

import inspect
import pydoc
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest

from webtools import WebTools, results
from webtools.results import Page, SearchResult

PUBLIC = [getattr(results, name) for name in results.__all__]
MODELS = [item for item in PUBLIC if hasattr(item, "model_fields")]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_the_signature_of_a_model_has_its_fields(model: type[Page]) -> None:
    assert set(inspect.signature(model).parameters) == set(model.model_fields)
    assert f"{model.__name__}(*, " in pydoc.plain(pydoc.render_doc(model))


def test_a_model_of_ones_own_shows_its_own_fields_too() -> None:
    class Rated(SearchResult):
        stars: int = 0

    inspect.signature(SearchResult)
    assert "stars" in inspect.signature(Rated).parameters


@pytest.mark.parametrize(
    ("method", "result"),
    [
        (WebTools.search, results.SearchResponse),
        (WebTools.afetch, results.FetchResponse),
        (WebTools.summarize, results.SummaryResponse),
        (WebTools.aread, results.ReadResponse),
    ],
)
def test_type_hints_of_calls_are_resolved(method: Callable[..., Any], result: type) -> None:
    assert get_type_hints(method)["return"] is result
