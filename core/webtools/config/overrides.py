"""Settings that the code puts on top of the config file or the environment."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import SecretStr

from webtools._internal.text.narrowing import is_mapping
from webtools._internal.text.quoting import hint, listed, quote
from webtools.config.config_messages import REMOVED
from webtools.config.config_models import (
    PARTS,
    ClientArguments,
    Config,
    KeywordSettings,
    ProviderConfig,
    TopLevel,
    without_providers,
)
from webtools.config.parts import (
    Part,
)
from webtools.config.paths import CODE, with_absolute_path
from webtools.config.setting_values import checked_type, usual_options
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS


def show_client_arguments(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function with the client's arguments instead of `**settings`."""
    signature = inspect.signature(function)
    kinds = inspect.Parameter
    own = [each for each in signature.parameters.values() if each.kind is not kinds.VAR_KEYWORD]
    settings = [
        kinds(name, kinds.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in ClientArguments.__annotations__.items()
    ]
    return signature.replace(parameters=[*own, *settings])


class Overrides(NamedTuple):
    """Settings that the code puts on top of the config file or the environment.

    Attributes:
        settings: The top-level settings. Those in `model_fields_set` apply.
        entries: An entry for each provider type that `api_keys` names.
    """

    settings: TopLevel
    entries: tuple[ProviderConfig, ...] = ()

    def apply(self, config: Config) -> Config:
        """Return the config with these settings.

        Raises:
            ConfigError: They contradict each other or the config, or `api_keys` names a type that
                several providers have.
        """
        values = {name: getattr(config, name) for name in TopLevel.model_fields}
        for name in self.settings.model_fields_set:
            values[name] = _merged(values[name], getattr(self.settings, name))
        providers = _with_entries(values.pop("providers"), self.entries)
        if not providers:
            return without_providers(**values)
        try:
            return Config(providers=providers, **values)
        except ConfigError as error:
            fault = str(error)
        raise ConfigError(f"{CODE}: {fault}.")


def read_overrides(
    api_keys: Mapping[str, SecretStr | Callable[[], str]], settings: KeywordSettings
) -> Overrides | None:
    """Check the keyword arguments of `WebTools`; return None without any.

    Raises:
        ConfigError: A setting or a key is invalid. The message names it.
    """
    values = {name: value for name, value in settings.items() if value is not None}
    if not (values or api_keys):
        return None
    for name in ("cache", "log"):
        if isinstance(values.get(name), bool):
            values[name] = {"enabled": values[name]}
    try:
        top = TopLevel(**{name: _plain(name, value) for name, value in values.items()})
    except ConfigError as error:
        fault = str(error)
    else:
        paths: dict[str, Any] = {
            name: with_absolute_path(getattr(top, name), CODE)
            for name in ("cache", "log")
            if name in top.model_fields_set
        }
        entries = tuple(_entry(kind, key) for kind, key in api_keys.items())
        return Overrides(top.model_copy(update=paths), entries)
    raise ConfigError(f"{CODE}: {fault}.")


def secret_keys(api_keys: Any) -> dict[str, SecretStr | Callable[[], str]]:
    """Wrap keys, so that no traceback shows them.

    Raises:
        ConfigError: `api_keys` is not a mapping of provider types to keys.
    """
    keys: dict[str, SecretStr | Callable[[], str]] = {}
    kind = "" if api_keys is None or is_mapping(api_keys) else type(api_keys).__name__
    for name, key in (api_keys or {}).items() if not kind else ():
        keys[name] = SecretStr(key) if isinstance(key, str) else key
    del api_keys
    if kind:
        raise ConfigError(
            f'api_keys must map provider types to keys, such as {{"exa": "..."}}, not {kind}.'
        )
    return keys


def unknown_setting(name: str, names: Sequence[str]) -> TypeError:
    """Return the error for a keyword argument that `WebTools` does not have."""
    if name in REMOVED:
        return TypeError(f"{name} {REMOVED[name]}.")
    return TypeError(
        f"WebTools() got an unexpected keyword argument {quote(name)}{hint(name, names)}. "
        f"Known arguments: {', '.join(names)}"
    )


def _plain(name: str, value: Any) -> Any:
    return dict(value) if name in PARTS and is_mapping(value) else value


def _entry(kind: str, key: SecretStr | Callable[[], str]) -> ProviderConfig:
    try:
        checked_type(kind)
        about = PROVIDERS[kind].about
        if about.key_variables or about.needs_key:
            values: dict[str, Any] = {"name": kind, "type": kind, "api_key": key}
            return ProviderConfig(**values, options=usual_options(kind))
        fault = f"{about.title} takes no API key"
    except (ConfigError, ValueError) as error:
        fault = str(error)
    raise ConfigError(f"api_keys[{quote(str(kind))}]: {fault}.")


def _merged(old: Any, new: Any) -> Any:
    """Return the new value. A part, such as `budget`, keeps old values that the new one lacks."""
    if not isinstance(new, Part):
        return new
    return old.model_copy(update={name: getattr(new, name) for name in new.model_fields_set})


def _with_entries(
    providers: Sequence[ProviderConfig], entries: Sequence[ProviderConfig]
) -> tuple[ProviderConfig, ...]:
    changed = list(providers)
    for entry in entries:
        places = [i for i, provider in enumerate(providers) if provider.type == entry.type]
        if len(places) > 1:
            names = listed(providers[i].name for i in places)
            raise ConfigError(
                f'api_keys: several providers have the type "{entry.type}": {names}. '
                "Set the key of each in its own entry."
            )
        if places:
            changed[places[0]] = changed[places[0]].model_copy(update={"api_key": entry.api_key})
        else:
            changed.append(entry)
    return tuple(changed)
