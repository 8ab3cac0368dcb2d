"""The parts of the settings: cache, log, research and budget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from offline import accounts as accounts_with
from offline import entry

from webtools.config import (
    Accounts,
    BudgetConfig,
    CacheConfig,
    LogConfig,
    ResearchConfig,
    Settings,
    load,
)
from webtools.config.config_file import example_line
from webtools.errors import ConfigError

ORIGIN = "/etc/web-search.json"
DAY_MS = 24 * 60 * 60 * 1000
MIB = 1024 * 1024

PROVIDERS = [entry(kind) for kind in ("exa", "brave", "context7", "perplexity", "direct")]


def fault(**top: Any) -> str:
    """Load what is wrong; give the message without the file's name and the example."""
    with pytest.raises(ConfigError) as caught:
        load(json.dumps({"providers": PROVIDERS, **top}), ORIGIN)
    message = str(caught.value)
    first, second = message.split("\n")
    assert second.endswith(example_line())
    return first.removeprefix(f"{ORIGIN}: ").removesuffix(".")


def accounts(**top: Any) -> Accounts:
    return accounts_with(*PROVIDERS, **top)


# --- what is valid -----------------------------------------------------------------------------


def test_without_a_part_its_defaults_hold() -> None:
    settings = accounts()
    assert settings.config.cache == CacheConfig(
        enabled=True, path=None, ttl_ms=1_800_000, max_bytes=268_435_456
    )
    assert settings.config.log == LogConfig(
        enabled=True,
        path=None,
        max_bytes=10_485_760,
        max_backups=5,
        rotate_check_ms=30_000,
        queries="on",
    )
    assert settings.config.research == ResearchConfig(chain={}, synthesis=None)
    assert settings.config.budget == BudgetConfig(
        usd_per_day=None, calls_per_day=None, usd_per_process=None, calls_per_process=None
    )


# --- each fault in its own words ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "key", "value", "named"),
    [
        ("cache", "ttlMs", -1, ["0", "not -1"]),
        ("cache", "ttlMs", 30 * DAY_MS + 1, ["2592000000", "not 2592000001"]),
        ("cache", "ttlMs", "5", ["integer", 'not "5"']),
        ("cache", "ttlMs", 1.5, ["integer", "not 1.5"]),
        ("cache", "maxBytes", MIB - 1, ["1048576"]),
        ("cache", "maxBytes", 2**37, ["68719476736"]),
        ("cache", "enabled", 1, ["boolean", "not 1"]),
        ("cache", "ttlms", 5, ['did you mean "ttlMs"?']),
        ("log", "maxBytes", 131_071, ["131072"]),
        ("log", "maxBytes", 2**29 + 1, ["536870912"]),
        ("log", "maxBackups", 0, ["1", "not 0"]),
        ("log", "maxBackups", 21, ["20", "not 21"]),
        ("log", "rotateCheckMs", 999, ["1000"]),
        ("log", "rotateCheckMs", 600_001, ["600000"]),
        ("log", "queries", "plain", ["'on'", "'off'", '"plain"']),
        ("log", "queries", "clear", ['use "on"']),
        ("log", "queries", "hashed", ['use "off"']),
        ("budget", "usdPerDay", 0, ["not 0"]),
        ("budget", "usdPerProcess", -0.5, ["not -0.5"]),
        ("budget", "usdPerDay", 1e300, ["1000000000"]),
        ("budget", "usdPerDay", "5", ["number"]),
        ("budget", "callsPerDay", 0, ["1", "not 0"]),
        ("budget", "callsPerProcess", 1.5, ["integer"]),
        ("research", "synthesis", "kagi", ["'extractive'", "'perplexity'"]),
        ("research", "chain", [], ["object"]),
    ],
)
def test_a_faulty_value_is_refused_with_its_path(
    part: str, key: str, value: Any, named: list[str]
) -> None:
    message = fault(**{part: {key: value}})
    assert message.startswith(f"{part}.{key} ")
    assert all(word in message for word in named)


ABLE = 'Use one of: "my-exa", "my-brave", "my-context7"'


@pytest.mark.parametrize(
    ("command", "names", "place", "named"),
    [
        ("web", "my-exa", "web", "list"),
        ("web-docs", [], "web-docs", "empty"),
        ("web", [5], "web[0]", "name"),
        ("web", ["my-exa", "my-exa"], "web[1]", 'repeats "my-exa"'),
        ("web", ["my-exa", "exa"], 'web[1] "exa"', ABLE),
        ("web", ["my-direct"], 'web[0] "my-direct"', ABLE),
        ("web-news", ["my-perplexity"], 'web-news[0] "my-perplexity"', ABLE),
    ],
)
def test_a_faulty_chain_is_refused_with_its_place(
    command: str, names: Any, place: str, named: str
) -> None:
    message = fault(research={"chain": {command: names}})
    assert message.startswith(f"research.chain.{place} ")
    assert named in message


def test_an_infinite_budget_is_refused() -> None:
    text = json.dumps({"providers": PROVIDERS, "budget": {"usdPerDay": 1}})
    with pytest.raises(ConfigError, match=r"budget\.usdPerDay"):
        load(text.replace(": 1}", ": 1e999}"), ORIGIN)


@pytest.mark.parametrize(
    ("part", "key", "meant"),
    [
        ("cache", "ttl_ms", "ttlMs"),
        ("cache", "max_bytes", "maxBytes"),
        ("log", "max_backups", "maxBackups"),
        ("log", "rotate_check_ms", "rotateCheckMs"),
        ("budget", "usd_per_day", "usdPerDay"),
        ("budget", "calls_per_process", "callsPerProcess"),
        ("cache", "max_byts", "maxBytes"),
        ("budget", "usd_per_dy", "usdPerDay"),
    ],
)
def test_python_spelling_is_unknown_in_a_file(part: str, key: str, meant: str) -> None:
    assert f'"{key}" (did you mean "{meant}"?)' in fault(**{part: {key: 5}})


@pytest.mark.parametrize("part", ["cache", "log"])
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", "is empty"),
        (" ", "is empty"),
        ("a\0b", r'"a\x00b"'),
        ("/tmp/", '"/tmp/"'),
        ("..", '".."'),
        (".", '"."'),
        ("~", '"~"'),
    ],
)
def test_a_path_that_no_file_can_have_is_refused(part: str, path: str, expected: str) -> None:
    assert fault(**{part: {"path": path}}).startswith(f"{part}.path {expected}")


def test_synthesis_by_perplexity_needs_such_a_provider() -> None:
    text = json.dumps({"providers": [entry("exa")], "research": {"synthesis": "perplexity"}})
    with pytest.raises(ConfigError, match=r'research\.synthesis .*"perplexity"'):
        load(text, ORIGIN)


@pytest.mark.parametrize("values", [{1: 2}, {"providers": [{1: 2}]}, {"cache": {1: 2}}])
def test_a_mapping_with_other_keys_than_texts_is_a_config_error(values: Any) -> None:
    with pytest.raises(ConfigError, match=r"^the code: "):
        Settings({"providers": PROVIDERS} | values)


# --- the documentation -------------------------------------------------------------------------


def test_the_docs_name_every_setting_and_number() -> None:
    text = (Path(__file__).parents[2] / "docs/configuration.md").read_text(encoding="utf-8")
    parts = {"cache": CacheConfig, "log": LogConfig, "research": ResearchConfig}
    for part, model in {**parts, "budget": BudgetConfig}.items():
        for field in model.model_fields.values():
            assert f"`{part}.{field.alias}`" in text
