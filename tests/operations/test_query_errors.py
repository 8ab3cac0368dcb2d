"""A search whose queries all fail names the first five errors and counts the rest."""

from __future__ import annotations

import re

import pytest

from webtools import BadRequestError, WebTools
from webtools_sandbox import SandboxServer


@pytest.mark.parametrize("count", [2, 5, 6, 8])
def test_the_error_of_many_queries_names_five_and_counts_the_rest(
    webtools_sandbox: SandboxServer, count: int
) -> None:
    queries = [f"query{number}" for number in range(count)]
    for query in queries:
        body = {"requestId": "x", "error": f"fault of {query}"}
        webtools_sandbox.fault(provider="exa", status=400, containing=query, body=body)
    with WebTools(webtools_sandbox.config()) as web, pytest.raises(BadRequestError) as caught:
        web.search(queries, provider="exa")
    message = str(caught.value)
    assert re.findall(r"fault of (query\d)", message) == queries[:5]
    assert re.findall(r"\b(\d+) more\b", message) == ([str(count - 5)] if count > 5 else [])
