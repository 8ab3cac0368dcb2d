# ruff: noqa: RUF001  signs of other scripts; long sentences
"""Numbers, dates, sentences and names, as they are read from texts."""

from __future__ import annotations

import pytest

from webtools.grounding.checking import lexicon
from webtools.grounding.checking.alignment import change
from webtools.grounding.checking.facts import Facts, plain
from webtools.grounding.checking.names import names, proper
from webtools.grounding.checking.prose import blocks, sentences
from webtools.grounding.checking.quantities import Day, quantities, ungrouped


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,000 people", [("1000", "")]),
        ("1'000'000", [("1000000", "")]),
        ("1, 2 and 3", [("1", ""), ("2", ""), ("3", "")]),
        ("1.5k users", [("1500", "")]),
        ("1.5 million", [("1500000", "")]),
        ("$1.5m or €2bn", [("1500000", "$"), ("2000000000", "€")]),
        ("5 %, 5% and 5 per cent", [("5", "%")] * 3),
        ("five percent", [("5", "%")]),
        ("five per cent", [("5", "%")]),
        ("64 KiB and 64KiB", [("64", "kib")] * 2),
        ("twelve cars", [("12", "")]),
        ("four hundred and five", [("405", "")]),
        ("a million", [("1000000", "")]),
        ("two thousand three hundred", [("2300", "")]),
        ("twenty-one", [("21", "")]),
        ("one car", [("1", "")]),
        ("one of the cars, no one", []),
        ("version 3.10 and v2.1.3", [("3.10", ""), ("2.1.3", "")]),
        ("3.10 seconds", [("3.1", "s")]),
        ("at 21:40 or 9 p.m.", [("21:40", ""), ("9", "pm")]),
        ("the 1990s", [("1990s", "")]),
        ("the 5th", [("5", "th")]),
        ("3rc1 5abc", [("5abc", "")]),
        ("-5 and 3-5", [("-5", ""), ("3", ""), ("5", "")]),
        ("sha256 and x86", []),
        ("9" * 40, [("9" * 40, "")]),
    ],
)
def test_numbers_are_read_in_all_their_spellings(text: str, numbers: list[tuple[str, str]]) -> None:
    assert [(n.value, n.unit) for n in quantities(ungrouped(text)).numbers] == numbers


@pytest.mark.parametrize(
    "text",
    ["2024-10-07", "2024/10/07", "7 October 2024", "7th of October 2024", "October 7, 2024",
     "Oct 7 2024", "Oct. 7, 2024", "7 oct 2024", "2024年10月7日", "2024-10-07T08:00:00Z"],
)  # fmt: skip
def test_spellings_of_a_date_are_one(text: str) -> None:
    assert quantities(text).dates[0] == (Day(2024, 10, 7),)
    assert "7" not in quantities(text).years


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("10/07/2024", [(Day(2024, 10, 7), Day(2024, 7, 10))]),
        ("25/12/2024", [(Day(2024, 12, 25),)]),
        ("October 2024", [(Day(2024, 10, None),)]),
        ("2024-10", [(Day(2024, 10, None),)]),
        ("7 October", [(Day(None, 10, 7),)]),
        ("2024年", [(Day(2024, None, None),)]),
        ("45 October 2024", [(Day(2024, 10, None),)]),
        ("2024-13-45 and 45/45/2024", []),
        ("he may 2", [(Day(None, 5, 2),)]),
    ],
)
def test_dates_may_be_told_in_part(text: str, dates: list[tuple[Day, ...]]) -> None:
    assert list(quantities(text).dates) == dates


def test_a_date_bears_out_no_more_than_it_says() -> None:
    whole, day = Day(2024, 10, 7), Day(None, 10, 7)
    assert whole.bears_out(day, frozenset())
    assert whole.bears_out(Day(2024, 10, None), frozenset())
    assert not day.bears_out(whole, frozenset())
    assert day.bears_out(whole, frozenset({"2024"}))
    assert not Day(2024, 10, None).bears_out(whole, frozenset())
    assert not Day(2024, 9, 7).bears_out(whole, frozenset())


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One is here. Two is there! Is it? Yes… No.", 5),
        (
            "It costs 3.50, e.g. in St. Gallen, says Dr. A. Meier of Acme Inc. in the U.S. now.",
            1,
        ),
        ("Bread, milk etc. The rest is gone.", 2),
        ("Look at example.com or a.b for no. 5 of it.", 1),
        ('He said "Stop." Then he went.', 2),
        ("It is so. 'mktemp' is not.", 2),
        ("It goes on... and on.", 1),
        ("一つ目です。二つ目です！三つ目。", 3),
        ("No end", 1),
        ("", 0),
        ("." * 500, 1),
    ],
)
def test_sentences_end_where_they_end(text: str, parts: int) -> None:
    found = sentences(text)
    assert len(found) == parts
    assert "".join("".join(found).split()) == "".join(text.split())


def test_a_page_is_read_in_blocks() -> None:
    page = (
        "# Title #\nFirst line\nsecond line\n\n- item one\n  goes on\n* item two\n1. three\n\n"
        "> quoted\n---\n```py\ncode()\n\n```\n~~~\nmore\n~~~\n\n    indented\n\n"
        "| a | b |\n>>> 1\nend\n"
    )
    assert [(b.kind, b.text) for b in blocks(page)] == [
        ("heading", "Title"), ("prose", "First line second line"), ("item", "item one goes on"),
        ("item", "item two"), ("item", "three"), ("prose", "quoted"), ("code", "code()"),
        ("code", "more"), ("code", "indented"), ("row", " a ; b "), ("code", ">>> 1"),
        ("prose", "end"),
    ]  # fmt: skip
    assert {b.heading for b in blocks(page) if b.kind != "heading"} == {"Title"}


def named(text: str, *ordinary: str) -> list[str]:
    return names(text, ordinary.__contains__)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The town of Vellmouth met Ines Kolbe.", ["vellmouth", "ines", "kolbe"]),
        ("Vellmouth opened. Users came.", ["vellmouth"]),
        ("Running is fun. The APIs of NATO.", ["api", "nato"]),
        ("Call `json.dumps(obj, indent=4)` now.", ["json dumps", "obj", "indent", "4"]),
        ("Set max_size and camelCase or a.b.c to v2.x.", ["max size", "camelcase", "a b c", "2 x"]),
        ('He said "red herring" and «blau».', ["red herring", "blau"]),
        ("GPT-4 by sha256 on 3-year-old 64KiB disks.", ["gpt 4", "sha256"]),
        ("I saw A and B in HTTP/2.", ["b", "http 2"]),
        ("The Coinfold-based net of Orsk's.", ["coinfold", "orsk"]),
    ],
)
def test_names_are_found(text: str, found: list[str]) -> None:
    assert named(text) == found


def test_a_word_that_pages_write_small_is_no_name_at_the_beginning() -> None:
    assert named("Tulips rose.") == ["tulips"]
    assert named("Tulips rose.", "tulip") == []
    assert proper("The `Queue` of Orsk.", lambda _: False) == ["orsk"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("running", "runs"), ("parsing", "parse"), ("serialization", "serialize"), ("opened", "opens"),
     ("queued", "queues"), ("delivering", "deliver"), ("cities", "city"), ("creation", "create")],
)  # fmt: skip
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert lexicon.stem(one) == lexicon.stem(other)


@pytest.mark.parametrize("word", ["bus", "class", "is", "über", "x" * 50, "tied"])
def test_what_has_no_ending_keeps_it(word: str) -> None:
    assert lexicon.stem(word) in {word, "ti"}


def test_what_is_denied_is_read_up_to_the_end_of_the_clause() -> None:
    def denied(text: str) -> list[set[str]]:
        return [set(each) for each in Facts(text).denied]

    assert denied("It does not open the red door today.") == [{"open", "red", "door"}]
    assert denied("It isn't open, the door is red.") == [{"open"}]
    assert denied("The door opened, they say it does not.") == [{"door", "op"}] or denied(
        "The door does not."
    ) == [{"door"}]
    assert denied("Not only this, no doubt, but no. 5 as well.") == []
    assert denied("它不需要。食べません。") == [{"需要"}, {"食べ"}]


def test_markdown_is_taken_off_a_line() -> None:
    assert plain("**Bold** _it_ ``x`` [a](/b) ![c](d) seen.[3] “q” snake_case") == (
        'Bold it `x` a c seen. "q" snake_case'
    )


def test_a_claim_of_many_words_is_not_compared_word_by_word() -> None:
    long = Facts("word " * 200)
    assert change(long, long).closeness == 0
    assert change(Facts("..."), long).closeness == 0
