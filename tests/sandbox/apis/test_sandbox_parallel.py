"""The imitated Parallel: what is particular to its answers."""

from __future__ import annotations

from typing import Any

import pytest
from sandbox_caller import DOCS, NEWS, Desk, MakeDesk

from webtools_sandbox.apis.parallel import ParallelApi

PAGE = f"{NEWS}/2026/05/seed-archive.html"


@pytest.fixture
def parallel(desk: MakeDesk) -> Desk:
    return desk(ParallelApi)


def search(desk: Desk, *queries: str, **settings: Any) -> dict[str, Any]:
    response = desk.post("/v1/search", search_queries=queries, advanced_settings=settings)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_further_results_are_counted_and_excerpts_bounded(parallel: Desk) -> None:
    answer = search(parallel, "python", max_results=12)
    assert [item["count"] for item in answer["usage"]] == [1, 2]
    assert answer["search_id"].startswith("search_")
    small = search(parallel, "python", excerpt_settings={"max_chars_per_result": 90})
    assert all(sum(map(len, row["excerpts"])) <= 90 for row in small["results"])


def test_an_inclusion_goes_before_an_exclusion_and_days_are_honoured(parallel: Desk) -> None:
    def urls(**policy: Any) -> list[str]:
        return [row["url"] for row in search(parallel, "the", source_policy=policy)["results"]]

    both = urls(include_domains=["news.example"], exclude_domains=["news.example"])
    assert both
    assert all(url.startswith(NEWS) for url in both)
    assert not any(url.startswith(NEWS) for url in urls(exclude_domains=["news.example"]))
    dated = search(parallel, "the", source_policy={"after_date": "2026-06-01"})["results"]
    assert min(row["publish_date"] for row in dated) >= "2026-06-01"


def test_pages_come_with_excerpts_and_whole_where_asked_for(parallel: Desk) -> None:
    asked = {"urls": [PAGE, f"{DOCS}/gone.html"], "objective": "Who may borrow seeds?"}
    answer = parallel.post("/v1/extract", **asked).json()
    [page] = answer["results"]
    assert page["excerpts"]
    assert (page["full_content"], answer["warnings"]) == (None, None)
    assert answer["errors"][0]["http_status_code"] == 404
    whole = parallel.post("/v1/extract", urls=[PAGE], advanced_settings={"full_content": True})
    assert whole.json()["results"][0]["full_content"].startswith("# Northrop")
    assert whole.json()["warnings"]
