"""The table of features at the top of each framework's page names what the packages have."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("langchain", "llamaindex")


def rows(framework: str) -> dict[str, str]:
    """Read the first table of a page: each feature and the code for it."""
    page = (DOCS / f"{framework}.md").read_text(encoding="utf-8")
    table = re.search(r"\A# \w+\n\n((?:\|.*\n)+)", page)
    assert table, "the page does not start with a table"
    _, _, *lines = (line.strip("|").split("|") for line in table[1].splitlines())
    return {feature.strip(): code.strip() for feature, code in lines}


def test_the_frameworks_share_all_rows_but_the_last() -> None:
    shared = [list(rows(framework))[:-1] for framework in PAGES]
    assert shared[0] == shared[1]


@pytest.mark.parametrize("framework", PAGES)
def test_the_code_of_a_row_names_members_of_the_package(framework: str) -> None:
    package = importlib.import_module(f"{framework}_webtools")
    for text in rows(framework).values():
        code = ast.parse(text.strip("`"), mode="eval")
        for call in (node for node in ast.walk(code) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Name) and call.func.id != "stream":  # an agent's
                signature = inspect.signature(getattr(package, call.func.id))
                signature.bind(*call.args, **{str(item.arg): item.value for item in call.keywords})
