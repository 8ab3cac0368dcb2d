"""One name of a site, wherever sources are told apart, counted or shown."""

from __future__ import annotations

import runpy
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import tld

from webtools.text.domains import read_suffixes, registrable_domain

SCRIPT = Path(__file__).parents[2] / "scripts/public_suffixes.py"
PUBLISHED = (files("tld") / "res/effective_tld_names.dat.txt").read_text(encoding="utf-8")


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
        ("https://de/", "de"),
        ("https://co.uk/", "co.uk"),
        ("https://example.de./", "example.de"),
        (f"https://{'ü' * 99}.example.de/", "example.de"),
        ("https://[::a/", "https://[::a/"),
        ("https:///path", "https:///path"),
    ],
)
def test_the_registrable_domain_is_who_stands_behind_a_host(url: str, domain: str) -> None:
    assert registrable_domain(url) == domain


def test_every_rule_of_the_list_reads_as_in_a_library_for_it() -> None:
    listed: Any = tld  # its types are not complete
    rules = [rule for rule in read_suffixes() if not rule.startswith("//")]
    names = [rule.removeprefix("!").removeprefix("*.") for rule in rules]
    urls = [f"https://a.b.c.{name.encode().decode('idna')}/" for name in names]
    theirs = {url: listed.get_fld(url, search_private=True, fail_silently=True) for url in urls}
    known = {url: domain for url, domain in theirs.items() if domain}
    assert len(known) > 9_000
    assert {url: registrable_domain(url) for url in known} == known


def test_the_list_is_renewed_from_what_is_published() -> None:
    written = runpy.run_path(str(SCRIPT))["condensed"](PUBLISHED).splitlines()
    assert [line for line in written if "Mozilla" in line or "VERSION" in line] == written[1:4:2]
    assert {"co.uk", "github.io", "*.ck", "!www.ck", "xn--55qx5d.cn"} <= set(written)
    assert all(line.isascii() and (line.startswith("//") or " " not in line) for line in written)


@pytest.mark.parametrize("page", ["<html>Try again later</html>", PUBLISHED[:200_000]])
def test_a_page_that_is_not_the_whole_list_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="not the whole public suffix list"):
        runpy.run_path(str(SCRIPT))["condensed"](page)
