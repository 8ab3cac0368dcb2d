"""Numbers that environment variables set where there is no config file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from webtools.config import Config, Settings, environment_config, load
from webtools.config.environment import variables

KEY = "test-key-canary-1"


class Knob(NamedTuple):
    variable: str
    part: str
    name: str
    default: int
    least: int
    most: int

    def of(self, settings: Config) -> Any:
        return getattr(getattr(settings, self.part), self.name)

    def read(self, text: str) -> tuple[Any, list[str]]:
        config, warnings = environment_config({"EXA_API_KEY": KEY, self.variable: text})
        assert config is not None
        return self.of(config), warnings


KNOBS = [
    Knob("WEB_SEARCH_TTL_MS", "cache", "ttl_ms", 1_800_000, 0, 2_592_000_000),
    Knob("PI_WEB_SEARCH_LOG_MAX_BYTES", "log", "max_bytes", 10_485_760, 131_072, 536_870_912),
    Knob("PI_WEB_SEARCH_LOG_MAX_BACKUPS", "log", "max_backups", 5, 1, 20),
    Knob("PI_WEB_SEARCH_LOG_ROTATE_CHECK_MS", "log", "rotate_check_ms", 30_000, 1_000, 600_000),
]
every_knob = pytest.mark.parametrize("knob", KNOBS, ids=lambda knob: knob.variable)


@every_knob
def test_a_number_within_its_bounds_counts(knob: Knob) -> None:
    for number in (knob.least, knob.most):
        assert knob.read(f" {number} ") == (number, [])


@every_knob
def test_a_number_out_of_bounds_is_clamped_with_a_warning(knob: Knob) -> None:
    for number, used in ((knob.least - 1, knob.least), (knob.most + 1, knob.most)):
        value, [warning] = knob.read(str(number))
        assert value == used
        assert all(str(part) in warning for part in (knob.variable, knob.least, knob.most))


@pytest.mark.parametrize("text", ["five", "1.5", "1e5", "9" * 5000])
@every_knob
def test_an_invalid_number_leaves_the_default_with_a_warning(knob: Knob, text: str) -> None:
    value, [warning] = knob.read(text)
    assert value == knob.default
    assert knob.variable in warning
    assert str(knob.default) in warning


def test_the_numbers_count_without_any_key(home: Path) -> None:
    environ = {
        "WEB_SEARCH_TTL_MS": "7",
        "PI_WEB_SEARCH_LOG_MAX_BACKUPS": "3",
        "WEB_SEARCH_MAX_RESULTS": "9",
    }
    config = Settings(environ=environ).accounts().config
    assert (config.cache.ttl_ms, config.log.max_backups, config.max_results) == (7, 3, 9)


@every_knob
def test_with_a_config_the_numbers_are_not_read(
    monkeypatch: pytest.MonkeyPatch, knob: Knob
) -> None:
    monkeypatch.setenv(knob.variable, str(knob.most))
    config = load('{"providers": [{"name": "a", "type": "direct"}]}', "a file")
    assert knob.of(Settings(config).accounts().config) == knob.default


def test_the_docs_name_every_variable() -> None:
    text = (Path(__file__).parents[2] / "docs/configuration.md").read_text(encoding="utf-8")
    for name in variables():
        assert f"`{name}`" in text
