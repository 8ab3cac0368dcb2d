"""Errors that a bug in a provider's functions causes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from webtools import ProviderError, ResponseFormatError, WebTools
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

    def write_module(old: str = "", new: str = "") -> ModuleType:
        source = EXAMPLE.read_text("utf-8").replace('"plover"', '"heron"')
        assert old in source
        (tmp_path / "heron.py").write_text(source.replace(old, new, 1), "utf-8")
        return importlib.import_module("heron")

    yield write_module
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


def test_a_bug_in_a_request_function_is_a_provider_error(write: Write) -> None:
    heron = write("account.options.region", "account.options.country")
    with registered(heron), web_with({"results": []}) as web:
        with pytest.raises(ProviderError) as raised:
            web.search("wading birds")
    line = line_of(heron, "account.options.country")
    assert f"AttributeError in heron.py line {line}, in search_request" in str(raised.value)
    assert (raised.value.provider, raised.value.retryable) == ("birds", False)


async def test_another_provider_takes_over_after_a_bug_in_a_request_function(
    write: Write,
) -> None:
    heron = write("account.options.region", "account.options.country")
    serper = {"name": "serper", "type": "serper", "apiKey": "test-key-serper-1234"}
    config = CONFIG | {"providers": [*CONFIG["providers"], serper]}
    answer = {"organic": [{"link": URLS[0], "title": "A", "snippet": "one"}]}
    respond = httpx.MockTransport(lambda _: httpx.Response(200, json=answer))
    with registered(heron):
        async with WebTools(config, transport=respond) as web:
            response = await web.asearch("wading birds")
    assert (response.provider, response.attempts[0].provider) == ("serper", "birds")


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("    return read_hits(items", "    read_hits(items", "read_search of heron.* None"),
        ("return read_hits(", "return (lambda *_: [])(", "read_search of heron.* list"),
        ("return account.get(", "account.get(", "search_request of heron.* None"),
    ],
)
def test_a_function_that_returns_another_type_is_named(
    write: Write, old: str, new: str, named: str
) -> None:
    heron = write(old, new)
    with registered(heron), web_with({"results": []}) as web:
        with pytest.raises(ProviderError, match=named):
            web.search("wading birds")


def test_a_date_without_a_time_zone_costs_its_field(write: Write) -> None:
    heron = write("datetime.fromtimestamp(seconds, UTC)", "datetime.fromtimestamp(seconds)")
    hit = {"url": URLS[0], "title": "A", "published": 1767225600}
    with registered(heron), web_with({"results": [hit]}) as web:
        response = web.search("wading birds")
    assert (response.results[0].title, response.results[0].published_at) == ("A", None)
    assert "published_at" in response.warnings[0]


def test_the_conformance_tests_refuse_unknown_filters_and_pages_without_text(write: Write) -> None:
    tests = ProviderConformance()
    with registered(write('frozenset({"include_domains"})', 'frozenset({"domains"})')):
        account = _account()
        with pytest.raises(AssertionError, match="domains"):
            tests.test_its_native_filters_exist(account, ("search",))
        pages = {"fetch": {"pages": [{"url": url, "body": "A plover wades."} for url in URLS]}}
        with pytest.raises(AssertionError, match="text"):
            tests.test_it_reads_a_sample_response(account, ("fetch",), pages, URLS)


def test_the_conformance_tests_refuse_a_native_filter_that_is_not_sent(write: Write) -> None:
    with registered(write('{"include_domains"}', '{"include_domains", "country"}')):
        with pytest.raises(AssertionError, match="country"):
            ProviderConformance().test_each_native_filter_changes_the_request(
                _account(), ("search",)
            )


def test_a_field_function_that_raises_costs_its_field(write: Write) -> None:
    hits = [
        {"url": URLS[0], "title": "A", "extract": "one", "published": WORDS},
        {"url": URLS[1], "title": "B", "extract": "two", "published": 1767225600},
    ]
    heron = write()
    with registered(heron), web_with({"results": hits}) as web:
        response = web.search("wading birds")
    assert [(result.title, result.snippet) for result in response.results] == [
        ("A", "one"),
        ("B", "two"),
    ]
    assert [result.published_at is None for result in response.results] == [True, False]
    [warning] = response.warnings
    line = line_of(heron, "datetime.fromtimestamp")
    assert f"published_at, TypeError in heron.py line {line}, in _published (1)" in warning
    assert WORDS not in warning


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
