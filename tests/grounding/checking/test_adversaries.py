# ruff: noqa: RUF001  dashes between numbers
"""Real sentences made false in every way that leaves their words: none may pass unmarked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import pytest
from mutations import KINDS, prose

from webtools.grounding.checking import evidence, lexicon
from webtools.grounding.checking.facts import Facts
from webtools.grounding.checking.verification import UNCERTAIN, verify
from webtools.providers.protocols import Source
from webtools_sandbox.corpus import standard_corpus

UNRELATED = (
    "The report was published a week later by the city council.",
    "Rain fell on Tuesday for six hours.",
)
TOPICS = ("json", "heapq", "sqlite3", "zipfile", "asyncio", "random")
OF_ONE_SENTENCE = 2  # mutations of a kind
ENOUGH = {"names": 60, "numbers": 30, "tails": 200, "brackets": 20}


class Page(NamedTuple):
    title: str
    text: str
    sentences: tuple[str, ...]


@lru_cache
def pages() -> list[Page]:
    """Give all news of the sandbox, and the beginnings of some pages of documentation."""
    found: list[Page] = []
    for document in standard_corpus().documents:
        is_news = document.collection == "news"
        if is_news or document.path.partition("/")[2].removesuffix(".html") in TOPICS:
            whole = dict.fromkeys(prose(document.markdown))
            sentences = tuple(whole)[: None if is_news else 8]
            found.append(Page(document.title, document.markdown, sentences))
    return found


@lru_cache
def mutated(kind: str) -> list[tuple[Page, dict[str, list[str]]]]:
    """Give the mutations of one kind, page by page, and sentence by sentence."""
    mutate = next(each for each in KINDS if each.__name__ == kind)
    found: list[tuple[Page, dict[str, list[str]]]] = []
    for page in pages():
        known = set(prose(page.text))
        changed = {
            sentence: [
                each
                for each in dict.fromkeys(mutate(sentence, list(page.sentences), page.title))
                if each not in known
            ]
            for sentence in page.sentences
        }
        some = {sentence: _some(drafts, kind) for sentence, drafts in changed.items()}
        found.append((page, some))
    return found


def _some(drafts: list[str], kind: str) -> list[str]:
    return drafts if kind in ENOUGH else drafts[:: -(-len(drafts) // OF_ONE_SENTENCE) or 1]


def surroundings(sentence: str) -> Iterator[str]:
    """Give pages on which a sentence stands alone, and with others around it."""
    first, second = UNRELATED
    yield sentence
    yield f"{first} {sentence} {second}"
    yield f"{first} {second} {sentence} {second} {first}"


def certain(drafts: Iterable[str], text: str, title: str) -> list[str]:
    """Give the claims that keep a citation and no mark."""
    lines = "\n\n".join(f"{each.removesuffix('.')} [1]." for each in drafts)
    found = verify(lines, [Source(1, title, "https://a.example/1", text)]).summary
    return [line for line in found.splitlines() if line and not line.endswith(UNCERTAIN)]


def tried(kind: str, step: int = 1) -> tuple[int, list[str]]:
    """Count the mutations of a kind, and give those that pass."""
    count = 0
    passed: list[str] = []
    for page, changed in mutated(kind)[::step]:
        drafts = [each for some in changed.values() for each in some]
        count += len(drafts)
        passed += certain(drafts, page.text, page.title)
        for sentence, some in changed.items():
            for text in surroundings(sentence):
                count += len(some)
                passed += certain(some, text, page.title) if some else []
    return count, passed


@pytest.mark.parametrize("kind", [kind.__name__ for kind in KINDS])
def test_no_mutation_of_a_real_sentence_passes_unmarked(kind: str) -> None:
    count, passed = tried(kind)
    assert count >= ENOUGH.get(kind, 300)
    assert passed == []


def test_real_sentences_pass_unmarked() -> None:
    said = passed = 0
    for page in pages():
        said += 4 * len(page.sentences)
        passed += len(certain(page.sentences, page.text, page.title))
        for sentence in page.sentences:
            passed += sum(
                len(certain([sentence], text, page.title)) for text in surroundings(sentence)
            )
    assert said > 500
    assert passed >= 0.98 * said


# --- what others found -------------------------------------------------------------------------

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
LIES = [
    (DEAL, "Beta Ltd acquired Acme Corp in March 2024 for $3.2 billion."),
    (DEAL, "Acme Corp may have acquired Beta Ltd in March 2024 for $3.2 billion."),
    (DEAL, "The deal will be approved by regulators in the EU."),
    (DEAL, "The deal was approved by regulators in the EU and the UK."),
    (DEAL, "Dr. Maria Lopez, chief executive until 2019, said revenue grew 14%."),
    (DEAL, "Maria Lopez resigned as chief executive in 2019."),
    (DEAL, "Maria Lopez had expected 10%."),
    (DEAL, "Analysts at Acme had expected 10%."),
    (DEAL, "Morgan had expected 10%."),
    (TOWER, "John Smeaton destroyed the lighthouse between 1756 and 1759."),
    (TOWER, "The lighthouse was painted by John Smeaton between 1756 and 1759."),
    (NIGHT, "Passenger groups ordered twelve sleeping cars."),
    (NIGHT, "The operator sold twelve sleeping cars."),
    ("The senator voted for the bill.", "The senator voted against the bill."),
    ("Python 3 is faster than Python 2.", "Python 2 is faster than Python 3."),
    ("The score was 5 to 2 for Lyon.", "The score was 2 to 5 for Lyon."),
    ("Oracle sued Google in August 2010.", "Google sued Oracle in August 2010."),
    ("Nantes beat Lyon 3-1 on 4 May 2024.", "Lyon beat Nantes 3-1 on 4 May 2024."),
    ("Bergen exports more fish than Oslo.", "Oslo exports more fish than Bergen."),
    ("Flask depends on Django since version 2.", "Django depends on Flask since version 2."),
    ("The vaccine causes fever.", "The vaccine may cause fever."),
    ("The dog is closing the door.", "The dog is closed."),
    ("The son of Mayor Kolbe resigned in May.", "Mayor Kolbe resigned in May."),
    ("Critics deny that the dam is safe.", "The dam is safe."),
    ("If it rains, the pool is closed.", "The pool is closed."),
    ("The pool is open, and only for members.", "The pool is open."),
    ("The pool is open (unless it rains).", "The pool is open."),
    ("Guests, and nobody but guests, may swim here.", "Guests may swim here."),
    ("The drug works in mice.", "The drug works."),
    ("Bergen is the largest town, after Oslo.", "Bergen is the largest town."),
    ("It is the best but for Oslo, Rome, and Bern.", "It is the best but for Oslo, Rome."),
    ("Is Python 3 faster than Python 2?", "Is Python 3 faster than Python 2."),
    ("Few people came to the pool.", "A few people came to the pool."),
    ("They met us in May.", "They met US in May."),
    ("It costs 5 dollars a day.", "It costs 5 euros a day."),
    ("It grew by 5 percent a year.", "It grew by 5 a year."),
    ("Smith, said Jones, is a thief.", "Smith said Jones is a thief."),
    ("Use `!flag` to stop the server.", "Use `flag` to stop the server."),
    ("C++ is a language with classes.", "C is a language with classes."),
    ("Alpha bought Beta and Gamma sold Delta.", "Alpha sold Delta."),
    ("Tom met Ann, who sings and dances.", "Tom dances."),
]  # fmt: skip
CUT = [
    ("The drug cures cancer, which is false.", "The drug cures cancer."),
    ("The drug cures cancer, which is a myth.", "The drug cures cancer."),
    ("The drug cures cancer; this claim was later retracted.", "The drug cures cancer."),
    ("Alpha is the best, which Beta disputes.", "Alpha is the best."),
    ("Alpha Corp (allegedly) stole the plans.", "Alpha Corp stole the plans."),
    ("The rocket (almost) reached orbit.", "The rocket reached orbit."),
    ("The pool is open; the bar is far.", "The pool is open."),
    ("The pool is open, and the bar is far.", "The pool is open."),
    ("The pool (built in 2015) is open.", "The pool is open."),
    ("However, the pool is open.", "The pool is open."),
    ("While Alpha denies it, Beta left.", "Alpha denies it, Beta left."),
]
SIGNS = [
    ("Use rm -rf to clean up.", "Use rm rf to clean up."),
    ("Use `rm -rf` to clean up.", "Use `rm rf` to clean up."),
    ("Pass --no-verify to skip the hooks.", "Pass no verify to skip the hooks."),
    ("Pass --no-verify to skip the hooks.", "Pass -no-verify to skip the hooks."),
    ("The number of orders is 5!.", "The number of orders is 5."),
    ("The number of orders is 5!", "The number of orders is 5."),
    ("The 5! orders were listed.", "The 5 orders were listed."),
    ("Read pages 10-20 of the book.", "Read pages 10 20 of the book."),
    ("Read pages 10 - 20 of the book.", "Read pages 10 20 of the book."),
    ("Read pages 10–20 of the book.", "Read pages 10 20 of the book."),
    ("The build runs on .NET at night.", "The build runs on NET at night."),
    ("The US may leave the treaty.", "The us may leave the treaty."),
    ("The Polish rules are new.", "The polish rules are new."),
]


@pytest.mark.parametrize(("text", "lie"), LIES)
def test_no_lie_that_was_tried_passes_unmarked(text: str, lie: str) -> None:
    for page in surroundings(text):
        assert certain([lie], page, "Acme news") == []


@pytest.mark.parametrize(("text", "lie"), CUT)
def test_no_sentence_cut_short_passes_unmarked(text: str, lie: str) -> None:
    for page in surroundings(text):
        assert certain([lie], page, "Page") == []


@pytest.mark.parametrize(("text", "lie"), SIGNS)
def test_no_claim_with_other_signs_or_capitals_passes_unmarked(text: str, lie: str) -> None:
    for page in surroundings(text):
        assert certain([lie], page, "Page") == []
        assert certain([text], page, "Page") != []


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The basin needs 4,000 litres.", "The basin needs four thousand litres."),
        ("It does not log passwords.", "It doesn't log passwords."),
        ("He said that the pool is open.", "He said the pool is open."),
        ("The fee is 12 per cent.", "The fee is 12%."),
        ("The pool is open; the bar is not far.", "The pool is open; the bar is not far."),
        ("The pool (built in 2015) is open.", "The pool (built in 2015) is open."),
        ("Our heappop method returns one.", "Our `heappop` method returns one."),
        ("Nantes won 3–1 at home.", "Nantes won 3-1 at home."),
        ("Norrvik expects rain.", "But Norrvik expects rain."),
        ("But Norrvik expects rain.", "But Norrvik expects rain."),
        (f"{'The long sentence goes on, and ' * 30}ends.",
         f"{'The long sentence goes on, and ' * 30}ends."),
    ],
)  # fmt: skip
def test_a_whole_sentence_in_another_spelling_passes_unmarked(text: str, claim: str) -> None:
    for page in surroundings(text):
        assert certain([claim], page, "Page")


# --- each part of the rule is needed -----------------------------------------------------------


def with_cuts(claim: Facts, sentences: Iterable[Facts]) -> bool:
    return any(each.stems[: len(claim.stems)] == claim.stems for each in sentences)


def without_brackets(claim: Facts, sentences: Iterable[Facts]) -> bool:
    bare = (re.sub(r" \([^()]+\)", "", each.source) for each in sentences)
    return any(lexicon.stems(each) == claim.stems for each in bare)


def without_signs(claim: Facts, sentences: Iterable[Facts]) -> bool:
    return any(re.findall(r"\w+", claim.text) == re.findall(r"\w+", s.text) for s in sentences)


def in_any_order(claim: Facts, sentences: Iterable[Facts]) -> bool:
    return any(not Counter(claim.stems) - Counter(each.stems) for each in sentences)


def without_grammar(claim: Facts, sentences: Iterable[Facts]) -> bool:
    return any(list(_content(claim)) == list(_content(each)) for each in sentences)


def _content(text: Facts) -> Iterator[str]:
    return (stemmed for stemmed in text.stems if stemmed in text.content)


def with_gaps(claim: Facts, sentences: Iterable[Facts]) -> bool:
    return any(_is_within(claim.stems, iter(each.stems)) for each in sentences)


def _is_within(words: list[str], others: Iterator[str]) -> bool:
    return all(word in others for word in words)


def over_several_sentences(claim: Facts, sentences: Iterable[Facts]) -> bool:
    return claim.all_stems <= {stemmed for each in sentences for stemmed in each.stems}


def of_most_words(claim: Facts, sentences: Iterable[Facts]) -> bool:
    return any(len(claim.content & s.content) >= 0.7 * len(claim.content) for s in sentences)


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (in_any_order, "names"),
        (in_any_order, "numbers"),
        (in_any_order, "sides"),
        (without_grammar, "turns"),
        (with_gaps, "late_beginnings"),
        (with_gaps, "gaps"),
        (over_several_sentences, "splices"),
        (of_most_words, "other_verbs"),
        (of_most_words, "title_names"),
        (with_cuts, "tails"),
        (with_cuts, "ends"),
        (without_brackets, "brackets"),
        (without_signs, "signs"),
    ],
)
def test_with_a_laxer_rule_false_claims_would_pass(
    rule: Callable[[Facts, Iterable[Facts]], bool], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "is_quoted", rule)
    count, passed = tried(kind, step=4)
    assert len(passed) > count // 10
