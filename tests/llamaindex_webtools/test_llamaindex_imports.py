from __future__ import annotations

import subprocess
import sys

import pytest

import llamaindex_webtools


def loaded_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(ran.stdout.split())


def test_using_it_loads_llamaindex_alone() -> None:
    loaded = loaded_after("from llamaindex_webtools import WebToolsSpec")
    assert "llama_index.core" in loaded
    assert not {"langchain_core", "langchain", "langchain_webtools"} & loaded


def test_without_the_framework_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "llama_index"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "llama_index", None)
    for name in [name for name in sys.modules if name.startswith("llamaindex_webtools.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(vars(llamaindex_webtools), "WebToolsSpec", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'agent-webtools\[llamaindex\]'"):
        _ = llamaindex_webtools.WebToolsSpec
