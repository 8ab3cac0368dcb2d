# ruff: noqa: ISC004  signs of other scripts; long sentences
"""Sentences chosen from the sources: their own words, about the question, each with its number."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from source_samples import SOURCES

from webtools.grounding.checking.extractive import extract
from webtools.grounding.checking.facts import plain
from webtools.grounding.checking.verification import verify
from webtools.providers.protocols import Source
from webtools_sandbox.corpus import standard_corpus


def page(text: str, number: int = 1, title: str = "") -> Source:
    return Source(number, title, f"https://a.example/{number}", text)


def found_in(text: str, question: str = "How deep is the basin?") -> str:
    return extract(question, [page(text)])


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What are the running costs of the tidal pool?",
         "Engineers of the firm Norrvik expect running costs of 40,000 euros a year, a third of "
         "what a heated pool costs. [1]"),
        ("how many sleeping cars were ordered",
         "The operator ordered twelve sleeping cars, of which seven have been delivered. [3]"),
        ("Sluice memory", "Sluice never holds the whole document in memory. [2]"),
        ("json.dumps skipkeys",
         "If `skipkeys` is true then `dict` keys that are not basic types (`str`, `int`, `float`, "
         "`bool`, `None`) will be skipped instead of raising a `TypeError`. [4]"),
        ("Who attended the opening?", "Mayor Ines Kolbe did not attend the opening. [1]"),
    ],
)  # fmt: skip
def test_the_sentence_that_answers_is_among_the_chosen(question: str, answer: str) -> None:
    assert answer in extract(question, SOURCES).splitlines()


@pytest.mark.parametrize(
    "question", ["When did dinosaurs die out?", "zebra", "", "what is it", "?!"]
)
def test_without_a_matching_sentence_there_is_no_answer(question: str) -> None:
    assert extract(question, SOURCES) == ""


def test_without_sources_there_is_no_answer() -> None:
    assert extract("pool", []) == ""
    assert found_in("") == ""


QUESTIONS = (
    "asyncio queue", "context manager", "json encoding", "file permissions", "tidal pool", "SQLite",
    "What does the with statement do?", "sort a list", "random numbers", "time zones", "zip files",
)  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_answer_over_the_corpus_is_in_its_sources_words_and_verified(question: str) -> None:
    hits = standard_corpus().search(question)[:5]
    sources = [
        page(hit.document.text[:12_000], number, hit.document.title)
        for number, hit in enumerate(hits, 1)
    ]
    answer = extract(question, sources)
    lines = answer.splitlines()
    assert 1 <= len(lines) <= 5
    for line in lines:
        said, _, number = line.rpartition(" ")
        assert said in plain(" ".join(sources[int(number.strip("[]")) - 1].text.split()))
    checked = verify(answer, sources)
    assert (checked.kept, checked.uncertain, checked.dropped) == (len(lines), 0, 0)
    assert [line.rpartition(" ")[0] for line in checked.summary.splitlines()] == [
        line.rpartition(" ")[0] for line in lines
    ]


def test_sentences_come_in_the_order_of_the_sources_and_of_the_pages() -> None:
    lines = extract("night train Orsk Bay sleeping cars passenger", SOURCES).splitlines()
    places = [plain(SOURCES[2].text).find(line.rpartition(" ")[0]) for line in lines]
    assert len(lines) >= 2
    assert places == sorted(places)


def test_a_second_source_has_its_say() -> None:
    long = " ".join(
        f"The basin of the {name} pool is deep and wide."
        for name in ("old", "new", "royal", "city")
    )
    short = "Divers say that the basin is deep enough for them."
    answer = extract("How deep is the basin of the pool?", [page(long), page(short, 2)])
    assert "[1]" in answer
    assert f"{short} [2]" in answer


def test_what_was_said_is_not_repeated() -> None:
    twice = "The basin is nine metres deep at high tide. " * 4
    assert found_in(twice).count("nine metres") == 1
    both = extract("How deep is the basin?", [page(twice), page(twice, 2)])
    assert both.count("nine metres") == 1


@pytest.mark.parametrize(
    "noise",
    [
        "# How deep is the basin of the pool here",
        "We use cookies to show how deep the basin is.",
        "How deep is the basin of the pool?",
        "Basin is deep.",
        "is the deep basin of the pool and so on and on.",
        "See https://a.example/basin for how deep the basin is.",
        "[Deep basin](/a) [Basin news](/b) [Basin club](/c) [Deep blue](/d).",
        "The deep basin of the pool has many visitors every year",
        "```\nThe basin in this code is deep for sure.\n```",
        ">>> The basin of this example is deep for sure.",
        "\n\n    The basin of this block is deep for sure.\n",
        "| The basin | is deep | and this is a row of a table. |",
        "The value basin[12] is deep, as everybody in the town knows.",
        "basin = {deep: 'the basin is very deep here'};",
        "*** --- The 12 34 56 78 90 --- 11 22 33 44 55 66 77 deep basin.",
        f"The basin is deep {'and wide ' * 40}.",
    ],
)
def test_what_is_no_sentence_of_the_text_is_left_out(noise: str) -> None:
    assert found_in(noise) == ""
    kept = "The basin is nine metres deep at high tide."
    assert found_in(f"{noise}\n\n{kept}\n\n{noise}") == f"{kept} [1]"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The basin is *nine* [metres](/m) **deep** at\nhigh tide.[12] It is old.",
         "The basin is nine metres deep at high tide. [1]"),
        ("- The basin is 9.5 metres deep, i.e. Dr. Kolbe could stand in it.\n- Bread is sold here.",
         "The basin is 9.5 metres deep, i.e. Dr. Kolbe could stand in it. [1]"),
        ("> The basin is nine metres deep at high tide.\n>\n> It is old.",
         "The basin is nine metres deep at high tide. [1]"),
    ],
)  # fmt: skip
def test_markdown_is_taken_off(text: str, answer: str) -> None:
    assert found_in(text) == answer


def test_text_without_blanks_is_quoted_too() -> None:
    text = "市営プールは土曜日の朝に開きました。入場料は大人五百円で、子供は無料です。"
    answer = extract("プールの入場料", [page(text)])
    assert "入場料は大人五百円で、子供は無料です。 [1]" in answer.splitlines()


def test_what_the_heading_says_counts() -> None:
    text = (
        "## Basin\n\nIt is nine metres deep when the tide is in.\n\n"
        "## Tower\n\nIt is ninety metres deep in the ground below."
    )
    assert extract("How deep is the basin?", [page(text)]).startswith("It is nine metres deep")


def test_a_question_of_words_of_grammar_alone_is_still_looked_for() -> None:
    assert extract("How to use another?", [page("People use another of these every single day.")])


def test_five_pages_take_no_time() -> None:
    documents = [d for d in standard_corpus().documents if len(d.text) >= 12_000][:5]
    sources = [page(d.text[:12_000], n, d.title) for n, d in enumerate(documents, 1)]
    taken: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        assert extract("how to open and read files", sources)
        taken.append(time.perf_counter() - start)
    assert min(taken) < 1.5  # some 12 ms on an idle machine


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        ".",
        "[",
        "](",
        "[a](",
        " ",
        "`",
        "#",
        "\n",
        "A. ",
        "é",
        "。",
        "<",
        "- a\n",
        "1. ",
        "|a|\n",
        "*",
        "_a",
        "e.g. ",
        "A basin is deep. ",
    ],
)
def test_a_hostile_page_is_read_to_a_limit(unit: str) -> None:
    start = time.perf_counter()
    found_in(unit * (1_000_000 // len(unit)))
    assert time.perf_counter() - start < 20  # a second or two on an idle machine


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "The basin is deep and old. ",
                "[1] ",
                "# ",
                "\n",
                "`",
                "(",
                "e.g. ",
                "**",
                "Is it? ",
                "http://x ",
                "\x1b[0m",
                "\ue000",
            ]
        )
        | st.text(max_size=9)
    ).map("".join)
)
def test_what_is_chosen_from_any_text_passes_whole(text: str) -> None:
    answer = found_in(text, "How deep and old is the basin?")
    checked = verify(answer, [page(text)])
    assert (checked.kept, checked.dropped) == (len(answer.splitlines()), 0)
    assert not re.search(r"https?:", answer)
