"""Numbers and names of a claim are found in a source however it spells them."""

from __future__ import annotations

from itertools import permutations

import pytest

from webtools import Claim
from webtools.synthesis import Source, verify

CLOSED = "The swimming hall was closed for the winter."
EMPTY = "Das Bad ist zu und der Ort ist leer."


def check(claim: str, text: str) -> Claim:
    [result] = verify(f"{claim} [1]", [Source(1, "", "https://a.example/", text)]).claims
    return result


SPELLINGS = {
    "12500": [
        "12500",
        "12,500",
        "12.500",
        "12 500",
        "12\u00a0500",
        "12\u202f500",
        "12\u2009500",
        "12'500",
    ],
    "2600000": ["2600000", "2,600,000", "2.600.000", "2 600 000", "2.6 million", "2,6 million"],
    "3.75": ["3.75", "3,75"],
    "7000000": ["7,000,000", "7 million", "seven million"],
    "date": [
        "2031-08-09",
        "August 9, 2031",
        "9 August 2031",
        "9. August 2031",
        "09.08.2031",
        "Aug 9, 2031",
    ],
}


@pytest.mark.parametrize(
    ("claimed", "written"), [pair for each in SPELLINGS.values() for pair in permutations(each, 2)]
)
def test_a_number_or_date_matches_in_every_spelling(claimed: str, written: str) -> None:
    result = check(f"the harbour has {claimed} at last.", f"It was {written} for the harbour.")
    assert not [reason for reason in result.reasons if "lacks" in reason]


@pytest.mark.parametrize(
    ("claimed", "written"),
    [
        ("12,500", "12,501"),
        ("12,500", "125"),
        ("2.6 million", "2.7 million"),
        ("2.6 million", "2,600"),
        ("3.75", "375"),
        ("August 9, 2031", "2031-09-09"),
        ("August 9, 2031", "2031-08-19"),
    ],
)
def test_another_number_or_date_is_missing(claimed: str, written: str) -> None:
    result = check(f"the harbour has {claimed} at last.", f"It was {written} for the harbour.")
    assert [reason for reason in result.reasons if "lacks" in reason]


@pytest.mark.parametrize(
    ("claim", "missing"),
    [
        ("She met the mayor of New Tarn Quay at the harbour.", ["New Tarn Quay"]),
        ("He asked Ines Kolbe and Jon Sable about the harbour.", ["Ines Kolbe", "Jon Sable"]),
        ("The harbour has two tasks: Creating space and - Higher - walls.", []),
        ("The harbour opened.", []),
        ("It said: “Walls help the harbour.”", []),
        ("The harbour: Jon Sable saw it.", ["Jon Sable"]),
    ],
)
def test_names_are_whole_and_not_made_of_capitals_alone(claim: str, missing: list[str]) -> None:
    reasons = [reason for reason in check(claim, "The harbour is old.").reasons if "name" in reason]
    assert len(reasons) == len(missing)
    assert all(name in reason for name, reason in zip(missing, reasons, strict=True))


@pytest.mark.parametrize(
    ("claim", "text", "status"),
    [
        (CLOSED, EMPTY, "uncertain"),
        (CLOSED, "La piscine est fermée pour les mois qui sont froids.", "uncertain"),
        (CLOSED, "プールは冬の間閉まっている。", "uncertain"),
        (CLOSED, "Бассейн закрыт на зиму.", "uncertain"),
        (EMPTY, "The hall was closed and it is cold.", "uncertain"),
        (CLOSED, "Bakers eat bread and it is good for them.", "unsupported"),
        (EMPTY, "Die Bäcker backen und das Brot ist gut.", "unsupported"),
    ],
)
def test_a_claim_in_another_language_than_its_source_is_uncertain(
    claim: str, text: str, status: str
) -> None:
    assert check(claim, text).status == status
