"""One name of a site, wherever sources are compared, counted or shown."""

from __future__ import annotations

import pytest

from webtools._internal.text.domains import registrable_domain


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://docs.python.org/3/", "python.org"),
        ("https://www.bbc.co.uk/news", "bbc.co.uk"),
        ("https://someone.github.io/x", "someone.github.io"),
        ("https://a.b.kawasaki.jp/", "a.b.kawasaki.jp"),
        ("https://a.city.kawasaki.jp/", "city.kawasaki.jp"),
        ("https://a.www.ck/", "www.ck"),
        ("https://a.b.c.ck/", "b.c.ck"),
        ("https://someone.gitbook.io/", "someone.gitbook.io"),
        ("https://a.例子.公司.cn/", "例子.公司.cn"),
        ("https://a.xn--fsqu00a.xn--55qx5d.cn/", "xn--fsqu00a.xn--55qx5d.cn"),
        ("https://wiki.intranet.unlisted/", "intranet.unlisted"),
        ("https://localhost:8000/", "localhost"),
        ("http://app.localhost/", "localhost"),
        ("http://127.0.0.1:8000/", "localhost"),
        ("http://127.8.9.1/", "localhost"),
        ("http://[::1]/", "localhost"),
        ("http://192.0.2.7/", "192.0.2.7"),
        ("http://[2001:db8::1]/", "2001:db8::1"),
        ("https://a.b.unlisted./", "b.unlisted"),
        ("https://intranet/", "intranet"),
        ("https://github.io/", "github.io"),
        ("https://de/", "de"),
        ("https://co.uk/", "co.uk"),
        ("https://example.de./", "example.de"),
        (f"https://{'ü' * 99}.example.de/", "example.de"),
        ("https://[::a/", "https://[::a/"),
        ("https:///path", "https:///path"),
    ],
)
def test_a_host_has_a_registrable_domain(url: str, domain: str) -> None:
    assert registrable_domain(url) == domain
