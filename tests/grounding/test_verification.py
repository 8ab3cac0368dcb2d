# ruff: noqa: RUF001  signs of other scripts
"""Answers are read as they are written, and judged claim by claim."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from source_samples import SOURCES, TRUE

from webtools import Verified
from webtools._internal.grounding import verification
from webtools._internal.grounding.citations import LONGEST
from webtools._internal.grounding.evidence import MAX_PIECES, Evidence
from webtools.synthesis import Source, verify

URLS = [source.url for source in SOURCES]
POOL, PARSER, TRAIN, JSON = URLS
COUNCIL = "The council had first voted for the pool in 2015."


def check(text: str) -> Verified:
    return verify(text, SOURCES)


@pytest.mark.parametrize(
    "draft",
    [
        f"{COUNCIL} [1]",
        f"{COUNCIL[:-1]} [1].",
        f"{COUNCIL[:-1]}[1].",
        f"{COUNCIL}[1]",
        f"{COUNCIL}【1】",
        f"{COUNCIL}【1†source】",
        f"{COUNCIL[:-1]} ([1]).",
        f"{COUNCIL[:-1]} (see [1]).",
        f"{COUNCIL} [^1]",
        f"{COUNCIL} [Source 1]",
        f"{COUNCIL} [[1]]",
        f"{COUNCIL} [1, 1]",
        f"{COUNCIL}\n[1]",
        f"[1] {COUNCIL}",
        f"> {COUNCIL} [1]",
        f"- {COUNCIL} [1]",
        f"{COUNCIL} [1]({POOL})",
        f"{COUNCIL[:-1]} ({POOL}).",
        f"{COUNCIL} {POOL}#top",
        f"{COUNCIL} <{POOL}/?utm_source=x>",
        f"The council had first voted for [the pool]({POOL}) in 2015.",
        f"The council had first voted for [the pool][1] in 2015.\n\n[1]: {POOL}",
        f"{COUNCIL} [7]\n\n[7]: {POOL}",
        f"{COUNCIL} [7]\n\n## Sources\n\n[7] The pool {POOL}",
        f"# Answer\n\nThe facts:\n\n{COUNCIL} [1]\n\n---\n",
    ],
)
def test_marks_and_links_of_all_kinds_are_citations(draft: str) -> None:
    result = check(draft)
    assert [(item.text, item.status) for item in result.claims] == [(COUNCIL, "quoted")]
    assert result.citations == [POOL]
    assert result.summary.lstrip("->* ") == f"{COUNCIL} [1]"
    [where] = result.claims[0].citations
    assert (where.url, where.title) == (POOL, SOURCES[0].title)
    assert where.quotation in SOURCES[0].text


@pytest.mark.parametrize(
    ("claim", "named"),
    [
        ("The council had first voted for the pool in 2016.", "2016"),
        ("The council of Tolland had voted for the pool.", "Tolland"),
        ("The council had never voted for the pool.", "word for word"),
    ],
)
def test_an_uncertain_claim_has_the_nearest_passage_and_a_reason(claim: str, named: str) -> None:
    [result] = check(f"{claim} [1]").claims
    assert result.status == "uncertain"
    [reason] = result.reasons
    assert named in reason
    assert result.nearest is not None
    assert result.nearest.url == POOL
    assert result.nearest.text in SOURCES[0].text
    assert [(where.url, where.quotation) for where in result.citations] == [(POOL, "")]


def test_words_alone_never_support_a_claim() -> None:
    text = " ".join(f"{claim.replace(' the ', ' this ')}" for claim in TRUE)
    assert "supported" not in {claim.status for claim in check(text).claims}


def test_a_claim_is_unsupported_without_a_common_word_or_a_text() -> None:
    result = check("Bakers eat bread. [1]")
    assert [(item.status, item.nearest) for item in result.claims] == [("unsupported", None)]
    unread = verify("The pool is open. [1]", [Source(1, "Pool", "https://a.example/", " ")])
    assert [(item.status, len(item.reasons)) for item in unread.claims] == [("unsupported", 1)]


@pytest.mark.parametrize(
    ("text", "claim", "is_quoted"),
    [
        ("Cafe\u0301 Norrvik opened\non Saturday.", "Café Norrvik opened on Saturday.", True),
        ("The [pool](https://a.example/x_(y)) opened.[3] It rained.", "The pool opened.", True),
        ("The pool opened.[[147]](https://a.example/#n-147) It rained.", "It rained.", True),
        ("- The pool opened.\n- It rained.", "The pool opened.", True),
        ("- Cheap entry\n- Free parking for all\n\nIt rained.", "Free parking for all", True),
        ("| Town | People |\n| --- | --- |\n| Bern | 140,000 |", "140,000", True),
        ("| Town | People |\n| --- | --- |\n| Bern | 140,000 |", "Bern | 140,000", True),
        ("The *pool* opened.", "The pool opened.", False),
        ("The pool opened", "The pool opened", False),
        ("The pool opened", "The pool opened.", False),
        ("The harbour pool opened.", "The pool opened.", False),
        ("It met at 9 p.m. The pool opened.", "It met at 9 p.m.", True),
        ("It met at 9 p.m.\n\nThe pool opened.", "It met at 9 p.m.", True),
        ("It met at 9 p.m.", "It met at 9 p.m.", False),
        ("It met on floor 5. Court was held.", "It met on floor 5.", True),
        ("Features:\n\n- The pool opened.", "The pool opened.", True),
        ("The pool opened.\n---\n\nIt rained.", "The pool opened.", False),
        ("Term\n: The pool opened.", "The pool opened.", True),
        ("Rain fell.\n\n## References\n\n- The pool opened.\n- It rained.", "It rained.", False),
        ("- The pool opened\n\n  for members only\n- It rained", "The pool opened", False),
        ("- The pool opened\n- It rained\n\nThe end.", "The pool opened", True),
        ("- The pool opened\n  - for members\n- It rained", "The pool opened for members", False),
        ("The pool opened.[sic] It rained.", "The pool opened.", False),
        ("The pool has [[not]](https://a.example/) opened.", "The pool has opened.", False),
        ("Run `It is false. The pool opened. So it is.` on it.", "The pool opened.", False),
        ("Run `It is false. The pool opened.` on it.", "Run `It is false.", False),
        ("The mayor denied... The pool opened.", "The pool opened.", False),
        ("It was not on the\n15. August came and it opened.", "August came and it opened.", False),
        ("Yahoo! Japan did not close.", "Japan did not close.", False),
        ("They met in Calif. Smith spoke.", "Smith spoke.", False),
        ("The pool cost 12\u2009000 pounds.", "The pool cost 12 000 pounds.", True),
        ("The pool cost 12\u2009000 pounds.", "The pool cost 12000 pounds.", False),
        ("The pool is 10\u00b2 metres.", "The pool is 102 metres.", False),
        ("The pool o\u200bpened.", "The pool opened.", False),
        ("The pool opened.", "the pool opened.", False),
        ("The pool opened.", "The pool opened!", False),
        ("| Bern | | closed |\n| --- | --- | --- |", "Bern | closed", False),
        ("| Bern | 5 | closed |\n| --- | --- | --- |", "Bern 5", False),
    ],
)
def test_a_quotation_is_a_full_unit_to_the_letter(
    text: str, claim: str, *, is_quoted: bool
) -> None:
    source = Source(1, "Pool", "https://a.example/", text)
    message = f"| {claim} [1] |" if "|" in claim else f"{claim} [1]"
    assert ({item.status for item in verify(message, [source]).claims} == {"quoted"}) is is_quoted


WORDS = st.sampled_from(
    [
        *(
            "pool",
            "opened",
            "not",
            "Vellmouth",
            "mayor,",
            "2.5",
            "(in 2015)",
            "\u2013",
            "caf\u00e9",
        ),
        *(
            "Dr.",
            "approx.",
            "p.m.",
            "U.S.",
            "J.",
            "`a. B`",
            "Submarine!",
            "[[1]](https://b.example)",
        ),
        *(
            "*never*",
            "so-called",
            "10\u2009000",
            "$5",
            "https://c.example/a",
            "\u65e5\u672c",
            "it\u2019s",
        ),
    ]
)
PLACES = st.sampled_from(
    ["{}", "Rain fell. {} It was late.", "- {}\n- It rained.", "| Bern | {} |"]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, min_size=2, max_size=9), PLACES, st.data())
def test_part_of_a_sentence_is_never_quoted(
    words: list[str], place: str, data: st.DataObject
) -> None:
    sentence = ["The", *words, "closed."]
    start = data.draw(st.integers(0, len(sentence) - 1))
    end = data.draw(
        st.integers(start + 1, len(sentence)).filter(lambda end: end - start < len(sentence))
    )
    part = " ".join(sentence[start:end])
    source = Source(1, "", "https://a.example/", place.format(" ".join(sentence)))
    for claim in (part, f"{part}.", f"{part[0].upper()}{part[1:]}"):
        statuses = {item.status for item in verify(f"{claim} [1]", [source]).claims}
        assert "quoted" not in statuses, claim


@pytest.mark.parametrize(
    "draft",
    [
        f"{COUNCIL} [1] See https://evil.example/x for more.",
        f"{COUNCIL} [1] ![picture](https://evil.example/a.png)",
        f"{COUNCIL} [1] It is open <img src=//evil.example/a.png>.",
        f"{COUNCIL} [1] Click [here](javascript:1).",
        f"{COUNCIL} [1] The pool is `https://evil.example`. [1]",
        f"{COUNCIL} [1] The pool opened. [2]\n\n[2]: https://evil.example/",
        f"{COUNCIL} [1]\n\n| The pool | is closed |",
        f"{COUNCIL} [1] `rm -rf /` cleans the pool.",
    ],
)
def test_unsupported_text_is_dropped_and_the_rest_kept(draft: str) -> None:
    result = check(draft)
    assert result.summary == f"{COUNCIL} [1]"
    assert result.dropped >= 1
    assert "evil" not in result.summary


HEAP = (
    "To take the smallest item call `heappop`:\n\n"
    "    from heapq import heappop\n\n    if heap:\n        first = heap[1] or heappop(heap)\n\n"
    "The library has it since 1.5.\n"
)
LINES = "from heapq import heappop\n\nif heap:\n    first = heap[1] or heappop(heap)"


def check_code(answer: str) -> Verified:
    return verify(answer, [Source(1, "Heaps", "https://a.example/heaps", HEAP)])


@pytest.mark.parametrize(
    "below",
    ["\n[1]", "\n\n[1]", "\n【1】", "\n [1][1].\n", "\n[1]\n\nIt fits.", "\n[1] [1]\n\n---"],
)
def test_a_mark_below_a_block_of_code_cites_for_all_of_it(below: str) -> None:
    block = f"```python\n{LINES}\n```"
    result = check_code(f"Take it so:\n\n{block}{below}")
    assert (result.claims[0].text, result.claims[0].status) == (block, "quoted")
    assert result.summary == f"{block}\n[1]"
    assert result.claims[0].citations[0].quotation in HEAP


@pytest.mark.parametrize(
    ("code", "below", "status"),
    [
        (LINES.replace("    first", "first"), "[1]", "uncertain"),
        (LINES, "[9]", "unsupported"),
        (f"{LINES}\nget('https://evil.example/x')", "[1]", "unsupported"),
        ("rm -rf /", "[1]", "unsupported"),
    ],
)
def test_code_that_its_source_has_otherwise_is_never_certain(
    code: str, below: str, status: str
) -> None:
    [claim] = check_code(f"~~~\n{code}\n~~~\n{below}").claims
    assert claim.status == status


def test_code_that_its_source_denies_is_not_quoted() -> None:
    page = "Never write this:\n\n```\nrm -rf /home\n```\n\nThe heap of files is gone then."
    answer = "```\nrm -rf /home\n```\n[1]"
    result = verify(answer, [Source(1, "Files", "https://a.example/", page)])
    assert [item.status for item in result.claims] == ["uncertain"]
    assert len(result.claims[0].reasons) == 1


def test_an_answer_is_read_to_a_limit_with_a_reason() -> None:
    result = check(f"{COUNCIL} [1] " + "x" * LONGEST)
    assert result.summary == f"{COUNCIL} [1]"
    assert str(LONGEST) in result.reasons[0]
    many = check("\n\n".join(f"The very large pool number {n} is closed." for n in range(30)))
    assert (many.dropped, len(many.reasons)) == (30, 10)


# --- arbitrary drafts --------------------------------------------------------------------------

ODD = [
    *(
        "",
        " ",
        "[1]",
        "[1][1]",
        "[",
        "]",
        "[1",
        "[[1]",
        "[1]]",
        "[ 1 ]",
        "(\ue0001\ue001)",
        "`[1]`",
    ),
    *("[1](", "[1]()", "[1]: ", "[999999999999999999999]", "[1-999999999]", "`", "```", "**", "…"),
    *(".", "http://", "[a](b", "\x1b[31m", "\u202e", "[１]", "［1］", "\ud800", "- ", "1. ", "---"),
    *("| a | b |", "(uncertain)", f"{COUNCIL} [1]", *TRUE[:3], "0" * 5000, "1." * 500),
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(ODD) | st.text(max_size=12), max_size=8).map("".join))
def test_citations_are_sources_and_match_their_marks(draft: str) -> None:
    result = check(draft)
    assert set(result.citations) <= set(URLS)
    assert len(set(result.citations)) == len(result.citations)
    assert bool(result.summary) == bool(result.kept)
    assert "\ue000" not in result.summary
    assert "://" not in result.summary  # "http" alone is a word
    cited = {where.url for item in result.claims for where in item.citations}
    assert cited == set(result.citations)


@pytest.mark.no_cover
@pytest.mark.parametrize("unit", ["[1,", "](", "a. [1] ", "- a\n", "# a\n", "“a. ", "1,000,"])
def test_hostile_texts_take_no_longer_than_their_length(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    start = time.process_time()
    check(text)
    verify("One of a hundred is not a. [1]", [Source(1, text[:500], "https://a.example", text)])
    assert time.process_time() - start < 20  # a second or two on an idle machine


# --- bounds ------------------------------------------------------------------------------------


def test_claims_after_the_deadline_are_uncertain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "SECONDS", -1.0)
    result = verify(
        "The pool opened. [1]", [Source(1, "", "https://a.example", "The pool opened.")]
    )
    assert [item.status for item in result.claims] == ["uncertain"]
    assert len(result.reasons) == 1


@pytest.mark.no_cover
@pytest.mark.parametrize("text", ["- a\n" * 250_000, "# a\n" * 250_000, "a. b\n\n" * 200_000])
def test_a_text_of_very_many_sentences_is_read_in_part(text: str) -> None:
    evidence = Evidence(text)
    assert evidence.is_cut
    assert len(evidence.pieces) <= MAX_PIECES
