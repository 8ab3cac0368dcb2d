"""Official clients of Linkup and Parallel talk to the sandbox, and take it for the real thing."""

from __future__ import annotations

from typing import Any

import pytest

from webtools_sandbox import LINKUP_KEY, PARALLEL_KEY, SandboxServer

linkup: Any = pytest.importorskip("linkup")
parallel: Any = pytest.importorskip("parallel")

RESULTS = {"depth": "standard", "output_type": "searchResults"}


def linkup_client(server: SandboxServer, key: str = LINKUP_KEY) -> Any:
    return linkup.LinkupClient(api_key=key, base_url=f"{server.base_url('linkup')}/v1")


def parallel_client(server: SandboxServer, key: str = PARALLEL_KEY) -> Any:
    return parallel.Parallel(api_key=key, base_url=server.base_url("parallel"), max_retries=0)


def test_linkup_sdk_searches_and_gets_an_answer_with_its_sources(
    webtools_sandbox: SandboxServer,
) -> None:
    client = linkup_client(webtools_sandbox)
    match = client.search("heap queue", max_results=2, **RESULTS)
    assert match.results[0].url.endswith("heapq.html")
    answer = client.search("heap queue", depth="fast", output_type="sourcedAnswer")
    assert answer.answer
    assert answer.sources[0].snippet


@pytest.mark.parametrize(
    ("query", "key", "error"),
    [
        ("qqqqzzzz", LINKUP_KEY, "LinkupNoResultError"),
        ("json", f"{LINKUP_KEY}-no-credit", "LinkupInsufficientCreditError"),
        ("json", "wrong", "LinkupAuthenticationError"),
    ],
)
def test_linkup_sdk_distinguishes_errors(
    webtools_sandbox: SandboxServer, query: str, key: str, error: str
) -> None:
    with pytest.raises(getattr(linkup, error)):
        linkup_client(webtools_sandbox, key).search(query, **RESULTS)


def test_parallel_s_sdk_searches(webtools_sandbox: SandboxServer) -> None:
    match = parallel_client(webtools_sandbox).search(
        search_queries=["json streaming parser"],
        advanced_settings={"max_results": 2, "source_policy": {"after_date": "2026-01-01"}},
    )
    assert match.results[0].publish_date == "2026-03-04"
    assert match.results[0].excerpts
    assert [(item.name, item.count) for item in match.usage] == [("sku_search", 1)]


def test_parallel_s_sdk_reads_pages_and_says_which_failed(
    webtools_sandbox: SandboxServer,
) -> None:
    page = f"{webtools_sandbox.docs_url}/library/json.html"
    gone = f"{webtools_sandbox.docs_url}/gone.html"
    found = parallel_client(webtools_sandbox).extract(
        urls=[page, gone], objective="decode", advanced_settings={"full_content": True}
    )
    assert found.results[0].full_content.startswith("# json")
    assert (found.errors[0].url, found.errors[0].http_status_code) == (gone, 404)


@pytest.mark.parametrize(("suffix", "status"), [("-no-credit", 402), ("-wrong", 401)])
def test_parallel_s_sdk_raises_on_a_key_that_is_no_good(
    webtools_sandbox: SandboxServer, suffix: str, status: int
) -> None:
    with pytest.raises(parallel.APIStatusError) as caught:
        parallel_client(webtools_sandbox, PARALLEL_KEY + suffix).search(search_queries=["json"])
    assert caught.value.status_code == status
