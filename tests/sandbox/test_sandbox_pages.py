from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from webtools_sandbox.stdlib_docs import read_page

if TYPE_CHECKING:
    import httpx
    from sandbox_caller import Caller


def get(caller: Caller, path: str) -> httpx.Response:
    return caller.http.get(f"{caller.server.url}{path}")


def test_results_can_be_fetched_as_html(caller: Caller) -> None:
    results = caller.exa("/search", query="python", numResults=40).json()["results"]
    for hit in results:
        answer = caller.http.get(hit["url"])
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "<article>" in answer.text


def test_a_page_states_its_author_and_date(caller: Caller) -> None:
    html = get(caller, "/news/2026/03/night-train-returns.html").text
    assert '<meta name="author" content="Petra Lund">' in html
    assert '<meta property="article:published_time" content="2026-03-11T17:45:00">' in html


@pytest.mark.parametrize("collection", ["docs", "news"])
def test_an_index_links_to_every_page(caller: Caller, collection: str) -> None:
    html = get(caller, f"/{collection}/").text
    assert html.count("<li>") >= 20
    path = html.partition('<li><a href="')[2].partition('"')[0]
    assert get(caller, path).status_code == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 404),
        ("/docs/library/missing.html", 404),
        ("/docs/special/timeout.html", 408),
        ("/news/special/forbidden", 403),
        ("/news/special/unheard-of", 404),
    ],
)
def test_other_paths_have_an_error_page(caller: Caller, path: str, status: int) -> None:
    answer = get(caller, path)
    assert (answer.status_code, answer.headers["content-type"][:9]) == (status, "text/html")


def test_pages_allow_only_get_and_head(caller: Caller) -> None:
    assert caller.http.post(f"{caller.server.docs_url}/library/json.html").status_code == 405
    head = caller.http.head(f"{caller.server.docs_url}/library/json.html")
    assert (head.status_code, head.content) == (200, b"")


def test_a_page_omits_to_do_notes() -> None:
    assert "XXX" in str(zipfile.__doc__)
    page = read_page("zipfile")
    assert page is not None
    assert "XXX" not in page.text
