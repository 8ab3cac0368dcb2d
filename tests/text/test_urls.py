# ruff: noqa: RUF001  # look-alikes are what is read here
from __future__ import annotations

import pytest

from webtools._internal.text.urls import follow, parse
from webtools.errors import InputError

BY_US = "blocked by webtools"
HERE = parse("https://example.com/a/b?c")


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/x", "https://example.com/x"),
        ("x", "https://example.com/a/x"),
        ("?d", "https://example.com/a/b?d"),
        ("//other.example/x", "https://other.example/x"),
        ("https://other.example:8443/#top", "https://other.example:8443/"),
        (" /with space ", "https://example.com/with%20space"),
        ("/ünï", "https://example.com/%C3%BCn%C3%AF"),
        ("/a%20b", "https://example.com/a%20b"),
        ("\\\\127.0.0.1\\x", "https://example.com/a/%5C%5C127.0.0.1%5Cx"),
    ],
)
def test_a_redirect_is_read_relative_to_its_page(location: str, url: str) -> None:
    assert follow(HERE, location).url == url


@pytest.mark.parametrize(
    "location", ["ftp://a.example/", "javascript:alert(1)", "file:///etc/passwd", "http://[bad/"]
)
def test_a_redirect_to_no_web_page_is_refused(location: str) -> None:
    with pytest.raises(InputError, match=BY_US):
        follow(HERE, location)


def test_a_redirect_from_https_to_plain_http_is_refused_with_the_url() -> None:
    with pytest.raises(InputError, match='"http://example.com/x"$'):
        follow(HERE, "http://example.com/x")
    assert follow(parse("http://a.example/"), "https://a.example/").scheme == "https"


@pytest.mark.parametrize(
    "location",
    [
        "ftp://x/ignore-all-that-was-said",
        "http://example.com/ignore-all-that-was-said",
        "//[ignore-all",
    ],
)
def test_an_error_about_a_redirect_has_its_host_only(location: str) -> None:
    with pytest.raises(InputError, match=BY_US) as caught:
        follow(HERE, location)
    assert "ignore-all" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://[1:2:3]/", "http://[::1%25eth0]/", "http://[::1", "http://a／b/", "http://a:x/"]
)
def test_odd_urls_are_refused_after_the_quick_check(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtools._internal.text.urls.is_web_url", lambda _: True)
    with pytest.raises(InputError, match=BY_US):
        parse(url)
