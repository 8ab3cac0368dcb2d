"""Tells what the log says of a call in plain sentences, and why the call went as it did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from webtools.logs.reading import (
    LogEvent,
    amount,
    clock,
    duration,
    effort,
    joined,
    listed,
    milliseconds,
    since,
    size,
)
from webtools.logs.repeats import without_repeats

_SUBJECTS_TOLD = 3


def explain(events: Iterable[Mapping[str, Any]]) -> str:
    """Write the story of a call from its events, and why it went so.

    Args:
        events: What `events_of` gives: the events of one call, oldest first.

    Returns:
        Lines: the call's id, a sentence per event with the time since the first, and the reasons.
    """
    story = [LogEvent(_without_example(event)) for event in events]
    if not story:
        return "The log has nothing on this call."
    start = story[0].moment
    lines = [f"Call {story[0].text('call')}".rstrip(), ""]
    if story[0].name != "call":
        lines.append("The log has no beginning of this call: its first lines were rotated away.")
    lines += [
        f"{since(start, event.moment)}  {f'{times} times: ' if times > 1 else ''}{_sentence(event)}"
        for event, times in without_repeats(story)
    ]
    reasons = [f"- {reason}." for reason in _reasons(story)]
    return "\n".join([*lines, "", "Why:", *reasons] if reasons else lines)


def _without_example(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leave the example config out of a message: on one line nobody can use it."""
    message = event.get("message")
    if not isinstance(message, str):
        return event
    before, mark, example = message.partition("minimal valid example:\n")
    if not mark:
        return event
    after = example.rpartition("}")[2].strip()
    before = before.removesuffix("; a ").removesuffix(". A ")
    return {**event, "message": joined([before, after], ". ")}


def tail_line(event: Mapping[str, Any]) -> str:
    """Return an event on one line for people: time, call, event, facts."""
    known = LogEvent(event)
    moment = known.moment
    time = f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03}" if moment else "?"
    return f"{time:23}  {known.text('call'):12}  {known.name:20}  {known.others()}".rstrip()


def _sentence(event: LogEvent) -> str:
    tell = _SENTENCES.get(event.name, _unknown)
    return f"{tell(event)}."


def _call(event: LogEvent) -> str:
    moment = event.moment
    command, provider = event.text("command"), event.text("provider")
    named = (event.text("query"), event.text("url"))
    subjects = [*named, *event.texts("queries"), *event.texts("urls")]
    limit = event.number("limit")
    return joined(
        [
            event.text("tool", "A tool"),
            f" ({command})" if command else "",
            " was called",
            f" at {moment:%Y-%m-%d %H:%M:%S} UTC" if moment else "",
            f" for {listed(subjects, _SUBJECTS_TOLD)}" if any(subjects) else "",
            f", at most {amount(limit, 'result')}" if limit else "",
            f", with {provider} and no other" if provider else "",
        ],
        "",
    )


def _cache_hit(event: LogEvent) -> str:
    age = event.number("age_s")
    old = f", {duration(age)} old" if age is not None else ""
    return f"The answer of {event.provider} for {event.subject} was in the cache{old}"


def _success(event: LogEvent) -> str:
    did = {
        "fetch": f"read {amount(event.count('count'), 'page')}",
        "summarize": "wrote a summary",
        "synthesize": "wrote an answer",
    }.get(event.text("capability"), f"found {amount(event.count('count'), 'result')}")
    return f"{event.provider} {did} for {event.subject}{effort(event)}"


def _failure(event: LogEvent) -> str:
    ms, wait = event.number("ms"), event.number("retry_after")
    after = f" after {milliseconds(ms)}" if ms is not None else ""
    again = "that is retryable" if event.is_set("retryable") else "trying again would not help"
    return joined(
        [
            f"{event.provider} failed{after} for {event.subject}: {event.full_failure}",
            again if "retryable" in event.facts else "",
            f"it asks to wait {duration(wait)}" if wait else "",
        ],
        "; ",
    )


def _skip(event: LogEvent) -> str:
    until = clock(event, "until")
    state = f" until {until}" if until else ": not asked"
    return joined([f"{event.provider} was skipped{state}", _skip_reason(event)], ": ")


def _skip_reason(event: LogEvent) -> str:
    # The kind says how long one waits: it is "quota" for a key that is not accepted, too.
    return event.clause("reason") or event.text("kind")


def _failures(event: LogEvent) -> str:
    pairs = event.pairs("providers")
    separator = "; " if any(reason for _, reason in pairs) else ", "
    each = joined((joined(pair, ": ") for pair in pairs), separator)
    return joined(["Every provider failed", each], ": ")


_FILTER_STATES = {
    "native": "applied by the provider",
    "local": "applied here to what the provider found",
    "unsupported": "not applied, for the provider cannot",
}


def _filters(event: LogEvent) -> str:
    states = [f"{name} was {_FILTER_STATES.get(how, how)}" for name, how in event.pairs("filters")]
    return f"Filters: {'; '.join(states) or 'none'}"


def _synthesizer(event: LogEvent) -> str:
    return event.text("synthesizer", "the synthesizer")


def _synthesis(event: LogEvent) -> str:
    reasons = "; ".join(event.texts("reasons"))
    return joined(
        [
            f"The synthesis by {_synthesizer(event)} made ",
            f"{amount(event.count('claims'), 'claim')}: {event.count('kept')} kept, ",
            f"{event.count('uncertain')} marked uncertain, {event.count('dropped')} dropped",
            f" ({reasons})" if reasons else "",
        ],
        "",
    )


def _truncation(event: LogEvent) -> str:
    shown, whole = event.number("shown_bytes"), event.number("total_bytes")
    lines, all_lines = event.number("shown_lines"), event.number("total_lines")
    path = event.text("path")
    return joined(
        [
            "The output was cut",
            f" to {size(shown)} of {size(whole)}" if shown is not None and whole else "",
            f" ({lines:.0f} of {amount(all_lines, 'line')})"
            if lines is not None and all_lines
            else "",
            f"; the whole of it is in {path}" if path else "",
        ],
        "",
    )


def _widening(event: LogEvent) -> str:
    days = event.number("recency_days")
    age = f" from the last {amount(days, 'day')}" if days else " of the age asked for"
    return f"Nothing{age} was found, so sources of any age were asked for"


def _done(event: LogEvent) -> str:
    if event.is_set("is_error"):
        return f"The call failed{effort(event)}: {event.full_failure}"
    count, used = event.number("result_count"), _server(event)
    confidence, rule = event.text("confidence"), event.clause("rule")
    outcome = joined(
        [
            "" if count is None else amount(count, "result"),
            f"from {used}" if used else "",
            "out of the cache" if event.is_set("cache_hit") else "",
        ],
        " ",
    )
    sure = joined(
        [f"confidence {confidence}" if confidence else "", f"({rule})" if rule else ""], " "
    )
    return joined([f"The call succeeded{effort(event)}", joined([outcome, sure])], ": ")


def _server(done: LogEvent) -> str:
    return done.text("provider_used") or done.text("provider")


def _unknown(event: LogEvent) -> str:
    return joined([f'Event "{event.name}"', event.others(", ")], ": ")


_SENTENCES: dict[str, Callable[[LogEvent], str]] = {
    "call": _call,
    "cache_hit": _cache_hit,
    "cache_miss": lambda event: (
        f"Nothing was in the cache for {event.subject} from {event.provider}"
    ),
    "provider_success": _success,
    "provider_empty": lambda event: (
        f"{event.provider} found nothing for {event.subject}{effort(event)}"
    ),
    "provider_error": _failure,
    "provider_skipped": _skip,
    "moved_on": lambda event: (
        f"{event.provider} was asked for {event.subject} in place of {event.text('instead_of')}"
    ),
    "all_providers_failed": _failures,
    "budget_refused": lambda event: joined(
        [f"The budget refused {event.provider}", event.clause("message")], ": "
    ),
    "filters": _filters,
    "synthesis": _synthesis,
    "synthesis_error": lambda event: (
        f"The synthesis by {_synthesizer(event)} failed: {event.full_failure}"
    ),
    "truncation": _truncation,
    "widened": _widening,
    "shared": lambda event: (
        f"An identical call for {event.subject} was under way; its answer served this one too"
    ),
    "cancelled": lambda _: "The call was cancelled by whoever made it",
    "done": _done,
}


def _reasons(story: Sequence[LogEvent]) -> Iterator[str]:
    """Yield the reasons for the outcome, the most telling first."""
    done = next((event for event in reversed(story) if event.name == "done"), None)
    troubles = _troubles(story)
    if done is None and any(event.name == "cancelled" for event in story):
        yield "It has no outcome, because it was cancelled"
    elif done is None:
        yield "The log has no end of this call: it is still running or the process was stopped"
        yield from (f"{name} {what}" for name, what in troubles.items())
    elif done.is_set("is_error"):
        yield _why_it_failed(story, done, troubles)
    else:
        yield from _why_it_succeeded(story, done, troubles)


def _troubles(story: Sequence[LogEvent]) -> dict[str, str]:
    """Explain, for each provider that did not do what it was to, what kept it from it."""
    found: dict[str, str] = {}
    # Who reads pages or writes answers for a research call is not who finds its sources.
    is_research = any(event.text("tool") == "web_research" for event in story)
    aside = {"synthesize", "fetch"} if is_research else {"synthesize"}
    for event in story:
        if event.text("capability") in aside:
            continue
        for name in event.texts("again"):  # who found nothing is asked for more
            found.pop(name, None)
        if event.name in _TROUBLES:
            found[event.provider] = _TROUBLES[event.name](event)
        for name, reason in event.pairs("providers"):
            found.setdefault(name, f"failed ({reason})")
    return found


def _with(what: str, detail: str) -> str:
    return f"{what} ({detail})" if detail else what


_TROUBLES: dict[str, Callable[[LogEvent], str]] = {
    "provider_skipped": lambda event: _with("was skipped", _skip_reason(event)),
    "provider_error": lambda event: _with("failed", event.failure),
    "provider_empty": lambda _: "found nothing",
    "budget_refused": lambda event: _with("was refused by the budget", event.clause("message")),
}


def _why_it_failed(story: Sequence[LogEvent], done: LogEvent, troubles: Mapping[str, str]) -> str:
    if troubles:
        return f"It failed because {_all(troubles)}"
    if any(event.name in {"provider_success", "cache_hit"} for event in story):
        return f"It failed although every provider that was asked answered: {done.full_failure}"
    return f"It failed before any provider was asked: {done.full_failure}"


def _all(troubles: Mapping[str, str]) -> str:
    return listed([f"{name} {what}" for name, what in troubles.items()])


def _why_it_succeeded(
    story: Sequence[LogEvent], done: LogEvent, troubles: Mapping[str, str]
) -> Iterator[str]:
    used = _server(done)
    others = {name: what for name, what in troubles.items() if name != used}
    if used:
        yield f"{used} served the call {_why_this_provider(story[0], used, others)}"
    if done.is_set("cache_hit"):
        yield "It came from the cache: the same was asked before, and the answer was still fresh"
    elif any(event.name == "cache_hit" for event in story):
        yield "A part of it came from the cache: that had been asked before and was still fresh"
    if widened := [event for event in story if event.name == "widened"]:
        yield _widening(widened[0])
    if any(event.name == "shared" for event in story):
        yield "It waited for an identical call instead of paying for a second one"
    others_served = {
        event.provider: event.text("instead_of") for event in story if event.name == "moved_on"
    }
    if used in troubles and used in others_served.values():
        names = [name for name, left in others_served.items() if left == used]
        yield f"{listed(names)} served a part of it, for which {used} {troubles[used]}"
    elif used in troubles:
        yield f"A part of it may be missing: {used} {troubles[used]} for one"
    yield from _why_it_is_worse(story, done, others)


def _why_this_provider(call: LogEvent, used: str, others: Mapping[str, str]) -> str:
    if call.text("provider") == used:
        return "because the caller named it"
    if others:
        return f"because {_all(others)}"
    return "because it was the first in line, and nothing kept it from serving"


def _why_it_is_worse(
    story: Sequence[LogEvent], done: LogEvent, others: Mapping[str, str]
) -> Iterator[str]:
    lost = [
        f"the synthesis by {_synthesizer(event)} failed ({event.failure})"
        for event in story
        if event.name == "synthesis_error"
    ]
    names = done.texts("degraded")
    if names or done.is_set("degraded"):
        whom = f", for {listed(names)} did not serve as meant" if names else ""
        causes = joined([_all(others) if others else "", *lost], "; ")
        yield joined([f"The answer is degraded{whom}", causes], ": ")
    elif lost:
        yield f"It has no synthesis: {joined(lost, '; ')}"
    unsupported = {
        name for event in story for name, how in event.pairs("filters") if how == "unsupported"
    }
    if unsupported:
        yield f"The results are not filtered by {listed(sorted(unsupported))}: the provider cannot"
