"""Models of results show their fields to who asks, and are built for nobody else."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys

import pytest

from webtools import results
from webtools.results import Page, SearchResult

MODELS = [each for each in map(vars(results).get, results.__all__) if hasattr(each, "model_fields")]


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
