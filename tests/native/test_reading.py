"""What a vendor searched is read from whatever it sent."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vendor_responses import MAKERS, OTHER, SENTENCE, URL, anthropic, anthropic_blocks, google, xai
from vendor_responses import openai as openai_response

from webtools import WebTools
from webtools.native import VENDORS, NativeError, NativeSearches, NativeSource, read_response

each_vendor = pytest.mark.parametrize("vendor", VENDORS)


def read(vendor: str, response: Any) -> NativeSearches:
    return read_response(vendor, response)


# --- whole responses ---------------------------------------------------------------------------


@each_vendor
def test_a_documented_response_is_read_whole(vendor: str) -> None:
    found = read(vendor, MAKERS[vendor]())
    assert found.text.endswith(SENTENCE)
    assert found.queries[0] == "café zénith horaires"
    assert [source.url for source in found.sources] == [URL, OTHER]
    assert found.searches == (2 if vendor in {"google", "xai"} else 1)
    assert found.cost_usd
    assert (found.errors, found.stop, found.warnings, found.pending) == ((), "", (), 0)


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "google", "xai"])
def test_a_citation_has_the_characters_of_the_answer(vendor: str) -> None:
    [citation] = read(vendor, MAKERS[vendor]()).citations
    found = read(vendor, MAKERS[vendor]())
    assert citation.url == URL
    cited = found.text[citation.start : citation.end]
    assert cited == (SENTENCE if vendor == "anthropic" else "café Zénith")


@pytest.mark.parametrize(
    ("vendor", "usd", "is_estimated"),
    [
        ("openai", 0.01, True),
        ("anthropic", 0.01, True),
        ("google", 0.028, True),
        ("xai", 0.02923315, False),
        ("groq", 0.005, True),
        ("perplexity", 0.0025, False),
    ],
)
def test_the_cost_is_stated_or_marked_as_an_estimate(
    vendor: str, usd: float, is_estimated: bool
) -> None:
    found = read(vendor, MAKERS[vendor]())
    assert found.cost_usd == pytest.approx(usd)
    assert found.is_cost_estimated == is_estimated
    assert found.cost_has_tokens == (vendor == "xai")


def test_gemini_2_charges_for_a_response_and_gemini_3_for_each_query() -> None:
    assert read("google", google(modelVersion="gemini-2.5-flash")).cost_usd == 0.035
    assert read("google", google(modelVersion="models/gemini-3.5-flash")).cost_usd == 0.028


def test_a_model_of_unknown_price_is_estimated_at_the_highest() -> None:
    assert read("openai", openai_response(model="gpt-99")).cost_usd == 0.025


def test_the_tag_that_openai_adds_to_urls_is_removed_and_other_parameters_stay() -> None:
    response = openai_response()
    note = response["output"][2]["content"][0]["annotations"][0]
    for tagged, plain in (
        (f"{URL}?utm_source=openai", URL),
        (f"{OTHER}&utm_source=openai#a", f"{OTHER}#a"),
        (f"{URL}?utm_source=openai_x", f"{URL}?utm_source=openai_x"),
    ):
        note["url"] = tagged
        assert read("openai", response).citations[0].url == plain


def test_a_feed_without_a_url_is_reported() -> None:
    response = openai_response()
    response["output"][0]["action"]["sources"].append({"type": "oai-weather"})
    assert "oai-weather" in " ".join(read("openai", response).warnings)


def test_a_page_that_a_model_named_is_not_a_source() -> None:
    response = openai_response()
    response["output"][1]["action"]["url"] = "https://model.example/secret"
    found = read("openai", response)
    assert found.opened == ("https://model.example/secret",)
    assert found.opened[0] not in [source.url for source in found.sources]


def with_opened(vendor: str, url: str) -> dict[str, Any]:
    """Return a response in which the model has a page opened and cites it, or lists it."""
    response = MAKERS[vendor]()
    note = {"type": "url_citation", "url": url, "title": "Made up"}
    if vendor in {"openai", "xai"}:
        response["output"][1]["action"]["url"] = url
        response["output"][2]["content"][0]["annotations"].append(note)
        response.setdefault("citations", []).append(url)
    elif vendor == "perplexity":
        response["output"].insert(0, {"type": "fetch_url_results", "contents": [{"url": url}]})
        response["output"][-1]["content"][0]["annotations"].append(note)
    elif vendor == "anthropic":
        page = {"type": "web_fetch_result", "url": url}
        response["content"].insert(0, {"type": "web_fetch_tool_result", "content": page})
        response["content"][-1]["citations"].append(note)
    elif vendor == "groq":
        tool = {"type": "visit_website", "arguments": {"url": url}}
        tool["search_results"] = {"results": [{"url": url}]}
        response["choices"][0]["message"]["executed_tools"].append(tool)
    else:
        [candidate] = response["candidates"]
        opened = {"retrievedUrl": url, "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"}
        candidate["urlContextMetadata"] = {"urlMetadata": [opened]}
        candidate["groundingMetadata"]["groundingChunks"].append({"web": {"uri": url}})
    return response


@each_vendor
@pytest.mark.parametrize("end", ["", "/", "#part"])
def test_a_page_that_a_model_made_up_is_not_seen_though_it_is_cited(vendor: str, end: str) -> None:
    made_up = f"https://model.example/secret{end}"
    searches = read(vendor, with_opened(vendor, made_up))
    assert made_up in searches.opened
    assert made_up in [source.url for source in searches.sources]
    with WebTools({"providers": [{"name": "direct", "type": "direct"}]}) as web:
        session = web.session(fetch="seen")
        session.record_native(**searches.record())
        later = web.session(fetch="seen", state=session.state())
        assert made_up in [source.url for source in session.sources]
        for each in (session, later):
            assert not each.has_seen(made_up)
            # The others state only what the answer cites, which a model may have opened before.
            assert each.has_seen(OTHER) == (vendor not in {"google", "xai"})


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
@pytest.mark.parametrize("end", ["/", "//", "#bits", "?", "%2F", "&"])
def test_of_a_page_that_was_found_the_spelling_of_the_answer_is_not_seen(
    vendor: str, end: str
) -> None:
    response = MAKERS[vendor]()
    text = json.dumps(response)
    at = text.rindex(URL)  # a citation, behind the results
    response = json.loads(text[:at] + text[at:].replace(URL, URL + end))
    searches = read(vendor, response)
    assert any(url.startswith(URL + end) for url in searches.unlisted)
    with WebTools({"providers": [{"name": "direct", "type": "direct"}]}) as web:
        session = web.session(fetch="seen")
        session.record_native(**searches.record())
        seen = session._core.history.find(URL + end)
        assert session.has_seen(URL)
        assert seen is None or seen.url == URL


def with_query(value: Any, query: str) -> Any:
    """Return a response with another query, also where it is in JSON."""
    if isinstance(value, dict):
        return {key: with_query(item, query) for key, item in value.items()}
    if isinstance(value, list):
        return [with_query(item, query) for item in value]
    old = "café zénith horaires"
    if value == old or not isinstance(value, str):
        return query if value == old else value
    return value.replace(old, json.dumps(query)[1:-1])


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "groq"])
@pytest.mark.parametrize(
    "query",
    ["{}", "open <b a={}> it", "open \x1b]{}", "\x9b{}", "<p x='{}'/>", "<i>{}</i>", "&#x{}"],
)
def test_a_page_that_a_query_names_in_what_looks_like_markup_is_not_seen(
    vendor: str, query: str
) -> None:
    searches = read(vendor, with_query(MAKERS[vendor](), query.format(URL)))
    assert URL in searches.queries[0]
    with WebTools({"providers": [{"name": "direct", "type": "direct"}]}) as web:
        session = web.session(fetch="seen")
        session.record_native(**searches.record())
        assert not session.has_seen(URL)


def test_a_page_that_one_of_two_queries_names_is_not_seen() -> None:
    responses = {vendor: MAKERS[vendor]() for vendor in ("openai", "groq", "anthropic")}
    action = next(item["action"] for item in responses["openai"]["output"] if "action" in item)
    action |= {"query": "x", "queries": [URL]}
    [tool] = responses["groq"]["choices"][0]["message"]["executed_tools"]
    tool["arguments"] = json.dumps({"query": "x", "queries": [URL]})
    call = next(b for b in responses["anthropic"]["content"] if b["type"] == "server_tool_use")
    call |= {"input": {"query": "x"}, "partial_json": json.dumps({"query": URL})}
    for vendor, response in responses.items():
        assert {"x", URL} <= {*read(vendor, response).queries}


@pytest.mark.parametrize("tag", ["", "&utm_source=openai"])
@pytest.mark.parametrize("name", ["input", "partial_json"])
def test_a_page_that_the_vendor_could_not_open_is_not_seen_when_it_is_found(
    tag: str, name: str
) -> None:
    made_up = "https://model.example/?d=secret"
    response = MAKERS["anthropic"]()
    given = {"url": made_up + tag}
    call = {"type": "server_tool_use", "id": "f", "name": "web_fetch", "input": {}}
    call[name] = given if name == "input" else json.dumps(given)
    found = {"type": "web_search_result", "url": made_up}
    response["content"][:0] = [
        call,
        {"type": "web_fetch_tool_result", "tool_use_id": "f", "content": {"error_code": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [found]},
    ]
    assert made_up in read("anthropic", response).unlisted


@pytest.mark.parametrize("kind", ["browser_search", "browser.find", "search"])
@pytest.mark.parametrize("arguments", [{"pattern": "x", "cursor": 3}, {"id": 3}, {}])
def test_what_a_tool_without_a_query_returns_is_not_seen(
    kind: str, arguments: dict[str, Any]
) -> None:
    response = MAKERS["groq"]()
    found = {"results": [{"url": "https://model.example/secret"}]}
    tool = {"type": kind, "arguments": arguments, "search_results": found}
    response["choices"][0]["message"]["executed_tools"].append(tool)
    searches = read("groq", response)
    assert searches.unlisted == ("https://model.example/secret",)
    assert searches.searches == 1


def test_what_a_search_of_google_returns_is_seen() -> None:
    response = google()
    redirect = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AUZ"
    for chunk in response["candidates"][0]["groundingMetadata"]["groundingChunks"]:
        chunk["web"]["uri"] = redirect
    assert read("google", response).unlisted == ()


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_what_was_opened_in_one_response_is_not_seen_when_another_one_cites_it(vendor: str) -> None:
    made_up = "https://model.example/secret"
    first = read(vendor, with_opened(vendor, made_up))
    note = {"type": "url_citation", "url": made_up, "title": "x", "start_index": 0, "end_index": 1}
    later = read(
        "openai",
        {"output": [{"type": "message", "content": [{"text": "It is.", "annotations": [note]}]}]},
    )
    with WebTools({"providers": [{"name": "direct", "type": "direct"}]}) as web:
        session = web.session(fetch="seen")
        for searches in (first, later, later):
            session.record_native(**searches.record())
        assert made_up in [source.url for source in session.sources]
        assert not session.has_seen(made_up)
        assert not web.session(fetch="seen", state=session.state()).has_seen(made_up)


def listed_later(vendor: str, url: str) -> dict[str, Any]:
    """Return a search of the vendor that lists a page."""
    if vendor == "openai":
        action = {"type": "search", "query": "q", "sources": [{"type": "url", "url": url}]}
        return {"output": [{"type": "web_search_call", "status": "completed", "action": action}]}
    if vendor == "perplexity":
        return {"output": [{"type": "search_results", "results": [{"url": url}]}]}
    if vendor == "anthropic":
        found = [{"type": "web_search_result", "url": url, "title": "x"}]
        return {"content": [{"type": "web_search_tool_result", "content": found}]}
    tool = {"type": "search", "arguments": {"query": "q"}, "search_results": {"results": []}}
    tool["search_results"]["results"].append({"url": url})  # type: ignore[index]
    return {"executed_tools": [tool]}


@pytest.mark.parametrize("vendor", ["openai", "perplexity", "anthropic", "groq"])
@pytest.mark.parametrize("host", ["model.example", "MODEL.example", "model.example:443"])
def test_a_page_that_a_model_made_up_is_not_seen_though_a_later_search_lists_it(
    vendor: str, host: str
) -> None:
    response = with_opened(vendor, "https://model.example/secret")
    later = listed_later(vendor, f"https://{host}/secret")
    place = response["choices"][0]["message"] if vendor == "groq" else response
    for name, blocks in later.items():
        place[name] += blocks
    with WebTools({"providers": [{"name": "direct", "type": "direct"}]}) as web:
        session = web.session(fetch="seen")
        session.record_native(**read(vendor, response).record())
        assert not session.has_seen("https://model.example/secret")


def test_a_result_that_was_opened_is_seen() -> None:
    searches = read("openai", MAKERS["openai"]())
    assert searches.opened == (URL,)
    assert searches.unlisted == ()


def test_the_same_blocks_without_a_response_are_read() -> None:
    found = read("anthropic", anthropic_blocks())
    assert (found.searches, found.is_count_estimated) == (1, True)
    assert read("openai", openai_response()["output"]).queries == ("café zénith horaires",)


def test_a_zero_span_is_no_span() -> None:
    response = xai()
    note = response["output"][2]["content"][0]["annotations"][0]
    note |= {"start_index": 0, "end_index": 0, "title": note["url"]}
    [citation] = read("xai", response).citations
    assert (citation.start, citation.end, citation.title) == (None, None, "")


# --- counts and errors -------------------------------------------------------------------------


def test_a_search_without_a_result_is_pending_and_counted_with_the_next_message() -> None:
    call, result = anthropic_blocks()[1:3]
    first = read("anthropic", anthropic(content=[call], usage={}))
    second = read("anthropic", anthropic(content=[result], usage={}))
    assert (first.pending, first.searches, first.queries) == (1, 0, ("café zénith horaires",))
    assert (second.pending, second.searches, len(second.sources)) == (0, 1, 2)


def test_a_count_that_is_lower_than_the_results_is_not_believed() -> None:
    usage = {"server_tool_use": {"web_search_requests": 0}}
    found = read("anthropic", anthropic(usage=usage))
    assert (found.searches, found.is_count_estimated) == (1, True)


@pytest.mark.parametrize(
    "code",
    ["too_many_requests", "max_uses_exceeded", "query_too_long", "unavailable", "a_new_code"],
)
@pytest.mark.parametrize("is_list", [False, True])
def test_an_error_in_a_result_is_an_error_and_free(code: str, is_list: bool) -> None:
    blocks = anthropic_blocks()
    error = {"type": "web_search_tool_result_error", "error_code": code}
    blocks[2]["content"] = [error] if is_list else error
    found = read("anthropic", anthropic(content=blocks, usage={}))
    assert found.errors == (NativeError(code),)
    assert (found.searches, found.cost_usd, found.is_cost_estimated) == (0, 0, False)


@each_vendor
def test_an_error_in_a_response_with_status_200_is_an_error(vendor: str) -> None:
    found = read(vendor, {"error": {"code": "overloaded", "message": "try\x1b[1m later"}})
    assert found.errors == (NativeError("overloaded", "try later"),)
    assert (found.searches, found.cost_usd) == (0, 0)


def test_other_searches_of_tools_are_not_counted() -> None:
    call = {"type": "server_tool_use", "id": "t", "name": "tool_search_tool_regex", "input": {}}
    result = {"type": "tool_search_tool_result", "tool_use_id": "t", "content": []}
    found = read("anthropic", anthropic(content=[call, result], usage={}))
    assert (found.searches, found.pending) == (0, 0)


@pytest.mark.parametrize(
    ("vendor", "fields", "stop"),
    [
        ("anthropic", {"stop_reason": "pause_turn"}, "pause_turn"),
        ("anthropic", {"stop_reason": "tool_use"}, ""),
        ("openai", {"status": "incomplete"}, "incomplete"),
        (
            "openai",
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "max_output_tokens",
        ),
        ("perplexity", {"status": "failed", "output": []}, "failed"),
    ],
)
def test_an_incomplete_answer_says_why(vendor: str, fields: dict[str, Any], stop: str) -> None:
    assert read(vendor, MAKERS[vendor](**fields)).stop == stop


# --- what others may send ----------------------------------------------------------------------

BAD_VALUES = st.sampled_from(
    [
        None,
        [],
        {},
        "",
        "x" * 5000,
        -1,
        0,
        10**40,
        1e308,
        float("nan"),
        True,
        [None],
        [[]],
        [5],
        "\ud800",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in pairs:
        yield (*path, key)
        yield from places(item, (*path, key))


def replaced(response: Any, path: tuple[Any, ...], value: Any) -> Any:
    response = copy.deepcopy(response)
    parent = response
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    return response


@each_vendor
def test_one_bad_value_anywhere_loses_only_what_depends_on_it(vendor: str) -> None:
    response = MAKERS[vendor]()
    whole = read(vendor, response)
    for path in places(response):
        for value in (
            None,
            "x",
            -1,
            [],
            {},
            [None, 5, "x", {"type": "new"}],
            True,
            10**40,
            "\ud800",
        ):
            found = read(vendor, replaced(response, path, value))
            assert set(found.queries) <= {*whole.queries, "x", "\ufffd"}
            assert 0 <= found.searches <= 2
            for citation in found.citations:
                assert (citation.start is None) == (citation.end is None)
                assert citation.start is None or found.text[citation.start : citation.end]
            lost = {source.url for source in whole.sources} - {s.url for s in found.sources}
            below = str(path)
            containers = ("output", "content", "candidates", "choices", "message", "executed")
            is_above = any(word in below for word in (*containers, "grounding", "citations"))
            assert not lost or is_above, path


@each_vendor
@settings(max_examples=40, deadline=None)
@given(value=JSON)
def test_no_json_raises(vendor: str, value: Any) -> None:
    assert read(vendor, value).vendor == vendor


@each_vendor
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_several_bad_values_do_not_raise(vendor: str, data: st.DataObject) -> None:
    response = MAKERS[vendor]()
    for _ in range(3):
        path = data.draw(st.sampled_from(sorted(places(response), key=str)))
        response = replaced(response, path, data.draw(BAD_VALUES | JSON))
    found = read(vendor, response)
    assert all(source.url.startswith("https://") for source in found.sources)
    assert found.cost_usd is None or 0 <= found.cost_usd < 10**6


@each_vendor
def test_an_unknown_block_does_not_hide_the_others(vendor: str) -> None:
    response = MAKERS[vendor]()
    for path in [*places(response)]:
        parent: Any = response
        for key in path:
            parent = parent[key]
        if isinstance(parent, list) and all(isinstance(item, dict) for item in parent):
            for new in ({"type": "brand_new", "data": 1}, None, 7, "text", []):
                parent.insert(0, new)
                found = read(vendor, response)
                if "groundingChunks" not in path:  # supports count the chunks
                    assert [source.url for source in found.sources] == [URL, OTHER]
                    assert found.citations == read(vendor, MAKERS[vendor]()).citations
                del parent[0]


@each_vendor
@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "ftp://zenith.example/",
        "//zenith.example/",
        "https://",
        "https://a b.example/",
        "https://zenith.example/\x1b[2J",
        "https://zenith.example\\@evil.example/",
        "https://zenith.example:99999/",
        5,
        None,
        ["https://zenith.example/"],
    ],
)
def test_a_url_that_is_none_is_left_out_and_reported(vendor: str, url: Any) -> None:
    response = MAKERS[vendor]()
    for path in [*places(response)]:
        parent: Any = response
        for key in path[:-1]:
            parent = parent[key]
        if parent[path[-1]] == OTHER:
            parent[path[-1]] = url
    found = read(vendor, response)
    assert [source.url for source in found.sources] == [URL]
    assert found.warnings or url is None


def changed(value: Any, texts: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: changed(item, texts) for key, item in value.items()}
    if isinstance(value, list):
        return [changed(item, texts) for item in value]
    for old, new in texts.items():
        value = value.replace(old, new) if isinstance(value, str) else value
    return value


@each_vendor
def test_a_login_in_a_url_is_removed(vendor: str) -> None:
    login = "https://user:pw@guide.example/x"
    found = read(vendor, changed(MAKERS[vendor](), {OTHER: login}))
    assert found.sources[1].url == "https://guide.example/x"


@each_vendor
def test_texts_are_on_one_line_and_visible(vendor: str) -> None:
    hidden = {"café zénith horaires": "caf\u200bé\x1b[31m\n zénith", "Guide": "Gu\u202eide"}
    found = read(vendor, changed(MAKERS[vendor](), hidden))
    assert found.queries[0] == "café[31m zénith"  # with all that the model wrote in letters
    assert all(source.title.isprintable() for source in found.sources)


def test_offsets_of_gemini_count_bytes_of_one_part() -> None:
    response = google()
    candidate = response["candidates"][0]
    candidate["content"]["parts"] = [
        {"text": "pensée", "thought": True},
        {"text": "🦊 avant. "},
        {"text": SENTENCE},
    ]
    support = candidate["groundingMetadata"]["groundingSupports"][0]
    support["segment"]["partIndex"] = 2
    found = read("google", response)
    [citation] = found.citations
    assert found.text == f"🦊 avant. {SENTENCE}"
    assert found.text[citation.start : citation.end] == "café Zénith"


def test_offsets_of_gemini_that_do_not_fit_are_found_by_the_text() -> None:
    response = google()
    segment = response["candidates"][0]["groundingMetadata"]["groundingSupports"][0]["segment"]
    segment |= {"startIndex": 900, "endIndex": 910}
    found = read("google", response)
    assert found.text[found.citations[0].start : found.citations[0].end] == "café Zénith"


def test_a_vendor_that_is_unknown_is_named() -> None:
    with pytest.raises(ValueError, match="acme"):
        read_response("acme", {})


@each_vendor
def test_what_is_no_response_of_the_vendor_is_not_taken_for_one_without_searches(
    vendor: str,
) -> None:
    others = [MAKERS[each]() for each in ("openai", "anthropic", "google", "groq")]
    for response in (None, "hello", {}, 7, *others):
        read = read_response(vendor, response)
        if not read.searches:
            assert "is not one of" in " ".join(read.warnings)
    warnings = read_response(vendor, MAKERS[vendor]()).warnings
    assert not any("is not one of" in warning for warning in warnings)


# --- domains -----------------------------------------------------------------------------------


@each_vendor
def test_what_is_outside_the_domains_is_refused_and_reported(vendor: str) -> None:
    found = read(vendor, MAKERS[vendor]())
    kept = found.within(include_domains=["guide.example"])
    assert [source.url for source in kept.sources] == [OTHER]
    assert (kept.citations, kept.opened) == ((), ())
    assert kept.refused == (URL,)
    assert found.within(exclude_domains=["guide.example"]).refused == (OTHER,)
    assert found.within() == found


@pytest.mark.parametrize(
    "domains", ["guide.example", ["guide.example.", ""], ("*", ".guide.example")]
)
def test_domains_are_read_as_in_a_search(domains: Any) -> None:
    found = read("anthropic", MAKERS["anthropic"]())
    assert [source.url for source in found.within(include_domains=domains).sources] == [OTHER]
    assert found.within(exclude_domains=domains).refused == (OTHER,)


@pytest.mark.parametrize("end", ["", ".", ":443", ".:443"])
def test_a_redirect_cannot_be_checked_so_it_is_refused(end: str) -> None:
    link = f"https://vertexaisearch.cloud.google.com{end}/grounding-api-redirect/AAA"
    found = NativeSearches("google", sources=(NativeSource(link),))
    assert found.within(exclude_domains=["a.example"]).refused == (link,)
    assert found.within(include_domains=["google.com"]).refused == (link,)
    assert found.within().refused == ()
