"""`webtools plan`."""

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


def research_plan(**changes: Any) -> ResearchPlan:
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
        "max_output_bytes": 51200,
    }
    return ResearchPlan(**{**facts, **changes})


def shown_plan(**changes: Any) -> str:
    return plan_text(research_plan(**changes), NOW)


def budget(**changes: Any) -> BudgetState:
    return BudgetState(**{"usd_process": 0.0, "calls_process": 0, **changes})


SKIPPED = {"skipped_until": NOW + timedelta(minutes=8), "reason": "its quota is used up"}


@pytest.mark.parametrize(
    "plan",
    [
        {"chain": [EXA.model_copy(update=SKIPPED), BRAVE]},
        {"reading": FREE.model_copy(update=SKIPPED)},
        {"synthesizer": "perplexity", "synthesis": EXA.model_copy(update=SKIPPED)},
    ],
)
def test_a_skipped_provider_is_shown_with_time_and_reason(plan: dict[str, Any]) -> None:
    text = shown_plan(**plan)
    assert "2026-11-22 12:08 UTC" in text
    assert "its quota is used up" in text


@pytest.mark.parametrize(
    ("state", "remaining", "is_refused"),
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
def test_a_plan_shows_the_remaining_budget(
    state: BudgetState, remaining: list[str], is_refused: bool
) -> None:
    text = shown_plan(budget=state)
    assert all(part in text for part in remaining)
    assert ("refuse" in text) == is_refused


# --- the command -------------------------------------------------------------------------------


def test_nothing_is_sent(cli: Cli, trial: str, webtools_sandbox: SandboxServer) -> None:
    before = webtools_sandbox.stats()["requests"]
    result = cli("plan", "zip", "bombs", "--command", "web-deep", "--config", trial)
    assert (result.code, result.err) == (0, "")
    assert "web-deep: zip bombs" in result.out
    assert webtools_sandbox.stats()["requests"] == before


def test_json_prints_the_plan(cli: Cli, trial: str) -> None:
    words = "plan heap queue --command web-news --limit 2 --recency-days 3 --synthesis extractive"
    result = cli(*words.split(), "--json", "--config", trial)
    with WebTools(config=trial) as web:
        expected = web.plan(
            "heap queue", command="web-news", limit=2, recency_days=3, synthesis="extractive"
        )
    assert (result.code, result.err) == (0, "")
    assert result.json == expected.model_dump(mode="json")


@pytest.mark.parametrize("name", ["deep", "web-depe"])
def test_another_command_is_refused_with_the_four_names(cli: Cli, name: str) -> None:
    result = cli("plan", "x", "--command", name)
    assert (result.code, result.out) == (2, "")
    assert f'command "{name}"' in result.err
    assert all(f"'{known}'" in result.err for known in RESEARCH)


def test_a_spent_budget_is_shown(cli: Cli, trial: str) -> None:
    path = Path(trial)
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "budget": {"callsPerDay": 1}}))
    assert cli("web", "heap", "--config", trial).code == 0
    assert "refuse" in cli("plan", "other", "--config", trial).out
    assert cli("web", "other", "--config", trial).code == 1
