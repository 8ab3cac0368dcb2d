from __future__ import annotations

import subprocess
import sys

import pytest

import llamaindex_webtools
import webtools


def loaded_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(ran.stdout.split())


def test_importing_the_package_loads_no_framework() -> None:
    loaded = loaded_after("import llamaindex_webtools; llamaindex_webtools.__version__")
    assert "llamaindex_webtools" in loaded
    assert not {"llama_index", "langchain_core", "langchain", "pydantic", "httpx"} & loaded


def test_using_it_loads_llamaindex_alone() -> None:
    loaded = loaded_after("from llamaindex_webtools import WebToolsSpec")
    assert "llama_index.core" in loaded
    assert not {"langchain_core", "langchain", "langchain_webtools", "webtools.client"} & loaded


def test_every_public_name_is_there() -> None:
    assert sorted(llamaindex_webtools.__all__) == llamaindex_webtools.__all__
    assert dir(llamaindex_webtools) == llamaindex_webtools.__all__
    for name in llamaindex_webtools.__all__:
        assert getattr(llamaindex_webtools, name)


def test_the_version_is_that_of_the_distribution() -> None:
    assert llamaindex_webtools.__version__ == webtools.__version__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'WebDance'"):
        llamaindex_webtools.WebDance  # noqa: B018


def test_without_the_framework_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "llama_index"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "llama_index", None)
    for name in [name for name in sys.modules if name.startswith("llamaindex_webtools.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(vars(llamaindex_webtools), "WebToolsSpec", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'agent-webtools\[llamaindex\]'"):
        _ = llamaindex_webtools.WebToolsSpec
