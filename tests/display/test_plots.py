"""Charts of responses and of the log, as matplotlib holds them before it paints."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

from webtools import WebTools
from webtools.errors import InputError
from webtools.results import SearchResponse, SearchResult
from webtools_sandbox import SandboxServer

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _no_figures_left() -> Iterator[None]:
    yield
    plt.close("all")


def search_response(
    *urls: str, dates: tuple[str, ...] = (), provider: str = "exa"
) -> SearchResponse:
    moments = [datetime.fromisoformat(f"{item}T12:00:00+00:00") for item in dates]
    padded = [*moments, *[None] * (len(urls) - len(moments))]
    results = [
        SearchResult(title="t", url=url, source_provider=provider, query="q", published_at=moment)
        for url, moment in zip(urls, padded, strict=True)
    ]
    return SearchResponse(provider="exa", queries=["q"], results=results)


def dated(*dates: str) -> Any:
    return search_response(*["https://a.example/"] * len(dates), dates=dates).plot("dates")


def bar_heights(ax: Any) -> dict[str, float]:
    """The bars as they are drawn, by label."""
    ax.figure.canvas.draw()
    labels = [text.get_text() for text in ax.get_yticklabels()]
    return dict(zip(labels, [bar.get_width() for bar in ax.patches], strict=True))


def words(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_without_data_a_chart_says_so_and_has_no_frame() -> None:
    ax = search_response("https://a.example/").plot("dates")
    assert words(ax) == ["Sources by date: no data"]
    assert not ax.axison


def test_domains_are_counted_most_first_without_www() -> None:
    ax = search_response(
        "https://b.example/", "https://www.a.example/x", "http://a.example:8080/"
    ).plot()
    assert ax.get_title(loc="left") == "Sources by domain"
    assert bar_heights(ax) == {"a.example": 2, "b.example": 1}
    assert words(ax) == ["2", "1"]


@pytest.mark.parametrize(
    "url", ["https://$x_{y$.example/", "https://[::a/", f"https://{'a' * 200}.example/"]
)
def test_a_hostile_address_is_drawn_as_text(url: str) -> None:
    [label] = bar_heights(search_response(url).plot())
    assert len(label) < 80


@pytest.mark.parametrize(
    ("dates", "labels"),
    [
        (("2026-01-30", "2026-02-01", "2026-02-01"), {"2026-02-01": 2, "2026-01-30": 1}),
        (("2025-12-01", "2026-02-28"), {"2026-02": 1, "2025-12": 1}),
        (("0001-01-01", "2026-02-28", "9999-12-31"), {"9999": 1, "2026": 1, "0001": 1}),
    ],
)
def test_dates_are_counted_by_day_month_or_year_whichever_makes_few_bars(
    dates: tuple[str, ...], labels: dict[str, int]
) -> None:
    assert bar_heights(dated(*dates)) == labels


def test_without_matplotlib_the_error_names_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'agent-webtools\[plot\]'$") as caught:
        search_response("https://a.example/").plot()
    shown: Any = caught.value
    assert shown._render_traceback_() == [f"ImportError: {shown}"]  # no frames in a notebook


def test_the_log_shows_cost_and_time_by_provider(
    webtools_sandbox: SandboxServer, tmp_path: Path
) -> None:
    log = {"enabled": True, "path": str(tmp_path / "log.ndjson")}
    with WebTools({**webtools_sandbox.config(), "log": log}) as web:
        web.search(["heap", "json"], provider="brave")
        web.search("heap", provider="kagi")
        cost, time = web.plot(), web.plot("time")
        assert bar_heights(cost) == pytest.approx({"brave": 0.01, "kagi": 0.012})
        assert words(cost) == ["0.01", "0.012"]
        assert set(bar_heights(time)) == {"kagi", "brave"}
        with pytest.raises(InputError, match='"price".*cost or time'):
            web.plot("price")  # type: ignore[arg-type]
