"""Generated parts of the documents are up to date, and their site can be built."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from test_docs import BLOCKS, Block

import langchain_webtools
import llamaindex_webtools
import webtools
from webtools import WebTools
from webtools.cli.arguments import COMMANDS, read
from webtools.providers import PROVIDERS
from webtools.tools import TOOLS
from webtools_sandbox import SandboxServer

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT / "scripts"))

import docs_tables  # noqa: E402
import generate_docs  # noqa: E402

# --- what is generated -------------------------------------------------------------------------


def test_nothing_generated_is_stale() -> None:
    stale = [str(path.relative_to(ROOT)) for path in generate_docs.stale()]
    assert stale == [], "run `make docs`"


@pytest.mark.parametrize("columns", ["40", "200"])
def test_the_help_is_the_same_on_every_terminal(
    columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = generate_docs.command_help()
    monkeypatch.setenv("COLUMNS", columns)
    assert generate_docs.command_help() == usual
    assert max(map(len, usual.splitlines())) <= 80


@pytest.mark.skipif(sys.version_info < (3, 13), reason="older ones write options otherwise")
def test_the_help_is_what_the_newest_python_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name in COMMANDS:
        with pytest.raises(SystemExit):
            read(["help", name])
        assert capsys.readouterr().out.rstrip() in generate_docs.command_help()


def test_the_help_writes_options_in_the_way_of_the_newest_python() -> None:
    assert "\n  -n, --lines N  " in generate_docs.command_help()


def test_no_picture_is_stale() -> None:
    pytest.importorskip("pty", reason="needs pseudo-terminals")
    import docs_pictures  # noqa: PLC0415

    if not docs_pictures.is_reproducible():
        pytest.skip("other versions of rich or matplotlib draw a little otherwise")
    files = {path.name: path.read_text("utf-8") for path in docs_pictures.IMAGES.iterdir()}
    made = docs_pictures.pictures()
    stale = [name for name in {*files, *made} if files.get(name) != made.get(name)]
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


def test_a_check_names_what_is_stale_and_changes_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (project / "README.md").read_text()
    assert generate_docs.main(["--check"]) == 1
    out = capsys.readouterr().out
    assert "stale: README.md\n" in out
    assert "stale: docs/envelope.schema.json\n" in out
    assert (project / "README.md").read_text() == before


def test_what_was_written_is_not_stale(project: Path) -> None:
    assert generate_docs.main([]) == 0
    text = (project / "README.md").read_text()
    assert text.startswith("# A\n<!-- generated: prices brave -->\n\n| Call | USD at most |\n")
    assert "| search | 0.005 |\n" in text
    assert text.endswith("\n\n<!-- end of generated -->\nB\n")
    assert generate_docs.main(["--check"]) == 0


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<!-- generated: nothing -->\n<!-- end of generated -->", 'part "nothing" is unknown'),
        ("<!-- generated: prices exa -->\nno end", "has no end"),
        ("<!-- end of generated -->", "ends nothing"),
        ("<!-- generated: prices nobody -->\n<!-- end of generated -->", "nobody"),
    ],
)
def test_a_part_that_cannot_be_made_is_named_with_its_page(
    project: Path, text: str, fault: str
) -> None:
    (project / "docs/page.md").write_text(text)
    with pytest.raises(ValueError, match=rf"^docs/page\.md: .*{fault}"):
        generate_docs.wanted()


def test_comments_in_code_are_no_parts() -> None:
    text = "```markdown\n<!-- generated: nothing -->\n<!-- end of generated -->\n```\n"
    assert generate_docs.made(text) == text


# --- what the pages must have ------------------------------------------------------------------


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_has_a_page_with_facts_and_prices(name: str) -> None:
    text = (DOCS / f"providers/{name}.md").read_text(encoding="utf-8")
    assert f"<!-- generated: provider {name} -->" in text
    assert f"<!-- generated: prices {name} -->" in text
    fields = PROVIDERS[name].about.options.model_fields.values()
    assert all(f"| `{field.alias}` |" in text for field in fields)


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_has_a_page_with_all_there_is_to_know(name: str) -> None:
    text = (DOCS / f"tools/{name}.md").read_text(encoding="utf-8")
    for part in ("description", "arguments", "details"):
        assert f"<!-- generated: {part} {name} -->" in text


@pytest.mark.parametrize("name", TOOLS)
def test_the_table_of_details_has_the_keys_that_a_call_gives(
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
    listed = set(re.findall(r"^\| `(\w+)` \|", docs_tables.details(name), re.MULTILINE))
    assert listed == result.details.keys()


def _handle() -> str | None:
    from webtools._internal.output.stored import handle_of, save  # noqa: PLC0415

    return handle_of(save("what was cut"))


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
    done = subprocess.run(
        command, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = [*(tmp_path / "build/docs").rglob("*.html")]
    assert len(pages) > len(PROVIDERS) + len(TOOLS)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"?https?:", text), page


@pytest.mark.parametrize(
    "package", [webtools, webtools.providers, langchain_webtools, llamaindex_webtools]
)
def test_the_reference_has_every_public_name(package: ModuleType) -> None:
    name = package.__name__
    page = (DOCS / f"reference/{name}.md").read_text(encoding="utf-8")
    listed = re.findall(rf"^::: {name}\.(\w+)$", page, re.MULTILINE)
    public = {*package.__all__} - {"__version__"}
    assert public <= {*listed}
    assert len(listed) == len({*listed})


# --- writing a provider ------------------------------------------------------------------------

STEPS = [block for block in BLOCKS["docs/write-a-provider.md"] if block.mark]


@pytest.mark.parametrize("block", STEPS, ids=lambda block: block.mark)
def test_the_page_on_providers_shows_the_example(block: Block) -> None:
    path = ROOT / block.mark.removeprefix("file: ")
    assert block.text == path.read_text("utf-8"), f"copy {path.name} into {block.place}"


def test_the_example_of_a_provider_imports_public_names_only() -> None:
    code = "\n".join(block.text for block in STEPS if block.language == "python")
    found = re.findall(r"^from (webtools[\w.]*) import (?:\(([^)]*)\)|(.*))$", code, re.MULTILINE)
    assert {module for module, *_ in found} == {"webtools.providers", "webtools.testing"}
    for module, *names in found:
        assert {*re.findall(r"\w+", " ".join(names))} <= {*import_module(module).__all__}
    assert "account.get(" in code
