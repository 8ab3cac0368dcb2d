"""Record the cassettes that tests play, from the sandbox or from the live APIs.

    python tests/recording.py             record all of them from the sandbox
    python tests/recording.py exa-search  record only this one
    python tests/recording.py --live      record from the live APIs, with your own config and keys

A cassette contains the real hosts of the APIs and made-up hosts of documents. Tests match its
requests by method, URL and body. JSON bodies are written as YAML. Of the headers, only those that
a client reads are kept. After a live recording, `pytest --inline-snapshot=fix` updates the expected
results.
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
from typing import Any, TypeAlias
from unittest import mock

import yaml
from offline import IO, detached, run
from pydantic import SecretStr
from vcr import VCR
from vcr.cassette import Cassette
from vcr.request import Request as RecordedRequest

from webtools._internal.http.clients import BlockingHTTP
from webtools._internal.operations.fetch import fetch
from webtools._internal.operations.search import search
from webtools._internal.operations.summarize import summarize
from webtools.config import Settings, load
from webtools.errors import WebToolsError
from webtools.messages import Request, Response
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
# The sites that replace the made-up hosts in requests to the live APIs.
_LIVE_HOSTS = {"docs.example": "docs.python.org/3", "news.example": "blog.python.org"}

# --- scenarios -----------------------------------------------------------------------------------

_OPTIONAL = tuple(api.name for api in APIS if not api.is_default)  # not in the default config
WRONG_KEY, NO_CREDIT_KEY, KEYLESS = "wrong-key", "test-key-no-credit", ""
Flow: TypeAlias = Callable[[Account], Awaitable[Any]]


@dataclass(frozen=True)
class Scenario:
    """One call. Its cassette and its test have its name.

    Attributes:
        provider: Type of the provider.
        flow: The call.
        options: The provider's options for the call.
        key: API key to use instead of a valid one. Empty: no key.
        fault: The fault that the sandbox simulates.
        fails: Whether the call raises an error.
    """

    provider: str
    flow: Flow
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    key: str | None = None
    fault: Mapping[str, Any] | None = None
    fails: bool = False

    @property
    def can_be_live(self) -> bool:
        return self.fault is None and self.key != NO_CREDIT_KEY

    def account(self, base: Account) -> Account:
        """Return an account with the real origin of the API and with the scenario's settings."""
        options = dict(self.options)
        if self.key is not None:
            rest = {name: None for name, value in base.options if isinstance(value, SecretStr)}
            base = replace(base, api_key=SecretStr(self.key) if self.key else None)
            options = rest | options
        origin = origin_of(self.provider)
        changed_options = base.options.model_copy(update=options)
        return replace(base, name=self.provider, base_url=origin, options=changed_options)


def origin_of(kind: str) -> str:
    """Return the origin of an API in a cassette."""
    return PROVIDERS[kind].about.origin or INSTANCE


def _search(*queries: str, limit: int = 3, **filters: Any) -> Flow:
    return lambda account: search(
        [account], [SearchQuery(query, limit, **filters) for query in queries], detached()
    )


def _fetch(*urls: str, **options: Any) -> Flow:
    return lambda account: fetch([account], PageQuery(urls, **options), detached())


def _summarize(url: str, **options: Any) -> Flow:
    return lambda account: summarize([account], SummaryQuery(url, **options), detached())


def _docs(question: str, limit: int = 3) -> Flow:
    return partial(_call, "docs", DocsQuery(question, limit))


def _synthesize(question: str, *sources: Cited) -> Flow:
    return partial(_call, "synthesize", SynthesisQuery(question, sources))


async def _call(capability: Capability, query: Query, account: Account) -> Any:
    _, call = CALLS[capability]
    return await call(account, query, IO)


# The documentation of the recorded API, for the first line of a cassette. The longest prefix of the
# cassette's name applies.
_DOCUMENTATION = {
    "brave-search": "https://api-dashboard.search.brave.com/app/documentation/web-search/get-started",
    "brave-search-context": "https://api-dashboard.search.brave.com/app/documentation/llm-context",
    "context7-docs": "https://context7.com/docs/api-guide",
    "exa-contents": "https://exa.ai/docs/reference/get-contents",
    "exa-search": "https://exa.ai/docs/reference/search",
    "exa-search-similar": "https://exa.ai/docs/reference/find-similar-links",
    "firecrawl-contents": "https://docs.firecrawl.dev/api-reference/endpoint/scrape",
    "firecrawl-search": "https://docs.firecrawl.dev/api-reference/endpoint/search",
    "jina": "https://jina.ai/reader",
    "kagi": "https://kagi.com/api/docs",
    "kagi-summary": "https://help.kagi.com/kagi/api/summarizer.html",
    "kagi-v0-search": "https://help.kagi.com/kagi/api/search-legacy.html",
    "linkup-search": "https://docs.linkup.so/pages/documentation/endpoints/search/reference",
    "parallel-contents": "https://docs.parallel.ai/api-reference/extract/extract",
    "parallel-search": "https://docs.parallel.ai/api-reference/search/search",
    "perplexity-search": "https://docs.perplexity.ai/api-reference/search-post",
    "perplexity-synthesis": "https://docs.perplexity.ai/docs/agent-api",
    "searxng-search": "https://docs.searxng.org/dev/search_api.html",
    "serper-search": "https://serper.dev",
    "tavily-contents": "https://docs.tavily.com/documentation/api-reference/endpoint/extract",
    "tavily-search": "https://docs.tavily.com/documentation/api-reference/endpoint/search",
    "wikipedia-search": "https://www.mediawiki.org/wiki/API:Search",
    "you-search": "https://you.com/docs/api-reference/search/v1-search",
}
_V0 = {"search_api": "v0"}
_RATE_LIMITED = {"status": 429, "retry_after": 0}
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
_POOL = _synthesize(
    "When did the tidal pool open?",
    Cited(1, "Tidal pool", f"{NEWS}/1.html", "Vellmouth opened its tidal pool on Saturday."),
    Cited(2, "Night train", f"{NEWS}/2.html", "After nine years the night train is back."),
)


def _unusable_keys(prefix: str, provider: str, flow: Flow, **settings: Any) -> dict[str, Scenario]:
    """Return the scenarios of a key that is not accepted and of one without credit."""
    keys = {"wrong-key": WRONG_KEY, "no-credit": NO_CREDIT_KEY}
    return {
        f"{prefix}-{name}": Scenario(provider, flow, key=key, fails=True, **settings)
        for name, key in keys.items()
    }


SCENARIOS: dict[str, Scenario] = {
    "exa-search": Scenario("exa", _search(_BARLEY, "glacier lake")),
    "exa-search-filtered": Scenario(
        "exa", _search("seeds", **_SPRING), options={"search_highlights": True}
    ),
    "exa-search-invalid": Scenario("exa", _search(_BARLEY, limit=-1), fails=True),
    "exa-search-overloaded": Scenario(
        "exa", _search("glacier lake", limit=1), fault={"status": 503, "retry_after": 0}
    ),
    **_unusable_keys("exa-search", "exa", _search(_BARLEY)),
    "exa-contents": Scenario("exa", _fetch(*_PAGES, summary=True, text_max_characters=120)),
    "exa-contents-invalid": Scenario("exa", _fetch(*_PAGES, text_max_characters=-1), fails=True),
    "exa-contents-all-failed": Scenario("exa", _fetch(_PAGES[1]), fails=True),
    **_unusable_keys("exa-contents", "exa", _fetch(*_PAGES)),
    "exa-contents-question": Scenario("exa", _fetch(*_PAGES, **_LOAN)),
    "exa-search-similar": Scenario("exa", _search(_PAGES[0], similar=True, content=True, limit=2)),
    "kagi-search": Scenario("kagi", _search(_BARLEY, "glacier lake")),
    "kagi-search-filtered": Scenario("kagi", _search("seeds", **_SPRING)),
    "kagi-search-invalid": Scenario("kagi", _search(_BARLEY, limit=-1), fails=True),
    "kagi-search-rate-limited": Scenario(
        "kagi", _search("glacier lake", limit=1), fault=_RATE_LIMITED
    ),
    "kagi-search-html": Scenario(
        "kagi", _search(_BARLEY), fault={"status": 502, "body": "html", "times": 3}, fails=True
    ),
    **_unusable_keys("kagi-search", "kagi", _search(_BARLEY)),
    "kagi-search-content": Scenario(
        "kagi", _search(_BARLEY, limit=2, content=True, safe_search="off", country="DE", page=1)
    ),
    "kagi-contents": Scenario("kagi", _fetch(*_PAGES, text_max_characters=120)),
    "kagi-contents-all-failed": Scenario("kagi", _fetch(_PAGES[1]), fails=True),
    **_unusable_keys("kagi-contents", "kagi", _fetch(*_PAGES)),
    "kagi-v0-search": Scenario("kagi", _search(_BARLEY), options=_V0),
    **_unusable_keys("kagi-v0-search", "kagi", _search(_BARLEY), options=_V0),
    "kagi-summary": Scenario("kagi", _summarize(_TEXT)),
    "kagi-summary-takeaway": Scenario(
        "kagi", _summarize(_TEXT, summary_type="takeaway", engine="agnes", target_language="DE")
    ),
    "kagi-summary-invalid": Scenario("kagi", _summarize(_TEXT, engine="unknown"), fails=True),
    "kagi-summary-unreadable": Scenario("kagi", _summarize(f"{DOCS}/gone.html"), fails=True),
    **_unusable_keys("kagi-summary", "kagi", _summarize(_TEXT)),
    "brave-search": Scenario("brave", _search(_BARLEY, "glacier lake")),
    "brave-search-filtered": Scenario("brave", _search("seeds", **_SPRING)),
    "brave-search-german": Scenario("brave", _search("seeds", country="DE", language="ja", page=2)),
    "brave-search-context": Scenario("brave", _search(_BARLEY, content=True)),
    "brave-search-invalid": Scenario(
        "brave", _search(_BARLEY), options={"country": "XX"}, fails=True
    ),
    "brave-search-rate-limited": Scenario(
        "brave",
        _search("glacier lake", limit=1),
        fault={"status": 429, "headers": {"X-RateLimit-Reset": "0, 1419704"}},
    ),
    **_unusable_keys("brave-search", "brave", _search(_BARLEY)),
    "perplexity-search": Scenario("perplexity", _search(_BARLEY, "glacier lake")),
    "perplexity-search-filtered": Scenario("perplexity", _search("seeds", **_SPRING)),
    "perplexity-search-invalid": Scenario("perplexity", _search(_BARLEY, limit=-1), fails=True),
    **_unusable_keys("perplexity-search", "perplexity", _search(_BARLEY)),
    "perplexity-synthesis": Scenario("perplexity", _POOL),
    **_unusable_keys("perplexity-synthesis", "perplexity", _POOL),
    "tavily-search": Scenario("tavily", _search(_BARLEY, "glacier lake")),
    "tavily-search-filtered": Scenario("tavily", _search("seeds", **_SPRING)),
    "tavily-search-invalid": Scenario("tavily", _search(_BARLEY, limit=-1), fails=True),
    "tavily-search-keyless": Scenario("tavily", _search(_BARLEY), key=KEYLESS, fault=_RATE_LIMITED),
    "tavily-search-german": Scenario(
        "tavily", _search(_BARLEY, limit=1, country="DE", content=True)
    ),
    **_unusable_keys("tavily-search", "tavily", _search(_BARLEY)),
    "tavily-contents": Scenario("tavily", _fetch(*_PAGES, text_max_characters=120)),
    "tavily-contents-all-failed": Scenario("tavily", _fetch(_PAGES[1]), fails=True),
    "wikipedia-search": Scenario("wikipedia", _search(_BARLEY, "glacier lake", "qqqqzzzz")),
    "wikipedia-search-filtered": Scenario("wikipedia", _search("seeds", **_SPRING)),
    "wikipedia-search-page": Scenario("wikipedia", _search(_BARLEY, limit=1, page=2)),
    "wikipedia-search-invalid": Scenario("wikipedia", _search(_BARLEY, limit=-1), fails=True),
    "searxng-search": Scenario(
        "searxng", _search(_BARLEY, "glacier lake"), options={"engines": ["library", "unknown"]}
    ),
    "searxng-search-filtered": Scenario(
        "searxng", _search("seeds", **{**_SPRING, "start_published_date": None})
    ),
    "searxng-search-no-json": Scenario(
        "searxng", _search(_BARLEY), fault={"status": 403, "body": "html"}, fails=True
    ),
    "serper-search": Scenario("serper", _search(_BARLEY, "glacier lake")),
    "serper-search-filtered": Scenario("serper", _search("seeds", **_SPRING)),
    "serper-search-invalid": Scenario("serper", _search(_BARLEY, limit=-1), fails=True),
    "serper-search-rate-limited": Scenario(
        "serper", _search("glacier lake", limit=1), fault=_RATE_LIMITED
    ),
    **_unusable_keys("serper-search", "serper", _search(_BARLEY)),
    "you-search": Scenario("you", _search(_BARLEY, "latest glacier news")),
    "you-search-filtered": Scenario("you", _search("seeds", **_SPRING)),
    "you-search-german": Scenario(
        "you", _search(_BARLEY, limit=1, country="DE", language="de", content=True, page=1)
    ),
    "you-search-keyless": Scenario("you", _search(_BARLEY), key=KEYLESS, fault=_RATE_LIMITED),
    "you-search-invalid": Scenario(
        "you", _search(_BARLEY), options={"country": "Germany"}, fails=True
    ),
    **_unusable_keys("you-search", "you", _search(_BARLEY)),
    "firecrawl-search": Scenario("firecrawl", _search(_BARLEY, "glacier lake")),
    "firecrawl-search-filtered": Scenario("firecrawl", _search("seeds", **_SPRING)),
    "firecrawl-search-content": Scenario(
        "firecrawl", _search(_BARLEY, limit=1, country="DE", content=True)
    ),
    "firecrawl-search-keyless": Scenario("firecrawl", _search(_BARLEY), key=KEYLESS),
    "firecrawl-search-invalid": Scenario(
        "firecrawl", _search(_BARLEY), options={"country": "Germany"}, fails=True
    ),
    **_unusable_keys("firecrawl-search", "firecrawl", _search(_BARLEY)),
    "firecrawl-contents": Scenario("firecrawl", _fetch(*_PAGES, text_max_characters=120)),
    "firecrawl-contents-timeout": Scenario(
        "firecrawl", _fetch(f"{DOCS}/special/timeout.html"), fails=True
    ),
    "linkup-search": Scenario("linkup", _search(_BARLEY, "glacier lake", "qqqqzzzz")),
    "linkup-search-filtered": Scenario("linkup", _search("seeds", **_SPRING)),
    "linkup-search-rate-limited": Scenario(
        "linkup", _search("glacier lake", limit=1), fault=_RATE_LIMITED
    ),
    "linkup-search-invalid": Scenario("linkup", _search(_BARLEY, limit=-1), fails=True),
    **_unusable_keys("linkup-search", "linkup", _search(_BARLEY)),
    "parallel-search": Scenario("parallel", _search(_BARLEY, "glacier lake")),
    "parallel-search-filtered": Scenario("parallel", _search("seeds", **_SPRING)),
    "parallel-search-content": Scenario(
        "parallel", _search(_BARLEY, limit=1, country="DE", content=True)
    ),
    "parallel-search-rate-limited": Scenario(
        "parallel", _search("glacier lake", limit=1), fault=_RATE_LIMITED
    ),
    "parallel-search-invalid": Scenario("parallel", _search(_BARLEY, limit=-1), fails=True),
    **_unusable_keys("parallel-search", "parallel", _search(_BARLEY)),
    "parallel-contents": Scenario("parallel", _fetch(*_PAGES, text_max_characters=120)),
    "parallel-contents-question": Scenario("parallel", _fetch(*_PAGES, **_LOAN)),
    "parallel-contents-all-failed": Scenario("parallel", _fetch(_PAGES[1]), fails=True),
    "jina-contents": Scenario("jina", _fetch(*_PAGES, text_max_characters=120)),
    "jina-contents-keyless": Scenario("jina", _fetch(_TEXT), key=KEYLESS, fault=_RATE_LIMITED),
    "jina-contents-timeout": Scenario("jina", _fetch(f"{DOCS}/special/timeout.html"), fails=True),
    **_unusable_keys("jina-contents", "jina", _fetch(_TEXT)),
    "jina-search": Scenario("jina-search", _search(_BARLEY, "qqqqzzzz")),
    "jina-search-filtered": Scenario("jina-search", _search("seeds", **_SPRING)),
    "jina-search-invalid": Scenario("jina-search", _search(_BARLEY, limit=-1), fails=True),
    **_unusable_keys("jina-search", "jina-search", _search(_BARLEY)),
    "context7-docs": Scenario("context7", _docs("json decoder hook")),
    "context7-docs-moved": Scenario("context7", _docs("/cpython/unittest mock")),
    "context7-docs-lost-version": Scenario("context7", _docs("json@v2.7 dumps")),
    **_unusable_keys("context7-docs", "context7", _docs("json dumps")),
}

# --- the format of cassettes -------------------------------------------------------------------


class CassetteYaml:
    """Serializer of readable cassettes: JSON bodies as YAML, requests in a fixed order."""

    def __init__(self, heading: str = "") -> None:
        self._heading = heading

    def serialize(self, cassette: dict[str, Any]) -> str:
        interactions = [_with_json(interaction) for interaction in cassette["interactions"]]
        interactions.sort(key=_request_text)
        data = {"version": cassette["version"], "interactions": interactions}
        text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
        if result := key_like(text):
            message = f"The cassette was not saved. It seems to contain a key: {', '.join(result)}"
            raise ValueError(message)
        return f"{self._heading}{text}"

    def deserialize(self, text: str) -> dict[str, Any]:
        cassette: dict[str, Any] = yaml.load(text, Loader=_Loader)
        for interaction in cassette["interactions"]:
            request, response = interaction["request"], interaction["response"]
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


def _with_json(interaction: dict[str, Any]) -> dict[str, Any]:
    request, response = dict(interaction["request"]), dict(interaction["response"])
    if (body := _json_or_none(request["body"])) is not None:
        request["body"] = {"json": body}
    if (body := _json_or_none(response["body"]["string"])) is not None:
        response["body"] = {"json": body}
    return {"request": request, "response": response}


def _request_text(interaction: dict[str, Any]) -> str:
    request = interaction["request"]
    return json.dumps([request["uri"], request["body"]])


def _json_or_none(body: Any) -> Any:
    """Decode a JSON body if `_compact` writes the same text."""
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
    """Return the settings of VCR for recording and playing.

    Args:
        pairs: Texts to replace, each with its replacement.
        secrets: Keys to remove.
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
        for old, new in pairs:
            text = text.replace(old, new)
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
    """Remove secrets and the balance of the account from a body. Write JSON compactly."""
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
    """Fail if a cassette is empty, or if some of its responses were not played."""
    assert len(cassette), "The cassette is empty or missing. Run `make record`."
    count = f"{cassette.play_count} of {len(cassette)}"
    assert cassette.all_played, f"Only {count} responses were played."


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
    """Return the first characters of each text in a cassette that looks like a key."""
    result = [match[0] for pattern in _KEY_PATTERNS for match in re.finditer(pattern, text)]
    result += [f"{name}: {value}" for name, value in _auth_values(yaml.load(text, Loader=_Loader))]
    return [f"{item[:20]}…" for item in result]


def _auth_values(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the values of headers that contain keys, at any depth."""
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
    """The server that responses are recorded from.

    Attributes:
        name: Its name in the first line of a cassette.
        accounts: Its accounts by type of provider.
        pairs: Texts in its requests and responses, each with its replacement in a cassette.
        prepare: Called before each recording.
    """

    name: str
    accounts: Mapping[str, Account]
    pairs: Sequence[tuple[str, str]]
    prepare: Callable[[Scenario], None]

    def send(self, request: Request, deadline: float) -> Response:
        """Send a request for the hosts of a cassette to this source."""
        to_source = _cleaner([(shown, real) for real, shown in self.pairs])
        body = request.json and json.loads(to_source(json.dumps(request.json)))
        transport = BlockingHTTP()
        try:
            request = replace(request, url=to_source(request.url), json=body)
            response = transport.send(request, deadline)
        finally:
            transport.close()
        content = _cleaner(self.pairs)(response.body.decode()).encode()
        # The replacements change the length. With the old one, the body would look truncated.
        headers = {k: v for k, v in response.headers.items() if k != "content-length"}
        return replace(response, body=content, headers=headers)


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
            # Longest first, because one URL may be a prefix of another.
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


def call(name: str, source: Source) -> Any:
    """Run the call of a scenario and return its result.

    Raises:
        WebToolsError: The call failed.
    """
    scenario = SCENARIOS[name]
    source.prepare(scenario)
    return run(scenario.flow(scenario.account(source.accounts[scenario.provider])), source)


def record(name: str, source: Source, folder: Path = CASSETTES) -> None:
    """Record one scenario. Save nothing if it does not end as expected.

    Raises:
        ValueError: The call failed unexpectedly, or succeeded unexpectedly.
    """
    scenario = SCENARIOS[name]
    account = scenario.account(source.accounts[scenario.provider])
    secrets = sorted(account.secrets, key=len, reverse=True)
    recorder = VCR(record_mode="all", record_on_exception=False, drop_unused_requests=True)
    recorder.register_serializer("yaml", CassetteYaml(_heading(name, source)))
    settings = cassette_settings(source.pairs, secrets)
    with recorder.use_cassette(str(folder / f"{name}.yaml"), **settings):
        outcome = _outcome(name, source)
        if isinstance(outcome, WebToolsError) != scenario.fails:
            raise ValueError(f"{name} did not end as expected: {outcome}")


def _heading(name: str, source: Source) -> str:
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    prefix = max((prefix for prefix in _DOCUMENTATION if name.startswith(prefix)), key=len)
    return f"# Recorded from {source.name} on {day}. API: {_DOCUMENTATION[prefix]}\n"


def _outcome(name: str, source: Source) -> Any:
    try:
        return call(name, source)
    except WebToolsError as error:
        return error


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python tests/recording.py", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="NAME", help="cassettes (default: all)")
    parser.add_argument("--live", action="store_true", help="use the live APIs and your keys")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in SCENARIOS]:
        parser.error(f"Unknown names: {', '.join(unknown)}. Use: {', '.join(SCENARIOS)}")
    with live_source() if options.live else sandbox_source() as source:
        for name in options.names or SCENARIOS:
            if reason := _reason_to_skip(SCENARIOS[name], source, live=options.live):
                print(f"{name}: skipped, {reason}")  # noqa: T201
            else:
                record(name, source)
                print(f"{name}: recorded")  # noqa: T201
    return 0


def _reason_to_skip(scenario: Scenario, source: Source, *, live: bool) -> str:
    if live and not scenario.can_be_live:
        return "only the sandbox can simulate it"
    if scenario.provider not in source.accounts:
        return f"no provider of type {scenario.provider} is configured"
    return ""


if __name__ == "__main__":
    sys.exit(main())
