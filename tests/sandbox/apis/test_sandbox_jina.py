"""The imitated Jina Reader: what is particular to its answers, with a key and without one."""

from __future__ import annotations

from typing import Any

import pytest
from sandbox_caller import DOCS, NEWS, Desk, MakeDesk

from webtools_sandbox.apis.jina import JinaApi, JinaSearchApi

PAGE = f"{NEWS}/2026/05/seed-archive.html"


@pytest.fixture
def jina(desk: MakeDesk) -> Desk:
    return desk(JinaApi)


def test_a_page_comes_with_its_tokens_or_with_the_status_of_its_site(jina: Desk) -> None:
    answer = jina.post("/", url=PAGE).json()
    assert answer["data"]["content"].startswith("# Northrop seed archive")
    assert answer["data"]["usage"] == answer["meta"]["usage"]
    assert answer["data"]["publishedTime"].startswith("2026-05")
    gone = jina.post("/", url=f"{DOCS}/gone.html").json()["data"]
    assert "error 404" in gone["warning"]
    late = jina.post("/", url=f"{DOCS}/special/timeout.html")
    assert (late.status_code, late.json()["name"]) == (422, "AssertionFailureError")


def test_options_are_headers_as_well(jina: Desk) -> None:
    def ask(header: str, value: str) -> tuple[int, str]:
        content = f'{{"url": "{PAGE}"}}'.encode()
        answer = jina.send("POST", "/", content=content, **{header: value})
        return answer.status_code, answer.json().get("name", "")

    assert ask("x-token-budget", "5") == (409, "BudgetExceededError")
    assert ask("x-token-budget", "200000")[0] == 200
    assert ask("x-timeout", "soon") == (400, "ParamValidationError")


def test_a_key_is_optional_but_a_wrong_one_is_refused(jina: Desk) -> None:
    assert jina.with_key(None).post("/", url=PAGE).status_code == 200
    assert jina.with_key("wrong").post("/", url=PAGE).status_code == 401


def test_a_search_comes_with_pages_unless_told_otherwise(desk: MakeDesk) -> None:
    jina = desk(JinaSearchApi)

    def search(page: int = 1, **headers: str) -> dict[str, Any]:
        content = b'{"q": "python", "num": 2, "page": %d}' % page
        answer: dict[str, Any] = jina.send("POST", "/", content=content, **headers).json()
        return answer

    rows, bare = search(), search(x_respond_with="no-content")
    assert all(row["content"] for row in rows["data"])
    assert not any("content" in row for row in bare["data"])
    assert bare["meta"]["usage"]["tokens"] == 10_000
    second = {row["url"] for row in search(2)["data"]}
    assert not second & {row["url"] for row in rows["data"]}
    assert all(row["url"].startswith(NEWS) for row in search(x_site="news.example")["data"])
    nothing = jina.post("/", q="qqqqzzzz")
    assert (nothing.status_code, "No search results" in nothing.json()["message"]) == (422, True)
    assert jina.with_key(None).post("/", q="python").status_code == 401
