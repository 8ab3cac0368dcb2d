"""The imitated Jina Reader: what is particular to its answers, with a key and without one."""

from __future__ import annotations

import pytest
from sandbox_caller import Desk

from webtools_sandbox.apis.jina import JinaApi
from webtools_sandbox.keys import KeyRing
from webtools_sandbox.library import Library

DOCS, NEWS = "https://docs.example", "https://news.example"
PAGE = f"{NEWS}/2026/05/seed-archive.html"


@pytest.fixture
def jina(library: Library, keys: KeyRing) -> Desk:
    return Desk(JinaApi(library, keys))


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


def test_nobody_needs_a_key_but_a_wrong_one_is_refused(jina: Desk) -> None:
    assert jina.with_key(None).post("/", url=PAGE).status_code == 200
    assert jina.with_key("wrong").post("/", url=PAGE).status_code == 401
