"""Settings from environment variables: keys add providers; a few numbers can be set."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import SecretStr

from webtools._internal.http.proxies import with_scheme
from webtools._internal.text.quoting import SHORTEST_KEY
from webtools.config.config_models import (
    PARTS,
    Config,
    ProviderConfig,
    TopLevel,
    without_providers,
)
from webtools.config.parts import Bounds, Part, Variable
from webtools.config.paths import MCP_TOKEN_VARIABLE
from webtools.config.setting_values import checked_base_url, key_fault, usual_options
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS


class Setting(NamedTuple):
    """A setting that a variable sets.

    Attributes:
        part: Name of its part, or "" at the top level.
        name: Its name in the part.
        bounds: The bounds of a number; None for a switch.
        default: Its default.
    """

    part: str
    name: str
    bounds: Bounds | None
    default: int | None


def _settings() -> Iterator[tuple[str, Setting]]:
    models: dict[str, type[Part]] = {"": TopLevel, **PARTS}
    for part, model in models.items():
        for name, info in model.model_fields.items():
            for mark in info.metadata:
                if isinstance(mark, Variable):
                    yield mark.name, Setting(part, name, mark.bounds, info.default)


SETTINGS = dict(_settings())
_ON, _OFF = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


def variables() -> list[str]:
    """Return the names of all variables, including those of installed providers."""
    PROVIDERS.load_announced()
    keys = (name for services in PROVIDERS.values() for name in services.about.variables)
    return [*keys, *SETTINGS]


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


def keys_in(environ: Mapping[str, str]) -> set[str]:
    """Return the valid keys in the environment, also if other variables are invalid."""
    kinds = key_variables(environ)
    keys = {environ[name].strip() for name, kind in kinds if PROVIDERS[kind].about.key_variables}
    return {key for key in keys if not key_fault(key)}


_LIKE_KEY = re.compile(r"\d|.{20}")
# Of a part of a value that may also be a name, a number or a date.
_LIKE_GENERATED_KEY = re.compile(r"(?=.*\d)(?=.*[a-zA-Z]).{8}")
_BETWEEN_KEYS = re.compile(r"[\s,;]+")
# The password of a login may have a `/`, `?` or `#` that is not escaped; a port has one behind it.
_LOGIN = re.compile(r"://([^/?#\s]*|[^:/?#@[\s]*:(?!\d*[/?#])\S*)@")


def keys_beside(environ: Mapping[str, str]) -> set[str]:
    """Return the keys and logins in the environment, used or not, a login as a URL.

    Placeholders such as `not-needed` are left out. Logins of proxies are always included. Loads no
    providers.
    """
    secrets = set[str]()
    for name in environ:
        kind = name.upper()
        if kind == MCP_TOKEN_VARIABLE:
            token = environ[name].strip()
            if len(token) >= SHORTEST_KEY:
                secrets.add(token)
        elif kind.endswith("_API_KEY"):
            value = environ[name].strip()
            keys = {value} if _LIKE_KEY.search(value) else set[str]()
            keys.update(filter(_LIKE_GENERATED_KEY.search, _BETWEEN_KEYS.split(value)))
            secrets |= {key for key in keys if not key_fault(key)}
        elif kind.endswith("_PROXY"):
            logins = _LOGIN.findall(with_scheme(environ[name].strip()))
            secrets |= {f"http://{login}@" for login in logins}
        elif kind.endswith(("_URL", "_URI", "_DSN", "_HOST")):
            passwords = (login.partition(":")[2] for login in _LOGIN.findall(environ[name]))
            secrets |= {f"http://:{key}@" for key in filter(_LIKE_GENERATED_KEY.search, passwords)}
    return secrets


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
    """Read the settings. Warn of values out of bounds, which are clamped, and of invalid ones."""
    values: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for variable, setting in SETTINGS.items():
        read = _read_number if setting.bounds else _read_switch
        value = read(variable, environ.get(variable, ""), warnings)
        (parts.setdefault(setting.part, {}) if setting.part else values)[setting.name] = value
    return values | {
        part: PARTS[part]().model_copy(update=changes) for part, changes in parts.items()
    }


def _read_switch(name: str, text: str, warnings: list[str]) -> bool:
    word = text.strip().lower()
    if word not in {*_ON, *_OFF}:
        warnings.append(f"{name} is neither 1 nor 0, so it is ignored.")
    return word in _ON


def _read_number(name: str, text: str, warnings: list[str]) -> int | None:
    bounds, default = SETTINGS[name].bounds, SETTINGS[name].default
    assert bounds is not None  # noqa: S101  # a number has bounds
    minimum, maximum = bounds
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
