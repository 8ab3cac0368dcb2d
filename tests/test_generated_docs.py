"""Generated parts of the documents are up to date, and their site can be built."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from test_docs import BLOCKS

from webtools import WebTools
from webtools.cli.arguments import COMMANDS, command_parser
from webtools.providers import PROVIDERS
from webtools.tools import TOOLS
from webtools_sandbox import SandboxServer

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT / "scripts"))

import docs_commands  # noqa: E402
import docs_tables  # noqa: E402
import generate_docs  # noqa: E402

# --- what is generated -------------------------------------------------------------------------


def test_nothing_generated_is_stale() -> None:
    stale = [str(path.relative_to(ROOT)) for path in generate_docs.stale()]
    assert stale == [], "run `make docs`"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_of_the_command_line_has_every_option(name: str) -> None:
    text = docs_commands.reference()
    assert re.search(rf"^## webtools .*\b{name}\b", text, re.MULTILINE)
    options = docs_commands.options_of(command_parser(name))
    assert [option for option in options if not re.search(rf"`[^`\n]*{option}\b", text)] == []


def test_no_picture_is_stale() -> None:
    pytest.importorskip("pty", reason="needs pseudo-terminals")
    import docs_pictures  # noqa: PLC0415

    if not docs_pictures.is_reproducible():
        pytest.skip("other versions of rich or matplotlib draw a little otherwise")
    files = {path.name: path.read_text("utf-8") for path in docs_pictures.IMAGES.iterdir()}
    drawn = docs_pictures.pictures()
    stale = [name for name in {*files, *drawn} if files.get(name) != drawn.get(name)]
    assert stale == [], "run `make docs`"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one page, whose part is stale."""
    (tmp_path / "docs").mkdir()
    page = tmp_path / "README.md"
    page.write_text("# A\n<!-- generated: prices brave -->\nold\n<!-- end of generated -->\nB\n")
    monkeypatch.setattr(generate_docs, "ROOT", tmp_path)
    monkeypatch.setattr(generate_docs, "SCHEMA", tmp_path / "docs/envelope.schema.json")
    return tmp_path


def test_a_check_names_stale_files_and_changes_none(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (project / "README.md").read_text()
    assert generate_docs.main(["--check"]) == 1
    out = capsys.readouterr().out
    assert "stale: README.md\n" in out
    assert "stale: docs/envelope.schema.json\n" in out
    assert (project / "README.md").read_text() == before


# --- what the pages must have ------------------------------------------------------------------


@pytest.mark.parametrize("name", TOOLS)
def test_the_tables_of_details_have_the_keys_of_a_call(
    name: str, webtools_sandbox: SandboxServer, own_temp: None
) -> None:
    url = f"{webtools_sandbox.docs_url}/library/json.html"
    arguments: dict[str, Any] = {
        "web_search": {"query": "json decoder"},
        "web_fetch": {"url": url},
        "summarize": {"url": url},
        "web_research": {"query": "json decoder"},
        "web_read": {"handle": ""},
    }[name]
    if name == "web_read":
        arguments["handle"] = _handle()
    with WebTools(webtools_sandbox.config()) as web:
        result = web.call_tool(name, arguments)
    assert not result.is_error, result.text
    tables = docs_tables.details(name), docs_tables.shared_details()
    own, shared = (set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) for text in tables)
    assert own <= result.details.keys() <= own | shared


def _handle() -> str | None:
    from webtools.outputs import handle_of, save_output  # noqa: PLC0415

    return handle_of(save_output("what was cut"))


# --- the site ----------------------------------------------------------------------------------


def test_the_site_is_built_without_a_complaint_and_loads_nothing_from_elsewhere(
    tmp_path: Path,
) -> None:
    if find_spec("zensical") is None:
        pytest.skip("zensical is not installed")
    for name in ("zensical.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(DOCS, tmp_path / "docs")
    for name in ("core", "sandbox", "langchain_webtools", "llamaindex_webtools"):
        (tmp_path / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    process = subprocess.run(
        command, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=300
    )
    assert process.returncode == 0, process.stdout + process.stderr
    pages = [*(tmp_path / "build/docs").rglob("*.html")]
    assert len(pages) > len(PROVIDERS) + len(TOOLS)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"?https?:", text), page


# --- writing a provider ------------------------------------------------------------------------

STEPS = [block for block in BLOCKS["docs/write-a-provider.md"] if block.mark]


def test_the_example_of_a_provider_imports_public_names_only() -> None:
    code = "\n".join(block.text for block in STEPS if block.language == "python")
    result = re.findall(r"^from (webtools[\w.]*) import (?:\(([^)]*)\)|(.*))$", code, re.MULTILINE)
    assert {module for module, *_ in result} == {"webtools.providers", "webtools.testing"}
    for module, *names in result:
        assert {*re.findall(r"\w+", " ".join(names))} <= {*import_module(module).__all__}
    assert "account.get(" in code
