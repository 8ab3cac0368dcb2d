"""What one provider refuses for limits or options of its own, the next one serves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from webtools import WebTools
from webtools.errors import BadRequestError, InputError, WebToolsError
from webtools.providers import PROVIDERS

# 403 is for a feature that the plan lacks; it can also mean that the key is not valid.
STATUSES = [400, 403, 404, 405, 410, 413, 414, 422, 431]
PAGE = "https://page.example/article"
FIRST, SECOND = "first.example", "second.example"
ANSWERS: dict[str, Any] = {
    "/search": {"results": [{"id": PAGE, "url": PAGE, "title": "A page", "text": "words"}]},
    "/": {"code": 200, "data": {"title": "A page", "url": PAGE, "content": "words of it"}},
}
SUMMARY = {"meta": {"id": "a"}, "data": {"output": "a summary", "tokens": 3}}


class Sites:
    """Two APIs: the first refuses every request, the second one serves it."""

    def __init__(self, status: int, *refusing: str) -> None:
        self.status = status
        self.refusing = refusing or (FIRST,)
        self.hosts: list[str] = []

    def respond(self, request: httpx.Request) -> httpx.Response:
        self.hosts.append(request.url.host)
        if request.url.host in self.refusing:
            words = "the option frobnicate is not supported"
            return httpx.Response(self.status, json={"error": words, "message": words})
        return httpx.Response(200, json=ANSWERS.get(request.url.path, SUMMARY))

    def web(self, kind: str, second: str, **settings: Any) -> WebTools:
        entries = [
            {"name": name, "type": type_, "baseUrl": f"https://{name}.example"}
            | ({"apiKey": f"test-key-{name}"} if PROVIDERS[type_].about.key_variables else {})
            for name, type_ in (("first", kind), ("second", second))
        ]
        cache = {"enabled": False, "path": f"webtools-{self.status}.sqlite3"}  # has the circuits
        config = {"providers": entries, "cache": cache, **settings}
        return WebTools(config, transport=httpx.MockTransport(self.respond))


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def kinds(capability: str) -> list[str]:
    return [
        kind
        for kind, services in PROVIDERS.items()
        if capability in services.capabilities() and services.pages is None
    ]


CALLS: dict[str, tuple[str, Callable[[WebTools, int], Any], Callable[[WebTools, int], Any]]] = {
    "search": (
        "exa",
        lambda web, number: web.search(f"apples {number}"),
        lambda web, number: web.asearch(f"apples {number}"),
    ),
    "fetch": ("jina", lambda web, _: web.fetch(PAGE), lambda web, _: web.afetch(PAGE)),
    "summarize": (
        "kagi",
        lambda web, _: web.summarize(PAGE),
        lambda web, _: web.asummarize(PAGE),
    ),
    "research": (
        "exa",
        lambda web, number: web.research(f"apples {number}"),
        lambda web, number: web.aresearch(f"apples {number}"),
    ),
}
CASES = [(tool, kind) for tool in ("search", "fetch", "summarize") for kind in kinds(tool)]
CASES += [
    ("research", kind)
    for kind in dict.fromkeys([*kinds("search"), *kinds("docs")])
    if PROVIDERS[kind].about.research != "never"
]


def settings_for(tool: str) -> dict[str, Any]:
    return {"research": {"chain": {"web": ["first", "second"]}}} if tool == "research" else {}


def facts(response: Any) -> tuple[str, list[str]]:
    meta = getattr(response, "meta", response)
    return getattr(meta, "provider_used", None) or meta.provider, meta.warnings


@pytest.mark.parametrize("runtime", ["blocking", "async"])
@pytest.mark.parametrize(("tool", "kind"), CASES)
def test_the_next_provider_serves_what_one_refuses(tool: str, kind: str, runtime: str) -> None:
    second, call, acall = CALLS[tool]
    for status in STATUSES if runtime == "blocking" else (400, 422):
        sites = Sites(status)
        with sites.web(kind, second, **settings_for(tool)) as web:
            response = asyncio.run(acall(web, 0)) if runtime == "async" else call(web, 0)
        provider, warnings = facts(response)
        assert provider == "second"
        assert sites.hosts.count(FIRST) == 1
        assert any('"first"' in text and "frobnicate" in text for text in warnings)


@pytest.mark.parametrize(("tool", "kind"), CASES)
def test_a_refusal_does_not_count_for_the_circuit_breaker(tool: str, kind: str) -> None:
    second, call, _ = CALLS[tool]
    for status in (400, 413, 422):
        sites = Sites(status)
        with sites.web(kind, second, **settings_for(tool)) as web:
            for number in range(4):
                call(web, number)
        assert sites.hosts.count(FIRST) == 4


@pytest.mark.parametrize("tool", ["search", "fetch", "summarize"])
def test_a_call_that_names_its_provider_ends_with_the_refusal(tool: str) -> None:
    second, _, _ = CALLS[tool]
    calls: dict[str, Callable[[WebTools], Any]] = {
        "search": lambda web: web.search("apples", provider="first"),
        "fetch": lambda web: web.fetch(PAGE, provider="first"),
        "summarize": lambda web: web.summarize(PAGE, provider="first"),
    }
    for status in (400, 422):
        sites = Sites(status)
        with sites.web("kagi", second) as web, pytest.raises(BadRequestError, match=str(status)):
            calls[tool](web)
        assert sites.hosts == [FIRST]


@pytest.mark.parametrize(
    "call",
    [
        lambda web: web.search(""),
        lambda web: web.search("apples", limit=-1),
        lambda web: web.search("apples", start_published_date="yesterdayish"),
        lambda web: web.fetch("nonsense"),
        lambda web: web.summarize("nonsense"),
        lambda web: web.research(""),
    ],
)
def test_bad_arguments_are_refused_before_any_request(call: Callable[[WebTools], Any]) -> None:
    sites = Sites(400)
    with sites.web("kagi", "exa") as web, pytest.raises(InputError):
        call(web)
    assert sites.hosts == []


def test_if_all_refuse_the_error_quotes_each() -> None:
    sites = Sites(422, FIRST, SECOND)
    with sites.web("tavily", "exa") as web, pytest.raises(BadRequestError) as caught:
        web.search("apples")
    assert sites.hosts == [FIRST, SECOND]
    assert caught.value.provider == "first"
    assert all(f"{name}: " in str(caught.value) for name in ("first", "second"))


def test_a_price_above_the_budget_leaves_the_call_to_a_free_provider() -> None:
    sites = Sites(200)
    budget = {"usdPerProcess": 0.000001}
    with sites.web("tavily", "wikipedia", budget=budget) as web:
        with pytest.raises(WebToolsError):  # it was called, and its answer is not one of Wikipedia
            web.search("apples")
    assert FIRST not in sites.hosts
    assert SECOND in sites.hosts
