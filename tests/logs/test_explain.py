"""From the log alone a person can tell why a call went as it did."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webtools.logs import explain, tail_line

ID = "6w3k0n8q2r7t"
HASH = "sha256:1b8fc221f042"


def event(at_ms: int, name: str, **facts: Any) -> dict[str, Any]:
    ts = f"2026-11-22T10:00:{at_ms // 1000:02}.{at_ms % 1000:03}Z"
    return {"ts": ts, "event": name, "call": ID, "pid": 7, **facts}


def sentence(name: str, **facts: Any) -> str:
    """Give what is told of an event, without the time."""
    told = explain([event(0, "call"), event(5, name, **facts)]).splitlines()
    start, line = told[3][:12], told[3][12:]
    assert start == "  +0.005 s  "
    return line


def reasons(*events: dict[str, Any]) -> list[str]:
    told = explain(list(events)).partition("\n\nWhy:\n")[2]
    return [line.removeprefix("- ") for line in told.splitlines()]


def done(**facts: Any) -> dict[str, Any]:
    return event(900, "done", is_error=False, **facts)


STORY = [
    event(0, "call", tool="web_research", command="web-deep", query=HASH, limit=5),
    event(
        1,
        "provider_skipped",
        provider="exa",
        kind="quota",
        reason="its quota is used up.",
        until=1795341840,
    ),
    event(2, "cache_miss", subject=HASH, provider="brave"),
    event(
        312,
        "provider_error",
        provider="brave",
        capability="search",
        subject=HASH,
        error="UnavailableError",
        status=503,
        message="brave is overloaded.",
        retryable=True,
        ms=310.2,
    ),
    event(
        530,
        "provider_success",
        provider="kagi",
        capability="search",
        subject=HASH,
        count=5,
        ms=212.4,
        cost_usd=0.005,
        cost_is_estimate=False,
    ),
    event(
        531,
        "done",
        ms=531,
        is_error=False,
        result_count=5,
        provider_used="kagi",
        degraded=["exa", "brave"],
        confidence="high",
        rule="four or more sources from 3 domains",
        cost_usd=0.005,
        cache_hit=False,
    ),
]


def test_a_story_is_told_in_order_and_ends_with_the_reasons() -> None:
    assert explain(STORY) == (
        f"""\
Call {ID}

  +0.000 s  web_research (web-deep) was called at 2026-11-22 10:00:00 UTC for {HASH}, \
at most 5 results.
  +0.001 s  exa was skipped until 10:04:00 UTC: its quota is used up.
  +0.002 s  Nothing was in the cache for {HASH} from brave.
  +0.312 s  brave failed after 310 ms for {HASH}: UnavailableError, HTTP 503: brave is overloaded; \
that is retryable.
  +0.530 s  kagi found 5 results for {HASH} in 212 ms for 0.005 USD.
  +0.531 s  The call succeeded in 531 ms for 0.005 USD: 5 results from kagi, confidence high \
(four or more sources from 3 domains).

Why:
- kagi served the call because exa was skipped (its quota is used up) and brave failed \
(UnavailableError, HTTP 503).
- The answer is degraded, for exa and brave did not serve as meant: exa was skipped (its \
quota is used up) and brave failed (UnavailableError, HTTP 503)."""
    )


def lines(*events: dict[str, Any]) -> list[str]:
    """Give what is told of events after the call, without their times."""
    told = explain([event(0, "call"), *events]).partition("\n\nWhy:\n")[0]
    return [line[12:] for line in told.splitlines()[3:]]


def failure(subject: str, provider: str = "exa", message: str = 'no answer for "{}".') -> Any:
    return event(
        5,
        "provider_error",
        provider=provider,
        subject=subject,
        error="RequestError",
        message=message.format(subject),
    )


def test_failures_that_are_alike_are_told_once_with_their_count() -> None:
    other = failure("d", message='HTTP 503 for "{}".')
    assert lines(*map(failure, "abc"), other, failure("a", "kagi")) == [
        '3 times: exa failed for a, b and c: RequestError: no answer for "a".',
        'exa failed for d: RequestError: HTTP 503 for "d".',
        'kagi failed for a: RequestError: no answer for "a".',
    ]


def test_a_failure_that_came_back_for_the_same_is_counted() -> None:
    assert lines(failure("a"), failure("a")) == [
        '2 times: exa failed for a: RequestError: no answer for "a".'
    ]


def test_what_sums_failures_up_does_not_tell_them_again() -> None:
    reasons = {"exa": 'no answer for "{}".', "kagi": 'no answer for "{}".'}
    sums = [
        event(6, "all_providers_failed", providers={k: v.format(each) for k, v in reasons.items()})
        for each in "ab"
    ]
    failed = [failure(each, provider) for provider in reasons for each in "ab"]
    end = event(
        9,
        "done",
        is_error=True,
        error="RequestError",
        message='All failed. exa, kagi: no answer for "a" and others.',
    )
    assert lines(*failed, *sums, end)[2:] == [
        "2 times: Every provider failed: exa, kagi.",
        "The call failed: RequestError.",
    ]
    sums[0]["providers"]["kagi"] = "no key."
    assert lines(*failed, sums[0])[2:] == ["Every provider failed: exa; kagi: no key."]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ('All 2 pages could not be fetched: a: no answer for "a"; b: x.', ""),
        ('no answer for "sha256:0123 and others".', ""),
        ("the disk is full.", ": the disk is full"),
    ],
)
def test_the_end_tells_what_was_not_told_before(message: str, told: str) -> None:
    failed = failure("sha256:4567")
    end = event(9, "done", is_error=True, error="RequestError", message=message)
    first = failure("a") if "pages" in message else failed
    assert lines(first, end)[1] == f"The call failed: RequestError{told}."


def test_nothing_is_told_of_no_event() -> None:
    assert explain([]) == "The log has nothing on this call."


def test_a_story_without_its_end_says_so_and_what_had_gone_wrong() -> None:
    assert reasons(*STORY[:4]) == [
        "The log has no end of this call: it is still running or the process was stopped.",
        "exa was skipped (its quota is used up).",
        "brave failed (UnavailableError, HTTP 503).",
    ]


def test_a_story_without_its_beginning_says_so() -> None:
    told = explain(STORY[1:]).splitlines()
    assert told[2] == ("The log has no beginning of this call: its first lines were rotated away.")
    assert told[3].startswith("  +0.000 s  exa was skipped")
    assert told[4].startswith("  +0.001 s  Nothing was in the cache")


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"tool": "web_search", "queries": ["a", "b"]}, "web_search was called{} for a and b."),
        (
            {"tool": "web_fetch", "urls": list("abcdef"), "provider": "exa"},
            "web_fetch was called{} for a, b, c and 3 more, with exa and no other.",
        ),
        ({"tool": "summarize", "limit": 1}, "summarize was called{}, at most 1 result."),
        ({}, "A tool was called{}."),
        ({"ts": "yesterday"}, "A tool was called."),
    ],
)
def test_the_call_is_told_with_what_was_asked(facts: dict[str, Any], told: str) -> None:
    first = explain([{**event(0, "call"), **facts}]).splitlines()[2]
    assert first[12:] == told.format(" at 2026-11-22 10:00:00 UTC")


SENTENCES: list[tuple[str, dict[str, Any], str]] = [
    (
        "cache_hit",
        {"provider": "exa", "subject": "a", "age_s": 95.4},
        "The answer of exa for a was in the cache, 95 s old.",
    ),
    (
        "cache_hit",
        {"provider": "exa", "subject": "a", "age_s": 720},
        "The answer of exa for a was in the cache, 12 min old.",
    ),
    (
        "cache_hit",
        {"provider": "exa", "subject": "a", "age_s": 10_800},
        "The answer of exa for a was in the cache, 3 h old.",
    ),
    (
        "cache_hit",
        {"provider": "exa", "subject": "a", "age_s": 864_000},
        "The answer of exa for a was in the cache, 10 days old.",
    ),
    ("cache_hit", {}, "The answer of the provider for it was in the cache."),
    ("cache_miss", {"provider": "exa", "subject": "a"}, "Nothing was in the cache for a from exa."),
    (
        "provider_success",
        {"provider": "exa", "subject": "a", "count": 1, "ms": 12_345},
        "exa found 1 result for a in 12 s.",
    ),
    (
        "provider_success",
        {"provider": "exa", "capability": "docs", "subject": "a", "count": 2},
        "exa found 2 results for a.",
    ),
    (
        "provider_success",
        {"provider": "exa", "capability": "fetch", "subject": "u", "count": 1},
        "exa read 1 page for u.",
    ),
    (
        "provider_success",
        {"provider": "kagi", "capability": "summarize", "subject": "u", "count": 1},
        "kagi wrote a summary for u.",
    ),
    (
        "provider_success",
        {
            "provider": "pplx",
            "capability": "synthesize",
            "subject": "q",
            "cost_usd": 0.0000012,
            "cost_is_estimate": True,
        },
        "pplx wrote an answer for q for about 0.000001 USD.",
    ),
    (
        "provider_success",
        {"provider": "exa", "subject": "a", "count": 3, "cost_usd": 0},
        "exa found 3 results for a for 0 USD.",
    ),
    (
        "provider_empty",
        {"provider": "exa", "subject": "a", "ms": 3},
        "exa found nothing for a in 3 ms.",
    ),
    (
        "provider_error",
        {
            "provider": "exa",
            "subject": "a",
            "error": "RequestTimeoutError",
            "message": "no answer",
            "retryable": False,
            "retry_after": 200,
        },
        (
            "exa failed for a: RequestTimeoutError: no answer; trying again would not help; it "
            "asks to wait 3 min."
        ),
    ),
    ("provider_error", {}, "the provider failed for it: an error."),
    ("provider_skipped", {"provider": "exa"}, "exa was skipped: not asked."),
    (
        "provider_skipped",
        {
            "provider": "exa",
            "kind": "failing",
            "until": "2026-11-23T01:02:03Z",
            "reason": "3 failures",
        },
        "exa was skipped until 2026-11-23 01:02:03 UTC: 3 failures.",
    ),
    ("provider_skipped", {"provider": "exa", "until": "soon"}, "exa was skipped: not asked."),
    ("provider_skipped", {"provider": "exa", "until": 1e14}, "exa was skipped: not asked."),
    ("provider_skipped", {"provider": "exa", "until": -1e300}, "exa was skipped: not asked."),
    (
        "all_providers_failed",
        {"providers": {"exa": "down.", "brave": "no key"}},
        "Every provider failed: exa: down; brave: no key.",
    ),
    ("all_providers_failed", {}, "Every provider failed."),
    (
        "budget_refused",
        {"provider": "exa", "message": "5 of 5 USD are spent."},
        "The budget refused exa: 5 of 5 USD are spent.",
    ),
    (
        "filters",
        {"filters": {"a": "native", "b": "local", "c": "unsupported", "d": "odd"}},
        (
            "Filters: a was applied by the provider; b was applied here to what the provider "
            "found; c was not applied, for the provider cannot; d was odd."
        ),
    ),
    ("filters", {}, "Filters: none."),
    (
        "synthesis",
        {"synthesizer": "pplx", "claims": 1, "kept": 0, "uncertain": 1, "dropped": 0},
        "The synthesis by pplx made 1 claim: 0 kept, 1 marked uncertain, 0 dropped.",
    ),
    (
        "synthesis",
        {"claims": 2, "kept": 1, "dropped": 1, "reasons": ["no source says 5 GB."]},
        (
            "The synthesis by the synthesizer made 2 claims: 1 kept, 0 marked uncertain, 1 "
            "dropped (no source says 5 GB)."
        ),
    ),
    (
        "synthesis_error",
        {"synthesizer": "pplx", "error": "QuotaError", "message": "no credit."},
        "The synthesis by pplx failed: QuotaError: no credit.",
    ),
    (
        "truncation",
        {
            "shown_bytes": 51_200,
            "total_bytes": 1_300_000,
            "shown_lines": 2000,
            "total_lines": 54_321,
            "path": "/t/x.txt",
        },
        (
            "The output was cut to 50.0 KB of 1.2 MB (2000 of 54321 lines); the whole of it is "
            "in /t/x.txt."
        ),
    ),
    ("truncation", {"shown_bytes": 10, "total_bytes": 900}, "The output was cut to 10 B of 900 B."),
    ("truncation", {}, "The output was cut."),
    (
        "shared",
        {"subject": "a"},
        "An identical call for a was under way; its answer served this one too.",
    ),
    (
        "widened",
        {"recency_days": 30},
        "Nothing from the last 30 days was found, so sources of any age were asked for.",
    ),
    (
        "widened",
        {},
        "Nothing of the age asked for was found, so sources of any age were asked for.",
    ),
    ("done", {}, "The call succeeded."),
    (
        "done",
        {"ms": 4, "cache_hit": True, "result_count": 2, "provider_used": "exa"},
        "The call succeeded in 4 ms: 2 results from exa out of the cache.",
    ),
    (
        "done",
        {"provider": "exa", "confidence": "low"},
        "The call succeeded: from exa, confidence low.",
    ),
    (
        "done",
        {"is_error": True, "ms": 4, "error": "InputError", "message": "limit 99 is too high."},
        "The call failed in 4 ms: InputError: limit 99 is too high.",
    ),
    (
        "newer",
        {"a": 1, "b": "x y", "c": {"d": [1]}, "e": "", "f": "x" * 200},
        f'Event "newer": a=1, b="x y", c={{"d": [1]}}, e="", f={"x" * 120}….',
    ),
    ("newer", {}, 'Event "newer".'),
]


@pytest.mark.parametrize(("name", "facts", "told"), SENTENCES)
def test_every_event_is_a_sentence(name: str, facts: dict[str, Any], told: str) -> None:
    assert sentence(name, **facts) == told


def test_the_first_in_line_serves_when_nothing_is_wrong() -> None:
    assert reasons(event(0, "call"), done(provider_used="exa")) == [
        "exa served the call because it was the first in line, and nothing kept it from serving."
    ]


def test_who_found_nothing_recent_serves_with_what_is_older() -> None:
    empty = [event(1, "provider_empty", provider=name) for name in ("docs", "exa", "brave")]
    wider = event(2, "widened", recency_days=30, again=["exa", "brave"])
    assert reasons(event(0, "call"), *empty, wider, done(provider_used="exa")) == [
        "exa served the call because docs found nothing.",
        "Nothing from the last 30 days was found, so sources of any age were asked for.",
    ]


def test_the_one_that_was_named_serves() -> None:
    assert reasons(event(0, "call", provider="exa"), done(provider_used="exa")) == [
        "exa served the call because the caller named it."
    ]


def test_why_a_call_was_cached() -> None:
    hit = event(1, "cache_hit", provider="exa")
    assert reasons(event(0, "call"), hit, done(cache_hit=True)) == [
        "It came from the cache: the same was asked before, and the answer was still fresh."
    ]
    assert reasons(event(0, "call"), hit, done(cache_hit=False)) == [
        "A part of it came from the cache: that had been asked before and was still fresh."
    ]


def test_why_a_call_cost_nothing_although_nothing_was_in_the_cache() -> None:
    assert reasons(event(0, "call"), event(1, "shared"), done()) == [
        "It waited for an identical call instead of paying for a second one."
    ]


def test_a_part_that_failed_is_told() -> None:
    failed = event(1, "provider_error", provider="exa", error="RateLimitError", status=429)
    assert reasons(event(0, "call", provider="exa"), failed, done(provider_used="exa"))[1:] == [
        "A part of it may be missing: exa failed (RateLimitError, HTTP 429) for one."
    ]


def test_why_an_answer_is_degraded() -> None:
    lost = event(1, "synthesis_error", synthesizer="pplx", error="QuotaError")
    assert reasons(event(0, "call"), lost, done(degraded=["synthesis"])) == [
        (
            "The answer is degraded, for synthesis did not serve as meant: "
            "the synthesis by pplx failed (QuotaError)."
        )
    ]
    assert reasons(event(0, "call"), done(degraded=True)) == ["The answer is degraded."]
    assert reasons(event(0, "call"), lost, done(degraded=[])) == [
        "It has no synthesis: the synthesis by pplx failed (QuotaError)."
    ]


def test_a_synthesizer_that_failed_is_no_reason_for_the_choice_of_the_provider() -> None:
    failed = event(1, "provider_error", provider="pplx", capability="synthesize")
    assert reasons(event(0, "call"), failed, done(provider_used="exa")) == [
        "exa served the call because it was the first in line, and nothing kept it from serving."
    ]


def test_filters_that_nobody_applied_are_a_reason() -> None:
    states = {"category": "unsupported", "end": "unsupported", "start": "local"}
    assert reasons(event(0, "call"), event(1, "filters", filters=states), done()) == [
        "The results are not filtered by category and end: the provider cannot."
    ]


def test_a_call_that_went_as_it_should_without_a_provider_has_no_reasons() -> None:
    assert "Why" not in explain([event(0, "call"), done()])


@pytest.mark.parametrize(
    ("between", "why"),
    [
        (
            [
                event(1, "provider_empty", provider="exa"),
                event(2, "budget_refused", provider="brave", message="5 of 5 USD are spent."),
                event(3, "all_providers_failed", providers={"exa": "x", "kagi": "no key."}),
            ],
            (
                "It failed because exa found nothing, "
                "brave was refused by the budget (5 of 5 USD are spent) and kagi failed (no key)."
            ),
        ),
        (
            [event(1, "provider_success", provider="exa")],
            "It failed although every provider that was asked answered: InputError: no.",
        ),
        ([], "It failed before any provider was asked: InputError: no."),
    ],
)
def test_why_a_call_failed(between: list[dict[str, Any]], why: str) -> None:
    end = event(9, "done", is_error=True, error="InputError", message="no.")
    assert reasons(event(0, "call"), *between, end) == [why]


def test_a_tail_line_is_aligned_and_has_all_facts() -> None:
    assert [tail_line(each) for each in (STORY[1], STORY[2])] == [
        (
            f"2026-11-22 10:00:00.001  {ID}  provider_skipped      "
            'provider=exa kind=quota reason="its quota is used up." until="10:04:00 UTC"'
        ),
        f"2026-11-22 10:00:00.002  {ID}  cache_miss            subject={HASH} provider=brave",
    ]


def test_a_tail_line_without_time_or_facts_is_still_a_line() -> None:
    assert tail_line({"event": "x", "call": "c"}) == f"{'?':23}  {'c':12}  x"


HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\u202eab\u200bc\r\nd\u2028e\tf\x7f"


def test_nothing_in_a_log_reaches_the_terminal_as_a_control() -> None:
    facts = dict.fromkeys(("tool", "query", "provider", "subject", "message", "error"), HOSTILE)
    facts |= {"odd\x1b[1m": HOSTILE, "call": HOSTILE}  # the head of a line may be forged as well
    lists = {"queries": [HOSTILE, {"x": HOSTILE}], "providers": {HOSTILE: HOSTILE}}
    events = [
        {**event(0, name), **facts, **lists} for name in (*{n for n, _, _ in SENTENCES}, "call")
    ]
    for told in (explain(events), *map(tail_line, events)):
        assert all(char.isprintable() or char == "\n" for char in told)
    assert explain(events).count("\n") < 3 * len(events)
    assert tail_line(events[0]).isprintable()


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
NAMES = sorted({name for _, facts, _ in SENTENCES for name in facts} | {"ts", "event", "call"})


@pytest.mark.no_cover
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"event": st.sampled_from([name for name, _, _ in SENTENCES]) | JSON},
            optional={name: JSON for name in NAMES if name != "event"},
        ),
        max_size=4,
    )
)
def test_a_log_with_anything_in_it_can_be_told(events: list[dict[str, Any]]) -> None:
    for told in (explain(events), *map(tail_line, events)):
        assert all(char.isprintable() or char == "\n" for char in told)


def test_a_call_that_was_cancelled_is_told_to_be() -> None:
    text = explain([event(0, "call"), event(1, "cancelled")])
    assert "The call was cancelled by whoever made it." in text
    assert "It has no outcome, because it was cancelled." in text
    assert "still running" not in text


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            "No key. Or write a file; a minimal valid example:\n{}\nOr x.",
            "No key. Or write a file. Or x",
        ),
        ('/f: is wrong. A minimal valid example:\n{"a": {}}', "/f: is wrong"),
        ("minimal valid example:\nnone", "none"),
        ("No example.", "No example"),
        (7, ""),
    ],
)
def test_no_example_config_is_told_on_one_line(message: Any, told: str) -> None:
    done = event(1, "done", ms=1, is_error=True, error="ConfigError", message=message)
    text = explain([event(0, "call", tool="web_search", queries=["a"]), done])
    assert text.count(f"ConfigError{told and ': '}{told}.") == 2
    assert "valid example" not in text
