"""Leaves out of a call's story what was told before: each failure is told once, with its count."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Sequence

from webtools.logs.reading import LogEvent, listed

_FAILURES = {"provider_error", "provider_skipped", "budget_refused", "all_providers_failed"}
_NAMED = 3  # subjects of one failure
_PSEUDONYM = re.compile(r"sha256:[0-9a-f]+(?: and others)?")


def without_repeats(story: Sequence[LogEvent]) -> list[tuple[LogEvent, int]]:
    """Return the events of a call with how often each happened: failures that are alike are one.

    What sums failures up names who failed, without the reasons that stand above.
    """
    alike: dict[Hashable, list[LogEvent]] = {}
    told: set[str] = set()
    failed: set[str] = set()
    for place, event in enumerate(story):
        brief = _shorten(event, told, failed)
        is_failure = event.name in _FAILURES
        alike.setdefault(_key(brief) if is_failure else place, []).append(brief)
        if is_failure:
            told |= {event.clause("message"), event.clause("reason"), _bare(event)} - {""}
            failed |= {name for name, _ in event.pairs("providers")}
    return [(_merge(events), len(events)) for events in alike.values()]


def _key(event: LogEvent) -> Hashable:
    facts = (event.text(name) for name in ("provider", "error", "reason", "kind", "until"))
    return event.name, *facts, event.number("status"), _bare(event), *event.pairs("providers")


def _bare(event: LogEvent) -> str:
    """Return the message of an event without what it was about."""
    message = event.clause("message")
    if subject := event.text("subject"):
        message = re.sub(rf"(?<!\w){re.escape(subject)}(?!\w)", "…", message)
    return _PSEUDONYM.sub("…", message)


def _shorten(event: LogEvent, told: Collection[str], failed: Collection[str]) -> LogEvent:
    if event.name == "all_providers_failed":
        pairs = event.pairs("providers")
        providers = {name: "" if reason in told else reason for name, reason in pairs}
        return LogEvent({**event.facts, "providers": providers})
    message = event.text("message")
    is_sum = bool(failed) and all(name in message for name in failed)
    if event.name == "done" and (is_sum or any(each in _bare(event) for each in told)):
        return LogEvent({**event.facts, "message": ""})
    return event


def _merge(alike: Sequence[LogEvent]) -> LogEvent:
    subjects = [*dict.fromkeys(filter(None, (event.text("subject") for event in alike)))]
    if len(subjects) < 2:  # noqa: PLR2004
        return alike[0]
    return LogEvent({**alike[0].facts, "subject": listed(subjects, _NAMED)})
