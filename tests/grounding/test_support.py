"""Claims about pages, labelled by hand: what is true is kept, what is false is not certain."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from webtools.grounding.evidence import Evidence, digits_of, words_of
from webtools.grounding.quotations import quotation
from webtools.grounding.support import LONGEST, support
from webtools.grounding.verification import verify
from webtools.synthesis import Source
from webtools_sandbox.corpus import standard_corpus

CLAIMS = Path(__file__).parents[2] / "benchmarks/answers/claims.jsonl"


def test_of_claims_about_news_the_true_are_kept_and_no_false_one_is_certain() -> None:
    pages = {each.path: each for each in standard_corpus().documents}
    counts: dict[str, Counter[str]] = {"supported": Counter(), "not_supported": Counter()}
    for line in CLAIMS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        page = pages[row["page"]]
        source = Source(1, page.title, "https://a.example/1", page.markdown)
        [claim] = verify(f"{row['claim']} [1]", [source]).claims
        counts[row["label"]][claim.status] += 1
    true, false = counts["supported"], counts["not_supported"]
    assert false["quoted"] == false["supported"] == 0
    assert false["unsupported"] >= 0.75 * false.total()
    assert true["quoted"] + true["supported"] >= 0.6 * true.total()
    assert true["unsupported"] <= 0.1 * true.total()


@pytest.mark.parametrize(
    ("text", "claim", "reason"),
    [
        ("The hall has 90 seats.", "The hall has 80 seats.", "does not have its number 80"),
        ("The council sold the old hall.", "The council kept the old hall.", '"sold" for its'),
        ("The basin needs no pumps at all.", "The basin needs pumps at all.", 'says "no" there'),
        ("The basin needs pumps.", "The basin needs no pumps.", 'has no "no" there'),
        ("The plant yields 5 MW here.", "The plant yields 5 mW here.", "5 MW for its 5 mW"),
        ("The council sold the old hall.", "Bakers eat bread.", "has none of its words"),
        ("The council sold the old hall.",
         "Old bakers of Lisbon eat bread, cheese and ham with friends near Porto.",
         "has too few of its words"),
    ],
)  # fmt: skip
def test_the_reason_says_what_is_wrong(text: str, claim: str, reason: str) -> None:
    found = support(claim, Evidence(text))
    assert found.status == "unsupported"
    assert reason in found.reason


def test_a_claim_may_repeat_a_word_of_its_sentence() -> None:
    text = "The `pool` of the town of Vellmouth is open, and the guests of the pool may swim there."
    claim = "The pool of the town of Vellmouth is open, and the guests of the pool may swim."
    assert support(claim, Evidence(text)).status == "supported"


def test_a_claim_longer_than_any_sentence_is_not_compared() -> None:
    assert support("word " * LONGEST, Evidence("word")).reason == "it is too long to be compared"


@pytest.mark.parametrize(
    ("number", "digits"),
    [("1,000", "1000"), ("0,125", "0,125"), ("$3.2", "3.2"), ("10²", "10"), ("2**10", "2 10"),
     ("12%", "12"), ("21:40", "21:40"), ("12,34", "12,34")],
)  # fmt: skip
def test_numbers_are_the_same_only_in_the_same_notation(number: str, digits: str) -> None:
    assert digits_of(number) == digits


def test_words_of_numbers_are_digits_unless_they_are_part_of_a_longer_one() -> None:
    keys = [word.key for word in words_of("Twelve cars of nineteen eighty-four in 1756-1759")]
    assert [key for key in keys if key.isdigit()] == ["12", "1756", "1759"]


@pytest.mark.parametrize(
    ("text", "claim", "is_quoted"),
    [
        ("Cafe\u0301 Norrvik opened\non Saturday.", "Café Norrvik opened on Saturday.", True),
        ("The [pool](https://a.example) opened.[3] It rained.", "The pool opened.", True),
        ("- The pool opened.\n- It rained.", "The pool opened.", True),
        ("The *pool* opened.", "The pool opened.", False),
        ("The pool opened", "The pool opened", False),
        ("The pool opened", "The pool opened.", False),
        ("It met at 9 p.m. The pool opened.", "It met at 9 p.m.", True),
        ("It met at 9 p.m.\n\nThe pool opened.", "It met at 9 p.m.", True),
        ("It met at 9 p.m.", "It met at 9 p.m.", False),
        ("It met in the Dist. Court.", "It met in the Dist.", False),
        ("It met on floor 5. Court was held.", "It met on floor 5.", True),
        ("Features:\n\n- The pool opened.", "The pool opened.", True),
        ("He said “It rained. The pool opened.”", "It rained.", False),
        ("The pool opened. That is not so.", "The pool opened.", False),
        ("The pool opened.\n---\n\nIt rained.", "The pool opened.", False),
        ("Term\n: The pool opened.", "The pool opened.", True),
    ],
)
def test_a_quotation_is_a_whole_sentence_to_the_letter(
    text: str, claim: str, *, is_quoted: bool
) -> None:
    assert (quotation(claim, Evidence(text)) is not None) is is_quoted
