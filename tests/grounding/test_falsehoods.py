# ruff: noqa: RUF001  signs of other scripts
"""No falsehood is quoted or supported, and gross ones are dropped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

import falsehoods
import pytest
from falsehoods import COUNT, GROSS, SUBTLE, UNRELATED, Case

from webtools.grounding import doubts, quotations, support
from webtools.grounding.verification import verify
from webtools.synthesis import Source


def status(text: str, claim: str) -> str:
    """Return what a claim is called that cites a text."""
    cited = f"{claim.removesuffix('.')} [1]." if claim.endswith(".") else f"{claim} [1]"
    found = verify(cited, [Source(1, "News", "https://a.example/1", text)]).claims
    return "+".join(each.status for each in found)


def statuses(kind: Callable[[], Iterator[Case]]) -> set[str]:
    return {status(case.text, case.false) for case in islice(kind(), COUNT)}


@pytest.mark.parametrize("kind", GROSS)
def test_a_statement_with_another_verb_number_name_or_negation_is_dropped(
    kind: Callable[[], Iterator[Case]],
) -> None:
    assert statuses(kind) == {"unsupported"}


@pytest.mark.parametrize("kind", SUBTLE)
def test_no_falsehood_is_quoted_or_supported(kind: Callable[[], Iterator[Case]]) -> None:
    assert statuses(kind) <= {"unsupported", "uncertain"}


def test_the_statements_themselves_are_quoted() -> None:
    for kind in (falsehoods.verb, falsehoods.number, falsehoods.doubt, falsehoods.swapped):
        for case in islice(kind(), 30):
            assert status(case.text, case.true) == "quoted"


DEAL = (
    "Acme Corp acquired Beta Ltd in March 2024 for $3.2 billion. The deal was approved by "
    "regulators in the EU but not in the UK. Dr. Maria Lopez, chief executive since 2019, said "
    "revenue grew 14% to $820 million. Analysts at Morgan had expected 10%."
)
TOWER = (
    "The lighthouse was built by John Smeaton between 1756 and 1759 and replaced the tower of "
    "Rudyerd."
)
NIGHT = (
    "After nine years the night train is back. The operator ordered twelve sleeping cars, of which "
    "seven have been delivered.\n\nPassenger groups welcome the line but ask for bicycle space."
)
POOL = "The council opened the new pool of Vellmouth beside the harbour."
SETTING = (
    "The build tool asks the registry for a lock file or a manifest for each site. The "
    "`cache_size_limit` setting was read from the main file at the start of the run."
)
STREAM = (
    "A caller may also choose to provide its own routines for allocation here. `openStream()` will "
    "allocate on the order of 90 pages for the inner state of the reader."
)
STAGE = (
    "Lastly, the `job_run_event` variable is set to whichever stage of the build is under way. "
    "So a single script can serve several stages of it."
)
RULES = (
    "The tool reads the rules at the archive's root and will replace the old ones. Rules that are "
    "set in the folders of members will be skipped."
)
KEYS = (
    "If you’d rather list the parts to keep, Vell also supports a `keep` key, which if set, "
    "overrides the `leave` key."
)
HOME = "The home folder of the archive is the place where the archive's rules are kept."
BUFFER = (
    "Also, if a call reads from a buffer, the tool checks that the buffer can be reached and is "
    "filled."
)
PRESS = (
    "The press of the town has moved to a larger hall beside the harbour because the old one does "
    "not hold the new machines."
)
DENIED = (
    "It is not the case",
    "Nobody in the whole town believes",
    "There is no evidence at all",
    "Records do not show anywhere",
    "It was never proved to anyone",
)
REMARKS = (
    "That is not what the records of the town show to us.",
    "That was never confirmed by anyone who was there on the day.",
    "This claim was rejected by two courts of the region in March.",
    "It was staged.",
)
LIES = [
    *((f"Rain fell for six hours. {each} that t{POOL[1:]}", POOL) for each in DENIED),
    *((f"{POOL} {each}", POOL.replace("new ", "")) for each in REMARKS),
    (DEAL, "Beta Ltd acquired Acme Corp in March 2024 for $3.2 billion."),
    (DEAL, "Acme Corp may have acquired Beta Ltd in March 2024 for $3.2 billion."),
    (DEAL, "The deal will be approved by regulators in the EU."),
    (DEAL, "The deal was approved by regulators in the EU and the UK."),
    (DEAL, "Dr. Maria Lopez, chief executive until 2019, said revenue grew 14%."),
    (DEAL, "Maria Lopez resigned as chief executive in 2019."),
    (DEAL, "Analysts at Acme had expected 10%."),
    (TOWER, "John Smeaton destroyed the lighthouse between 1756 and 1759."),
    (TOWER, "The lighthouse was painted by John Smeaton between 1756 and 1759."),
    (NIGHT, "Passenger groups ordered twelve sleeping cars."),
    (NIGHT, "The operator sold twelve sleeping cars."),
    ("The senator voted for the bill.", "The senator voted against the bill."),
    ("Python 3 is faster than Python 2.", "Python 2 is faster than Python 3."),
    ("The score was 5 to 2 for Lyon.", "The score was 2 to 5 for Lyon."),
    ("Oracle sued Google in August 2010.", "Google sued Oracle in August 2010."),
    ("Nantes beat Lyon 3-1 on 4 May 2024.", "Lyon beat Nantes 3-1 on 4 May 2024."),
    ("Flask depends on Django since version 2.", "Django depends on Flask since version 2."),
    ("The vaccine causes fever.", "The vaccine may cause fever."),
    ("The dog is closing the door.", "The dog is closed."),
    ("The son of Mayor Kolbe resigned in May.", "Mayor Kolbe resigned in May."),
    ("Critics deny that the dam is safe.", "The dam is safe."),
    ("If it rains, the pool is closed.", "The pool is closed."),
    ("Guests, and nobody but guests, may swim here.", "Guests may swim here."),
    ("The drug works in mice.", "The drug works."),
    ("Is Python 3 faster than Python 2?", "Is Python 3 faster than Python 2."),
    ("They met us in May.", "They met US in May."),
    ("It costs 5 dollars a day.", "It costs 5 euros a day."),
    ("It grew by 5 percent a year.", "It grew by 5 a year."),
    ("Smith, said Jones, is a thief.", "Smith said Jones is a thief."),
    ("Use `!flag` to stop the server.", "Use `flag` to stop the server."),
    ("C++ is a language with classes.", "C is a language with classes."),
    ("Alpha bought Beta and Gamma sold Delta.", "Alpha sold Delta."),
    ("The drug cures cancer, which is false.", "The drug cures cancer."),
    ("The drug cures cancer; this claim was later retracted.", "The drug cures cancer."),
    ("Alpha Corp (allegedly) stole the plans.", "Alpha Corp stole the plans."),
    ("The rocket (almost) reached orbit.", "The rocket reached orbit."),
    ("The pool (built in 2015) is open.", "The pool is open."),
    ("While Alpha denies it, Beta left.", "Alpha denies it, Beta left."),
    ("Use rm -rf to clean up.", "Use rm rf to clean up."),
    ("Pass --no-verify to skip the hooks.", "Pass no verify to skip the hooks."),
    ("The number of orders is 5!.", "The number of orders is 5."),
    ("Read pages 10–20 of the book.", "Read pages 10 20 of the book."),
    ("The build runs on .NET at night.", "The build runs on NET at night."),
    ("The Polish rules are new.", "The polish rules are new."),
    ('He said: "The dam is safe. It holds for ever."', "The dam is safe."),
    ("プールは土曜日に開きました。", "プールは日曜日に閉じました。"),
    ("Der Zug fährt nicht nach Bern.", "Der Zug fährt nach Bern."),
    ("Der Rat von Vellmouth hat das neue Bad am Samstag in der Stadt keineswegs eröffnet.",
     "Der Rat von Vellmouth hat das neue Bad am Samstag in der Stadt eröffnet."),
    ("The pool is < 50 metres long and open to all guests of the town of Vellmouth.",
     "The pool is > 50 metres long and open to all guests of the town of Vellmouth."),
    ("The value x >= 5 is allowed for all of the functions in the module client.",
     "The value x <= 5 is allowed for all of the functions in the module client."),
    ("The pool of the town of Vellmouth is ~ 50 metres long and open to guests.",
     "The pool of the town of Vellmouth is 50 metres long and open to guests."),
    ("Non-members may use the pool on Sunday after paying at the desk of the hall.",
     "Members may use the pool on Sunday after paying at the desk of the hall."),
    ("<!-- The council of Vellmouth opened the new pool on Saturday morning. -->",
     "The council of Vellmouth opened the new pool on Saturday morning."),
    ("~~The council of Vellmouth opened the new pool on Saturday morning.~~",
     "The council of Vellmouth opened the new pool on Saturday morning."),
    ("The museum opened in May 2015 and closed in June 2016.", "The museum opened in June 2016."),
    (SETTING, "The build tool asks the registry for a lock file and a manifest for each site."),
    (SETTING, "The cache_size_limit setting is read from the main file at the start of the run."),
    (PRESS, PRESS.replace("has moved", "had moved")),
    (PRESS, PRESS.replace("does not", "did not")),
    (PRESS, PRESS.replace("has moved", "is moved")),
    (SETTING, "The cache_size_limit setting was read to the main file at the start of the run."),
    (SETTING,
     "The cache_size_limit setting must be read from the main file at the start of the run."),
    (SETTING, "The cache_size_limit setting was read outside the main file at the run's start."),
    (STREAM, "closeStream() allocates on the order of 90 pages for the inner state of the reader."),
    (STAGE, "The job_run_script variable is set to whichever stage of the build is under way."),
    (RULES,
     "Rules that are set in the folders of members will replace those at the archive's root."),
    (KEYS, "Vell also supports a leave key, which if set, overrides the keep key."),
    (HOME, "The home folder of the archive is the place where the rules of the member are kept."),
    (BUFFER, "The tool checks that the buffer can be reached and is freed if a call reads it."),
    ("None of the following is what really happened. The council of the town opened the new pool.",
     "The council of the town opened the new pool."),
    ("The AIDS office of the town opened the new hall beside the harbour in 2015.",
     "The aids office of the town opened the hall beside the harbour in 2015."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "lie"), LIES)
def test_no_lie_that_was_tried_is_quoted_or_supported(text: str, lie: str) -> None:
    first, second = UNRELATED
    for page in (text, f"{first} {text} {second}", f"{first} {second} {text} {second} {first}"):
        assert set(re.split(r"\+", status(page, lie))) <= {"unsupported", "uncertain"}


# --- each part of the check is needed ----------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        (falsehoods.verb, "contradiction"),
        (falsehoods.negation, "contradiction"),
        (falsehoods.doubt, "doubts"),
        (falsehoods.swapped, "doubts"),
        (falsehoods.cut_short, "doubts"),
        (falsehoods.question, "doubts"),
    ],
)
def test_without_a_part_of_the_check_falsehoods_would_be_kept(
    kind: Callable[[], Iterator[Case]], part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(support, part, lambda *_: iter(()) if part == "doubts" else "")
    assert statuses(kind) & ({"supported"} if part == "doubts" else {"uncertain", "supported"})


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        (falsehoods.swapped, "_shuffled"),
        (falsehoods.other_clause, "_misplaced"),
        (falsehoods.rewritten, "_altered"),
    ],
)
def test_each_doubt_keeps_falsehoods_from_being_certain(
    kind: Callable[[], Iterator[Case]], part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doubts, part, lambda *_: iter(()))
    assert "supported" in statuses(kind)


@pytest.mark.parametrize(
    "kind", [falsehoods.denied_list, falsehoods.denied_after, falsehoods.denied_heading]
)
def test_without_looking_beside_a_sentence_falsehoods_would_be_quoted(
    kind: Callable[[], Iterator[Case]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotations, "denial", lambda *_: "")
    assert "quoted" in statuses(kind)
