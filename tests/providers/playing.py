"""What the tests of recorded calls share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from webtools.errors import ProviderError
from webtools.results import SearchResult

Play = Callable[[], Any]


def plays(name: str) -> pytest.MarkDecorator:
    """Play the cassette of that name to the test."""
    return _both(pytest.mark.vcr, pytest.mark.default_cassette(name))


def _both(first: pytest.MarkDecorator, second: pytest.MarkDecorator) -> Any:
    return lambda test: first(second(test))


def lines(results: Sequence[SearchResult]) -> list[tuple[Any, ...]]:
    """Show results in short: date, title, URL, the snippet's beginning."""
    return [(f"{r.published_at or ''}"[:10], r.title[:30], r.url, r.snippet[:30]) for r in results]


def failed(play: Play) -> tuple[type[ProviderError], int | None, str]:
    """Play a call that fails; return the error's class, status and message."""
    with pytest.raises(ProviderError) as caught:
        play()
    return type(caught.value), caught.value.status, str(caught.value)
