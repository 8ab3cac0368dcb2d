"""plan."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli_calls import Cli

from webtools import WebTools
from webtools._internal.display.plan_text import plan_text
from webtools.cli.tool_commands import RESEARCH
from webtools.results import BudgetState, PlanStep, ResearchPlan

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
EXA = PlanStep(provider="exa", type="exa", task="search", worst_cost_usd=0.007)
BRAVE = PlanStep(provider="my-brave", type="brave", task="search", worst_cost_usd=0.005)
FREE = PlanStep(provider="direct", type="direct", task="fetch", worst_cost_usd=0)


def made(**changes: Any) -> ResearchPlan:
    facts: dict[str, Any] = {
        "query": "zip bombs",
        "command": "web-deep",
        "limit": 5,
        "time_sensitive": False,
        "recency_days": None,
        "chain": [EXA, BRAVE],
        "reading": FREE,
        "synthesizer": "extractive",
        "worst_cost_usd": 0.012,
        "most_output_bytes": 51200,
    }
    return ResearchPlan(**{**facts, **changes})


def told(**changes: Any) -> str:
    return plan_text(made(**changes), NOW)


def budget(**changes: Any) -> BudgetState:
    return BudgetState(**{"usd_process": 0.0, "calls_process": 0, **changes})


def test_a_plan_lists_providers_prices_and_the_bound_of_the_output() -> None:
    lines = told().splitlines()
    chain = [line.split() for line in lines if line.startswith("  ")]
    assert [words[:3] for words in chain] == [["1.", "exa", "search"], ["2.", "my-brave", "search"]]
    assert chain[0][-2:] == ["0.007", "USD"]
    for part in ("web-deep: zip bombs", "direct", "extractive", "0.012 USD", "50.0 KB"):
        assert sum(part in line for line in lines) == 1


SKIPPED = {"parked_until": NOW + timedelta(minutes=8), "reason": "its quota is used up"}


@pytest.mark.parametrize(
    "plan",
    [
        {"chain": [EXA.model_copy(update=SKIPPED), BRAVE]},
        {"reading": FREE.model_copy(update=SKIPPED)},
        {"synthesizer": "perplexity", "synthesis": EXA.model_copy(update=SKIPPED)},
    ],
)
def test_a_skipped_provider_is_shown_with_time_and_reason(plan: dict[str, Any]) -> None:
    text = told(**plan)
    assert "2026-11-22 12:08 UTC" in text
    assert "its quota is used up" in text


def test_without_reading_and_synthesis_neither_is_promised() -> None:
    text = told(command="web", reading=None, synthesizer=None)
    assert "direct" not in text
    assert "extractive" not in text


def test_pages_that_no_provider_can_read_name_the_extra() -> None:
    assert "agent-webtools[fetch]" in told(reading=None)
    assert "agent-webtools[fetch]" in made(reading=None)._repr_html_()
    assert "agent-webtools&#91;fetch&#93;" in made(reading=None)._repr_markdown_()
    assert "[fetch]" not in made()._repr_html_()
    assert "[fetch]" not in told(reading=None, synthesizer=None)
    assert "[fetch]" not in told(reading=None, command="web")


def test_a_synthesizer_that_asks_a_provider_has_its_price() -> None:
    step = PlanStep(provider="pplx", type="perplexity", task="synthesize", worst_cost_usd=0.5)
    [line] = [x for x in told(synthesizer="perplexity", synthesis=step).splitlines() if "pplx" in x]
    assert "0.5 USD" in line


def test_how_old_a_source_may_be_is_shown_where_it_matters() -> None:
    assert "7 days" in told(recency_days=7)
    assert "days" not in told()


def test_a_cached_answer_is_shown_with_its_age() -> None:
    text = told(kept_since=NOW - timedelta(minutes=3), worst_cost_usd=0)
    assert "2026-11-22 11:57 UTC (3 min)" in text
    assert " 0 USD" in text


@pytest.mark.parametrize(
    ("state", "left", "is_refused"),
    [
        (budget(usd_per_day=5, usd_today=1.5), ["3.5 of 5 USD today"], False),
        (budget(calls_per_day=9, calls_today=2), ["7 of 9 calls today"], False),
        (
            budget(usd_per_process=1, calls_per_process=3),
            ["1 of 1 USD per process", "3 of 3 calls per process"],
            False,
        ),
        (
            budget(usd_per_day=1, usd_today=1, calls_per_day=1, calls_today=0),
            ["0 of 1 USD today", "1 of 1 call today"],
            True,
        ),
        (budget(calls_per_day=5, calls_today=7), ["0 of 5 calls today"], True),
        (budget(usd_per_day=1, usd_today=0.994), ["0.006 of 1 USD today"], True),
        (budget(calls_per_process=2), ["2 of 2 calls per process"], True),
    ],
)
def test_what_the_budget_leaves_is_shown_and_whether_it_suffices(
    state: BudgetState, left: list[str], is_refused: bool
) -> None:
    text = told(budget=state)
    assert all(part in text for part in left)
    assert ("refuse" in text) == is_refused


def test_a_kept_answer_takes_nothing_from_the_budget() -> None:
    state = budget(calls_per_day=5, calls_today=5)
    assert "refuse" not in told(budget=state, kept_since=NOW)


def test_a_skipped_provider_takes_nothing_from_the_budget() -> None:
    skipped = BRAVE.model_copy(update={"parked_until": NOW, "reason": "it is in trouble"})
    state = budget(usd_per_day=1, usd_today=0.994)
    assert "would refuse" in told(chain=[EXA, skipped], budget=state)
    assert "might refuse" in told(budget=state)


# --- the command -------------------------------------------------------------------------------


def test_nothing_is_sent(cli: Cli, trial: str, webtools_sandbox: SandboxServer) -> None:
    before = webtools_sandbox.stats()["requests"]
    done = cli("plan", "zip", "bombs", "--command", "web-deep", "--config", trial)
    assert (done.code, done.err) == (0, "")
    assert "web-deep: zip bombs" in done.out
    assert webtools_sandbox.stats()["requests"] == before


def test_json_prints_the_plan(cli: Cli, trial: str) -> None:
    words = "plan heap queue --command web-news --limit 2 --recency-days 3 --synthesis extractive"
    done = cli(*words.split(), "--json", "--config", trial)
    with WebTools(config=trial) as web:
        expected = web.plan(
            "heap queue", command="web-news", limit=2, recency_days=3, synthesis="extractive"
        )
    assert (done.code, done.err) == (0, "")
    assert done.json == expected.model_dump(mode="json")


def test_without_a_command_it_is_web(cli: Cli, trial: str) -> None:
    assert "web: x\n" in cli("plan", "x", "--config", trial).out


def test_a_cached_answer_is_shown(cli: Cli, trial: str) -> None:
    cli("web", "heap queue", "--config", trial)
    assert "yes, since" in cli("plan", "heap queue", "--config", trial).out


@pytest.mark.parametrize("name", ["deep", "web-depe"])
def test_another_command_is_refused_with_the_four_names(cli: Cli, name: str) -> None:
    done = cli("plan", "x", "--command", name)
    assert (done.code, done.out) == (2, "")
    assert f'command "{name}"' in done.err
    assert all(f"'{known}'" in done.err for known in RESEARCH)


def test_a_plan_that_cannot_be_made_is_exit_2(cli: Cli, trial: str) -> None:
    done = cli("plan", "x", "--limit", "99", "--config", trial)
    assert (done.code, done.out) == (2, "")
    assert 'limit "99"' in done.err


def test_with_json_an_error_is_one_document_too(cli: Cli) -> None:
    done = cli("plan", "x", "--json")
    assert (done.code, done.json["error"]["type"]) == (2, "ConfigError")


def test_a_spent_budget_is_shown(cli: Cli, trial: str) -> None:
    path = Path(trial)
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "budget": {"callsPerDay": 1}}))
    assert cli("web", "heap", "--config", trial).code == 0
    assert "refuse" in cli("plan", "other", "--config", trial).out
    assert cli("web", "other", "--config", trial).code == 1
