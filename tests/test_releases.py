"""There is one version, and a release is what its tag says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import webtools

ROOT = Path(__file__).resolve().parent.parent
FILES = ("core/webtools/_version.py", "server.json", "CHANGELOG.md", "scripts/check_version.py")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def released(tmp_path: Path, new_version: str) -> Path:
    """Copy what has a version, with another one in it."""
    for name in FILES:
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
        if name == "CHANGELOG.md":
            target.write_text(f"## [Unreleased]\n\n## [{new_version}] - 2030-01-01\n")
        elif not name.startswith("scripts"):
            target.write_text(target.read_text().replace(webtools.__version__, new_version))
    return tmp_path


def is_accepted(root: Path, tag: str) -> bool:
    command = [sys.executable, str(root / "scripts" / "check_version.py"), tag]
    return not subprocess.run(command, capture_output=True, check=False).returncode


@pytest.mark.parametrize("tag", ["v9.8.7", "9.8.7", "v9.8.70", "v9.8", "v9.8.7rc1", "V9.8.7"])
def test_a_tag_other_than_the_version_is_no_release(tmp_path: Path, tag: str) -> None:
    assert is_accepted(released(tmp_path, "9.8.7"), tag) is (tag == "v9.8.7")


@pytest.mark.parametrize("name", FILES[:3])
def test_a_place_with_another_version_is_no_release(tmp_path: Path, name: str) -> None:
    root = released(tmp_path, "9.8.7")
    (root / name).write_text((root / name).read_text().replace("9.8.7", "9.8.6", 1))
    assert not is_accepted(root, "v9.8.7")


def test_the_distribution_has_the_version_of_the_package() -> None:
    assert version("agent-webtools") == webtools.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "version" not in project
    assert project["dynamic"] == ["version"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_and_name_their_version(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if "uses:" in line]
    assert lines
    for line in lines:
        assert re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def test_only_the_job_that_publishes_gets_an_identity() -> None:
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    jobs = re.split(r"\n  (?=\w+:\n)", workflow)
    holders = [job.partition(":")[0] for job in jobs if "id-token: write" in job]
    assert holders == ["publish"]
    assert not any("id-token" in path.read_text() for path in WORKFLOWS if path.stem != "release")


def test_every_declared_python_is_tested() -> None:
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    declared = {text.rpartition(" ")[2] for text in classifiers if ":: Python :: 3." in text}
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert declared == set(re.findall(r'"(3\.\d+)"', workflow))
    scripts = (ROOT / "scripts" / "test-all.sh").read_text()
    assert declared == set(re.findall(r"\b3\.\d+\b", scripts))
    systems = {"Linux": "ubuntu-", "MacOS": "macos-", "Windows": "windows-"}
    for system, runner in systems.items():
        assert any(text.endswith(f":: {system}") for text in classifiers)
        assert runner in workflow
