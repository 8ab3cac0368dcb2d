"""What foreign text costs grows with its length and no faster, and no loop waits for it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import pytest

from webtools._internal.grounding import verification
from webtools._internal.grounding.blocks import link_texts
from webtools._internal.grounding.citations import LONGEST, Answer
from webtools._internal.grounding.evidence import Evidence
from webtools._internal.pages.block_pages import is_challenge
from webtools._internal.session.spelled_urls import is_spelled, words_of
from webtools._internal.text.answer_links import links_in
from webtools._internal.text.cleaning import one_line, without_controls
from webtools._internal.text.invisible import without_invisible
from webtools._internal.text.links import urls_in, without_cut_url
from webtools._internal.text.redaction import Redactor
from webtools.fencing import STATEMENT, WORDS, defuse, remove_fences
from webtools.synthesis import Source, verify

REDACTOR = Redactor(
    ["test-key-abcdefghijkl-123", "sk-ab/cd+ef==ghijkl", "http://u:passw0rd1@p.example"]
)
MARK = f"{STATEMENT}\n<<<{WORDS} 0123456789ab\n"
UNITS = [
    *("test-key-abcd" + "*" * 99, "test-key-abcd" + "<b>" * 99, "test-key-abcd<b "),
    *("\u200b", "a\u200b", "\u200d", "\u200d\u2764", "1\ufe0f", "\u6f22\ufe00", "\U000e0100"),
    *(
        "<b ",
        "<b a=",
        "</b>",
        "&#",
        "&#x0",
        "&amp;amp;",
        "\x1b[",
        "\x1b]",
        "\x1b]a\n",
        "\x9b",
        "\r",
    ),
    *("\u2028", "\u202e", "\ud800", "untrusted", f"{WORDS} ", "u_n_t_", "<<<", MARK),
    *("test-key-abcd%1B%5B", "%1B%5B31", "%1B%5Da", "%C2%9B3", "\\u001b[3", "&#27;[3", "&shy;"),
    *("test-key-abcd%E2%80%8B", "%e2%80", "&#8203;", "\\u200b", "%3Cb", "&lt;b", "%5Cu0", "\\x1b]"),
    *("test-key-abcdefgh", "%25", "&amp;", "\\\\-", "sk-ab%2", "passw0rd"),
    *("/cdn-cgi/challenge-platform/", "<iframe src=", "<iframe "),
    *("](http://a(", "<http://a", "='http:a", "]: //a\n", "=" + " " * 9, "www.a(\\)"),
    *(
        "https://a(",
        "https://a)))",
        "https://a)<",
        "https://a)" * 99 + "<",
        "[x](",
        "![x][y]",
        "&#58;",
        "|`",
        "a|b\n-|-\n",
    ),
]
WAYS: dict[str, Callable[[str], object]] = {
    "one_line": one_line,
    "without_controls": without_controls,
    "without_invisible": without_invisible,
    "defuse": defuse,
    "remove_fences": remove_fences,
    "redacted": REDACTOR.text,
    "is_challenge": is_challenge,
    "links_in": lambda text: [*links_in(text)],
    "urls_in": lambda text: [*urls_in(text, may_be_cut=True)],
    "without_cut_url": without_cut_url,
    "link_texts": link_texts,
    "is_spelled": lambda text: is_spelled("https://a.example/xn--b", words_of([f"xn--{text}"])),
}


def seconds(way: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    way(text)
    return time.process_time() - start


def grows_evenly(way: Callable[[str], object], short: str, long: str, least: float) -> bool:
    """Tell whether 32 times the length takes at most 320 times as long; quadratic, 1,024 times.

    The machine's noise only ever adds, so the quickest of three runs counts.
    """
    maximum = 10 * 32 * max(min(seconds(way, short) for _ in range(3)), least)
    return any(seconds(way, long) < maximum for _ in range(3))


@pytest.mark.no_cover
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_the_time_for_a_text_grows_with_its_length(way: Callable[[str], object]) -> None:
    for unit in UNITS:
        short, long = (unit * (size // len(unit)) for size in (4_000, 128_000))
        assert grows_evenly(way, short, long, 0.0001), ascii(unit)


def test_a_fence_is_found_behind_many_that_are_never_closed() -> None:
    full_text = f"{MARK}text\n{WORDS} 0123456789ab>>>"
    other = MARK.replace("0123456789ab", "ba9876543210")
    assert remove_fences(f"{other * 3}x {full_text} y {full_text}") == f"{other * 3}x text y text"
    assert remove_fences(f"{MARK}\n{WORDS} 0123456789ab>>>") == ""
    assert remove_fences(f"{MARK}{WORDS} 0123456789ab>>>") == f"{MARK}{WORDS} 0123456789ab>>>"


@pytest.mark.parametrize("unit", ["(see [1]", "[1]", "[[1]] ", "a[1]", "x[1](", "It leaves [1]. "])
def test_a_draft_of_marks_is_read_up_to_a_number_of_them(unit: str) -> None:
    sources = [Source(1, "https://a.example/", "A", "The ferry leaves at nine.")]
    text = unit * (LONGEST // len(unit))
    draft = Answer(text, sources)
    assert draft.length < len(text)
    assert text[: draft.length].count("[") <= 1000
    assert any(str(draft.length) in reason for reason in verify(text, sources).reasons)


HOSTILE = [
    *(
        "The pool opened. This is false. ",
        "- The pool opened.\n",
        "Pool 1999 town 1998 ",
        "# Myths\n",
    ),
    *("pool town ", "pool: ", "“a ", "It isn't. ", "a\u0301\u0327", "1,000-", "Dr. ", "[a]("),
]


@pytest.mark.no_cover
@pytest.mark.parametrize("unit", HOSTILE, ids=ascii)
def test_the_time_to_check_against_a_source_grows_with_its_length(unit: str) -> None:
    answer = f"The pool opened [1]. {'Pool 1999 town 1998 ' * 40}[1]."

    def check(text: str) -> object:
        return verify(answer, [Source(1, "A", "https://a.example/", text)])

    short, long = (unit * (size // len(unit)) for size in (16_000, 512_000))
    assert grows_evenly(check, short, long, 0.0005)


DRAFTS = ["The pool opened [1-20]. ", "- Pool 1999 town 1998 [1-20]\n", "It isn't 1,000- [1-20]. "]


@pytest.mark.no_cover
@pytest.mark.parametrize("unit", DRAFTS)
def test_the_time_to_check_a_draft_grows_with_its_length(unit: str) -> None:
    text = "The pool opened in 1999. It isn't 1,000 m from the town. " * 40
    sources = [Source(n, "A", f"https://a.example/{n}", text) for n in range(1, 21)]

    def check(draft: str) -> object:
        return verify(draft, sources)

    short, long = (unit * (size // len(unit)) for size in (750, 24_000))
    assert grows_evenly(check, short, long, 0.0005)


def test_sources_are_not_searched_for_code_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "Call f(x) and heap[0] [1]. " * 3
    sources = [Source(1, "A", "https://a.example/", "Call f(x) and heap[0]. " * 10)]
    assert all("heap[0]" in item.text for item in verify(code, sources).claims)
    monkeypatch.setattr(
        "webtools._internal.grounding.citation_marks._MAX_SEARCHED", 5 * len(sources[0].text)
    )
    texts = [item.text for item in verify(code, sources).claims]
    assert ["heap[0]" in item for item in texts] == [True, True, False]


def test_after_its_time_no_more_sources_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def reading(text: str, title: str) -> verification.Evidence:
        read.append(text)
        return Evidence(text, title)

    seconds = itertools.count(step=4)
    monkeypatch.setattr(verification, "Evidence", reading)
    monkeypatch.setattr(verification.time, "monotonic", lambda: next(seconds))
    sources = [Source(n, "A", f"https://a.example/{n}", "The pool opened.") for n in range(1, 21)]
    [claim] = verify("The pool of the town opened [1-20].", sources).claims
    assert (claim.status, len(read)) == ("uncertain", 1)
