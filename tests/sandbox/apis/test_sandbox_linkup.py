"""The imitated Linkup: what is particular to its answers."""

from __future__ import annotations

from typing import Any

import pytest
from sandbox_caller import NEWS, Desk, MakeDesk

from webtools_sandbox.apis.linkup import LinkupApi

WANTED = {"depth": "standard", "outputType": "searchResults"}


@pytest.fixture
def linkup(desk: MakeDesk) -> Desk:
    return desk(LinkupApi)


def urls(desk: Desk, **body: Any) -> list[str]:
    response = desk.post("/v1/search", **{**WANTED, "q": "the", **body})
    assert response.status_code == 200, response.text
    return [row["url"] for row in response.json()["results"]]


def test_filters_are_honoured_and_an_inclusion_goes_before_an_exclusion(linkup: Desk) -> None:
    assert len(urls(linkup, maxResults=3)) == 3
    news = urls(linkup, includeDomains=["news.example"], excludeDomains=["news.example"])
    assert news
    assert all(url.startswith(NEWS) for url in news)
    assert not any(url.startswith(NEWS) for url in urls(linkup, excludeDomains=["news.example"]))
    march = urls(linkup, fromDate="2026-03-01", toDate="2026-03-31")
    assert {url.removeprefix(f"{NEWS}/")[:7] for url in march} == {"2026/03"}


def test_an_answer_comes_with_its_sources(linkup: Desk) -> None:
    asked = {**WANTED, "outputType": "sourcedAnswer", "q": "seed archive barley"}
    answer = linkup.post("/v1/search", **asked).json()
    assert "seeds" in answer["answer"]
    assert {"name", "url", "snippet", "favicon"} == set(answer["sources"][0])
