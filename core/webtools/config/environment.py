"""Settings from environment variables: keys add providers; a few numbers can be set."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from pydantic import SecretStr

from webtools.config.config_models import Config, ProviderConfig, without_providers
from webtools.config.first_steps import KEYLESS_VARIABLE
from webtools.config.parts import (
    LOG_BACKUPS,
    LOG_BYTES,
    MAX_RESULTS,
    ROTATE_CHECK_MS,
    TTL_MS,
    Bounds,
    CacheConfig,
    LogConfig,
)
from webtools.config.setting_values import checked_base_url, key_fault, usual_options
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS


class _NumberSetting(NamedTuple):
    """A number that a variable sets, and its default."""

    bounds: Bounds
    default: int | None


_CACHE, _LOG = CacheConfig(), LogConfig()
_NUMBERS = {
    "WEB_SEARCH_MAX_RESULTS": _NumberSetting(MAX_RESULTS, None),
    "WEB_SEARCH_TTL_MS": _NumberSetting(TTL_MS, _CACHE.ttl_ms),
    "PI_WEB_SEARCH_LOG_MAX_BYTES": _NumberSetting(LOG_BYTES, _LOG.max_bytes),
    "PI_WEB_SEARCH_LOG_MAX_BACKUPS": _NumberSetting(LOG_BACKUPS, _LOG.max_backups),
    "PI_WEB_SEARCH_LOG_ROTATE_CHECK_MS": _NumberSetting(ROTATE_CHECK_MS, _LOG.rotate_check_ms),
}


_ON, _OFF = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


def variables() -> list[str]:
    """Return the names of all variables, including those of installed providers."""
    PROVIDERS.load_announced()
    keys = (name for services in PROVIDERS.values() for name in services.about.variables)
    return [*keys, KEYLESS_VARIABLE, *_NUMBERS]


def key_variables(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the first variable of each provider that is set, with the provider's type."""
    pairs: list[tuple[str, str]] = []
    for kind, services in PROVIDERS.items():
        names = (n for n in services.about.variables if environ.get(n, "").strip())
        pairs += [(name, kind) for name in list(names)[:1]]
    return pairs


def ignored_variables(
    environ: Mapping[str, str], configured: Collection[str]
) -> list[tuple[str, str]]:
    """Return the variables that a config file hides, with the types that they would add.

    Args:
        environ: The environment.
        configured: The types of the providers in the file.
    """
    PROVIDERS.load_announced()
    pairs = key_variables(environ)
    configured_names = {name for name, kind in pairs if kind in configured}
    hidden = {name: kind for name, kind in reversed(pairs) if name not in configured_names}
    return [*reversed(hidden.items())]


def environment_config(environ: Mapping[str, str]) -> tuple[Config | None, list[str]]:
    """Read the settings from the environment: an entry per key or address, named as its type.

    Returns:
        The config, or None without a key, and warnings, including those about broken plug-ins.

    Raises:
        ConfigError: A key or an address is invalid. The message names its variable.
    """
    config, warnings = read_environment(environ)
    return (config if config.providers else None), warnings


def read_environment(environ: Mapping[str, str]) -> tuple[Config, list[str]]:
    """Read the settings like `environment_config`, but return a config even without a key."""
    warnings = [*PROVIDERS.load_announced()]
    values = {kind: SecretStr(environ[name].strip()) for name, kind in key_variables(environ)}
    settings = _read_settings(environ, warnings)
    faults = [
        f"The value of {name} {fault}."
        for name, kind in key_variables(environ)
        if (fault := _value_fault(kind, values[kind].get_secret_value()))
    ]
    del environ  # a traceback that shows local variables would show the keys
    if faults:
        raise ConfigError(faults[0])
    entries = [_entry(kind, value) for kind, value in values.items()]
    config = Config(providers=entries, **settings) if entries else without_providers(**settings)
    return config, warnings


def _value_fault(kind: str, value: str) -> str:
    if PROVIDERS[kind].about.key_variables:
        return key_fault(value)
    try:
        checked_base_url(value)
    except ValueError as error:
        return str(error)
    return ""


def _entry(kind: str, value: SecretStr) -> ProviderConfig:
    if PROVIDERS[kind].about.key_variables:
        return ProviderConfig(name=kind, type=kind, api_key=value, options=usual_options(kind))
    return ProviderConfig(name=kind, type=kind, base_url=value.get_secret_value())


def _read_settings(environ: Mapping[str, str], warnings: list[str]) -> dict[str, Any]:
    """Read the numbers. Warn of values out of bounds, which are clamped, and of invalid ones."""
    max_results, ttl_ms, max_bytes, max_backups, rotate_check_ms = (
        _read_number(name, environ.get(name, ""), warnings) for name in _NUMBERS
    )
    rotation = {
        "max_bytes": max_bytes,
        "max_backups": max_backups,
        "rotate_check_ms": rotate_check_ms,
    }
    return {
        "max_results": max_results,
        "cache": _CACHE.model_copy(update={"ttl_ms": ttl_ms}),
        "log": _LOG.model_copy(update=rotation),
        "keyless": _read_switch(KEYLESS_VARIABLE, environ.get(KEYLESS_VARIABLE, ""), warnings),
    }


def _read_switch(name: str, text: str, warnings: list[str]) -> bool:
    word = text.strip().lower()
    if word not in {*_ON, *_OFF}:
        warnings.append(f"{name} is neither 1 nor 0, so it is ignored.")
    return word in _ON


def _read_number(name: str, text: str, warnings: list[str]) -> int | None:
    (minimum, maximum), default = _NUMBERS[name]
    if not text.strip():
        return default
    try:
        number = int(text)
    except ValueError:
        instead = "it is ignored" if default is None else f"the default, {default}, is used"
        warnings.append(f"{name} is not a whole number, so {instead}.")
        return default
    clamped = min(max(number, minimum), maximum)
    if clamped != number:
        warnings.append(f"{name} must be from {minimum} to {maximum}; {clamped} is used.")
    return clamped
