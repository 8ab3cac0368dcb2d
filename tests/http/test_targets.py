"""URLs are split as httpx splits them, whether it is asked or not."""

from __future__ import annotations

import subprocess
import sys

import httpx
import pytest
from hypothesis import example, given, strategies

from webtools.http import targets
from webtools.http.targets import split

PARTS = strategies.tuples(
    strategies.sampled_from(["http", "https"]),
    strategies.one_of(
        strategies.from_regex(r"[a-z0-9.-]{1,12}", fullmatch=True),
        strategies.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", fullmatch=True),
    ),
    strategies.from_regex(r"(:[0-9]{1,6})?", fullmatch=True),
    strategies.from_regex(r"(/[A-Za-z0-9._~!$&()*+,;=:@/%\'\[\]-]{0,20})?", fullmatch=True),
    strategies.from_regex(r"(\?[A-Za-z0-9._~!$&()*+,;=:@/?%\'-]{0,20})?", fullmatch=True),
)
NORMAL = [
    "https://api.exa.ai/search",
    "https://kagi.com/api/v1/search?q=json+decoder&limit=3",
    "http://127.0.0.1:8765/exa/search",
    "https://docs.python.org/3/library/json.html",
    "https://host.example",
    "https://host.example?q=1",
]


@pytest.mark.parametrize("url", NORMAL)
def test_the_url_of_an_api_is_split_without_httpx(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "_split_by_httpx", pytest.fail)
    target = split(url)
    parsed = httpx.URL(url)
    assert target.host == parsed.netloc
    assert target.core_url.target == parsed.raw_path


@given(PARTS)
@example(("http", "x", ":80", "/a", ""))
@example(("http", "x", ":99999", "/a", ""))
@example(("http", "1.2.3.04", "", "/a", ""))
@example(("http", "x", "", "/a/../b", ""))
@example(("http", "x", "", "/%zz", "?'"))
def test_a_url_is_split_as_httpx_splits_it(parts: tuple[str, ...]) -> None:
    url = "{}://{}{}{}{}".format(*parts)
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        with pytest.raises(httpx.InvalidURL):
            split(url)
        return
    target = split(url)
    core = target.core_url
    assert (core.scheme, core.host, core.port) == (parsed.raw_scheme, parsed.raw_host, parsed.port)
    assert core.target == parsed.raw_path
    assert target.host == parsed.netloc
    assert target.origin == f"{parsed.scheme}://{parsed.netloc.decode()}"


def test_any_other_url_is_split_by_httpx() -> None:
    target = split("http://m\u00fcnchen.example:8080/\u00e4?b")
    assert (target.host, target.core_url.target) == (
        b"xn--mnchen-3ya.example:8080",
        b"/%C3%A4?b",
    )
    assert split("http://[::1]:8080/").host == b"[::1]:8080"


def test_a_search_imports_httpx_no_more_than_it_has_to() -> None:
    code = """
import sys
from webtools import WebTools
from webtools.errors import RequestError
config = {"providers": [{"name": "exa", "type": "exa", "apiKey": "test-key-one",
          "baseUrl": "http://127.0.0.1:9", "proxy": "none"}]}
try:
    WebTools(config).search("json")
except RequestError as error:
    print(type(error).__name__, "httpx" in sys.modules)
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "RequestError False\n"
