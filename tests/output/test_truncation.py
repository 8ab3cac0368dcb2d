"""Cutting text to the output budget, checked against a naive implementation."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from webtools import truncation
from webtools.truncation import (
    MAX_BYTES,
    MAX_LINES,
    Truncation,
    fair_shares,
    fit,
    fit_sections,
    notice,
    truncate_head,
    truncate_tail,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Cut = Callable[[str, int, int], Truncation]

ALPHABET = "\n\n\nab é€\U0001f600\ud83d\ude00\r\u2028\x85\x0b\x0c\x00"
texts = st.text(st.sampled_from(ALPHABET) | st.characters(), max_size=40)
limits = st.integers(0, 12) | st.integers(0, 120)
slices = st.integers(1, 5) | st.just(32_768)
thorough = settings(max_examples=150, deadline=None)


def naive_size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def naive_start(text: str, max_bytes: int) -> Iterator[str]:
    for char in text:
        max_bytes -= naive_size(char)
        if max_bytes < 0:
            return
        yield char


def naive_whole(text: str, max_lines: int, max_bytes: int) -> Truncation:
    lines, size = len(text.split("\n")), naive_size(text)
    return Truncation(
        content=text,
        truncated=False,
        truncated_by=None,
        total_lines=lines,
        total_bytes=size,
        output_lines=lines,
        output_bytes=size,
        last_line_partial=False,
        first_line_exceeds_limit=False,
        max_lines=max_lines,
        max_bytes=max_bytes,
    )


def fits(text: str, max_lines: int, max_bytes: int) -> bool:
    return len(text.split("\n")) <= max_lines and naive_size(text) <= max_bytes


def naive_lines(lines: Sequence[str], max_lines: int, max_bytes: int) -> list[str]:
    """Take whole lines in the order given while both limits hold."""
    kept: list[str] = []
    size = -1  # no LF before the first line
    for line in lines[:max_lines]:
        size += 1 + naive_size(line)
        if size > max_bytes:
            break
        kept.append(line)
    return kept


def naive_cut(text: str, kept: Sequence[str], max_lines: int, max_bytes: int) -> Truncation:
    content = "\n".join(kept)
    return replace(
        naive_whole(text, max_lines, max_bytes),
        content=content,
        truncated=True,
        truncated_by="lines" if len(kept) >= max_lines else "bytes",
        output_lines=len(kept),
        output_bytes=naive_size(content),
    )


def naive_head(text: str, max_lines: int, max_bytes: int) -> Truncation:
    if fits(text, max_lines, max_bytes):
        return naive_whole(text, max_lines, max_bytes)
    lines = text.split("\n")
    cut = naive_cut(text, naive_lines(lines, max_lines, max_bytes), max_lines, max_bytes)
    if naive_size(lines[0]) > max_bytes:
        return replace(cut, truncated_by="bytes", first_line_exceeds_limit=True)
    return cut


def naive_tail(text: str, max_lines: int, max_bytes: int) -> Truncation:
    if fits(text, max_lines, max_bytes):
        return naive_whole(text, max_lines, max_bytes)
    lines = text.split("\n")[::-1]
    kept = naive_lines(lines, max_lines, max_bytes)[::-1]
    if kept or max_lines == 0:
        return naive_cut(text, kept, max_lines, max_bytes)
    part = "".join(naive_start(lines[0][::-1], max_bytes))[::-1]
    return replace(naive_cut(text, [part], max_lines, max_bytes), last_line_partial=True)


def naive_fit(text: str, max_lines: int, max_bytes: int) -> Truncation:
    cut = naive_head(text, max_lines, max_bytes)
    part = "".join(naive_start(text, max_bytes))
    little = 2 * len(cut.content) <= len(part)
    more = cut.first_line_exceeds_limit or len(part) > len(cut.content) + 1
    if cut.truncated_by != "bytes" or not little or not more or max_lines == 0:
        return cut
    return replace(
        cut,
        content=part,
        output_lines=cut.output_lines + 1,
        output_bytes=naive_size(part),
        last_line_partial=True,
    )


both = pytest.mark.parametrize(
    ("cut", "naive"),
    [(truncate_head, naive_head), (truncate_tail, naive_tail), (fit, naive_fit)],
    ids=["head", "tail", "fit"],
)


@thorough
@both
@given(text=texts, limit=st.tuples(limits, limits), size=slices)
@example(text="", limit=(0, 0), size=1)
@example(text="\ud83d\ude00\ud83d\ude00", limit=(1, 7), size=1)
def test_it_agrees_with_split_and_encode(
    cut: Cut, naive: Cut, text: str, limit: tuple[int, int], size: int
) -> None:
    with mock.patch.object(truncation, "_SLICE", size):
        assert cut(text, *limit) == naive(text, *limit)


@both
@pytest.mark.parametrize("char", ["a", "é", "€", "\U0001f600", "\udc00"])
def test_it_agrees_with_split_and_encode_beyond_one_slice(cut: Cut, naive: Cut, char: str) -> None:
    text = "\n".join(["first", *[char * 70] * 5000, "last"])
    for max_lines, max_bytes in [(2000, 51_200), (4000, 10_000_000), (10_000, 200_001)]:
        assert cut(text, max_lines, max_bytes) == naive(text, max_lines, max_bytes)


HEAD_VECTORS = {
    "empty": ("", (), (False, None, 1, 0, 1, 0)),
    "a LF": ("a\n", (), (False, None, 2, 2, 2, 2)),
    "2000 lines": ("x\n" * 1999 + "x", (), (False, None, 2000, 3999, 2000, 3999)),
    "2000 lines, LF": ("x\n" * 2000, (), (True, "lines", 2001, 4000, 2000, 3999)),
    "51,200 a": ("a" * 51_200, (), (False, None, 1, 51_200, 1, 51_200)),
    "51,201 a": ("a" * 51_201, (), (True, "bytes", 1, 51_201, 0, 0)),
    "51,200 a, LF": ("a" * 51_200 + "\n", (), (True, "bytes", 2, 51_201, 1, 51_200)),
    "25,600 e acute": ("é" * 25_600, (), (False, None, 1, 51_200, 1, 51_200)),
    "25,601 e acute": ("é" * 25_601, (), (True, "bytes", 1, 51_202, 0, 0)),
    "both limits met": ("aa\nbb\ncc", (2, 5), (True, "lines", 3, 8, 2, 5)),
    "second line too long": ("aa\nbb\ncc", (2, 4), (True, "bytes", 3, 8, 1, 2)),
    "empty first line": ("\nabc", (2000, 0), (True, "bytes", 2, 4, 1, 0)),
    "no lines": ("abc\n", (0, 51_200), (True, "lines", 2, 4, 0, 0)),
    "CRLF": ("a\r\nb\r\n", (1, 51_200), (True, "lines", 3, 6, 1, 2)),
}


def summary(cut: Truncation) -> tuple[object, ...]:
    total, output = (cut.total_lines, cut.total_bytes), (cut.output_lines, cut.output_bytes)
    return (cut.truncated, cut.truncated_by, *total, *output)


@pytest.mark.parametrize(("text", "args", "expected"), HEAD_VECTORS.values(), ids=HEAD_VECTORS)
def test_the_head_matches_pi(
    text: str, args: tuple[int, ...], expected: tuple[object, ...]
) -> None:
    cut = truncate_head(text, *args)
    assert summary(cut) == expected
    assert text.startswith(cut.content)
    assert cut.first_line_exceeds_limit == (cut.output_lines == 0 and cut.max_lines > 0)
    assert not cut.last_line_partial


def test_fit_keeps_the_beginning_of_a_huge_line_after_short_ones() -> None:
    cut = fit("## Title\nhttps://a.example\n\n" + "x" * 60_000, MAX_LINES, MAX_BYTES)
    assert (cut.output_lines, cut.output_bytes, cut.last_line_partial) == (4, MAX_BYTES, True)


def test_fit_keeps_the_beginning_of_a_first_line_over_the_limit() -> None:
    cut = fit("€" * 20_000 + "\nmore", MAX_LINES, MAX_BYTES)
    assert cut.content == "€" * 17_066
    assert (cut.truncated_by, cut.output_lines, cut.output_bytes) == ("bytes", 1, 51_198)
    assert cut.last_line_partial
    assert cut.first_line_exceeds_limit


def test_details_are_json_without_the_content() -> None:
    details = truncate_head("secret words\nmore", max_lines=1).to_details()
    assert json.loads(json.dumps(details)) == details
    assert details == {
        "truncated": True,
        "truncated_by": "lines",
        "total_lines": 2,
        "total_bytes": 17,
        "output_lines": 1,
        "output_bytes": 12,
        "last_line_partial": False,
        "first_line_exceeds_limit": False,
        "max_lines": 1,
        "max_bytes": 51_200,
    }


@pytest.mark.parametrize(
    ("sizes", "budget", "shares"),
    [
        ([], 10, []),
        ([3, 4], 10, [3, 4]),
        ([2, 100, 100], 12, [2, 5, 5]),
        ([100, 2, 4, 100], 20, [7, 2, 4, 7]),
        ([9, 9, 9], 10, [4, 3, 3]),
        ([9, 9, 9], 2, [1, 1, 0]),
        ([0, 9], 5, [0, 5]),
        ([5], 0, [0]),
        ([5], -1, [0]),
    ],
)
def test_small_sizes_stay_whole_and_large_ones_share(
    sizes: list[int], budget: int, shares: list[int]
) -> None:
    assert fair_shares(sizes, budget) == shares


@thorough
@given(sizes=st.lists(st.integers(0, 60), max_size=8), budget=st.integers(0, 200))
def test_shares_use_the_budget_up_and_are_fair(sizes: list[int], budget: int) -> None:
    shares = fair_shares(sizes, budget)
    assert sum(shares) == min(budget, sum(sizes))
    largest = max(shares, default=0)
    for share, size in zip(shares, sizes, strict=True):
        assert share == size or largest - 1 <= share < size


@thorough
@given(
    sections=st.lists(texts, max_size=6),
    separator=st.sampled_from(["\n\n", "\n", "", " é ", "\n---\n"]),
    max_lines=limits,
    max_bytes=limits,
)
def test_sections_stay_within_the_budget_and_are_cut_as_by_fit(
    sections: list[str], separator: str, max_lines: int, max_bytes: int
) -> None:
    text, cuts = fit_sections(sections, separator, max_lines, max_bytes)
    assert text == "" or fits(text, max_lines, max_bytes)
    assert cuts == [
        naive_fit(section, cut.max_lines, cut.max_bytes)
        for section, cut in zip(sections, cuts, strict=True)
    ]
    shown = [cut.output_lines > 0 for cut in cuts]
    assert shown == sorted(shown, reverse=True)
    assert text == separator.join(cut.content for cut in cuts if cut.output_lines)


@thorough
@given(sections=st.lists(texts.filter(bool), min_size=1, max_size=6), spare=st.integers(0, 50))
def test_every_section_appears_once_each_can_have_a_line_and_a_character(
    sections: list[str], spare: int
) -> None:
    count = len(sections)
    max_bytes = 4 * count + 2 * (count - 1) + spare
    text, cuts = fit_sections(sections, "\n\n", 2 * count - 1, max_bytes)
    assert len(text.split("\n")) <= 2 * count - 1
    for section, cut in zip(sections, cuts, strict=True):
        assert cut.output_lines >= 1
        assert cut.content or section.startswith("\n")


def test_small_pages_stay_whole_and_large_pages_share() -> None:
    small = "## Small\nhttps://s.example\nshort"
    large = "## Large\nhttps://l.example\n" + "word word\n" * 10_000
    text, cuts = fit_sections([large, small, large], "\n\n", MAX_LINES, MAX_BYTES)
    assert text.count("https://l.example") == 2
    assert small in text
    assert abs(cuts[0].output_lines - cuts[2].output_lines) <= 1
    assert len(text.split("\n")) == MAX_LINES


def test_bytes_that_a_page_of_short_lines_cannot_use_go_to_the_others() -> None:
    short_lines, long_line = "x\n" * 30_000, "y" * 60_000
    _, (first, second) = fit_sections([short_lines, long_line], "\n\n", MAX_LINES, MAX_BYTES)
    assert first.truncated_by == "lines"
    assert first.output_bytes + 2 + second.output_bytes == MAX_BYTES


def test_a_page_of_many_lines_keeps_its_share_when_the_first_alone_is_too_long() -> None:
    long_first = "y" * 60_000 + "\nx" * 3000
    _, cuts = fit_sections([long_first, long_first], "\n\n", MAX_LINES, MAX_BYTES)
    assert [cut.output_bytes for cut in cuts] == [MAX_BYTES // 2 - 1] * 2


@pytest.mark.parametrize("sections", [["a"] * 3, ["a", "", "a"]])
def test_sections_without_room_for_a_line_are_left_out_from_the_end(sections: list[str]) -> None:
    text, cuts = fit_sections(sections, "\n\n", 4, 100)
    assert text == "\n\n".join(sections[:2])
    assert [cut.output_lines for cut in cuts] == [1, 1, 0]
    assert cuts[2].truncated


def test_the_notice_names_no_file_if_nothing_was_saved() -> None:
    text = notice(1, 1, 10, 900, None)
    assert "showing 1 of 1 lines (10B of 900B)" in text
    assert "saved to" not in text


def test_a_text_that_fits_is_returned_itself() -> None:
    text = "a\r\nb\n"
    assert truncate_head(text).content is text


def test_a_negative_limit_means_zero() -> None:
    assert truncate_head("abc", -1, -1) == truncate_head("abc", 0, 0)
    assert truncate_tail("abc", -1, -1) == truncate_tail("abc", 0, 0)


@thorough
@given(sections=st.lists(texts, max_size=6), separator=st.sampled_from(["\n\n", "", "\n---\n"]))
def test_sections_that_fit_exactly_are_unchanged(sections: list[str], separator: str) -> None:
    full_text = separator.join(sections)
    lines, size = len(full_text.split("\n")), naive_size(full_text)
    text, cuts = fit_sections(sections, separator, lines, size)
    assert text == full_text
    assert not any(cut.truncated for cut in cuts)
