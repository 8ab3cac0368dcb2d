"""Providers of others: registered in code, or announced by a package that is installed.

`pip` installs the package of `examples/provider_plugin`: into a folder, and a fresh environment.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import checked_types
import pytest
from offline import KEY, answer, detached, drive
from pydantic import BaseModel, SecretStr

from webtools import ConfigError, WebTools
from webtools._internal.operations.fetch import fetch
from webtools._internal.operations.search import search
from webtools.config import Settings, load
from webtools.config.environment import key_variables
from webtools.providers import (
    PROVIDERS,
    About,
    Account,
    PageQuery,
    SearchQuery,
    exa,
    register,
)
from webtools.testing import URLS, ProviderConformance, registered

PLUGIN = Path(__file__).parents[2] / "examples/provider_plugin"
URL = "https://birds.example/plover"
HIT = {"url": URL, "title": "Plover", "extract": "A wader.", "published": 1767225600}
ENTRY = {"name": "birds", "type": "plover", "apiKey": KEY, "options": {"region": "nz"}}


# In an environment of its own: what the settings say of it, and one call for each of its functions.
FRESH = """
import sys
import httpx
from webtools import WebTools
from webtools.cli import main

main(["config", "check", "--config", sys.argv[1]])
found = {"url": "https://birds.example/plover", "extract": "A wader.", "text": "It wades."}
answer = lambda request: httpx.Response(200, json={"results": [found], "pages": [found]})
with WebTools(config=sys.argv[1], transport=httpx.MockTransport(answer)) as web:
    print(web.search("waders").results[0].snippet, web.fetch(found["url"]).pages[0].text)
"""


def pip_install(source: Path, *target: str, python: str = sys.executable) -> None:
    """Install the example with nothing but what is here; setuptools builds beside the code."""
    shutil.copytree(PLUGIN, source, dirs_exist_ok=True)
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-build-isolation", "--no-index"]
    command = [*pip, "install", "--quiet", *offline, *target, str(source)]
    subprocess.run(command, check=True, timeout=120)


def fresh_environment(home: Path) -> Path:
    """Make an environment that has what this one has, but its own place to install to."""
    venv.create(home)
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([python, "-c", where], capture_output=True, check=True, text=True)
    own = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (Path(packages.stdout.strip()) / "ours.pth").write_text(own, "utf-8")
    return python


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which pip has installed the example, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    pip_install(tmp_path_factory.mktemp("source"), "--target", str(folder))
    return folder


@pytest.fixture
def site(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of it, seen by this process; nothing was looked for before."""
    folder = tmp_path / "site-packages"
    shutil.copytree(installed, folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(PROVIDERS, "_entry_points", None)
    monkeypatch.setattr(PROVIDERS, "_broken", None)
    monkeypatch.setattr(PROVIDERS, "_added", dict(PROVIDERS._added))
    yield folder
    sys.modules.pop("webtools_plover", None)
    importlib.invalidate_caches()


@pytest.fixture
def plover(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The example's module, not installed."""
    monkeypatch.syspath_prepend(PLUGIN)
    yield importlib.import_module("webtools_plover")
    sys.modules.pop("webtools_plover", None)


def settings(*entries: dict[str, Any], **top: Any) -> Settings:
    return Settings(load(json.dumps({"providers": entries, **top}), "web-search.json"))


class TestThePlugin(ProviderConformance):
    """The example keeps to what every provider must hold to."""

    @pytest.fixture
    def provider(self, plover: ModuleType) -> ModuleType:
        return plover

    @pytest.fixture
    def samples(self) -> dict[str, Any]:
        pages = [{"url": url, "title": "Plover", "text": "It wades."} for url in URLS]
        return {"search": {"results": [HIT]}, "fetch": {"pages": pages}}


MISSPELT = [
    ('"extract"', '"extarct"'),
    ('"published"', '"publishd"'),
    ('snippet="extract"', 'snippet="extract", title="titel"'),
    ('snippet="extract"', 'snippet="extract", author="auther"'),
    ('snippet="extract"', 'snippet="extract", score="scor"'),
    ("PageFields()", 'PageFields(title="titel")'),
    ("PageFields()", 'PageFields(text="txt")'),
]


def test_the_suite_runs_beside_the_plugin_and_finds_every_misspelt_field(tmp_path: Path) -> None:
    folder = shutil.copytree(PLUGIN, tmp_path / "plugin")
    module, tests = ((PLUGIN / f"{name}webtools_plover.py").read_text() for name in ("", "test_"))
    for number, (name, misspelt) in enumerate(MISSPELT):
        assert name in module
        (folder / f"plover_{number}.py").write_text(module.replace(name, misspelt))
        own_tests = tests.replace("webtools_plover", f"plover_{number}")
        (folder / f"test_plover_{number}.py").write_text(own_tests)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "sample"]
    completed = subprocess.run(command, cwd=folder, capture_output=True, check=False, text=True)
    failed = re.findall(r"^FAILED test_(\w+)", completed.stdout, re.MULTILINE)
    misspelt_ones = {f"plover_{number}" for number in range(len(MISSPELT))}
    assert {*failed} == misspelt_ones, completed.stdout[-2000:]
    assert re.search(r"\b[1-9]\d* passed", completed.stdout)


# --- announced by a package --------------------------------------------------------------------


def test_an_installed_provider_is_configured_by_its_type_like_ours(site: Path) -> None:
    accounts = settings(ENTRY).accounts()
    account = accounts.select("search")
    assert (account.name, account.base_url) == ("birds", "https://api.plover.example")
    assert account.options.region == "nz"
    assert accounts.select("fetch") is account
    hits = {"results": [{"url": URL, "title": "Plover", "extract": "A wader."}]}
    searched = drive(search([account], [SearchQuery("waders", 3)], detached()), answer(hits))
    assert (searched.provider, searched.results[0].snippet) == ("birds", "A wader.")
    pages = {"pages": [{"url": URL, "title": "Plover", "text": "It wades."}]}
    fetched = drive(fetch([account], PageQuery((URL,)), detached()), answer(pages))
    assert (fetched.pages[0].text, fetched.cost_usd) == ("It wades.", 0.001)


class NestedOptions(BaseModel):
    """Options with keys in a list, an object and a model."""

    spare: list[SecretStr]
    headers: dict[str, SecretStr]
    parts: tuple[Any, ...] = ()


def test_keys_at_any_depth_of_options_are_secrets() -> None:
    keys = [SecretStr(f"test-key-canary-{number}") for number in range(3)]
    inner = NestedOptions(spare=[keys[2]], headers={})
    options = NestedOptions(spare=[keys[0]], headers={"x-key": keys[1]}, parts=(inner,))
    account = Account("birds", "plover", "https://api.plover.example", None, options)
    assert account.secrets == {key.get_secret_value() for key in keys}


def test_its_options_are_checked_by_its_own_model(site: Path) -> None:
    with pytest.raises(ConfigError, match=r'options\.regoin.*did you mean "region"'):
        settings({**ENTRY, "options": {"regoin": "nz"}})
    with pytest.raises(ConfigError, match=r"defaultSearchLimit.*\b50\b.*\b51"):
        settings({**ENTRY, "options": {"defaultSearchLimit": 51}})
    with pytest.raises(ConfigError, match="plover"):
        settings({"name": "birds", "type": "plover"})


def test_the_plan_prices_it(site: Path) -> None:
    with WebTools(config=load(json.dumps({"providers": [ENTRY]}), "web-search.json")) as web:
        [step, *_] = web.plan("which birds wade").chain
    assert (step.provider, step.type, step.worst_cost_usd) == ("birds", "plover", 0.004)


def test_its_variable_in_the_environment_switches_it_on_like_ours(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtools.config.settings.find_config", lambda: None)
    own = Settings(environ={"EXA_API_KEY": KEY}).accounts()
    assert [account.name for account in own.accounts] == ["exa"]
    both = Settings(environ={"PLOVER_API_KEY": KEY, "EXA_API_KEY": KEY}).accounts()
    assert [account.name for account in both.accounts] == ["exa", "plover"]
    assert (both.select("search", "plover").key, both.warnings) == (KEY, ())


def test_a_broken_package_does_not_affect_built_in_providers(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtools.config.settings.find_config", lambda: None)
    (site / "webtools_plover.py").write_text("1 / 0", "utf-8")
    accounts = Settings(environ={"EXA_API_KEY": KEY}).accounts()
    assert [account.name for account in accounts.accounts] == ["exa"]
    [warning] = accounts.warnings
    assert re.search('"plover".*webtools-plover', warning)


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("import nothing_like_it", "ModuleNotFoundError: "),
        ("1 / 0", "ZeroDivisionError: "),
        ("x = 1", "ABOUT"),
    ],
)
def test_a_broken_package_is_named(site: Path, code: str, fault: str) -> None:
    (site / "webtools_plover.py").write_text(code, "utf-8")
    with pytest.raises(ConfigError, match=f'"plover".*webtools-plover.*{fault}'):
        settings(ENTRY)


def test_a_broken_package_is_reported_alone(site: Path, tmp_path: Path) -> None:
    (site / "webtools_plover.py").write_text("1 / 0", "utf-8")
    path = tmp_path / "web-search.json"
    path.write_text(json.dumps({"providers": [ENTRY]}), "utf-8")
    with pytest.raises(ConfigError) as raised:
        Settings(path).accounts()
    message = str(raised.value)
    assert message.startswith(f'{path}: Provider type "plover"')
    assert len(message.splitlines()) == 1


def test_the_package_is_a_provider_of_a_fresh_environment(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home, config = tmp_path / "environment", tmp_path / "web-search.json"
    python = fresh_environment(home)
    pip_install(tmp_path_factory.mktemp("source"), python=str(python))
    config.write_text(json.dumps({"providers": [ENTRY]}), "utf-8")
    config.chmod(0o600)
    completed = subprocess.run(
        [python, "-c", FRESH, str(config)],
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    line = 'Provider "birds": type plover; search, fetch; https://api.plover.example; key: present'
    assert f'{line}; region: "nz"' in completed.stdout
    assert completed.stdout.endswith("A wader. It wades.\n")


# --- registered in code ------------------------------------------------------------------------


def test_a_registered_provider_can_be_configured_until_it_is_forgotten(plover: ModuleType) -> None:
    with registered(plover):
        assert settings(ENTRY).accounts().select("search").type == "plover"
        assert key_variables({"PLOVER_API_KEY": KEY}) == [("PLOVER_API_KEY", "plover")]
    with pytest.raises(ConfigError, match='type "plover" is unknown'):
        settings(ENTRY)


@pytest.mark.parametrize("missing", ["read_search", "search_price", "native_filters", "read_error"])
def test_a_provider_that_lacks_a_function_is_refused(plover: ModuleType, missing: str) -> None:
    module = SimpleNamespace(**{k: v for k, v in vars(plover).items() if k != missing})
    with pytest.raises(ConfigError, match=f'^Provider "plover" .* lacks {missing}\\.$'):
        register(module)


def test_a_module_without_functions_or_facts_is_refused() -> None:
    about = About(name="curlew", title="Curlew", origin="https://c.example")
    with pytest.raises(ConfigError, match="search_request, "):
        register(SimpleNamespace(ABOUT=about, read_error=len))
    with pytest.raises(ConfigError, match="ABOUT"):
        register(SimpleNamespace())


def test_built_in_providers_cannot_be_replaced_or_removed(plover: ModuleType) -> None:
    module = SimpleNamespace(**vars(plover))
    module.ABOUT = exa.ABOUT
    with pytest.raises(ConfigError, match='"exa"'):
        register(module)
    PROVIDERS.forget("exa")
    assert PROVIDERS["exa"].provider is exa


def test_the_type_checker_sees_what_each_of_ours_can_do() -> None:
    for name, checked in vars(checked_types).items():
        if name.isupper():
            able = [
                provider.provider
                for provider in PROVIDERS.values()
                if getattr(provider, name.lower())
            ]
            assert {provider.ABOUT.name for provider in able} == {
                provider.ABOUT.name for provider in checked
            }
