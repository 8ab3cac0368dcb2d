"""Run the recipes of `docs/agents.md`, each with its framework in an environment of its own.

    python tests/recipes/try_recipes.py [NAME ...]

The tests of LlamaIndex's own LLM classes run in the same way: they need older SDKs than others.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".venv-recipes"
PYTEST = "hypothesis pytest pytest-asyncio pytest-recording pytest-socket pytest-timeout"
LLAMAINDEX_TESTS = "tests/llamaindex_webtools/test_llamaindex_native.py"
# The versions that the headings of the page name.
REQUIREMENTS = {
    "agno": "agno==3.1.10",
    "strands-agents": "strands-agents==1.62.0",
    "smolagents": "smolagents==1.26.0",
    "haystack-ai": "haystack-ai==3.4.1",
    "agent-framework-core": "agent-framework-core==1.23.0",
    "google-adk": "google-adk==2.13.0",
    "crewai": "crewai==1.15.30",
    "llamaindex": "llama-index-llms-openai==0.8.3 llama-index-llms-anthropic==0.12.3 "
    f"llama-index-core==0.14.25 anthropic==0.125.0 {PYTEST}",
}
NO_TELEMETRY = {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true"}


def python_of(name: str) -> Path:
    """Return the Python of an environment, after installing what it lacks."""
    folder = FOLDER / name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ready, requirements = folder / "ready.txt", REQUIREMENTS[name]
    if not ready.exists() or ready.read_text() != requirements:
        venv.create(folder, clear=True, with_pip=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        command = [*install, "--editable", f"{ROOT}[sandbox]", *requirements.split()]
        subprocess.run(command, check=True)
        ready.write_text(requirements)
    return python


def run(name: str) -> bool:
    """Run a recipe or the tests, and return whether all is well."""
    arguments = ["tests/recipes/recipe_calls.py", name]
    if name == "llamaindex":
        arguments = ["-m", "pytest", LLAMAINDEX_TESTS, "-W", "ignore", "-p", "no:cacheprovider"]
    command = [python_of(name), "-W", "ignore", *arguments]
    env = os.environ | NO_TELEMETRY
    return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode == 0


def main(names: list[str]) -> int:
    """Run recipes by name, and return the exit code."""
    failed: list[str] = []
    for name in names or REQUIREMENTS:
        print(f"{name} ...", flush=True)
        if not run(name):
            failed.append(name)
    print(f"{len(names or REQUIREMENTS) - len(failed)} passed, {len(failed)} failed")
    return min(len(failed), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
