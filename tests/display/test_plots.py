"""Charts of responses and of the log, as matplotlib holds them before it paints."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

from webtools import WebTools
from webtools.config import Config
from webtools.errors import ConfigError, InputError
from webtools.operations.research.rules import judge
from webtools.results import (
    Claim,
    FetchResponse,
    Page,
    PlanStep,
    ReadResponse,
    ResearchEnvelope,
    ResearchMeta,
    ResearchPlan,
    ResearchResult,
    ResearchSynthesis,
    SearchResponse,
    SearchResult,
    Verified,
)
from webtools_sandbox import SandboxServer

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _no_figures_left() -> Iterator[None]:
    yield
    plt.close("all")


def found(*urls: str, dates: tuple[str, ...] = (), provider: str = "exa") -> SearchResponse:
    moments = [datetime.fromisoformat(f"{each}T12:00:00+00:00") for each in dates]
    padded = [*moments, *[None] * (len(urls) - len(moments))]
    results = [
        SearchResult(title="t", url=url, source_provider=provider, query="q", published_at=moment)
        for url, moment in zip(urls, padded, strict=True)
    ]
    return SearchResponse(provider="exa", queries=["q"], results=results)


def dated(*dates: str, undated: int = 0) -> Any:
    urls = ["https://a.example/"] * (len(dates) + undated)
    return found(*urls, dates=dates).plot("dates")


def bars(ax: Any) -> dict[str, float]:
    """The bars as they are drawn, by label; upright ones have a label each while they are few."""
    ax.figure.canvas.draw()
    lying = [text.get_text() for text in ax.get_yticklabels()]
    if lying:
        return dict(zip(lying, [bar.get_width() for bar in ax.patches], strict=True))
    labels = [text.get_text() for text in ax.get_xticklabels()]
    return dict(zip(labels, [bar.get_height() for bar in ax.patches], strict=True))


def words(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_domains_are_counted_most_first_without_www() -> None:
    ax = found("https://b.example/", "https://www.a.example/x", "http://a.example:8080/").plot()
    assert ax.get_title(loc="left") == "Sources by domain"
    assert bars(ax) == {"a.example": 2, "b.example": 1}
    assert words(ax) == ["2", "1"]


def test_a_chart_names_a_source_as_the_text_of_research_does() -> None:
    urls = ["http://127.0.0.1:8000/a", "http://[::1]/b", "http://localhost/c", "https://d.e.co.uk/"]
    response = found(*urls)
    said = judge(response.results, time_sensitive=False, days=None, now=datetime.now(UTC)).rule
    assert bars(response.plot()) == {"localhost": 3, "e.co.uk": 1}
    assert said == "4 sources from 2 domains"


def test_many_domains_are_gathered_in_one_bar() -> None:
    urls = [f"https://{number}.example/" for number in range(15)]
    drawn = bars(found(*urls, "https://0.example/").plot("domains"))
    assert len(drawn) == 13
    assert (drawn["0.example"], drawn["3 others"]) == (2, 3)


@pytest.mark.parametrize(
    "url", ["https://$x_{y$.example/", "https://[::a/", f"https://{'a' * 200}.example/"]
)
def test_a_hostile_address_is_drawn_as_text(url: str) -> None:
    [label] = bars(found(url).plot())
    assert len(label) < 80


@pytest.mark.parametrize(
    ("dates", "labels"),
    [
        (("2026-01-30", "2026-02-01", "2026-02-01"),
         {"2026-01-30": 1, "2026-01-31": 0, "2026-02-01": 2}),
        (("2025-12-01", "2026-02-28"), {"2025-12": 1, "2026-01": 0, "2026-02": 1}),
        (("2021-05-01", "2023-01-01", "2026-02-28"),
         {"2021": 1, "2022": 0, "2023": 1, "2024": 0, "2025": 0, "2026": 1}),
    ],
)  # fmt: skip
def test_dates_are_counted_in_periods_that_fit_with_those_that_have_none(
    dates: tuple[str, ...], labels: dict[str, int]
) -> None:
    assert bars(dated(*dates)) == labels


def test_centuries_are_few_bars_and_few_labels() -> None:
    ax = dated("0001-01-01", "9999-12-31")
    assert len(ax.patches) <= 41
    assert sum(bar.get_height() for bar in ax.patches) == 2
    assert next(text.get_text() for text in ax.get_xticklabels()) == "1-250"
    assert len(ax.get_xticklabels()) <= 8


def test_sources_without_a_date_stand_in_the_title() -> None:
    assert dated("2026-01-01", undated=2).get_title(loc="left") == "Sources by date (2 without one)"


def test_pages_count_with_their_provider_and_failed_ones_do_not() -> None:
    pages = [
        Page(url="https://a.example/", text="x", source_provider="direct"),
        Page(url="https://b.example/", text="x"),
        Page(url="https://c.example/", error="404"),
    ]
    fetched = FetchResponse(provider="direct", pages=pages)
    assert bars(fetched.plot("providers")) == {"direct": 1, "unknown": 1}
    assert bars(fetched.plot()) == {"a.example": 1, "b.example": 1}


CLAIMS = [
    Claim(text="a", status="quoted", citations=[]),
    Claim(text="b", status="uncertain", citations=[]),
    Claim(text="c", status="quoted", citations=[]),
]


def envelope(claims: list[Claim] | None) -> ResearchEnvelope:
    meta = ResearchMeta(
        query="q",
        command="web-deep",
        provider_chain=["exa"],
        confidence="high",
        normalized_query="q",
        retrieved_at=datetime(2026, 11, 22, tzinfo=UTC),
    )
    result = ResearchResult(title="t", url="https://a.example/", source_provider="exa")
    answer = None if claims is None else ResearchSynthesis(summary="s", citations=[], claims=claims)
    return ResearchEnvelope(results=[result], meta=meta, synthesis=answer)


def test_claims_are_counted_by_status_in_colours_of_their_own() -> None:
    counted = {"quoted": 2, "supported": 0, "uncertain": 1, "unsupported": 0}
    ax = envelope(CLAIMS).plot("confidence")
    assert ax.get_title(loc="left") == "Claims (confidence in the sources: high)"
    assert bars(ax) == bars(Verified(summary="s", claims=CLAIMS).plot()) == counted
    assert len({bar.get_facecolor() for bar in ax.patches}) == 4
    assert bars(envelope(CLAIMS).plot()) == {"a.example": 1}


@pytest.mark.parametrize(
    "ax",
    [
        lambda: found().plot(),
        lambda: found().plot("dates"),
        lambda: envelope(None).plot("confidence"),
        lambda: envelope([]).plot("confidence"),
    ],
)
def test_where_there_is_nothing_to_show_it_says_so(ax: Any) -> None:
    assert words(ax()) == ["Nothing to show."]


def test_a_plan_shows_what_each_step_may_cost() -> None:
    steps = [
        PlanStep(provider=name, type=name, task=task, worst_cost_usd=usd)
        for name, task, usd in [("exa", "search", 0.007), ("direct", "fetch", 0.0)]
    ]
    plan = ResearchPlan(
        query="q",
        command="web",
        limit=5,
        time_sensitive=False,
        recency_days=None,
        chain=steps[:1],
        reading=steps[1],
        worst_cost_usd=0.007,
        most_output_bytes=1,
    )
    ax = plan.plot()
    assert bars(ax) == {"exa, search": 0.007, "direct, fetch": 0}
    assert words(ax) == ["0.007 USD", "0 USD"]


def test_a_chart_goes_where_it_is_told() -> None:
    _, (left, right) = plt.subplots(1, 2)
    assert found("https://a.example/").plot(ax=right) is right
    assert not left.patches


def test_an_unknown_chart_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        InputError, match=r'^SearchResponse has the charts domains, dates, providers, not "date"\.$'
    ):
        found().plot("date")
    with pytest.raises(InputError, match=r"^ReadResponse has no chart\.$"):
        ReadResponse(handle="a", content="", offset=0, total_characters=0).plot()


def test_without_matplotlib_the_error_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'agent-webtools\[plot\]'$") as caught:
        found("https://a.example/").plot()
    shown: Any = caught.value
    assert shown._render_traceback_() == [f"ImportError: {shown}"]  # no frames in a notebook


def test_matplotlib_that_is_broken_is_not_told_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    error = ModuleNotFoundError("No module named 'cycler'", name="cycler")

    def fail(name: str) -> Any:
        raise error

    monkeypatch.setattr("webtools.display.plots.import_module", fail)
    with pytest.raises(ModuleNotFoundError, match="cycler"):
        found("https://a.example/").plot()


def test_the_log_shows_cost_and_time_by_provider(
    webtools_sandbox: SandboxServer, tmp_path: Path
) -> None:
    log = {"enabled": True, "path": str(tmp_path / "log.ndjson")}
    with WebTools({**webtools_sandbox.config(), "log": log}) as web:
        web.search(["heap", "json"], provider="brave")
        web.search("heap", provider="kagi")
        cost, time = web.plot(), web.plot("time")
        assert list(bars(cost)) == ["kagi", "brave"]  # what costs most is on top
        assert words(cost) == ["0.012 USD, 1 request", "0.01 USD, 2 requests"]
        assert set(bars(time)) == {"kagi", "brave"}
        told = {text.split(" ms, ")[-1] for text in words(time)}
        assert told == {"1 request", "2 requests"}
        with pytest.raises(InputError, match=r'^The log has the charts cost, time, not "price"\.$'):
            web.plot("price")  # type: ignore[arg-type]


def test_a_log_that_is_turned_off_is_told(webtools_sandbox: SandboxServer) -> None:
    config = Config.model_validate({**webtools_sandbox.config(), "log": {"enabled": False}})
    with WebTools(config) as web, pytest.raises(ConfigError, match="The log is turned off in the"):
        web.plot()
