"""Options made from input models."""

from __future__ import annotations

import pytest

from webtools.inputs.options import options_of
from webtools.tools import CATEGORIES, TOOLS, SearchInput, SummarizeInput


@pytest.mark.parametrize("tool", TOOLS)
def test_every_argument_but_the_first_is_an_option_with_its_description(tool: str) -> None:
    fields = TOOLS[tool].input_model.model_fields
    options = options_of(TOOLS[tool].input_model)
    assert [option.target for option in options] == list(fields)[1:]
    assert all(option.help == fields[option.target].description for option in options)


def test_old_spellings_lead_to_the_new() -> None:
    old = {name: new for option in options_of(SearchInput) for name, new in option.old.items()}
    assert old == {
        "--start": "--start-published-date",
        "--since": "--start-published-date",
        "--end": "--end-published-date",
        "--until": "--end-published-date",
    }


def test_choices_are_those_of_the_model() -> None:
    options = {option.target: option for option in options_of(SearchInput)}
    assert options["category"].choices == CATEGORIES
    assert options_of(SummarizeInput)[1].choices == ("cecil", "agnes")
