"""One name of a site, wherever sources are told apart, counted or shown."""

from __future__ import annotations

import sys

import pytest

from webtools.text.domains import read_suffixes, registrable_domain


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://docs.python.org/3/", "python.org"),
        ("https://www.bbc.co.uk/news", "bbc.co.uk"),
        ("https://someone.github.io/x", "someone.github.io"),
        ("https://a.b.kawasaki.jp/", "a.b.kawasaki.jp"),
        ("https://someone.gitbook.io/", "someone.gitbook.io"),
        ("https://localhost:8000/", "localhost"),
        ("http://app.localhost/", "localhost"),
        ("http://127.0.0.1:8000/", "localhost"),
        ("http://127.8.9.1/", "localhost"),
        ("http://[::1]/", "localhost"),
        ("http://192.0.2.7/", "192.0.2.7"),
        ("http://[2001:db8::1]/", "2001:db8::1"),
        ("https://de/", "de"),
        ("https://example.de./", "example.de"),
        ("https://[::a/", "https://[::a/"),
        ("https:///path", "https:///path"),
    ],
)
def test_the_registrable_domain_is_who_stands_behind_a_host(url: str, domain: str) -> None:
    assert registrable_domain(url) == domain


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://docs.python.org/3/", "python.org"),
        ("https://www.bbc.co.uk/news", "bbc.co.uk"),
        ("https://someone.github.io/x", "github.io"),
        ("https://de/", "de"),
    ],
)
def test_without_the_public_suffix_list_it_goes_by_the_labels(
    url: str, domain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tld", None)
    read_suffixes.cache_clear()
    assert registrable_domain(url) == domain
    read_suffixes.cache_clear()
