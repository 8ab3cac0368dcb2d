"""The page on the architecture shows the code as it is."""

import re
from pathlib import Path

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
