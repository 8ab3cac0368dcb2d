"""What the documents show is run: against the sandbox, as it stands there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from webtools import WebTools
from webtools.config import load
from webtools.sandbox import SandboxServer

ROOT = Path(__file__).parents[1]


def blocks(name: str, language: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture
def configured(
    webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> SandboxServer:
    folder = tmp_path / ".pi/agent"
    folder.mkdir(parents=True)
    path = folder / "web-search.json"
    path.write_text(json.dumps(webtools_sandbox.config()))
    path.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    return webtools_sandbox


def test_the_first_example_of_the_readme_works(
    configured: SandboxServer, capsys: pytest.CaptureFixture[str]
) -> None:
    example = next(block for block in blocks("README.md", "python") if "PEP 703" in block)
    # The sandbox knows the standard library, not this question.
    exec(example.replace("python 3.13 free threading", "json decoder"), {})
    shown = capsys.readouterr().out
    assert f"json.decoder — Implementation of JSONDecoder {configured.docs_url}" in shown
    assert "# json.decoder" in shown


def test_the_test_that_the_readme_shows_passes(webtools_sandbox: SandboxServer) -> None:
    example = next(block for block in blocks("README.md", "python") if "def test_" in block)
    names: dict[str, object] = {}
    exec(example, names)
    test = names["test_my_agent"]
    assert callable(test)
    test(webtools_sandbox)


def test_the_agents_of_the_readme_name_what_exists() -> None:
    examples = "".join(blocks("README.md", "python"))
    for line in re.findall(r"^from (?:langchain_|llamaindex_|webtools).*$", examples, re.MULTILINE):
        exec(line.partition("#")[0], {})


def test_the_config_file_of_the_docs_is_valid() -> None:
    (example,) = blocks("docs/configuration.md", "json")
    config = load(example, "docs")
    assert [entry.type for entry in config.providers] == ["exa", "kagi"]


def test_the_docs_name_every_option_and_variable() -> None:
    from webtools.providers import PROVIDERS  # noqa: PLC0415

    text = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    for services in PROVIDERS.values():
        fields = services.about.CONFIG_OPTIONS.model_fields.values()
        for name in [*(str(field.alias) for field in fields), *services.about.KEY_VARIABLES]:
            assert f"`{name}`" in text, name


def test_the_links_of_the_documents_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_one_dictionary_is_a_config(webtools_sandbox: SandboxServer) -> None:
    with WebTools(webtools_sandbox.config()) as web:
        assert web.search("json").results
