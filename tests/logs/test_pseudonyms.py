"""Private texts leave no trace in what is logged, and nothing else is touched."""

from __future__ import annotations

import html
import json
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webtools.logs.pseudonyms import hashed, without_private
from webtools.tools import shown

QUERY = 'Merger of Acme & "Foo/Bar" in Zürich, what the board\'s lawyers said about §5 \\ <b>'
URL = "https://Intranet.example.com:8443/board/minutes?id=42&x=a%20b"


def hidden(message: str, *private: str) -> str:
    found: str = without_private({"message": message}, private)["message"]
    return found


def test_the_hash_ignores_case_and_white_space() -> None:
    assert hashed("  Rust\n async ") == hashed("rust async") == "sha256:1b8fc221f042"
    assert hashed("rust  sync") != hashed("rust async")


def test_private_facts_are_replaced_as_a_whole() -> None:
    facts = {
        "tool": "web_search",
        "query": "a",
        "queries": ["a", "b"],
        "urls": ("https://a.example",),
        "subject": "a",
        "limit": 5,
        "ok": True,
        "until": None,
    }
    assert without_private(facts, ["a"]) == {
        "tool": "web_search",
        "query": hashed("a"),
        "queries": [hashed("a"), hashed("b")],
        "urls": [hashed("https://a.example")],
        "subject": hashed("a"),
        "limit": 5,
        "ok": True,
        "until": None,
    }


def test_odd_private_facts_are_no_trouble() -> None:
    assert without_private({"query": None, "queries": [3, "a"], "m": "b"}, "a") == {
        "query": None,
        "queries": [3, hashed("a")],
        "m": "b",
    }


def test_a_private_fact_is_looked_for_in_the_others() -> None:
    facts = {"subject": "rust async", "message": 'exa failed while searching for "Rust Async".'}
    assert without_private(facts, ())["message"] == (
        f'exa failed while searching for "{hashed("rust async")}".'
    )


def test_names_stay_names_when_somebody_searches_for_one() -> None:
    facts = {
        "provider": "exa",
        "provider_used": "exa",
        "error": "QuotaError",
        "providers": {"exa": "exa is skipped"},
    }
    assert without_private(facts, ["exa", "QuotaError"]) == {
        **facts,
        "providers": {"exa": f"{hashed('exa')} is skipped"},
    }


def test_lists_and_objects_are_searched_too() -> None:
    facts: dict[str, Any] = {"reasons": ["about rust async", {"deep": ("rust async", 1)}]}
    mark = hashed("rust async")
    assert without_private(facts, ["rust async"]) == {
        "reasons": [f"about {mark}", {"deep": [mark, 1]}]
    }


@pytest.mark.parametrize(
    "secret", [QUERY, "東京の天気はどうですか教えてください", "a\tb\nc d\x7f", "İstanbul İİ"]
)
@pytest.mark.parametrize(
    "spell",
    [
        str,
        str.upper,
        repr,
        json.dumps,
        quote,
        quote_plus,
        html.escape,
        shown,
        lambda text: json.dumps(text, ensure_ascii=False),
        lambda text: quote(text, safe=""),
        lambda text: quote(text, safe="!'()*"),
        lambda text: quote(quote(text, safe="")),
        lambda text: quote_plus(text, safe="/"),
        lambda text: " ".join(text.split()),
        lambda text: text.encode("ascii", "backslashreplace").decode(),
    ],
)
def test_every_spelling_is_hidden(spell: Any, secret: str) -> None:
    told = hidden(f"it said ({spell(secret)}) and stopped", secret)
    assert hashed(secret) in told
    body = told.replace(hashed(secret), "").removeprefix("it said (").removesuffix(" and stopped")
    assert set(body) <= set("\"')…")


@pytest.mark.parametrize("length", [20, 40, 57, 60, 77])
@pytest.mark.parametrize("end", ["", "…", "..."])
def test_a_text_that_was_cut_short_is_hidden(length: int, end: str) -> None:
    assert hidden(f'about "{QUERY[:length]}{end}".', QUERY) == f'about "{hashed(QUERY)}{end}".'


@pytest.mark.parametrize(
    "told",
    [
        URL,
        URL.lower(),
        "https://intranet.example.com",
        "http://intranet.example.com:80/other?y=secret",
        "intranet.example.com",
        "//intranet.example.com/board",
        quote(URL, safe=""),
    ],
)
def test_a_url_is_hidden_with_all_that_follows_its_host(told: str) -> None:
    found = hidden(f'"{told}" has the address 10.0.0.1', URL)
    assert found.endswith(f'{hashed(URL)}" has the address 10.0.0.1')
    assert "intranet" not in found.lower()
    assert "board" not in found
    assert "secret" not in found


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://bücher.example/x", "xn--bcher-kva.example"),
        ("http://[2001:0db8:0:0:0:0:0:1]/x", "2001:db8::1"),
        ("https://intranet.example./x", "intranet.example"),
    ],
)
def test_a_host_is_hidden_in_the_form_it_is_asked_for(url: str, told: str) -> None:
    assert hidden(f'"{told}" has no address', url) == f'"{hashed(url)}" has no address'


@pytest.mark.parametrize("url", ["https://", "http://[::1", "https:///path-of-some-length"])
def test_a_url_without_a_host_is_a_text_like_any_other(url: str) -> None:
    assert hidden(f"for {url} failed", url) == f"for {hashed(url)} failed"


def test_a_short_text_is_hidden_only_where_it_stands_alone() -> None:
    mark = hashed("go")
    assert hidden("go: Google says good, or go.", "go") == f"{mark}: Google says good, or {mark}."
    assert hidden("?q=%22go%22 and %22Go", "go") == f"?q=%22{mark}%22 and %22{mark}"
    assert hidden("東京の天気", "東京") == f"{hashed('東京')}の天気"


def test_of_two_texts_the_one_that_holds_the_other_is_hidden_whole() -> None:
    long, short = "rust async runtime", "rust async"
    found = hidden("rust async runtime or rust async", short, long)
    assert found == f"{hashed(long)} or {hashed(short)}"


def test_texts_that_overlap_leave_nothing_between_them() -> None:
    assert hidden("x alpha beta gamma y", "alpha beta", "beta gamma") == (
        f"x {hashed('alpha beta')} y"
    )


def test_hashes_that_were_put_in_are_not_searched_again() -> None:
    assert hidden("about cats", "cats", "sha256") == f"about {hashed('cats')}"


def test_blank_texts_hide_nothing() -> None:
    assert hidden("all of it stays", "", "  ") == "all of it stays"


@given(st.text(min_size=4, max_size=90), st.text(max_size=20), st.text(max_size=20))
@example("ΑΣ ΑΣ", "", "")
@example("\ud800abc", "x", "y")
def test_no_text_is_left_in_clear(secret: str, before: str, after: str) -> None:
    found = hidden(f"{before}{secret}{after}", secret)
    if secret.strip() and secret not in f"{before}{hashed(secret)}{after}":
        assert secret not in found
        assert hashed(secret) in found
