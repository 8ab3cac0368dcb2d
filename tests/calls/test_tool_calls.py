"""Arguments of a model: lenient in spelling, strict in meaning, with clear errors."""

# ruff: noqa: E501  the carried-over descriptions have long lines

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from webtools._internal.text.dates import read_date
from webtools.client import WebTools
from webtools.errors import InputError
from webtools.tools import (
    CATEGORIES,
    READ,
    SEARCH,
    SUMMARIZE,
    SUMMARY_LANGUAGES,
    TOOLS,
    FetchInput,
    SearchInput,
    SummarizeInput,
    Tool,
    ToolInput,
    read_input,
)

A, B = "https://a.example/1", "https://b.example/2"
every_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS.keys())


def search(**arguments: Any) -> SearchInput:
    return read_input(SearchInput, arguments)


def fetch(**arguments: Any) -> FetchInput:
    return read_input(FetchInput, arguments)


def summarize(**arguments: Any) -> SummarizeInput:
    return read_input(SummarizeInput, arguments)


def refusal_of(model: type[ToolInput], arguments: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_input(model, arguments)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return str(caught.value)


# --- lenient in spelling -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        {"queries": ["a b"]},
        {"queries": "a b"},
        {"query": "a b"},
        {"query": ["a b"]},
        {"q": "a b"},
        {"Queries": "a b"},
        {"queries": '["a b"]'},
        {"queries": ' ["a b"] '},
        {"query": '["a b"]'},
        {"query": "a b", "queries": []},
        {"query": "a b", "queries": None},
        {"query": None, "queries": ["a b"]},
        {"query": [], "queries": ["a b"]},
        {"queries": ["a b", "a  b", " a\nb "]},
        {"queries": ["a\x1b[31m b\x00"]},
    ],
)
def test_one_query_may_be_written_in_many_ways(arguments: dict[str, Any]) -> None:
    assert search(**arguments).queries == ["a b"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"urls": [A, B]},
        {"urls": json.dumps([A, B])},
        {"url": [A, B]},
        {"urls": [f" {A} ", B, A]},
        {"url": A, "urls": [A, B]},
    ],
)
def test_urls_may_be_written_in_many_ways(arguments: dict[str, Any]) -> None:
    assert fetch(**arguments).urls == [A, B]


def test_camel_case_is_read() -> None:
    result = search(
        query="q",
        includeDomains="a.example",
        excludeDomains=["b.example"],
        startPublishedDate="2026-01-01",
        endPublishedDate="2026-02-01",
    )
    assert result.include_domains == ["a.example"]
    assert result.exclude_domains == ["b.example"]
    assert (result.start_published_date, result.end_published_date) == ("2026-01-01", "2026-02-01")
    assert fetch(url=A, textMaxCharacters="500").text_max_characters == 500
    found_summary = summarize(url=A, summaryType="takeaway", targetLanguage="de")
    assert (found_summary.summary_type, found_summary.target_language) == ("takeaway", "DE")


@every_tool
@pytest.mark.parametrize("nothing", [None, "", " ", 0, 0.0])
def test_an_empty_value_counts_as_absent(tool: Tool, nothing: Any) -> None:
    arguments = {tool.first_field: "0" * 32 if tool is READ else A}
    optional = tool.input_model.model_fields.keys() - arguments.keys()
    result = read_input(tool.input_model, arguments | dict.fromkeys(optional, nothing))
    assert result == read_input(tool.input_model, arguments)
    assert result.model_fields_set == {tool.first_field}


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("a.example", "a.example"),
        (" A.Example ", "a.example"),
        ("*.a.example", "a.example"),
        (".a.example.", "a.example"),
        (".gov", "gov"),
        ("co.uk", "co.uk"),
        ("https://a.example/", "a.example"),
        ("localhost", "localhost"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
    ],
)
def test_domains_are_read(given: str, read: str) -> None:
    assert search(query="q", include_domains=given).include_domains == [read]


def test_a_query_that_begins_with_a_bracket_is_a_query() -> None:
    assert search(query="[python] list of lists").queries == ["[python] list of lists"]
    assert search(query='["open').queries == ['["open']


# --- strict in meaning -------------------------------------------------------------------------

KNOWN_SEARCH = ", ".join(SearchInput.model_fields)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, "queries "),
        ({"queries": []}, "queries "),
        ({"queries": "[]"}, "queries "),
        ({"query": None}, "queries "),
        ({"query": ""}, 'query ""'),
        ({"query": " \n"}, 'query "  "'),
        ({"query": "\x1b[31m"}, 'query ""'),
        ({"queries": ["q", ""]}, 'query ""'),
        ({"query": 5}, 'queries "5"'),
        ({"queries": [5]}, 'queries "5"'),
        ({"queries": [None]}, 'queries "None"'),
        ({"queries": list("abcdefghijklmnopqrstu")}, "21"),
        ({"query": "q", "limit": -1}, 'limit "-1"'),
        ({"query": "q", "limit": 101}, 'limit "101"'),
        ({"query": "q", "limit": "abc"}, 'limit "abc"'),
        ({"query": "q", "limit": 2.5}, 'limit "2.5"'),
        ({"query": "q", "start_published_date": "yesterday"}, '"yesterday"'),
        ({"query": "q", "endPublishedDate": "2026-02-30"}, '"2026-02-30"'),
        (
            {
                "query": "q",
                "start_published_date": "2026-02-02",
                "end_published_date": "2026-02-01",
            },
            'end_published_date "2026-02-01"',
        ),
        ({"query": "q", "include_domains": ["a b"]}, '"a b"'),
        ({"query": "q", "exclude_domains": "me@a.example"}, '"me@a.example"'),
        ({"query": "q", "include_domains": ["http//a.example"]}, '"http//a.example"'),
        ({"query": "q", "include_domains": ["a.example/docs"]}, '"a.example/docs"'),
        ({"query": "q", "include_domains": ["a.example:80"]}, '"a.example:80"'),
        ({"query": "q", "limit": True}, 'limit "True"'),
        ({"query": "q", "page": False}, 'page "False"'),
        ({"query": "q", "category": "videos"}, ", ".join(CATEGORIES)),
        ({"query": "q", "max_results": 3}, KNOWN_SEARCH),
        *[
            ({"query": "q", name: 3}, 'did you mean "limit"?')
            for name in ("numResults", "k", "top_k")
        ],
        (
            {"query": "q", "includeDomain": "a.example", "qeury": "x"},
            '(did you mean "include_domains"?)',
        ),
        ({"query": "q", "api_key": "x"}, '"api_key"'),
        ({"query": "", "limit": -1}, 'limit "-1"'),
        ("rust", 'arguments "rust"'),
        (None, 'arguments "None"'),
    ],
)
def test_an_invalid_search_is_refused(arguments: Any, named: str) -> None:
    assert named in refusal_of(SearchInput, arguments)


BAD_URLS = [
    "",
    " ",
    "example",
    "/docs",
    "1.2",
    "a.b/ c",
    "x@a.example",
    "a..example",
    "ftp://a.example/",
    "https://",
    "http://a b/",
]


@pytest.mark.parametrize("url", [*BAD_URLS, "javascript:alert(1)", "https://a.example:99999/"])
def test_a_malformed_url_is_refused_by_name(url: str) -> None:
    message = f'"{url.strip()}" is not an absolute http(s) URL; write https://host/path.'
    assert refusal_of(FetchInput, {"urls": [A, url]}) == message
    assert refusal_of(SummarizeInput, {"url": url}) == message


@pytest.mark.parametrize(
    "url", ["python.org", "Docs.Python.org/3/?q=1#top", "a.example:8080/x", "münchen.example"]
)
def test_a_url_without_its_scheme_is_shown_with_one(url: str) -> None:
    for message in (
        refusal_of(FetchInput, {"urls": [A, url]}),
        refusal_of(SummarizeInput, {"url": url}),
        refusal_of(SearchInput, {"queries": [A, url], "similar": True}),
    ):
        assert f'"{url}"' in message
        assert f" https://{url}." in message


@pytest.mark.parametrize(
    ("model", "arguments", "named"),
    [
        (FetchInput, {}, "urls "),
        (FetchInput, {"urls": []}, "urls "),
        (FetchInput, {"urls": [f"{A}{i}" for i in range(101)]}, "101"),
        (FetchInput, {"url": A, "text_max_characters": 1_000_001}, 'text_max_characters "1000001"'),
        (FetchInput, {"url": A, "highlights": "perhaps"}, 'highlights "perhaps"'),
        (SummarizeInput, {}, "url "),
        (SummarizeInput, {"url": []}, 'url "[]"'),
        (SummarizeInput, {"url": [A, B]}, f"url \"['{A}', '{B}']\""),
        (SummarizeInput, {"url": A, "engine": "muriel"}, "'cecil' or 'agnes'"),
        (SummarizeInput, {"url": A, "summary_type": "poem"}, "'summary' or 'takeaway'"),
        (SummarizeInput, {"url": A, "target_language": "Klingon"}, " ".join(SUMMARY_LANGUAGES)),
        (SummarizeInput, {"url": A, "text": "x"}, ", ".join(SummarizeInput.model_fields)),
    ],
)
def test_an_invalid_call_is_refused(
    model: type[ToolInput], arguments: dict[str, Any], named: str
) -> None:
    assert named in refusal_of(model, arguments)


def test_a_refusal_shows_a_bounded_clean_value() -> None:
    message = refusal_of(FetchInput, {"url": "x\x1b[31m\n" + "y" * 10_000})
    assert message.startswith(f'"x {"y" * 98}…" ')


def test_a_list_of_more_than_1000_values_is_refused_unread() -> None:
    assert "1001" in refusal_of(SearchInput, {"queries": [0] * 1001})
    assert "1001" in refusal_of(SearchInput, {"queries": json.dumps([0] * 1001)})
    assert "1001" in refusal_of(SearchInput, {"query": "q", "include_domains": ["?"] * 1001})


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("2026-01-31", "2026-01-31"),
        ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00+00:00"),
        ("2026-01-31T10:00:00z", "2026-01-31T10:00:00+00:00"),
        ("2026-01-31T10:00:00+02:00", "2026-01-31T08:00:00+00:00"),
        ("2026-01-31T10:00:00", "2026-01-31T10:00:00+00:00"),
        ("2026-01-31 10:00", "2026-01-31T10:00:00+00:00"),
        ("", None),
        ("2026-1-31", None),
        ("2026-13-01", None),
        ("31.01.2026", None),
        ("Jan 31 26!", None),
        ("0001-01-01T00:00:00+14:00", None),
    ],
)
def test_dates_are_iso_8601(given: str, read: str | None) -> None:
    result = read_date(given)
    assert (result and result.isoformat()) == read


def test_nothing_is_sent_for_an_invalid_call(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(
        "webtools._internal.http.clients.BlockingHTTP.send",
        lambda *_: pytest.fail("something was sent"),
    )
    result = WebTools().call_tool("web_search", {"query": "q", "limit": -1})
    assert result.is_error
    assert 'limit "-1"' in result.text
    assert result.details["error"]["type"] == "InputError"


# --- errors for a model ------------------------------------------------------------------------


def subschemas(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [result for item in value for result in subschemas(item)]
    if isinstance(value, dict):
        return [value, *(result for item in value.values() for result in subschemas(item))]
    return []


@every_tool
def test_a_schema_is_flat(tool: Tool) -> None:
    schema = tool.input_model.model_json_schema()
    forbidden = {"anyOf", "oneOf", "allOf", "$ref", "$defs", "const", "not", "default"}
    forbidden |= {"minimum", "maximum", "minItems", "maxItems", "uniqueItems"}
    forbidden |= {"exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern"}
    for part in subschemas(schema):
        assert not forbidden & part.keys()
        assert part.get("type") != "null"
    json.dumps(schema, allow_nan=False)


# The carried-over descriptions, word for word; new lines may come between theirs.
SEEDS = {
    SEARCH.name: """\
Search the web for real-time information using one or more queries. Returns ranked results with titles, URLs, and any snippets.

When to use:
- Looking up documentation, APIs, libraries, or error messages you're unsure about
- Answering questions about recent events, releases, or data beyond your training cutoff
- Verifying assumptions or checking for updated best practices

Tips for effective queries:
- Write concise, keyword-focused queries — include the current year for time-sensitive topics
- Use multiple queries to cover different angles of a broad question
- Prefer specific technical terms over natural language when searching for code or docs

After using search results in your response, include a "Sources" section listing the URLs you referenced as markdown links, e.g.:
Sources:
- [Page Title](https://example.com)""",
    SUMMARIZE.name: """\
Summarize content from a URL. Works with web pages, PDFs, videos, podcasts, and other document types. Returns a concise summary to avoid consuming excessive context on long documents.

When to use:
- Digesting long documentation pages, release notes, or changelogs
- Getting key points from a video or podcast transcript
- Summarizing a PDF or technical paper
- Understanding a lengthy discussion thread or blog post

Parameters:
- url (required): The URL to summarize
- summary_type (optional): "summary" for paragraph prose (default), or "takeaway" for a bulleted list of key points
- engine (optional): Summarization engine — "cecil" (default) for fast general-purpose summaries, "agnes" for formal, technical, analytical summaries. Use agnes for technical docs, papers, and specs.
- target_language (optional): Language code for the output (e.g., "EN", "DE", "JA"). Defaults to the document's language.""",
}


@pytest.mark.parametrize("name", SEEDS)
def test_a_description_holds_the_carried_over_text_in_its_order(name: str) -> None:
    rest = iter(TOOLS[name].description.split("\n"))
    missing = [line for line in SEEDS[name].split("\n") if line not in rest]
    assert missing == []
