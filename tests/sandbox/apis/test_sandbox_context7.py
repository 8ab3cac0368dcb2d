"""The imitated Context7: what is particular to its answers."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from sandbox_caller import Desk, MakeDesk

from webtools_sandbox.apis.context7 import Context7Api

FIND, CONTEXT = "/api/v2/libs/search", "/api/v2/context"
ASK = {"libraryId": "/python/json", "query": "decode a document", "type": "json"}


@pytest.fixture
def context7(desk: MakeDesk) -> Desk:
    return desk(Context7Api)


def libraries(desk: Desk, name: str) -> list[dict[str, Any]]:
    return list(desk.get(FIND, libraryName=name, query="decode").json()["results"])


def snippets(response: httpx.Response) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    body = response.json()
    return [*body["codeSnippets"], *body["infoSnippets"]]


def test_a_key_is_optional(context7: Desk) -> None:
    assert snippets(context7.with_key(None).get(CONTEXT, **ASK))


def test_libraries_share_a_word_with_the_name_and_the_best_is_first(context7: Desk) -> None:
    found = libraries(context7, "python json")
    assert found[0]["id"] == "/python/json"
    assert len(found) > 3
    assert libraries(context7, "qqq") == []


def test_what_is_not_known_is_minus_one_or_missing(context7: Desk) -> None:
    known, unknown = (libraries(context7, name)[0] for name in ("json", "pathlib"))
    assert known["versions"] == ["v3.13", "v3.12", "3.10", "v2.7"]
    assert (known["trustScore"], known["stars"], known["state"]) == (9.5, 60_000, "finalized")
    assert known["totalSnippets"] > 5
    assert (unknown["trustScore"], unknown["totalTokens"], unknown["totalSnippets"]) == (-1, -1, -1)
    assert not {"stars", "versions"} & unknown.keys()


def test_snippets_fit_the_question_and_name_their_source(context7: Desk) -> None:
    response = context7.get(CONTEXT, **ASK)
    urls = [snippet.get("codeId") or snippet["pageId"] for snippet in snippets(response)]
    assert urls
    assert all("/library/json" in url for url in urls)
    assert "premium" in response.json()["rules"]["libraryOwn"][0]


def test_code_has_its_blocks_to_the_letter(context7: Desk) -> None:
    asked = ASK | {"query": "javascript object notation compact separators"}
    codes = context7.get(CONTEXT, **asked).json()["codeSnippets"]
    assert all("#_snippet_" in code["codeId"] for code in codes)
    texts = [code["codeList"][0]["code"] for code in codes]
    assert any("separators=(',', ':'))\n'[1,2,3,{\"4\":5,\"6\":7}]'" in text for text in texts)


def test_text_is_the_default(context7: Desk) -> None:
    response = context7.get(CONTEXT, libraryId="/python/json", query="decode a document")
    assert response.headers["content-type"].startswith("text/plain")
    assert response.text.startswith("### ")
    assert "\n\nSource: http" in response.text
    assert "\n\n--------------------------------\n\n### " in response.text


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"libraryId": "/python"}, 400, "invalid_library_id"),
        ({"libraryId": "/acme/gone"}, 404, "library_not_found"),
        ({"query": "qqq"}, 404, "no_snippets_found"),
        ({"libraryId": "/python/json@v2.7"}, 404, "tag_not_found"),
        ({"libraryId": "/python/pathlib@v9"}, 404, "tag_not_found"),
    ],
)
def test_what_cannot_be_had_has_its_own_code(
    context7: Desk, changes: dict[str, str], status: int, code: str
) -> None:
    refused = context7.get(CONTEXT, **(ASK | changes))
    assert (refused.status_code, refused.json()["error"]) == (status, code)


@pytest.mark.parametrize("pin", ["@v3.12", "/v3.12", "@3.10"])
def test_a_version_can_be_pinned(context7: Desk, pin: str) -> None:
    assert snippets(context7.get(CONTEXT, **(ASK | {"libraryId": f"/python/json{pin}"})))


def test_a_tag_that_is_not_there_is_answered_with_the_others(context7: Desk) -> None:
    refused = context7.get(CONTEXT, **(ASK | {"libraryId": "/python/json@v2.7"})).json()
    assert "Available tags: v3.13, v3.12, 3.10" in refused["message"]


def test_a_library_that_moved_names_its_new_id_and_no_location(context7: Desk) -> None:
    response = context7.get(CONTEXT, **(ASK | {"libraryId": "/cpython/unittest"}))
    assert (response.status_code, response.json()["error"]) == (301, "library_redirected")
    assert "location" not in response.headers
    new = response.json()["redirectUrl"]
    assert snippets(context7.get(CONTEXT, libraryId=new, query="mock", type="json"))
