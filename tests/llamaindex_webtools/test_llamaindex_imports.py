from __future__ import annotations

import sys

import pytest

import llamaindex_webtools


def test_without_the_framework_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "llama_index"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "llama_index", None)
    for name in [name for name in sys.modules if name.startswith("llamaindex_webtools.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(vars(llamaindex_webtools), "WebToolsSpec", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'agent-webtools\[llamaindex\]'"):
        _ = llamaindex_webtools.WebToolsSpec
