"""What an author of a provider sees of a bug in its functions."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from webtools import ResponseFormatError, WebTools
from webtools.providers import PROVIDERS, Account
from webtools.testing import URLS, ProviderConformance, registered

EXAMPLE = Path(__file__).parents[2] / "examples/provider_plugin/webtools_plover.py"
READING = 'json_object(response.json())["results"]'
WORDS = "words of the response"
CONFIG: dict[str, Any] = {
    "providers": [{"name": "birds", "type": "heron", "apiKey": "test-key-heron-1234"}],
    "cache": {"enabled": False},
    "log": {"enabled": False},
}

Write = Callable[..., ModuleType]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write the module `heron`: the example, with a part replaced."""
    monkeypatch.syspath_prepend(tmp_path)

    def made(old: str = "", new: str = "") -> ModuleType:
        source = EXAMPLE.read_text("utf-8").replace('"plover"', '"heron"')
        assert old in source
        (tmp_path / "heron.py").write_text(source.replace(old, new, 1), "utf-8")
        return importlib.import_module("heron")

    yield made
    sys.modules.pop("heron", None)


def web_with(body: Any) -> WebTools:
    respond = httpx.MockTransport(lambda _: httpx.Response(200, json=body))
    return WebTools(CONFIG, transport=respond)


def line_of(module: ModuleType, code: str) -> int:
    lines = Path(str(module.__file__)).read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if code in line)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ('response.json()["data"]["items"]', "TypeError"),
        ('response.json()["hits"]', "KeyError"),
        ('json_object(response.json()["data"])', "TypeError"),  # raised in a function of ours
        ('[][response.json()["data"][0]["title"]]', "TypeError"),
        ('open("/no/such/file")', "FileNotFoundError"),
    ],
)
def test_an_error_names_the_place_in_the_providers_code(write: Write, code: str, kind: str) -> None:
    heron = write(READING, code)
    with registered(heron), web_with({"data": [{"title": WORDS}]}) as web:
        with pytest.raises(ResponseFormatError) as raised:
            web.search("wading birds")
    place = f"{kind} in heron.py line {line_of(heron, code)}, in read_search"
    assert place in str(raised.value)
    assert WORDS not in str(raised.value)


def test_a_field_function_that_raises_costs_its_field(write: Write) -> None:
    hits = [
        {"url": URLS[0], "title": "A", "extract": "one", "published": WORDS},
        {"url": URLS[1], "title": "B", "extract": "two", "published": 1767225600},
    ]
    heron = write()
    with registered(heron), web_with({"results": hits}) as web:
        found = web.search("wading birds")
    assert [(each.title, each.snippet) for each in found.results] == [("A", "one"), ("B", "two")]
    assert [each.published_at is None for each in found.results] == [True, False]
    [warning] = found.warnings
    line = line_of(heron, "datetime.fromtimestamp")
    assert f"published_at, TypeError in heron.py line {line}, in _published (1)" in warning
    assert WORDS not in warning


@pytest.mark.parametrize("field", ["title", "snippet", "author", "passages"])
def test_every_field_function_may_raise(write: Write, field: str) -> None:
    heron = write('snippet="extract"', f'{field}=lambda item: item.values["none"]')
    with registered(heron), web_with({"results": [{"url": URLS[0], "title": "A"}]}) as web:
        found = web.search("wading birds")
    assert [each.url for each in found.results] == [URLS[0]]
    assert f"{field}, KeyError in heron.py" in found.warnings[0]


@pytest.mark.parametrize(
    "sample",
    [
        {"data": [{"url": URLS[0]}]},  # of another format
        {"results": [{"url": URLS[0], "published": "soon"}]},  # a value that cannot be read
        {"results": []},
    ],
)
def test_the_conformance_tests_read_the_sample(write: Write, sample: Any) -> None:
    good = {"results": [{"url": URLS[0], "title": "A", "published": 1767225600}]}
    tests = ProviderConformance()
    with registered(write()):
        account = _account()
        tests.test_it_reads_a_sample_response(account, ("search",), {"search": good}, URLS)
        with pytest.raises((AssertionError, ResponseFormatError)):
            tests.test_it_reads_a_sample_response(account, ("search",), {"search": sample}, URLS)
        with pytest.raises(AssertionError, match="search"):
            tests.test_it_reads_a_sample_response(account, ("search",), {}, URLS)


def _account() -> Account:
    return Account("birds", "heron", "https://api.plover.example", None, options=_options())


def _options() -> Any:
    return PROVIDERS["heron"].about.options()


def test_a_get_has_its_parameters_in_the_url(write: Write) -> None:
    with registered(write()):
        request = _account().get("v1/search", {"q": "a b", "no": None, "site": ["x", "y"]})
        assert request.method == "GET"
        assert request.url == "https://api.plover.example/v1/search?q=a+b&site=x&site=y"
        assert _account().get("v1/status", {}).url == "https://api.plover.example/v1/status"
