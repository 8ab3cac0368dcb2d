"""What every provider of the table must hold to, for each thing it can do.

The flows run over a transport that answers whatever a test gives it; a provider that is new in the
table is under test without a line here, and its recorded answers are what gets mutated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import offline
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from offline import IO, KEY, Stub, answer, detached, run
from recording import CASSETTES, SCENARIOS, CassetteYaml

from webtools import testing
from webtools._internal.late_imports import resolve
from webtools._internal.operations.search import search
from webtools.errors import WebToolsError
from webtools.messages import Response
from webtools.providers import PROVIDERS, Capability
from webtools.providers.error_tables import make_error
from webtools.providers.protocols import SearchQuery
from webtools.testing import URLS, ProviderConformance, outcome
from webtools.tools import ALL_TOOLS
from webtools.truncation import MAX_BYTES

TOOLS: dict[Capability, str] = {"search": "web_search", "fetch": "web_fetch"}
TOOLS |= {"summarize": "summarize"}
APIS = [kind for kind, services in PROVIDERS.items() if services.pages is None]  # all but direct
CASES = [(kind, able) for kind in APIS for able in PROVIDERS[kind].capabilities()]
ACCOUNTS = {kind: offline.account(kind) for kind in APIS}

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


# --- what comes out ----------------------------------------------------------------------------


def assert_sound(result: Any, able: Capability) -> None:
    """Refuse what the suite for all providers refuses, and what the tool would show badly."""
    testing.assert_sound(result)
    if able in TOOLS and not isinstance(result, WebToolsError):
        assert_shows_well(result, able)


def assert_shows_well(result: Any, able: Capability) -> None:
    for text in texts(result.model_dump(mode="json")):
        assert not CONTROL.search(text)
    assert (result.cost_usd or 0) >= 0
    assert getattr(result, "tokens", 0) >= 0
    output = run(resolve(ALL_TOOLS[TOOLS[able]].presenter)(result, IO), Stub())
    assert not CONTROL.search(output.text)
    assert len(output.text.encode()) <= MAX_BYTES + 1024
    json.dumps(output.details, allow_nan=False)


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


# --- what every provider must hold to -----------------------------------------------------------


class TestOurs(ProviderConformance):
    """The suite that authors of other providers run."""

    @pytest.fixture(params=APIS)
    def provider(self, request: pytest.FixtureRequest) -> Any:
        return PROVIDERS[request.param].provider

    @pytest.fixture
    def samples(self, provider: Any) -> dict[Capability, Any]:
        kind = provider.ABOUT.name
        return {able: recorded_sample(kind, able) for one, able in CASES if one == kind}

    @pytest.fixture
    def sample_urls(self) -> list[str]:
        return [f"https://{RECORDED_PAGE}"]

    @pytest.fixture
    def missing_fields(self, provider: Any) -> set[str]:
        return {
            "exa": {"snippet", "score"},
            "tavily": {"published_at"},
            "searxng": {"published_at", "author"},
            "firecrawl": {"published_at"},
        }.get(provider.ABOUT.name, set())


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "entities": lambda key: "".join(f"&#{ord(item)};" for item in key),
    "tags": "<b></b>".join,
    "invisible": "\u200b".join,
    "soft hyphens": "&shy;".join,
    "escapes": "\x1b[0m".join,
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_message_of_a_provider_ends_in_half_a_key(spelling: str) -> None:
    spelled = SPELLINGS[spelling](KEY)
    for before in range(480, 501):
        words = "e" * before + spelled
        result = str(make_error("Exa", answer(status=400), offline.account("exa"), [words]))
        mark = "…" if before + len("[redacted]") > 500 else ""
        assert f"eee{'[redacted]'[: 500 - before]}{mark}. " in result


# --- whatever may come -------------------------------------------------------------------------

NASTY = [
    "\x1b[31mred",
    "\x9b31m",
    "\x1b]8;;https://evil.example\x07",
    "\ud800",
    "a\u2028b\x85c\r\nd\te",
    "<b></b>",
    "&#27;[0m&#x9b;",
    "javascript:alert(1)",
    "https://user:word@a.example:99999/",
    "https://[::1/",
    "https://[1.2]/",
    "https://a\u2100b.example/",
    "https://a.example/\x00",
    "https://a.example/ b",
    "//a.example",
    "2026-13-45T99:99",
    "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00+14:00",
    "success",
    "error",
    "1e999",
    "-0",
    *URLS,
]
any_text = st.sampled_from(NASTY) | st.text(st.characters(exclude_categories=()), max_size=20)
any_scalar = (
    st.none() | st.booleans() | st.integers() | st.integers(-(10**400), 10**400) | st.floats()
)
any_key = st.sampled_from(
    str.split(
        "results data search news output tokens url title t id score error errors code message"
        " msg tag statuses status publishedDate highlights text summary author costDollars total"
        " warnings notices time published snippet httpStatusCode web locations name"
    )
)
any_json = st.recursive(
    any_scalar | any_text,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(any_key | any_text, inner, max_size=6)
    ),
    max_leaves=25,
)
any_status = st.sampled_from([200, 200, 200, 400, 401, 403, 429, 500, 503])
any_case = st.sampled_from(CASES)
thorough = settings(max_examples=100, deadline=None)


@thorough
@given(case=any_case, value=any_json, status=any_status)
def test_any_json_value_has_a_valid_outcome(
    case: tuple[str, Capability], value: Any, status: int
) -> None:
    assert_sound(outcome(ACCOUNTS[case[0]], case[1], answer(value, status)), case[1])


def recorded_bodies() -> list[tuple[str, Capability, int, Any]]:
    """Take every recorded JSON answer, with the provider and what it was asked for."""
    result: list[tuple[str, Capability, int, Any]] = []
    for name, scenario in SCENARIOS.items():
        text = (CASSETTES / f"{name}.yaml").read_text("utf-8")
        able = next(able for able, word in WORDS.items() if word in name)
        for play in CassetteYaml().deserialize(text)["interactions"]:
            response = play["response"]
            if response["body"]["string"].startswith("{"):
                body = json.loads(response["body"]["string"])
                result.append((scenario.provider, able, response["status"]["code"], body))
    return result


RECORDED_PAGE = "news.example/2026/05/seed-archive.html"


def recorded_sample(kind: str, able: Capability) -> tuple[Response, ...]:
    """Take what a provider responded in the recording of a plain call."""
    name = kind if kind.endswith(WORDS[able]) else f"{kind}{WORDS[able]}"
    text = (CASSETTES / f"{name}.yaml").read_text("utf-8")
    responses = [play["response"] for play in CassetteYaml().deserialize(text)["interactions"]]
    bodies = [
        response["body"]["string"] for response in responses if response["status"]["code"] == 200
    ]
    if able == "fetch":
        bodies = [body for body in bodies if RECORDED_PAGE in body]
    if able == "docs":
        bodies.reverse()  # a cassette is sorted by URL: the library is looked up first
    return tuple(answer(body=body.encode()) for body in bodies)


WORDS: dict[Capability, str] = {"search": "-search", "fetch": "-contents", "summarize": "-summary"}
WORDS |= {"docs": "-docs", "synthesize": "-synthesis"}
RECORDED = recorded_bodies()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """List the paths of all nodes of a JSON value."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*path, index))


def replace_at(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Copy a JSON value with the node at the path replaced."""
    if not path:
        return new
    head, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {**value, head: replace_at(value.get(head), rest, new)}
    if isinstance(value, list) and isinstance(head, int) and head < len(value):
        return [*value[:head], replace_at(value[head], rest, new), *value[head + 1 :]]
    return value  # an earlier change has taken the place away


@st.composite
def mutated_bodies(draw: st.DrawFn) -> tuple[str, Capability, int, Any]:
    kind, able, status, body = draw(st.sampled_from(RECORDED))
    for path in draw(st.lists(st.sampled_from(list(places(body))), min_size=1, max_size=3)):
        body = replace_at(body, path, draw(any_json))
    return kind, able, status, body


@settings(max_examples=200, deadline=None)
@given(mutated_bodies())
def test_a_recorded_answer_with_replaced_parts_has_a_valid_outcome(
    mutated: tuple[str, Capability, int, Any],
) -> None:
    kind, able, status, body = mutated
    assert_sound(outcome(ACCOUNTS[kind], able, answer(body, status)), able)


def hits(kind: str, *items: dict[str, Any]) -> Response:
    """Make an answer in which a provider, whichever it is, finds these."""
    pages = [item | {"fullurl": item["url"], "link": item["url"]} for item in items]
    data = items if kind == "jina-search" else {"search": items, "web": items}
    all_items = {"data": data, "web": {"results": items}}
    results = {"web": items} if kind == "you" else items
    return answer(all_items | {"results": results, "organic": pages, "query": {"pages": pages}})


FILTERED = SearchQuery(
    "q",
    5,
    include_domains=("a.example", "example.org"),
    exclude_domains=("b.example",),
    start_published_date=date(2020, 1, 1),
    end_published_date=date(2026, 12, 31),
)


@thorough
@given(
    kind=st.sampled_from([kind for kind, able in CASES if able == "search"]),
    url=any_text | st.from_regex(r"\Ahttps?://[^\s]{1,20}\Z"),
    when=any_text | any_scalar,
)
def test_local_filters_take_any_address_and_any_date(kind: str, url: str, when: Any) -> None:
    item = {"url": url, "title": "A", "publishedDate": when, "time": when, "date": when}
    try:
        response = run(search([ACCOUNTS[kind]], [FILTERED], detached()), Stub(hits(kind, item)))
    except WebToolsError as error:
        assert_sound(error, "search")
    else:
        assert_sound(response, "search")
