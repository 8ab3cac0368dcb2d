"""What importing the package loads, and what it exports."""

from __future__ import annotations

import sys
from importlib.resources import files

import pytest

import langchain_webtools


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
