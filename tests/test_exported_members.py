from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import langchain_webtools
import llamaindex_webtools
import webtools
import webtools_sandbox
from webtools import errors

PACKAGES = [webtools, langchain_webtools, llamaindex_webtools]
LAZY = [*PACKAGES, webtools_sandbox]


@pytest.mark.parametrize("module", [*LAZY, errors], ids=lambda module: module.__name__)
def test_every_public_name_can_be_imported(module: ModuleType) -> None:
    for name in module.__all__:
        assert getattr(importlib.import_module(module.__name__), name) is not None
    assert len(set(module.__all__)) == len(module.__all__)


@pytest.mark.parametrize("module", LAZY, ids=lambda module: module.__name__)
def test_a_wrong_name_is_an_attribute_error_that_names_it(module: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"'{module.__name__}'.*'WebTool5'"):
        _ = module.WebTool5


@pytest.mark.parametrize("module", PACKAGES, ids=lambda module: module.__name__)
def test_a_package_has_the_one_version(module: ModuleType) -> None:
    assert module.__version__ == webtools.__version__


@pytest.mark.parametrize(
    "statement",
    [
        "from webtools import *",
        "from webtools import WebTools; WebTools()",
        "import langchain_webtools",
        "import llamaindex_webtools",
        "import webtools_sandbox",
    ],
)
def test_no_framework_is_imported_before_it_is_used(statement: str) -> None:
    frameworks = {"langchain_core", "llama_index", "aiohttp"}
    code = f"{statement}\nimport sys\nprint(*sorted({frameworks!r} & set(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stdout.split() == []


def released() -> list[tuple[str, str]]:
    """List what `__all__` of a public module, or an import in the docs, has named in a release."""
    text = Path(__file__).with_name("released_names.txt").read_text()
    lines = re.findall(r"^([\w.]+): (.*(?:\n .*)*)", text, re.MULTILINE)
    return [(module, name) for module, names in lines for name in names.split()]


def test_every_name_of_a_release_can_still_be_imported_from_its_place() -> None:
    lost: list[str] = []
    for module, name in released():
        imported = __import__(module, fromlist=[name])  # a name may be a module
        if not hasattr(imported, name):
            lost.append(f"{module}.{name}")
    assert lost == []
