"""Records the cassettes that tests play: from the sandbox, or from the live APIs.

    python -m tests.recording             all of them from the sandbox
    python -m tests.recording exa-search  only these
    python -m tests.recording --live      from the live APIs, with your own config and keys

A cassette shows the real hosts of the APIs and made-up hosts of documents, and its requests are
matched by method, URI and body. JSON bodies stand in it as YAML; of the headers those are kept that
a client reads. After a live recording `pytest --inline-snapshot=fix` updates what tests expect.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import yaml
from offline import IO, detached, run
from pydantic import SecretStr
from vcr import VCR
from vcr.cassette import Cassette
from vcr.request import Request as RecordedRequest

from webtools._internal.http.clients import BlockingHTTP
from webtools._internal.http.messages import Request, Response
from webtools._internal.operations.fetch import fetch
from webtools._internal.operations.search import search
from webtools._internal.operations.summarize import summarize
from webtools.config import Settings, load
from webtools.errors import WebToolsError
from webtools.providers import PROVIDERS, Account, Capability, Query
from webtools.providers.protocols import (
    DocsQuery,
    PageQuery,
    SearchQuery,
    SummaryQuery,
    SynthesisQuery,
)
from webtools.providers.protocols import Source as Cited
from webtools.testing import INSTANCE
from webtools.testing.provider_calls import CALLS
from webtools_sandbox import SandboxServer
from webtools_sandbox.apis import APIS
from webtools_sandbox.news import WRITTEN_ON

CASSETTES = Path(__file__).parent / "providers" / "cassettes"
FILTERED = "FILTERED"
AUTH_HEADERS = frozenset(
    str.split(
        "authorization proxy-authorization x-api-key api-key x-subscription-token x-auth-token"
        " cookie set-cookie"
    )
)
_KEPT_HEADERS = frozenset(
    str.split(
        "accept content-type retry-after retry-after-ms x-kagi-trace x-ratelimit-reset"
        " x-tavily-access-mode x-token-budget x-respond-with x-site"
    )
)

DOCS, NEWS = "https://docs.example", "https://news.example"
# Where the made-up pages are looked for when the real APIs are asked.
_LIVE_HOSTS = {"docs.example": "docs.python.org/3", "news.example": "blog.python.org"}

# --- what is recorded --------------------------------------------------------------------------

_OPTIONAL = tuple(api.name for api in APIS if not api.is_default)  # in the sandbox
WRONG_KEY, NO_CREDIT_KEY, KEYLESS = "wrong-key", "test-key-no-credit", ""


@dataclass(frozen=True)
class Scenario:
    """One call; its cassette and its test have its name.

    Attributes:
        provider: Type of the provider.
        flow: The call.
        page: The API's documentation, for the first line of the cassette.
        options: The provider's options that the call needs.
        key: Key to use instead of a good one; empty for none at all.
        fault: What the sandbox does wrong.
        fails: Whether the call ends with an error.
    """

    provider: str
    flow: Callable[[Account], Awaitable[Any]]
    page: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    key: str | None = None
    fault: Mapping[str, Any] | None = None
    fails: bool = False

    @property
    def can_be_live(self) -> bool:
        return self.fault is None and self.key != NO_CREDIT_KEY

    def account(self, base: Account) -> Account:
        """Fit an account of the type: the origin of the API, the options, the key."""
        options = dict(self.options)
        if self.key is not None:
            rest = {name: None for name, value in base.options if isinstance(value, SecretStr)}
            base = replace(base, api_key=SecretStr(self.key) if self.key else None)
            options = rest | options
        origin = origin_of(self.provider)
        fitted = base.options.model_copy(update=options)
        return replace(base, name=self.provider, base_url=origin, options=fitted)


def origin_of(kind: str) -> str:
    """Return where a cassette shows an API."""
    return PROVIDERS[kind].about.origin or INSTANCE


def _searching(
    *queries: str, limit: int = 3, **filters: Any
) -> Callable[[Account], Awaitable[Any]]:
    return lambda account: search(
        [account], [SearchQuery(q, limit, **filters) for q in queries], detached()
    )


def _fetching(*urls: str, **options: Any) -> Callable[[Account], Awaitable[Any]]:
    return lambda account: fetch([account], PageQuery(urls, **options), detached())


def _summarizing(url: str, **settings: Any) -> Callable[[Account], Awaitable[Any]]:
    return lambda account: summarize([account], SummaryQuery(url, **settings), detached())


def _looking_up(question: str, limit: int = 3) -> Callable[[Account], Awaitable[Any]]:
    return partial(_calling, "docs", DocsQuery(question, limit))


def _synthesizing(question: str, *sources: Cited) -> Callable[[Account], Awaitable[Any]]:
    return partial(_calling, "synthesize", SynthesisQuery(question, sources))


async def _calling(able: Capability, query: Query, account: Account) -> Any:
    _, call = CALLS[able]
    return await call(account, query, IO)


_EXA_SEARCH = "https://exa.ai/docs/reference/search"
_EXA_CONTENTS = "https://exa.ai/docs/reference/get-contents"
_EXA_SIMILAR = "https://exa.ai/docs/reference/find-similar-links"
_KAGI_V1 = "https://kagi.com/api/docs"
_KAGI_V0 = "https://help.kagi.com/kagi/api/search-legacy.html"
_KAGI_SUMMARY = "https://help.kagi.com/kagi/api/summarizer.html"
_BRAVE = "https://api-dashboard.search.brave.com/app/documentation/web-search/get-started"
_BRAVE_CONTEXT = "https://api-dashboard.search.brave.com/app/documentation/llm-context"
_PERPLEXITY_SEARCH = "https://docs.perplexity.ai/api-reference/search-post"
_PERPLEXITY_AGENT = "https://docs.perplexity.ai/docs/agent-api"
_CONTEXT7 = "https://context7.com/docs/api-guide"
_TAVILY_SEARCH = "https://docs.tavily.com/documentation/api-reference/endpoint/search"
_TAVILY_EXTRACT = "https://docs.tavily.com/documentation/api-reference/endpoint/extract"
_WIKIPEDIA = "https://www.mediawiki.org/wiki/API:Search"
_SEARXNG = "https://docs.searxng.org/dev/search_api.html"
_SERPER = "https://serper.dev"
_YOU = "https://you.com/docs/api-reference/search/v1-search"
_FIRECRAWL_SEARCH = "https://docs.firecrawl.dev/api-reference/endpoint/search"
_FIRECRAWL_SCRAPE = "https://docs.firecrawl.dev/api-reference/endpoint/scrape"
_LINKUP = "https://docs.linkup.so/pages/documentation/endpoints/search/reference"
_PARALLEL_SEARCH = "https://docs.parallel.ai/api-reference/search/search"
_PARALLEL_EXTRACT = "https://docs.parallel.ai/api-reference/extract/extract"
_JINA = "https://jina.ai/reader"
_V0 = {"search_api": "v0"}
_BARLEY, _TEXT = "seed archive barley", f"{NEWS}/2026/05/cassette-testing.html"
_PAGES = (
    f"{NEWS}/2026/05/seed-archive.html",
    f"{DOCS}/gone.html",
    f"{NEWS}/2026/08/bee-census.html",
)
_SPRING = {
    "include_domains": ("news.example",),
    "start_published_date": date(2026, 4, 1),
    "end_published_date": date(2026, 5, 31),
    "category": "news",
}
_LOAN = {"text": False, "question": "Who may borrow seeds?", "passage_characters": 400}
_POOL = _synthesizing(
    "When did the tidal pool open?",
    Cited(1, "Tidal pool", f"{NEWS}/1.html", "Vellmouth opened its tidal pool on Saturday."),
    Cited(2, "Night train", f"{NEWS}/2.html", "After nine years the night train is back."),
)


def _failures(
    provider: str, flow: Callable[[Account], Awaitable[Any]], page: str, **settings: Any
) -> dict[str, Scenario]:
    return {
        "wrong-key": Scenario(provider, flow, page, key=WRONG_KEY, fails=True, **settings),
        "no-credit": Scenario(provider, flow, page, key=NO_CREDIT_KEY, fails=True, **settings),
    }


def _named(prefix: str, scenarios: Mapping[str, Scenario]) -> dict[str, Scenario]:
    return {f"{prefix}-{name}": scenario for name, scenario in scenarios.items()}


SCENARIOS: dict[str, Scenario] = {
    "exa-search": Scenario("exa", _searching(_BARLEY, "glacier lake"), _EXA_SEARCH),
    "exa-search-filtered": Scenario(
        "exa",
        _searching("seeds", **_SPRING),
        _EXA_SEARCH,
        options={"search_highlights": True},
    ),
    "exa-search-invalid": Scenario("exa", _searching(_BARLEY, limit=-1), _EXA_SEARCH, fails=True),
    "exa-search-overloaded": Scenario(
        "exa",
        _searching("glacier lake", limit=1),
        _EXA_SEARCH,
        fault={"status": 503, "retry_after": 0},
    ),
    **_named("exa-search", _failures("exa", _searching(_BARLEY), _EXA_SEARCH)),
    "exa-contents": Scenario(
        "exa", _fetching(*_PAGES, summary=True, text_max_characters=120), _EXA_CONTENTS
    ),
    "exa-contents-invalid": Scenario(
        "exa", _fetching(*_PAGES, text_max_characters=-1), _EXA_CONTENTS, fails=True
    ),
    "exa-contents-all-failed": Scenario("exa", _fetching(_PAGES[1]), _EXA_CONTENTS, fails=True),
    **_named("exa-contents", _failures("exa", _fetching(*_PAGES), _EXA_CONTENTS)),
    "exa-contents-question": Scenario("exa", _fetching(*_PAGES, **_LOAN), _EXA_CONTENTS),
    "exa-search-similar": Scenario(
        "exa", _searching(_PAGES[0], similar=True, content=True, limit=2), _EXA_SIMILAR
    ),
    "kagi-search": Scenario("kagi", _searching(_BARLEY, "glacier lake"), _KAGI_V1),
    "kagi-search-filtered": Scenario("kagi", _searching("seeds", **_SPRING), _KAGI_V1),
    "kagi-search-invalid": Scenario("kagi", _searching(_BARLEY, limit=-1), _KAGI_V1, fails=True),
    "kagi-search-rate-limited": Scenario(
        "kagi",
        _searching("glacier lake", limit=1),
        _KAGI_V1,
        fault={"status": 429, "retry_after": 0},
    ),
    "kagi-search-html": Scenario(
        "kagi",
        _searching(_BARLEY),
        _KAGI_V1,
        fault={"status": 502, "body": "html", "times": 3},
        fails=True,
    ),
    **_named("kagi-search", _failures("kagi", _searching(_BARLEY), _KAGI_V1)),
    "kagi-search-content": Scenario(
        "kagi",
        _searching(_BARLEY, limit=2, content=True, safe_search="off", country="DE", page=1),
        _KAGI_V1,
    ),
    "kagi-contents": Scenario("kagi", _fetching(*_PAGES, text_max_characters=120), _KAGI_V1),
    "kagi-contents-all-failed": Scenario("kagi", _fetching(_PAGES[1]), _KAGI_V1, fails=True),
    **_named("kagi-contents", _failures("kagi", _fetching(*_PAGES), _KAGI_V1)),
    "kagi-v0-search": Scenario("kagi", _searching(_BARLEY), _KAGI_V0, options=_V0),
    **_named("kagi-v0-search", _failures("kagi", _searching(_BARLEY), _KAGI_V0, options=_V0)),
    "kagi-summary": Scenario("kagi", _summarizing(_TEXT), _KAGI_SUMMARY),
    "kagi-summary-takeaway": Scenario(
        "kagi",
        _summarizing(_TEXT, summary_type="takeaway", engine="agnes", target_language="DE"),
        _KAGI_SUMMARY,
    ),
    "kagi-summary-invalid": Scenario(
        "kagi",
        _summarizing(_TEXT, engine="unknown"),
        _KAGI_SUMMARY,
        fails=True,
    ),
    "kagi-summary-unreadable": Scenario(
        "kagi", _summarizing(f"{DOCS}/gone.html"), _KAGI_SUMMARY, fails=True
    ),
    **_named("kagi-summary", _failures("kagi", _summarizing(_TEXT), _KAGI_SUMMARY)),
    "brave-search": Scenario("brave", _searching(_BARLEY, "glacier lake"), _BRAVE),
    "brave-search-filtered": Scenario("brave", _searching("seeds", **_SPRING), _BRAVE),
    "brave-search-german": Scenario(
        "brave", _searching("seeds", country="DE", language="ja", page=2), _BRAVE
    ),
    "brave-search-context": Scenario("brave", _searching(_BARLEY, content=True), _BRAVE_CONTEXT),
    "brave-search-invalid": Scenario(
        "brave", _searching(_BARLEY), _BRAVE, options={"country": "XX"}, fails=True
    ),
    "brave-search-rate-limited": Scenario(
        "brave",
        _searching("glacier lake", limit=1),
        _BRAVE,
        fault={"status": 429, "headers": {"X-RateLimit-Reset": "0, 1419704"}},
    ),
    **_named("brave-search", _failures("brave", _searching(_BARLEY), _BRAVE)),
    "perplexity-search": Scenario(
        "perplexity", _searching(_BARLEY, "glacier lake"), _PERPLEXITY_SEARCH
    ),
    "perplexity-search-filtered": Scenario(
        "perplexity", _searching("seeds", **_SPRING), _PERPLEXITY_SEARCH
    ),
    "perplexity-search-invalid": Scenario(
        "perplexity", _searching(_BARLEY, limit=-1), _PERPLEXITY_SEARCH, fails=True
    ),
    **_named("perplexity-search", _failures("perplexity", _searching(_BARLEY), _PERPLEXITY_SEARCH)),
    "perplexity-synthesis": Scenario("perplexity", _POOL, _PERPLEXITY_AGENT),
    **_named("perplexity-synthesis", _failures("perplexity", _POOL, _PERPLEXITY_AGENT)),
    "tavily-search": Scenario("tavily", _searching(_BARLEY, "glacier lake"), _TAVILY_SEARCH),
    "tavily-search-filtered": Scenario("tavily", _searching("seeds", **_SPRING), _TAVILY_SEARCH),
    "tavily-search-invalid": Scenario(
        "tavily", _searching(_BARLEY, limit=-1), _TAVILY_SEARCH, fails=True
    ),
    "tavily-search-keyless": Scenario(
        "tavily",
        _searching(_BARLEY),
        _TAVILY_SEARCH,
        key=KEYLESS,
        fault={"status": 429, "retry_after": 0},
    ),
    "tavily-search-german": Scenario(
        "tavily", _searching(_BARLEY, limit=1, country="DE", content=True), _TAVILY_SEARCH
    ),
    **_named("tavily-search", _failures("tavily", _searching(_BARLEY), _TAVILY_SEARCH)),
    "tavily-contents": Scenario(
        "tavily", _fetching(*_PAGES, text_max_characters=120), _TAVILY_EXTRACT
    ),
    "tavily-contents-all-failed": Scenario(
        "tavily", _fetching(_PAGES[1]), _TAVILY_EXTRACT, fails=True
    ),
    "wikipedia-search": Scenario(
        "wikipedia", _searching(_BARLEY, "glacier lake", "qqqqzzzz"), _WIKIPEDIA
    ),
    "wikipedia-search-filtered": Scenario("wikipedia", _searching("seeds", **_SPRING), _WIKIPEDIA),
    "wikipedia-search-page": Scenario(
        "wikipedia", _searching(_BARLEY, limit=1, page=2), _WIKIPEDIA
    ),
    "wikipedia-search-invalid": Scenario(
        "wikipedia", _searching(_BARLEY, limit=-1), _WIKIPEDIA, fails=True
    ),
    "searxng-search": Scenario(
        "searxng",
        _searching(_BARLEY, "glacier lake"),
        _SEARXNG,
        options={"engines": ["library", "unknown"]},
    ),
    "searxng-search-filtered": Scenario(
        "searxng", _searching("seeds", **{**_SPRING, "start_published_date": None}), _SEARXNG
    ),
    "searxng-search-no-json": Scenario(
        "searxng",
        _searching(_BARLEY),
        _SEARXNG,
        fault={"status": 403, "body": "html"},
        fails=True,
    ),
    "serper-search": Scenario("serper", _searching(_BARLEY, "glacier lake"), _SERPER),
    "serper-search-filtered": Scenario("serper", _searching("seeds", **_SPRING), _SERPER),
    "serper-search-invalid": Scenario("serper", _searching(_BARLEY, limit=-1), _SERPER, fails=True),
    "serper-search-rate-limited": Scenario(
        "serper",
        _searching("glacier lake", limit=1),
        _SERPER,
        fault={"status": 429, "retry_after": 0},
    ),
    **_named("serper-search", _failures("serper", _searching(_BARLEY), _SERPER)),
    "you-search": Scenario("you", _searching(_BARLEY, "latest glacier news"), _YOU),
    "you-search-filtered": Scenario("you", _searching("seeds", **_SPRING), _YOU),
    "you-search-german": Scenario(
        "you", _searching(_BARLEY, limit=1, country="DE", language="de", content=True, page=1), _YOU
    ),
    "you-search-keyless": Scenario(
        "you", _searching(_BARLEY), _YOU, key=KEYLESS, fault={"status": 429, "retry_after": 0}
    ),
    "you-search-invalid": Scenario(
        "you", _searching(_BARLEY), _YOU, options={"country": "Germany"}, fails=True
    ),
    **_named("you-search", _failures("you", _searching(_BARLEY), _YOU)),
    "firecrawl-search": Scenario(
        "firecrawl", _searching(_BARLEY, "glacier lake"), _FIRECRAWL_SEARCH
    ),
    "firecrawl-search-filtered": Scenario(
        "firecrawl", _searching("seeds", **_SPRING), _FIRECRAWL_SEARCH
    ),
    "firecrawl-search-content": Scenario(
        "firecrawl", _searching(_BARLEY, limit=1, country="DE", content=True), _FIRECRAWL_SEARCH
    ),
    "firecrawl-search-keyless": Scenario(
        "firecrawl", _searching(_BARLEY), _FIRECRAWL_SEARCH, key=KEYLESS
    ),
    "firecrawl-search-invalid": Scenario(
        "firecrawl",
        _searching(_BARLEY),
        _FIRECRAWL_SEARCH,
        options={"country": "Germany"},
        fails=True,
    ),
    **_named("firecrawl-search", _failures("firecrawl", _searching(_BARLEY), _FIRECRAWL_SEARCH)),
    "firecrawl-contents": Scenario(
        "firecrawl", _fetching(*_PAGES, text_max_characters=120), _FIRECRAWL_SCRAPE
    ),
    "firecrawl-contents-timeout": Scenario(
        "firecrawl", _fetching(f"{DOCS}/special/timeout.html"), _FIRECRAWL_SCRAPE, fails=True
    ),
    "linkup-search": Scenario("linkup", _searching(_BARLEY, "glacier lake", "qqqqzzzz"), _LINKUP),
    "linkup-search-filtered": Scenario("linkup", _searching("seeds", **_SPRING), _LINKUP),
    "linkup-search-rate-limited": Scenario(
        "linkup",
        _searching("glacier lake", limit=1),
        _LINKUP,
        fault={"status": 429, "retry_after": 0},
    ),
    "linkup-search-invalid": Scenario("linkup", _searching(_BARLEY, limit=-1), _LINKUP, fails=True),
    **_named("linkup-search", _failures("linkup", _searching(_BARLEY), _LINKUP)),
    "parallel-search": Scenario("parallel", _searching(_BARLEY, "glacier lake"), _PARALLEL_SEARCH),
    "parallel-search-filtered": Scenario(
        "parallel", _searching("seeds", **_SPRING), _PARALLEL_SEARCH
    ),
    "parallel-search-content": Scenario(
        "parallel", _searching(_BARLEY, limit=1, country="DE", content=True), _PARALLEL_SEARCH
    ),
    "parallel-search-rate-limited": Scenario(
        "parallel",
        _searching("glacier lake", limit=1),
        _PARALLEL_SEARCH,
        fault={"status": 429, "retry_after": 0},
    ),
    "parallel-search-invalid": Scenario(
        "parallel", _searching(_BARLEY, limit=-1), _PARALLEL_SEARCH, fails=True
    ),
    **_named("parallel-search", _failures("parallel", _searching(_BARLEY), _PARALLEL_SEARCH)),
    "parallel-contents": Scenario(
        "parallel", _fetching(*_PAGES, text_max_characters=120), _PARALLEL_EXTRACT
    ),
    "parallel-contents-question": Scenario(
        "parallel", _fetching(*_PAGES, **_LOAN), _PARALLEL_EXTRACT
    ),
    "parallel-contents-all-failed": Scenario(
        "parallel", _fetching(_PAGES[1]), _PARALLEL_EXTRACT, fails=True
    ),
    "jina-contents": Scenario("jina", _fetching(*_PAGES, text_max_characters=120), _JINA),
    "jina-contents-keyless": Scenario(
        "jina",
        _fetching(_TEXT),
        _JINA,
        key=KEYLESS,
        fault={"status": 429, "retry_after": 0},
    ),
    "jina-contents-timeout": Scenario(
        "jina", _fetching(f"{DOCS}/special/timeout.html"), _JINA, fails=True
    ),
    **_named("jina-contents", _failures("jina", _fetching(_TEXT), _JINA)),
    "jina-search": Scenario("jina-search", _searching(_BARLEY, "qqqqzzzz"), _JINA),
    "jina-search-filtered": Scenario("jina-search", _searching("seeds", **_SPRING), _JINA),
    "jina-search-invalid": Scenario(
        "jina-search", _searching(_BARLEY, limit=-1), _JINA, fails=True
    ),
    **_named("jina-search", _failures("jina-search", _searching(_BARLEY), _JINA)),
    "context7-docs": Scenario("context7", _looking_up("json decoder hook"), _CONTEXT7),
    "context7-docs-moved": Scenario("context7", _looking_up("/cpython/unittest mock"), _CONTEXT7),
    "context7-docs-lost-version": Scenario("context7", _looking_up("json@v2.7 dumps"), _CONTEXT7),
    **_named("context7-docs", _failures("context7", _looking_up("json dumps"), _CONTEXT7)),
}

# --- what a cassette looks like ----------------------------------------------------------------


class CassetteYaml:
    """Writes cassettes to be read: JSON bodies as YAML, requests in a fixed order."""

    def __init__(self, heading: str = "") -> None:
        self._heading = heading

    def serialize(self, cassette: dict[str, Any]) -> str:
        plays = [_shown(play) for play in cassette["interactions"]]
        plays.sort(key=lambda play: json.dumps([play["request"]["uri"], play["request"]["body"]]))
        data = {"version": cassette["version"], "interactions": plays}
        text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
        if result := key_like(text):
            message = f"not saved, it holds what looks like a key: {', '.join(result)}"
            raise ValueError(message)
        return f"{self._heading}{text}"

    def deserialize(self, text: str) -> dict[str, Any]:
        cassette: dict[str, Any] = yaml.load(text, Loader=_Loader)
        for play in cassette["interactions"]:
            request, response = play["request"], play["response"]
            if isinstance(request["body"], dict):
                request["body"] = _compact(request["body"]["json"])
            if "json" in response["body"]:
                response["body"] = {"string": _compact(response["body"]["json"])}
        return cassette


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, "|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _shown(play: dict[str, Any]) -> dict[str, Any]:
    request, response = dict(play["request"]), dict(play["response"])
    if (body := _decoded(request["body"])) is not None:
        request["body"] = {"json": body}
    if (body := _decoded(response["body"]["string"])) is not None:
        response["body"] = {"json": body}
    return {"request": request, "response": response}


def _decoded(body: Any) -> Any:
    """Decode a body where writing it again gives the same text."""
    try:
        value = json.loads(body)
    except (TypeError, ValueError):
        return None
    return value if _compact(value) == body else None


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def cassette_settings(
    pairs: Sequence[tuple[str, str]] = (), secrets: Sequence[str] = ()
) -> dict[str, Any]:
    """Give the settings for recording and playing.

    Args:
        pairs: Texts to replace, each with what a cassette shows instead.
        secrets: Keys that may not be in a cassette.
    """
    clean = _cleaner([*pairs, *((secret, FILTERED) for secret in secrets)])

    def clean_request(request: RecordedRequest) -> RecordedRequest:
        request.uri = clean(request.uri)
        request.headers = _kept(request.headers, clean)
        request.body = _readable(request.body or b"", clean)
        return request

    def clean_response(response: dict[str, Any]) -> dict[str, Any]:
        response["headers"] = _kept(response["headers"], clean)
        response["body"]["string"] = _readable(response["body"]["string"], clean)
        return response

    return {
        "match_on": ("method", "uri", "body"),
        "decode_compressed_response": True,
        "before_record_request": clean_request,
        "before_record_response": clean_response,
    }


def _cleaner(pairs: Sequence[tuple[str, str]]) -> Callable[[str], str]:
    def clean(text: str) -> str:
        for real, output in pairs:
            text = text.replace(real, output)
        return text

    return clean


def _kept(headers: Mapping[str, Any], clean: Callable[[str], str]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, value in headers.items():
        if name.lower() in AUTH_HEADERS - {"cookie", "set-cookie"}:
            entries[name.lower()] = [FILTERED] if isinstance(value, list) else FILTERED
        elif name.lower() in _KEPT_HEADERS:
            values = [clean(item) for item in value] if isinstance(value, list) else clean(value)
            entries[name.lower()] = values
    return entries


def _readable(body: bytes, clean: Callable[[str], str]) -> bytes:
    """Remove secrets from a body; JSON is written compactly, without the balance of an account."""
    try:
        text = clean(body.decode())
        text = re.sub(r'("api_balance":\s*)"?[\d.]+"?', r"\g<1>10.0", text)
    except UnicodeDecodeError:
        return body
    try:
        return _compact(json.loads(text)).encode()
    except ValueError:
        return text.encode()


# --- checks ------------------------------------------------------------------------------------


def assert_played_whole(cassette: Cassette) -> None:
    """Refuse a cassette that is empty, or of which a part was not played."""
    assert len(cassette), "the cassette is empty or missing: run `make record`"
    assert cassette.all_played, f"only {cassette.play_count} of {len(cassette)} answers were played"


_TOKEN = r"[A-Za-z0-9._~+/=-]"
_KEY_PATTERNS = (
    r"test-key[\w-]*",
    rf"(?i)\b(?:bearer|bot|basic|token)\s+(?=\S*\d){_TOKEN}{{16,}}",
    (
        r"(?i)\b\w*(?:api[_-]?key|token|secret|password)[\"']?\s*[:=]\s*[\"']?"
        rf"(?=\S*\d){_TOKEN}{{16,}}"
    ),
    (
        r"\b(?:sk-|pplx-|ctx7sk-|BSA|tvly-|fc-|exa_|gh[opsu]_|github_pat_|xox[abp]-|AKIA|AIza|eyJ)"
        rf"(?=\S*\d){_TOKEN}{{12,}}"
    ),
)


def key_like(text: str) -> list[str]:
    """List what in a cassette's text looks like a key, as its first characters."""
    result = [match[0] for pattern in _KEY_PATTERNS for match in re.finditer(pattern, text)]
    result += [f"{name}: {value}" for name, value in _auth_values(yaml.load(text, Loader=_Loader))]
    return [f"{item[:20]}…" for item in result]


def _auth_values(value: Any) -> Iterator[tuple[str, str]]:
    """Find the values of headers that carry keys, wherever they stand."""
    if isinstance(value, list):
        for item in value:
            yield from _auth_values(item)
    if isinstance(value, dict):
        for name, item in value.items():
            if str(name).lower() in AUTH_HEADERS:
                values = item if isinstance(item, list) else [item]
                yield from ((str(name), str(entry)) for entry in values if entry != FILTERED)
            else:
                yield from _auth_values(item)


# --- recording ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Where answers come from.

    Attributes:
        name: What the first line of a cassette calls it.
        accounts: An account by type of provider.
        pairs: Texts of this source, each with what a cassette shows instead.
        prepare: Called before each recording.
    """

    name: str
    accounts: Mapping[str, Account]
    pairs: Sequence[tuple[str, str]]
    prepare: Callable[[Scenario], None]

    def send(self, request: Request, deadline: float) -> Response:
        """Send a request to this source although it names the hosts of a cassette."""
        outward = _cleaner([(output, real) for real, output in self.pairs])
        body = request.json and json.loads(outward(json.dumps(request.json)))
        transport = BlockingHTTP()
        try:
            sent = replace(request, url=outward(request.url), json=body)
            response = transport.send(sent, deadline)
        finally:
            transport.close()
        inward = _cleaner(self.pairs)(response.body.decode()).encode()
        # Shown otherwise it has another length, and would pass for one that broke off.
        headers = {k: v for k, v in response.headers.items() if k != "content-length"}
        return replace(response, body=inward, headers=headers)


@contextmanager
def sandbox_source() -> Iterator[Source]:
    with (
        mock.patch("webtools._internal.pipeline.retries.FIRST_DELAY", 0.0),
        SandboxServer(docs_url=DOCS, news_url=NEWS, today=WRITTEN_ON) as server,
    ):
        accounts = (
            Settings(load(json.dumps(server.config(*_OPTIONAL)), "the sandbox")).accounts().accounts
        )

        def prepare(scenario: Scenario) -> None:
            server.reset()
            if scenario.fault is not None:
                server.fault(**scenario.fault)

        python = ".".join(platform.python_version_tuple()[:2])
        yield Source(
            f"webtools_sandbox (documents: Python {python})",
            {account.type: account for account in accounts},
            # The longest first: one may begin another.
            sorted(((server.base_url(a.type), origin_of(a.type)) for a in accounts), reverse=True),
            prepare,
        )


@contextmanager
def live_source() -> Iterator[Source]:
    accounts = Settings().accounts().accounts
    instances = [a.base_url for a in accounts if PROVIDERS[a.type].about.url_variables]
    yield Source(
        "the live API",
        {account.type: account for account in reversed(accounts)},
        [
            *((url, INSTANCE) for url in instances),
            *((real, output) for output, real in _LIVE_HOSTS.items()),
        ],
        lambda _: None,
    )


def record(name: str, source: Source, folder: Path = CASSETTES) -> None:
    """Record one scenario; nothing is saved when it does not end as it should.

    Raises:
        ValueError: It failed although it should not, or the other way round.
    """
    scenario = SCENARIOS[name]
    account = scenario.account(source.accounts[scenario.provider])
    source.prepare(scenario)
    secrets = sorted(account.secrets, key=len, reverse=True)
    recorder = VCR(record_mode="all", record_on_exception=False, drop_unused_requests=True)
    recorder.register_serializer("yaml", CassetteYaml(_heading(source, scenario)))
    settings = cassette_settings(source.pairs, secrets)
    with recorder.use_cassette(str(folder / f"{name}.yaml"), **settings):
        ended = _outcome(scenario.flow(account), source)
        if isinstance(ended, WebToolsError) != scenario.fails:
            message = f"{name} did not end as it should: {ended}"
            raise ValueError(message)


def _heading(source: Source, scenario: Scenario) -> str:
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    return f"# Recorded from {source.name} on {day}. API: {scenario.page}\n"


def _outcome(flow: Awaitable[Any], source: Source) -> Any:
    try:
        return run(flow, source)
    except WebToolsError as error:
        return error


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.recording", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="NAME", help="cassettes; without, all")
    parser.add_argument("--live", action="store_true", help="ask the live APIs, with your keys")
    value = parser.parse_args(arguments)
    if unknown := [name for name in value.names if name not in SCENARIOS]:
        parser.error(f"no such cassette: {', '.join(unknown)}; known are {', '.join(SCENARIOS)}")
    with live_source() if value.live else sandbox_source() as source:
        for name in value.names or SCENARIOS:
            if reason := _reason_to_skip(SCENARIOS[name], source, live=value.live):
                print(f"{name}: kept, {reason}")  # noqa: T201
            else:
                record(name, source)
                print(f"{name}: recorded")  # noqa: T201
    return 0


def _reason_to_skip(scenario: Scenario, source: Source, *, live: bool) -> str:
    if live and not scenario.can_be_live:
        return "which only the sandbox can answer"
    if scenario.provider not in source.accounts:
        return f"no provider of type {scenario.provider} is configured"
    return ""


if __name__ == "__main__":
    sys.exit(main())
