"""The recipes of `docs/agents.md` compile, use public names, and say which versions were tried.

`make test-recipes` runs them, each with its framework in an environment of its own.
"""

from __future__ import annotations

import ast

import pytest
from recipe_calls import CALLS, recipes
from try_recipes import REQUIREMENTS

RECIPES = recipes()


def test_each_recipe_is_run() -> None:
    assert len(RECIPES) == 7
    assert RECIPES.keys() == CALLS.keys() == REQUIREMENTS.keys() - {"llamaindex"}


@pytest.mark.parametrize("name", RECIPES)
def test_a_heading_names_the_version_that_is_tried(name: str) -> None:
    assert REQUIREMENTS[name].startswith(f"{name}=={RECIPES[name][0]}.")


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_uses_public_names(name: str) -> None:
    tree = ast.parse(RECIPES[name][1])
    own = {node.attr for node in ast.walk(tree) if _is_of_self(node)}
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} - own
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {*(node.module or "").split("."), *(alias.name for alias in node.names)}
    assert names
    assert not [name for name in names if name.startswith("_") and not name.endswith("__")]


def _is_of_self(node: ast.AST) -> bool:
    if not isinstance(node, ast.Attribute):
        return False
    return isinstance(node.value, ast.Name) and node.value.id == "self"
