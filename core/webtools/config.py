"""Settings, from one source: what the code passes in, else the file, else the environment.

`load` is pure; `Settings` is the edge that reads, and reads again when the source has changed.
No error here shows a key, neither in its text nor in a chained exception.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from webtools._accounts import (
    CODE,
    ENVIRONMENT,
    EXAMPLE,
    MAX_RESULTS_VARIABLE,
    MOST_RESULTS,
    Accounts,
    build,
    capabilities,
    checked_base_url,
    checked_key,
    checked_name,
    checked_proxy,
    checked_type,
    config_paths,
    describe,
    explain,
    fail,
    key_fault,
    key_variables,
    listed,
    not_picklable,
    quote,
    read_max_results,
    read_options,
)
from webtools._config_file import absolute, file_error, read_text, status
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS, direct
from webtools.providers._base import Pacer

__all__ = [
    "EXAMPLE",
    "Accounts",
    "Config",
    "ProviderConfig",
    "Settings",
    "check",
    "config_paths",
    "environment_config",
    "find_config",
    "load",
]


class _Part(BaseModel):
    """A part of the config: frozen, strict, and its errors are ours and hold no input."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    def __init__(self, /, **values: Any) -> None:
        """Check the values; pydantic also comes here for a dict.

        Raises:
            ConfigError: A value is wrong; the text begins with its path within this part.
        """
        fault = ""
        try:
            super().__init__(**values)
        except ValidationError as error:
            fault = explain(error, type(self))
        except ConfigError as error:
            fault = str(error)
        if fault:
            values.clear()  # a traceback that shows local variables would show the keys
            raise ConfigError(fault)

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse: a pickle would hold the keys in clear."""
        raise not_picklable(type(self))


class ProviderConfig(_Part):
    """One entry of `providers`.

    Attributes:
        name: What calls, results and errors name it by.
        type: The provider's type, such as "exa".
        api_key: The key itself; may be left out for a type that needs none.
        base_url: Replaces the origin of the API; may have a path.
        timeout_ms: Bound on a whole call, in milliseconds.
        max_requests_per_second: Calls are spaced to keep below it.
        proxy: URL of an HTTP proxy; may hold a password.
        options: The type's own options, a mapping with the file's spelling.
        fetch_fallback: Name of the provider that tries the pages which this one could not fetch;
            `direct` needs no entry of its own.
    """

    name: Annotated[str, AfterValidator(checked_name)]
    type: Annotated[str, AfterValidator(checked_type)]
    api_key: Annotated[SecretStr, AfterValidator(checked_key)] | None = None
    base_url: Annotated[str, AfterValidator(checked_base_url)] | None = None
    timeout_ms: Annotated[int, Field(ge=1, le=600_000)] | None = None
    max_requests_per_second: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    proxy: Annotated[SecretStr, AfterValidator(checked_proxy)] | None = None
    options: Any = Field(default=None, validate_default=True)
    fetch_fallback: str | None = None

    @field_validator("options", mode="plain")
    @classmethod
    def _read_options(cls, value: Any, info: ValidationInfo) -> Any:
        kind = info.data.get("type")
        # Without a type, that is the fault to tell.
        return value if kind is None else read_options(kind, value)

    @model_validator(mode="after")
    def _require_key(self) -> ProviderConfig:
        about = PROVIDERS[self.type].about
        if about.NEEDS_KEY and self.api_key is None:
            raise ConfigError(f"apiKey is missing: type {self.type} needs your {about.TITLE} key")
        return self


class Config(_Part):
    """The whole config.

    Attributes:
        providers: The providers, at least one; without a default the first that can serves.
        default_provider: Name of the provider that serves a call which names none.
        max_results: Number of search results where neither call nor provider says.
    """

    providers: Sequence[ProviderConfig]
    default_provider: str | None = None
    max_results: Annotated[int, Field(ge=1, le=MOST_RESULTS)] | None = None

    @field_validator("providers", mode="before")
    @classmethod
    def _read_entries(cls, value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            fail("must be a list")
        if not value:
            fail("is empty: list at least one provider")
        entries = cast("Sequence[object]", value)
        return tuple(_entry(f"providers[{i}]", each) for i, each in enumerate(entries))

    @model_validator(mode="after")
    def _check_names(self) -> Config:
        names = [entry.name for entry in self.providers]
        for i, name in enumerate(names):
            if name in names[:i]:
                raise ConfigError(
                    f"providers[{i}].name repeats {quote(name)}, which must be unique"
                )
        if (default := self.default_provider) is not None and default not in names:
            known = listed(names)
            raise ConfigError(f"defaultProvider {quote(default)} is unknown; known are: {known}")
        return self

    @model_validator(mode="after")
    def _check_fallbacks(self) -> Config:
        able = [each.name for each in self.providers if "fetch" in capabilities(each.type)]
        if all(each.name != direct.NAME for each in self.providers):
            able.append(direct.NAME)
        for i, entry in enumerate(self.providers):
            name = entry.fetch_fallback
            if name is not None and name not in able:
                fault = f"fetchFallback {quote(name)} cannot fetch; these can: {listed(able)}"
                raise ConfigError(f"providers[{i}].{fault}")
        return self


# The models also take these, but the file is shared with pi, which has one spelling.
_PYTHON_SPELLINGS = {
    name for model in (Config, ProviderConfig) for name in model.model_fields if "_" in name
}


def _entry(path: str, value: object) -> ProviderConfig:
    if isinstance(value, ProviderConfig):
        return value
    if not isinstance(value, dict):
        raise ConfigError(f"{path} must be an object")
    try:
        return ProviderConfig.model_validate(value)
    except ConfigError as error:
        fault = str(error)
    raise ConfigError(f"{path}.{fault}")


def load(text: str, origin: str) -> Config:
    """Read a config file's text.

    Args:
        text: The JSON text; a byte order mark at its start is ignored.
        origin: The file's path, for messages.

    Raises:
        ConfigError: The text is not JSON, or not a valid config; the message names the file and
            the fault, never a key, and ends with `EXAMPLE`.
    """
    try:
        return Config.model_validate(_parse(text))
    except json.JSONDecodeError as error:
        what = error.msg.partition(":")[0]
        fault = f"is not JSON: {what} at line {error.lineno}, column {error.colno}"
    except RecursionError:
        fault = "is nested too deep"
    except (ConfigError, ValueError) as error:
        fault = str(error)
    del text  # a traceback that shows local variables would show the keys
    raise file_error(origin, fault)


def environment_config(environ: Mapping[str, str]) -> tuple[Config | None, list[str]]:
    """Read the settings from the environment: one entry per key, named as its type.

    Returns:
        The config, or None when no key is set, and the warnings.

    Raises:
        ConfigError: A key cannot be one; the message names its variable.
    """
    found = {kind: SecretStr(environ[name].strip()) for name, kind in key_variables(environ)}
    limit, warnings = read_max_results(environ.get(MAX_RESULTS_VARIABLE, ""))
    faults = [
        f"The value of {name} {fault}."
        for name, kind in key_variables(environ)
        if (fault := key_fault(found[kind].get_secret_value()))
    ]
    del environ  # a traceback that shows local variables would show the keys
    if faults:
        raise ConfigError(faults[0])
    if not found:
        return None, warnings
    entries = [ProviderConfig(name=kind, type=kind, api_key=key) for kind, key in found.items()]
    return Config(providers=entries, max_results=limit), warnings


def find_config() -> Path | None:
    """Find the config file: the first of `config_paths` that exists.

    Raises:
        ConfigError: Whether it exists cannot be told, or it is a link to nowhere.
    """
    return next((path for path in config_paths() if status(path)), None)


def _parse(text: str) -> dict[str, Any]:
    data = json.loads(
        text.removeprefix("\ufeff"),
        object_pairs_hook=_object,
        parse_constant=lambda name: fail(f"is not JSON: it holds {name}"),
    )
    if not isinstance(data, dict):
        fail("must be a JSON object")
    return cast("dict[str, Any]", data)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            fail(f"holds the key {quote(key)} twice in one object")
        if key in _PYTHON_SPELLINGS:
            fail(f"holds the unknown key {quote(key)} (did you mean {quote(to_camel(key))}?)")
        values[key] = value
    return values


def _from_mapping(values: Mapping[str, Any]) -> Config:
    try:
        return Config.model_validate(values)
    except ConfigError as error:
        fault = str(error)
    raise file_error(CODE, fault)


class Settings:
    """The settings in force, from one source; a change of it shows at the next call.

    Args:
        config: A config, or the path of a file, or None to look for a file and, if there is
            none, read the environment. Nothing is read yet.
        environ: Stands in for `os.environ`.
    """

    def __init__(
        self,
        config: Config | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        if isinstance(config, Mapping):
            config = _from_mapping(config)
        self._config = config if isinstance(config, Config) else None
        self._path: Path | None = None
        if config is not None and not isinstance(config, Config):
            self._path = absolute(config)
        self._environ = environ
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._signature: tuple[object, ...] | None = None
        self._accounts: Accounts | None = None
        self._pacers: dict[tuple[object, ...], Pacer] = {}

    def accounts(self) -> Accounts:
        """Give the providers; reads only what has changed since the last call.

        Raises:
            ConfigError: The source is not valid, or the file that was named does not exist.
        """
        if self._pid != os.getpid():  # a fork may have happened while another thread held the lock
            self._lock, self._pid = threading.Lock(), os.getpid()
        with self._lock:
            path = None if self._config else self._path or find_config()
            signature = self._sign(path)
            if self._accounts is None or signature != self._signature:
                self._accounts = self._read(path)
                self._signature = signature
            return self._accounts

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment that is read when there is no file."""
        return os.environ if self._environ is None else self._environ

    def _sign(self, path: Path | None) -> tuple[object, ...]:
        if self._config:
            return ()
        if path:
            if (found := status(path)) is None:
                raise file_error(str(path), "does not exist")
            # The time of a status change tells a chmod, and a copy that kept its old time.
            times = (found.st_mtime_ns, found.st_ctime_ns)
            return (str(path), *times, found.st_size, found.st_ino)
        names = [name for each in PROVIDERS.values() for name in each.about.KEY_VARIABLES]
        values = (self.environ.get(name) for name in [*names, MAX_RESULTS_VARIABLE])
        return tuple(value and SecretStr(value) for value in values)

    def _read(self, path: Path | None) -> Accounts:
        if self._config:
            return self._build(self._config, CODE)
        if path:
            return self._build(load(read_text(path), str(path)), str(path))
        config, warnings = environment_config(self.environ)
        return self._build(config, ENVIRONMENT, *warnings)

    def _build(self, config: Config | None, origin: str, *warnings: str) -> Accounts:
        if config is None:
            return Accounts((), None, None, origin, warnings)
        accounts = tuple(build(each, self._pacer(each), origin) for each in config.providers)
        return Accounts(accounts, config.default_provider, config.max_results, origin, warnings)

    def _pacer(self, entry: ProviderConfig) -> Pacer | None:
        rate = entry.max_requests_per_second
        if rate is None:
            return None
        # Kept when the source is read again, or an edit would let through a burst of calls.
        return self._pacers.setdefault((entry.name, entry.type, rate), Pacer(rate))

    def __repr__(self) -> str:
        """Tell the source, not what it holds."""
        return f"Settings({CODE if self._config else self._path})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle as the source alone, so that the other side reads it itself."""
        return Settings, (self._config or (self._path and str(self._path)),)


def check(settings: Settings) -> list[str]:
    """Describe the settings in force in lines of text, without keys.

    Raises:
        ConfigError: They are not valid, or there is no provider.
    """
    if not settings.accounts().accounts:
        settings.accounts().select("search")  # says that no key is set, and what to do
    return describe(settings.accounts(), settings.environ)
