"""The page on the architecture shows the code as it is, and no modules import each other."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
EXCERPTS = re.findall(r"<!-- excerpt: (\S+) -->\n```py\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("name", "code"), EXCERPTS, ids=[name for name, _ in EXCERPTS])
def test_an_excerpt_is_in_its_file(name: str, code: str) -> None:
    assert code in (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`((?:\w+/)+\w+\.py)`", PAGE))))
def test_a_module_that_is_named_exists(name: str) -> None:
    folders = (ROOT / "core/webtools", ROOT / "core/webtools/_internal")
    assert any((folder / name).exists() for folder in folders)


def test_no_modules_import_each_other() -> None:
    graph = grimp.build_graph(
        "webtools",
        "langchain_webtools",
        "llamaindex_webtools",
        "webtools_sandbox",
        exclude_type_checking_imports=False,  # hints and imports in functions count
        cache_dir=None,
    )
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError with the modules of a cycle
