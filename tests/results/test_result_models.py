"""Models of results show their fields to who asks, and are built for nobody else."""

from __future__ import annotations

import inspect
import pickle
import pydoc
import subprocess
import sys
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest

from webtools import WebTools, results
from webtools.results import Page, SearchResult

PUBLIC = [getattr(results, name) for name in results.__all__]
MODELS = [each for each in PUBLIC if hasattr(each, "model_fields")]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_the_signature_of_a_model_has_its_fields(model: type[Page]) -> None:
    assert set(inspect.signature(model).parameters) == set(model.model_fields)
    assert f"{model.__name__}(*, " in pydoc.plain(pydoc.render_doc(model))


def test_a_model_is_built_by_who_asks_for_its_signature_and_no_other_is() -> None:
    program = """
import inspect
from webtools import Page, SearchResponse, SearchResult

def built():
    return [each.__name__ for each in (Page, SearchResponse, SearchResult)
            if each.__pydantic_complete__]

print(built(), "title" in inspect.signature(Page).parameters, built())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[] True ['Page']\n"


def test_a_model_of_ones_own_shows_its_own_fields_too() -> None:
    class Rated(SearchResult):
        stars: int = 0

    inspect.signature(SearchResult)
    assert "stars" in inspect.signature(Rated).parameters


def test_one_result_has_no_signature() -> None:
    assert not hasattr(Page.model_construct(url="https://a.example/"), "__signature__")


def test_pickles_find_models_by_the_names_that_they_had_in_earlier_versions() -> None:
    for name in results.__all__:
        assert pickle.loads(f"cwebtools.results\n{name}\n.".encode()) is getattr(results, name)


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
