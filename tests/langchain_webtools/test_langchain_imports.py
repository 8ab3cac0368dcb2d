"""What importing the package loads, and what it exports."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files

import pytest

import langchain_webtools
import webtools


def _loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_import_alone_loads_no_framework() -> None:
    loaded = _loaded_by("import langchain_webtools")
    assert not loaded & {"langchain_core", "llama_index", "pydantic", "httpx", "webtools.tools"}


def test_a_tool_class_needs_neither_the_transport_nor_more_than_langchain_core() -> None:
    loaded = _loaded_by("from langchain_webtools import WebSearchTool, WebToolkit")
    assert not loaded & {"llama_index", "langchain", "langgraph", "webtools.client"}


def test_every_exported_name_is_there() -> None:
    assert langchain_webtools.__all__ == sorted(langchain_webtools.__all__)
    assert dir(langchain_webtools) == langchain_webtools.__all__
    for name in langchain_webtools.__all__:
        assert getattr(langchain_webtools, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="WebSurfTool"):
        _ = langchain_webtools.WebSurfTool


def test_the_version_is_that_of_the_core() -> None:
    assert langchain_webtools.__version__ == webtools.__version__


def test_the_package_is_typed() -> None:
    assert files("langchain_webtools").joinpath("py.typed").is_file()


def test_without_the_framework_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "langchain_core"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "langchain_core", None)
    for name in [name for name in sys.modules if name.startswith("langchain_webtools.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(vars(langchain_webtools), "WebToolkit", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'agent-webtools\[langchain\]'"):
        _ = langchain_webtools.WebToolkit
