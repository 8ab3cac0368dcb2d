"""Statements and falsehoods made from them: a hundred of each kind, always the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

COUNT = 100
TOWNS = ("Vellmouth", "Orsk Bay", "Lindau Point", "Brightsea", "Karlsund", "Harrowgate", "Tolland")
FIRMS = ("Norrvik", "Sluice Labs", "Arden Foods", "Kvist Marine", "Halden Steel", "Pellworm Rail")
PEOPLE = ("Ines Kolbe", "Jon Sable", "Asha Rao", "Otto Brandt", "Maria Lopez", "Wim Peters")
MONTHS = ("January", "February", "March", "June", "August", "September", "October", "December")
VERBS = (
    ("acquitted", "convicted"), ("bought", "sold"), ("praised", "criticised"),
    ("opened", "closed"), ("approved", "rejected"), ("repaired", "demolished"),
    ("extended", "shortened"), ("hired", "dismissed"), ("funded", "sued"), ("welcomed", "banned"),
)  # fmt: skip
OBJECTS = (
    "the new tidal pool beside the harbour", "the old iron bridge over the river",
    "the small ferry terminal near the market", "the wooden lighthouse on the northern cliff",
    "the public library behind the station",
)  # fmt: skip
UNRELATED = (
    "The report was published a week later by the city council.",
    "Rain fell on Tuesday for six hours.",
)
ABBREVIATIONS = (
    "U.S. Senate", "Sen. Marlow", "Inc. Holdings", "p.m. Eastern", "a.m. Pacific", "Dr. Hale",
    "Prof. Lind", "St. Mary", "Mt. Hood", "No. 7", "Corp. Europe", "Ltd. Partners", "Co. Bridge",
    "Gov. Reed", "Rep. Stone", "Gen. Adams", "Col. Burke", "Lt. Moss", "Sgt. Pike", "Capt. Doyle",
    "Jr. College", "Sr. Center", "Ave. North", "Blvd. South", "Rd. East", "Dept. Stores",
    "Univ. Press", "Assn. Hall", "Bros. Circus", "Ph.D. School", "M.D. Board", "B.C. Ferries",
    "D.C. Circuit", "U.K. Parliament", "U.N. Assembly", "E.U. Council", "Jan. Meeting",
    "Sept. Fair", "Dist. Court", "Govt. House", "Intl. Airport", "Bldg. Nine", "Hwy. Patrol",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A text, a statement that it makes, and a falsehood that it does not."""

    text: str
    true: str
    false: str


def _dice(kind: str) -> random.Random:
    return random.Random(f"falsehoods {kind}")


def _around(dice: random.Random, text: str) -> str:
    """Put a statement alone on a page, or among others."""
    first, second = UNRELATED
    pages = (text, f"{first} {text} {second}", f"# News\n\n{first}\n\n{text}\n\n{second}")
    return dice.choice(pages)


def _fact(dice: random.Random) -> dict[str, str]:
    verb, other = dice.choice(VERBS)
    (town, town2), (firm, firm2) = dice.sample(TOWNS, 2), dice.sample(FIRMS, 2)
    (person, person2), (month, month2) = dice.sample(PEOPLE, 2), dice.sample(MONTHS, 2)
    number, number2 = dice.sample(range(21, 990), 2)
    return {
        "verb": verb, "other": other, "town": town, "town2": town2, "firm": firm, "firm2": firm2,
        "person": person, "person2": person2, "month": month, "month2": month2,
        "object": dice.choice(OBJECTS), "number": str(number), "number2": str(number2),
        "year": str(dice.randint(1950, 2024)), "n": str(dice.randint(2, 9)),
    }  # fmt: skip


SENTENCES = (
    "In {month} {year} the council of {town} {verb} {object} after {number} days of debate.",
    "{person} of {firm} {verb} {object} in {town} together with {number} volunteers.",
    "The firm {firm} {verb} {object} and spent {number} million euros on it in {year}.",
    "After a long dispute with {firm}, the town of {town} {verb} {object} for {number} visitors.",
)


def _sentences(kind: str) -> Iterator[tuple[random.Random, str, dict[str, str]]]:
    dice = _dice(kind)
    while True:
        yield dice, dice.choice(SENTENCES), _fact(dice)


def _changed(kind: str, field: str, other: str) -> Iterator[Case]:
    for dice, sentence, fact in _sentences(kind):
        if f"{{{field}}}" in sentence:
            true = sentence.format(**fact)
            false = sentence.format(**fact | {field: fact[other]})
            yield Case(_around(dice, true), true, false)


def verb() -> Iterator[Case]:
    """Put another verb in."""
    return _changed("verb", "verb", "other")


def number() -> Iterator[Case]:
    """Put another number in."""
    return _changed("number", "number", "number2")


def negation() -> Iterator[Case]:
    """Deny a statement, or state what is denied."""
    for dice, sentence, fact in _sentences("negation"):
        plain = sentence.format(**fact)
        denied = sentence.format(**fact | {"verb": f"never {fact['verb']}"})
        true, false = dice.choice(((plain, denied), (denied, plain)))
        yield Case(_around(dice, true), true, false)


_QUANTITIES: tuple[tuple[str, Callable[[random.Random], tuple[str, str]]], ...] = (
    ("The tablet that {firm} makes in {town} holds {0} of the new substance.",
     lambda dice: (f"0,{(n := dice.randint(105, 989))} mg", f"{n} mg")),
    ("The nature reserve that {town} opened in {year} covers {0} of forest.",
     lambda dice: (f"10{dice.choice('²³')} km", "102 km")),
    ("The cipher that {firm} uses in {town} has {0} different keys in all.",
     lambda dice: (f"2**{(n := dice.randint(10, 99))}", f"2{n}")),
    ("The novel about {town} that everybody reads in school is called {0} there.",
     lambda dice: ("nineteen eighty-four", dice.choice(("103", "1984", "84")))),
    ("The power plant that {firm} built near {town} delivers {0} at night.",
     lambda dice: (f"{(n := dice.randint(3, 99))} MW", f"{n} mW")),
    ("The line that {firm} laid to {town} carries {0} in every second.",
     lambda dice: (f"{(n := dice.randint(3, 99))} Mb", f"{n} MB")),
    ("Every visitor of the harbour in {town} paid {0} to {firm} last year.",
     lambda dice: (f"{(n := dice.randint(3, 99))} pounds", f"£{n}")),
    ("The cellar of {firm} in {town} was cooled to {0} during the summer.",
     lambda dice: (f"-{(n := dice.randint(3, 99))} °C", f"{n} °C")),
    ("The share that {firm} holds of the port of {town} rose to {0} in {year}.",
     lambda dice: (f"{(n := dice.randint(3, 99))} percent", f"{n} million")),
)  # fmt: skip


def notation() -> Iterator[Case]:
    """Write a number, sign or unit otherwise."""
    dice = _dice("notation")
    while True:
        sentence, make = dice.choice(_QUANTITIES)
        quantity, wrong = make(dice)
        fact = _fact(dice)
        true = sentence.format(quantity, **fact)
        yield Case(_around(dice, true), true, sentence.format(wrong, **fact))


def ellipsis() -> Iterator[Case]:
    """Leave the dots out that stand for what was left out."""
    for dice, sentence, fact in _sentences("ellipsis"):
        false = sentence.format(**fact)
        words = false.split()
        at = dice.randint(3, len(words) - 3)
        true = " ".join([*words[:at], dice.choice(("…", "...", "[…]")), *words[at:]])
        yield Case(_around(dice, true), true, false)


def question() -> Iterator[Case]:
    """State what is asked."""
    for dice, sentence, fact in _sentences("question"):
        false = sentence.format(**fact)
        true = false[:-1] + dice.choice(("?!", "?", "??", " ?"))
        yield Case(_around(dice, true), true, false)


def abbreviation() -> Iterator[Case]:
    """End a sentence at the dot of an abbreviation, or where the page ends there."""
    dice = _dice("abbreviation")
    while True:
        words = dice.choice(ABBREVIATIONS)
        fact = _fact(dice)
        start = "After {number} days of debate {person} {verb} the plan of {firm} and the "
        false = start.format(**fact) + words.partition(" ")[0]
        true = start.format(**fact) + words + " of {town} refused it.".format(**fact)
        is_cut = dice.random() < 0.3
        yield Case(false if is_cut else _around(dice, true), true, false)


_DENIALS = (
    "It is not true that:", "The following claims are false:", "Myths about the region:",
    "Nobody has ever shown that:",  # plain-words: data
    "Critics deny that:", "Here is what is wrong:",
)  # fmt: skip


def denied_list() -> Iterator[Case]:
    """Take an item of a list of falsehoods for a statement."""
    for dice, sentence, fact in _sentences("list"):
        false = sentence.format(**fact)
        items = [false, *UNRELATED]
        dice.shuffle(items)
        lead = dice.choice(_DENIALS)
        rows = "\n".join(f"- {item}" for item in items)
        text = dice.choice((f"{lead}\n\n{rows}", f"{lead}\n{rows}", f"{lead} {false}"))
        yield Case(f"{UNRELATED[1]}\n\n{text}", "", false)


def denied_after() -> Iterator[Case]:
    """Leave out that the next sentence denies it."""
    ends = ("That is not true.", "This is false.", "The claim was debunked.", "It's not so.",
            "This is a myth.", "None of this is correct.")  # fmt: skip
    for dice, sentence, fact in _sentences("denied after"):
        false = sentence.format(**fact)
        yield Case(f"{UNRELATED[0]} {false} {dice.choice(ends)} {UNRELATED[1]}", "", false)


def denied_heading() -> Iterator[Case]:
    """Leave out that the heading denies it."""
    heads = ("Myths", "False claims", "Common misconceptions", "Debunked rumours", "Hoaxes")
    for dice, sentence, fact in _sentences("denied heading"):
        false = sentence.format(**fact)
        text = f"# News\n\n{UNRELATED[0]}\n\n## {dice.choice(heads)}\n\n{false} {UNRELATED[1]}"
        yield Case(text, "", false)


def heading() -> Iterator[Case]:
    """Take a heading, or two cells of a table, for a sentence."""
    for dice, sentence, fact in _sentences("heading"):
        false = sentence.format(**fact)
        half = len(false) // 2
        texts = (
            f"# {false}\n\n{UNRELATED[0]}",
            f"{UNRELATED[0]}\n\n## {false}\n\n{UNRELATED[1]}",
            f"| {false[:half]} | {false[half:]} |\n\n{UNRELATED[0]}",
            f"{false}\n{'=' * 20}\n\n{UNRELATED[1]}",
        )
        yield Case(dice.choice(texts), "", false)


def cut_page() -> Iterator[Case]:
    """Take the beginning of a sentence that the page cuts off for a whole one."""
    for dice, sentence, fact in _sentences("cut page"):
        full_text = sentence.format(**fact)
        words = full_text.split()
        cut = " ".join(words[: dice.randint(len(words) // 2 + 1, len(words) - 1)])
        yield Case(f"{UNRELATED[0]} {cut}", "", cut.rstrip(".,") + ".")


def cut_short() -> Iterator[Case]:
    """Leave out the end of a sentence, which turns it round."""
    ends = (", which is false", ", which is a myth", " unless the courts stop it",
            ", although the firm denies it", " only if the voters agree", ", it was wrongly said",
            ", according to a hoax")  # fmt: skip
    for dice, sentence, fact in _sentences("cut short"):
        false = sentence.format(**fact)
        true = false[:-1] + dice.choice(ends) + "."
        yield Case(_around(dice, true), true, false)


def swapped() -> Iterator[Case]:
    """Let two names or two numbers change places."""
    dice = _dice("swapped")
    templates = (
        "{0} sued {1} over the patents of the streaming parser in {month} {year}.",
        "Analysts said that {0} had lent {1} the money for the new steel works.",
        "The railway from {0} to {1} carried more visitors than in {year}.",
    )
    counted = "The club counted {0} boats in {month} and {1} swimmers in {month2} last year."
    while True:
        fact = _fact(dice)
        names = dice.sample(dice.choice((FIRMS, TOWNS)), 2)
        numbers = [fact["number"], fact["number2"]]
        template, pair = dice.choice([*((item, names) for item in templates), (counted, numbers)])
        true = template.format(*pair, **fact)
        yield Case(_around(dice, true), true, template.format(*pair[::-1], **fact))


CHANGED = (verb, number, negation, notation, swapped)
MISREAD = (
    ellipsis, question, abbreviation, denied_list, denied_after, denied_heading, heading, cut_page,
    cut_short,
)  # fmt: skip
