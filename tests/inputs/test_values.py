"""What a value of an argument may be."""

from __future__ import annotations

import pytest

from webtools.errors import InputError
from webtools.tools import ResearchInput, SearchInput, SummarizeInput, read_input


@pytest.mark.parametrize("days", [7, "7", " 7 ", 7.0])
def test_a_number_of_days_may_be_written_as_text(days: object) -> None:
    assert read_input(ResearchInput, {"query": "q", "recency_days": days}).recency_days == 7


@pytest.mark.parametrize(
    ("days", "expected"),
    [("²", "whole"), ("--5", "whole"), ("1e3", "whole"), ("9" * 5000, "smaller")],
)
def test_a_malformed_number_of_days_is_refused_in_our_words(days: str, expected: str) -> None:
    with pytest.raises(InputError, match=rf'^recency_days ".*".*{expected}'):
        read_input(ResearchInput, {"query": "q", "recency_days": days})


def test_a_choice_is_taken_in_any_case() -> None:
    assert read_input(SearchInput, {"query": "q", "category": " News"}).category == "news"
    arguments = {"url": "https://a.example", "target_language": "zh-hant"}
    assert read_input(SummarizeInput, arguments).target_language == "ZH-HANT"


def test_another_choice_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match='"Cats".*company, people'):
        read_input(SearchInput, {"query": "q", "category": "Cats"})
