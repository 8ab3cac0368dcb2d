"""Ids of documents tell passages apart, and settings without a key."""

from __future__ import annotations

import inspect
from typing import Any

import httpx
import pytest
from langchain_classic.retrievers import EnsembleRetriever
from pydantic import ValidationError

from langchain_webtools import (
    WebFetchTool,
    WebPageLoader,
    WebPassageCompressor,
    WebSearchRetriever,
    WebSearchTool,
    WebToolkit,
)
from llamaindex_webtools import WebRetriever, WebToolsSpec
from webtools import WebTools

PARTS = [f"The wheel number {n} of the tidal mill turns {n} times a day." for n in range(1, 6)]


def client(rows: list[dict[str, Any]]) -> WebTools:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"results": rows}))
    keys = {"exa": "test-key-exa-00001"}
    return WebTools(
        api_keys=keys, transport=transport, async_transport=transport, cache=False, log=False
    )


def row(url: str, snippet: str, **more: Any) -> dict[str, Any]:
    return {"id": url, "url": url, "title": "Mills", "highlights": [snippet], **more}


def test_fusion_by_id_keeps_all_passages_and_merges_equal_ones() -> None:
    url = "https://mills.example/tidal"
    text = "\n\n".join(f"## Wheel {n}\n\n{part * 8}" for n, part in enumerate(PARTS))
    web = client([row(url, "Wheels.") | {"text": text}])
    compressor = WebPassageCompressor(k=5)
    retrievers: list[Any] = [
        WebSearchRetriever(web=web, content=True, compressor=compressor) for _ in range(2)
    ]
    passages = retrievers[0].invoke("tidal mill wheel")
    assert len(passages) > 2
    assert len({passage.id for passage in passages}) == len(passages)
    ensemble = EnsembleRetriever(retrievers=retrievers, weights=[1, 1], id_key="document_id")
    fused = ensemble.invoke("tidal mill wheel")
    assert [each.id for each in fused] == [each.id for each in passages]
    assert all(each.metadata["document_id"] == each.id for each in fused)


async def test_several_results_of_one_page_have_ids_of_their_own() -> None:
    url = "https://mills.example/tidal"
    web = client([row(url, part) for part in PARTS])
    retriever = WebSearchRetriever(web=web)
    documents = retriever.invoke("mill")
    assert len({document.id for document in documents}) == len(PARTS)
    assert [each.id for each in await retriever.ainvoke("mill")] == [each.id for each in documents]
    assert documents[0].id == WebSearchRetriever(web=client([row(url, "x")])).invoke("q")[0].id
    ids = [[node.node_id for node in WebRetriever(web).retrieve("mill")] for _ in range(2)]
    assert ids[0] == ids[1]


@pytest.mark.parametrize(("scores", "is_from_rank"), [([0.9, 0.2], False), ([0.9, None], True)])
def test_nodes_say_whether_a_score_is_made_from_the_rank(
    scores: list[float | None], is_from_rank: bool
) -> None:
    rows = [row(f"https://m{n}.example/", "T", score=score) for n, score in enumerate(scores)]
    nodes = WebRetriever(client(rows)).retrieve("mill")
    assert any("score_from_rank" in node.metadata for node in nodes) is is_from_rank
    assert all("score_from_rank" in node.node.excluded_llm_metadata_keys for node in nodes) is (
        is_from_rank
    )


# --- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [WebSearchTool, WebFetchTool, WebSearchRetriever, WebToolkit])
def test_search_without_a_key_can_be_turned_on(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXA_API_KEY", raising=False)
    web = make(keyless=True).web
    assert {tool.name for tool in web.tools()} >= {"web_search", "web_fetch"}
    assert "keyless" not in (make(keyless=True).model_dump())


def test_pages_load_without_a_key() -> None:
    assert WebPageLoader("https://a.example/", keyless=True).web is not None


@pytest.mark.parametrize("make", [WebSearchTool, WebSearchRetriever])
@pytest.mark.parametrize("setting", ["budget", "transport", "max_results", "failover"])
def test_another_setting_of_the_client_is_refused_with_the_remedy(make: Any, setting: str) -> None:
    with pytest.raises(ValidationError, match=rf"WebTools\({setting}="):
        make(**{setting: 1})


@pytest.mark.parametrize("make", [WebToolkit, WebToolsSpec])
def test_the_signature_shows_the_settings(make: Any) -> None:
    names = {*inspect.signature(make).parameters}
    shown = {*inspect.signature(WebTools).parameters} - {"unknown"}
    assert shown <= names
    assert not any(
        each.kind is each.VAR_KEYWORD for each in inspect.signature(make).parameters.values()
    )
