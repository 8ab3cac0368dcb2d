"""What a site allows programs to do is reported, and its refusal of AI input is obeyed if set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from offering_site import PAGE, Fetch, Reply, Site, blocking, on_a_loop

from webtools import ConfigError, ProviderError, WebTools
from webtools._internal.faults import Fault
from webtools._internal.pages import usage
from webtools.bulk import run


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


def web_of(site: Site, **settings: Any) -> WebTools:
    return WebTools(config={"providers": [site.entry()]}, **settings)


def _in_head(markup: str) -> str:
    return PAGE.replace("<head>", f"<head>{markup}")


def _robots(rule: str) -> dict[str, Reply]:
    return {"/robots.txt": Reply(f"User-agent: *\n{rule}\nAllow: /\n", kind="text/plain")}


# What the site answers by path, and what is said about the page.
REFUSALS: dict[str, dict[str, Reply]] = {
    "header": {"/a": Reply(headers={"Content-Signal": "search=yes, ai-input=no"})},
    "header, other words": {"/a": Reply(headers={"content-signal": 'AI-Input = "disallow"'})},
    "robots.txt": _robots("Content-Signal: search=yes,ai-input=no"),
    "own group": {
        "/robots.txt": Reply(
            "User-agent: other\nDisallow: /\n\n"
            "User-agent: agent-webtools\nContent-Signal: ai-input=n"
        )
    },
    "after a redirect": {
        "/a": Reply("", "302 Found", {"Location": "/b"}),
        "/b": Reply(headers={"Content-Signal": "ai-input=no"}),
    },
}
OTHERS: dict[str, tuple[dict[str, Reply], dict[str, str]]] = {
    "train": (
        {"/a": Reply(headers={"Content-Usage": "train-ai=n, search=y"})},
        {"ai-train": "no", "search": "yes", "from": "response header"},
    ),
    "rsl header": (
        {"/a": Reply(headers={"Link": '</l.xml>; rel="license"; type="application/rsl+xml"'})},
        {"license": "{}/l.xml", "from": "response header"},
    ),
    "rsl link": (
        {"/a": Reply(_in_head('<link rel=license type="application/rsl+xml" href="l.xml">'))},
        {"license": "{}/l.xml", "from": "page"},
    ),
    "other licence": ({"/a": Reply(_in_head('<link rel=license href="/cc-by">'))}, {}),
    "tdm header": (
        {"/a": Reply(headers={"tdm-reservation": "1", "tdm-policy": "https://t.example/p.json"})},
        {"tdm-reservation": "1", "tdm-policy": "https://t.example/p.json"}
        | {"from": "response header"},
    ),
    "tdm meta": (
        {"/a": Reply(_in_head('<meta name="tdm-reservation" content="1">'))},
        {"tdm-reservation": "1", "from": "page"},
    ),
    "noai": (
        {"/a": Reply(_in_head('<meta name=robots content="index, NOAI">'))},
        {"noai": "yes", "from": "page"},
    ),
    "second meta": (
        {"/a": Reply(_in_head("<meta name=robots content=index><meta name=robots content=noai>"))},
        {"noai": "yes", "from": "page"},
    ),
    "x-robots-tag": (
        {"/a": Reply(headers={"X-Robots-Tag": "noindex, noimageai"})},
        {"noimageai": "yes", "from": "response header"},
    ),
    "unknown": (
        {"/a": Reply(headers={"Content-Signal": "ai-input=perhaps, ai-input, eat=no, =no, use=x"})},
        {},
    ),
    "nothing": ({}, {}),
}


@pytest.mark.parametrize("get", [blocking, on_a_loop])
@pytest.mark.parametrize("name", OTHERS)
def test_what_the_site_says_is_reported(site: Site, get: Fetch, name: str) -> None:
    replies, expected = OTHERS[name]
    site.replies.update(replies)
    with web_of(site, fetch={"respect": "obey"}) as web:  # it acts on other preferences alone
        response = get(web, f"{site.url}/a")
    page = response.pages[0]
    assert page.usage == {key: value.format(site.url) for key, value in expected.items()}
    assert page.text
    assert not response.warnings


@pytest.mark.parametrize("get", [blocking, on_a_loop])
@pytest.mark.parametrize("name", REFUSALS)
def test_obeying_is_an_error_that_says_why_and_no_other_provider_gets_the_page(
    site: Site, get: Fetch, name: str
) -> None:
    site.replies.update(REFUSALS[name])
    with Site() as api:
        second = {"name": "exa", "type": "exa", "apiKey": "test-key-0", "baseUrl": api.url}
        config = {
            "providers": [site.entry(fetchFallback="exa"), second],
            "defaultProvider": "direct",
            "fetch": {"respect": "obey"},
        }
        with WebTools(config=config) as web, pytest.raises(ProviderError) as caught:
            get(web, f"{site.url}/a")
        assert not api.asked
    assert caught.value.code == "ai_input_refused"
    assert "ai_input_refused" in json.dumps(caught.value.to_details())
    assert Fault.DISALLOWED in caught.value.fault
    if "/robots.txt" in REFUSALS[name]:
        assert not site.count("/a")


@pytest.mark.parametrize("robots", [True, False])
@pytest.mark.parametrize("name", REFUSALS)
def test_a_warning_reaches_the_model_and_robots_txt_costs_no_request_of_its_own(
    site: Site, name: str, robots: bool
) -> None:
    site.replies.update(REFUSALS[name])
    with web_of(site, fetch={"respect": "warn"}) as web:
        response = web.fetch(f"{site.url}/a", robots=robots)
        result = web.call_tool("web_fetch", {"urls": f"{site.url}/a"})
    says_so = robots or "/robots.txt" not in REFUSALS[name]
    assert bool(response.warnings) is says_so
    assert response.pages[0].usage.get("ai-input") == ("no" if says_so else None)
    assert bool(site.count("/robots.txt")) is robots
    if says_so and not robots:
        assert result.details["usage"] == response.pages[0].usage
        assert "Warning" in result.text


def test_ignoring_warns_of_nothing_and_still_reports(site: Site) -> None:
    site.replies.update(REFUSALS["header"])
    with web_of(site, fetch={"respect": "ignore"}) as web:
        response = web.fetch(f"{site.url}/a")
    assert not response.warnings
    assert response.pages[0].usage["ai-input"] == "no"


@pytest.mark.parametrize("respect", [None, "warn", "ignore"])
def test_bulk_obeys_unless_the_settings_say_otherwise(
    site: Site, tmp_path: Path, respect: str | None
) -> None:
    site.replies.update(REFUSALS["robots.txt"])
    with web_of(site, fetch={"respect": respect}) as web:
        run("fetch", [f"{site.url}/a"], tmp_path / "out.jsonl", web=web)
    [row] = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert row["status"] == ("ok" if respect else "skipped")


def test_a_page_that_was_cached_with_a_warning_is_not_read_by_a_call_that_obeys(
    site: Site, tmp_path: Path
) -> None:
    site.replies.update(REFUSALS["header"])
    cache = {"path": str(tmp_path / "c.sqlite3")}
    with web_of(site, cache=cache) as web:
        assert web.fetch(f"{site.url}/a").pages[0].text
    with web_of(site, cache=cache, fetch={"respect": "obey"}) as web, pytest.raises(ProviderError):
        web.fetch(f"{site.url}/a")


def test_a_page_that_robots_txt_disallows_has_a_code_of_its_own(site: Site) -> None:
    site.replies["/robots.txt"] = Reply("User-agent: *\nDisallow: /a\n")
    with web_of(site, fetch={"respect": "obey"}) as web, pytest.raises(ProviderError) as caught:
        web.fetch(f"{site.url}/a")
    assert caught.value.code == "robots_disallowed"


def test_an_unknown_word_for_the_setting_names_the_words() -> None:
    with pytest.raises(ConfigError, match=r"fetch\.respect.*warn"):
        WebTools(config={"providers": [{"name": "d", "type": "direct"}], "fetch": {"respect": "x"}})


ROBOTS = """
User-agent: other
Content-Signal: ai-input=no
User-agent: *
Content-Usage: train-ai=y
Content-Usage: /news train-ai=n
Content-Usage: /news/free*.html$ train-ai=y, search=n
License: https://rights.example/all.xml
"""


@pytest.mark.parametrize(
    ("path", "train"),
    [("/", "yes"), ("/news/a", "no"), ("/news/free-1.html", "yes"), ("/news/free-1.html?b", "no")],
)
def test_the_longest_path_of_robots_txt_decides(site: Site, path: str, train: str) -> None:
    site.replies["/robots.txt"] = Reply(ROBOTS)
    with web_of(site) as web:
        said = web.fetch(f"{site.url}{path}", robots=True).pages[0].usage
    assert said["ai-train"] == train
    assert said["license"] == "https://rights.example/all.xml"
    assert (said["from"], "ai-input" in said) == ("robots.txt", False)


@given(
    st.lists(
        st.text(alphabet='ai-nputsearch=yo,;" ?1train/*$<>rel', max_size=60), min_size=3, max_size=3
    )
)
def test_only_known_words_are_reported(texts: list[str]) -> None:
    signal, use, link = texts
    headers = {"content-signal": signal, "content-usage": use, "link": link, "x-robots-tag": link}
    said = usage.merge(
        usage.of_headers(headers, "https://a.example/"),
        usage.of_robots([f"Content-Usage: {use}", f"content-signal: {signal}"], "", "https://a.e/"),
    )
    names = {"search", "ai-input", "ai-train", "use", "noai", "noimageai", "license", "from"}
    assert set(said) <= names
    assert set(said) == set() or "from" in said
    assert {said.get(name, "no") for name in ("search", "ai-input", "ai-train")} <= {"yes", "no"}
