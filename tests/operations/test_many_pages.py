"""Many pages in one answer: whole heads, fair shares of the rest, and no URL that is cut short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from offline import IO, drive

from webtools._internal.call.present import present_pages
from webtools.fencing import OVERHEAD, OVERHEAD_LINES, remove_fences
from webtools.results import FetchResponse, Page
from webtools.tools import ToolResult
from webtools.truncation import MAX_BYTES, MAX_LINES

A, B = "https://a.example/1", "https://b.example/2"

pytestmark = pytest.mark.usefixtures("own_temp")

ROOM = MAX_BYTES - OVERHEAD
LEFT_OUT = re.compile(r"\n\[[^\n]*\b(\d+) of (\d+) pages [^\n]+\]$")


def long_url(number: int, length: int) -> str:
    return f"https://shop.example/{number}?".ljust(length - 3, "a") + f"{number:03}"


def present(pages: list[Page]) -> ToolResult:
    return drive(present_pages(FetchResponse(provider="exa", pages=pages), IO))


def page_text(found: ToolResult) -> str:
    return remove_fences(found.text.partition("\n\n[Output truncated")[0])


def headings(found: ToolResult) -> list[str]:
    return [line for line in page_text(found).split("\n") if line.startswith(("## ", "https://"))]


def test_every_url_and_every_reason_is_shown_where_nearly_all_pages_fail() -> None:
    urls = [long_url(n, 250) for n in range(100)]
    failed = [Page(url=url, error="CRAWL_NOT_FOUND (HTTP 404)") for url in urls[1:]]
    text = page_text(present([Page(url=urls[0], text="word " * 9000), *failed]))
    sections = [f"\n\n## {url}\nFailed: CRAWL_NOT_FOUND (HTTP 404)" for url in urls[1:]]
    assert text.startswith(f"## {urls[0]}\n\nword word ")
    assert text.endswith("".join(sections))
    assert ROOM - 5 < len(text.encode()) <= ROOM


def test_long_reasons_and_a_long_page_leave_each_other_half_of_the_room() -> None:
    failed = [Page(url=f"{B}{n:02}", error="why " * 300) for n in range(99)]
    text = page_text(present([*failed, Page(url=A, title="Page", text="x" * 90_000)]))
    assert 23_000 < text.count("x") < 26_000
    reasons = [line for line in text.split("\n") if line.startswith("Failed: why why why ")]
    assert len(reasons) == 99
    assert all(line.endswith("…") and len(line) > 200 for line in reasons)


@pytest.mark.parametrize("length", [600, 3000])
def test_long_titles_and_authors_are_cut_but_no_url(length: int) -> None:
    urls = [long_url(n, 40) for n in range(100)]
    pages = [Page(url=url, title="t" * length, author="B. " * 900, text="x" * 900) for url in urls]
    result = present(pages)
    lines = headings(result)
    assert lines[1::2] == urls
    assert all(re.fullmatch(r"## t{60,500}…", line) for line in lines[::2])
    assert page_text(result).count("B. B. B. ") >= 100
    assert len({line.count("x") for line in page_text(result).split("\n") if "x" in line}) <= 3


def test_a_url_is_shown_in_full_or_left_out_and_counted() -> None:
    urls = [long_url(n, 2000) for n in range(100)]
    pages = [Page(url=url, title=f"T{n}", text="word " * 900) for n, url in enumerate(urls)]
    result = present(pages)
    assert headings(result) == [line for n in range(25) for line in (f"## T{n}", urls[n])]
    missing = LEFT_OUT.search(result.text)
    assert missing is not None
    assert missing.groups() == ("75", "100")
    full_text = Path(result.details["full_output_path"]).read_text("utf-8")
    assert all(url in full_text for url in urls)
    assert [page["url"] for page in result.details["results"]] == urls


def test_without_room_for_a_url_only_the_notice_is_shown() -> None:
    result = present([Page(url=long_url(1, 60_000), text="x")])
    assert result.text.startswith("[Output truncated: showing ")
    assert LEFT_OUT.search(result.text)


def test_a_page_with_a_cut_title_is_read_from_its_beginning() -> None:
    result = present([Page(url=A, title="t" * 60_000, text="short")])
    assert page_text(result) == f"## {'t' * 500}…\n{A}\n\nshort"
    assert "offset 0.]" in result.text
    assert result.details["truncation"]["last_line_partial"]


@pytest.mark.parametrize(
    ("text", "is_partial"), [("A" * 200_000, True), ("line\n" * 9000, False), ("é\n" * 9000, False)]
)
def test_details_say_whether_a_line_was_cut(text: str, is_partial: bool) -> None:
    for texts in ([text], ["small", text], [text, text]):
        result = present([Page(url=f"{A}{n}", text=item) for n, item in enumerate(texts)])
        assert result.details["truncation"]["last_line_partial"] is is_partial


many = st.builds(
    Page,
    url=st.builds(long_url, st.integers(0, 999), st.sampled_from([40, 250, 600, 2000])),
    title=st.none() | st.builds(str.__mul__, st.sampled_from("té漢"), st.integers(1, 900)),
    text=st.builds(str.__mul__, st.sampled_from(["x", "é ", "\n", "w\n"]), st.integers(1, 9000)),
    error=st.none() | st.builds(str.__mul__, st.just("why "), st.integers(1, 300)),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(many, min_size=1, max_size=100))
def test_many_pages_keep_the_limits_and_every_url_that_is_shown_is_one(pages: list[Page]) -> None:
    result = present(pages)
    text, urls = page_text(result), [page.url for page in pages]
    assert len(text.encode()) <= ROOM
    assert text.count("\n") < MAX_LINES - OVERHEAD_LINES
    shown = [line.removeprefix("## ") for line in headings(result) if "https://" in line]
    missing = LEFT_OUT.search(result.text)
    count = len(pages) - int(missing[1]) if missing else len(pages)
    assert list(dict.fromkeys(shown)) == list(dict.fromkeys(urls[:count]))
    assert text.count("\nFailed: why") == sum(page.error is not None for page in pages[:count])
    notice = result.text.partition("\n\n[Output truncated")
    assert len(notice[2].encode()) < 1024
    assert notice[2].count("\n") <= 2
