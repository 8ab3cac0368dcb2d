"""A score for every result."""

from collections.abc import Sequence

from webtools.results.responses import SearchResult


def scores_of(results: Sequence[SearchResult]) -> list[float]:
    """Return the results' own scores if all have one, else scores by rank, from 1 down."""
    scores = [result.score for result in results if result.score is not None]
    count = len(results)
    return scores if len(scores) == count else [(count - rank) / count for rank in range(count)]
