"""Settings, from one source at a time: what the code passes in, else the file, else the environment.

`load` is pure; `Settings` is the edge that reads, and reads again when the source has changed.
No error here shows a key, neither in its text nor in a chained exception.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeAlias, cast

from pydantic import (
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
    Accounts,
    config_paths,
    describe,
    hint,
    is_base_url,
    is_placeholder,
    is_proxy_url,
    key_fault,
    listed,
    not_picklable,
    quote,
)
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS, Account
from webtools.providers._base import Options, Pacer

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

MAX_RESULTS_VARIABLE = "WEB_SEARCH_MAX_RESULTS"
MOST_RESULTS = 100

_OUT_OF_RANGE = {"greater_than", "greater_than_equal", "less_than", "less_than_equal"}

Signature: TypeAlias = tuple[object, ...]


# --- the models --------------------------------------------------------------------------------


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
            fault = _explain(error, type(self))
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
    """

    name: str
    type: str
    api_key: SecretStr | None = None
    base_url: str | None = None
    timeout_ms: Annotated[int, Field(ge=1, le=600_000)] | None = None
    max_requests_per_second: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    proxy: SecretStr | None = None
    options: Any = Field(default=None, validate_default=True)

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if name != name.strip() or not name or not name.isprintable():
            _fail("must be a printable name, not blank and without blanks around it")
        return name

    @field_validator("type")
    @classmethod
    def _check_type(cls, kind: str) -> str:
        if kind not in PROVIDERS:
            _fail(f"is unknown{hint(kind, PROVIDERS)}; known types are: {listed(PROVIDERS)}")
        return kind

    @field_validator("api_key")
    @classmethod
    def _check_key(cls, key: SecretStr | None) -> SecretStr | None:
        if key is not None and (fault := key_fault(key.get_secret_value())):
            _fail(fault)
        return key

    @field_validator("base_url")
    @classmethod
    def _check_base_url(cls, url: str | None) -> str | None:
        if url is not None and not is_base_url(url):
            _fail(
                "must be an absolute http(s) URL without user, query and fragment, "
                'such as "http://127.0.0.1:8080/exa"'
            )
        return url and url.rstrip("/")

    @field_validator("proxy")
    @classmethod
    def _check_proxy(cls, proxy: SecretStr | None) -> SecretStr | None:
        if proxy is not None and not is_proxy_url(proxy.get_secret_value()):
            _fail('must be the URL of an HTTP proxy, such as "http://127.0.0.1:3128"')
        return proxy

    @field_validator("options", mode="plain")
    @classmethod
    def _read_options(cls, value: Any, info: ValidationInfo) -> Any:
        kind = info.data.get("type")
        return value if kind is None else _options(kind, value)  # without a type, it is at fault

    @model_validator(mode="after")
    def _require_key(self) -> ProviderConfig:
        about = PROVIDERS[self.type].about
        if about.NEEDS_KEY and self.api_key is None:
            message = f"apiKey is missing: type {self.type} needs your {about.TITLE} API key"
            raise ConfigError(message)
        return self


class Config(_Part):
    """The whole config; later features add their part here (`cache`, `log`, …).

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
            _fail("must be a list")
        if not value:
            _fail("is empty: list at least one provider")
        return tuple(_entry(f"providers[{i}]", each) for i, each in enumerate(value))

    @model_validator(mode="after")
    def _check_names(self) -> Config:
        names = [entry.name for entry in self.providers]
        for i, name in enumerate(names):
            if name in names[:i]:
                message = f"providers[{i}].name repeats {quote(name)}: each entry needs its own"
                raise ConfigError(message)
        if self.default_provider is not None and self.default_provider not in names:
            wrong = quote(self.default_provider)
            message = f"defaultProvider {wrong} is not in providers; known are: {listed(names)}"
            raise ConfigError(message)
        return self


# The models also take these, but the file is shared with pi, which has one spelling.
_PYTHON_SPELLINGS = {
    name for model in (Config, ProviderConfig) for name in model.model_fields if "_" in name
}


def _entry(path: str, value: Any) -> ProviderConfig:
    if isinstance(value, ProviderConfig):
        return value
    if not isinstance(value, dict):
        message = f"{path} must be an object"
        raise ConfigError(message)
    try:
        return ProviderConfig.model_validate(value)
    except ConfigError as error:
        message = f"{path}.{error}"
    raise ConfigError(message)


def _options(kind: str, value: Any) -> Options:
    model = PROVIDERS[kind].about.CONFIG_OPTIONS
    if not isinstance(value, (dict, Options, type(None))):
        message = "options must be an object"
        raise ConfigError(message)
    try:
        options = model.model_validate({} if value is None else value)
    except ValidationError as error:
        message = f"options.{_explain(error, model)}"
    else:
        message = _options_fault(kind, options)
    if message:
        raise ConfigError(message)
    return options


def _options_fault(kind: str, options: Options) -> str:
    search = PROVIDERS[kind].search
    for name, value in vars(options).items():
        path = f"options.{to_camel(name)}"
        most = search.MAX_SEARCH_LIMIT if search and name == "default_search_limit" else None
        if isinstance(value, SecretStr) and (fault := key_fault(value.get_secret_value())):
            return f"{path} {fault}"
        if type(value) is int and not 1 <= value <= (most or value):
            return f"{path} must be at least 1{f' and at most {most}' if most else ''}, not {value}"
    return ""


def _fail(what: str) -> NoReturn:
    raise ValueError(what)


# --- what is wrong, in words -------------------------------------------------------------------


def _explain(error: ValidationError, model: type[BaseModel]) -> str:
    faults = error.errors(include_url=False)
    # A misspelt key is also a missing one: the spelling is what to tell.
    fault = next((f for f in faults if f["type"] == "extra_forbidden"), faults[0])
    path = _path(fault["loc"])
    if fault["type"] == "extra_forbidden":
        known = [str(info.alias) for info in model.model_fields.values()]
        return _unknown_key(path, str(fault["loc"][-1]), known)
    if fault["type"] == "missing":
        return f"{path} is missing"
    text = re.sub(r"^Value error, |^\w+ (?=should)", "", fault["msg"]).replace("should", "must", 1)
    shown = f", not {fault['input']}" if fault["type"] in _OUT_OF_RANGE else ""
    return f"{path} {text}{shown}"


def _path(steps: Sequence[int | str]) -> str:
    texts = (f"[{step}]" if isinstance(step, int) else f".{_bare(step)}" for step in steps)
    return "".join(texts).removeprefix(".")


def _bare(key: str) -> str:
    return key if re.fullmatch(r"\w{1,60}", key, re.A) else quote(key)


def _unknown_key(path: str, key: str, known: Sequence[str]) -> str:
    return f"{path} is an unknown key{hint(key, known)}; known are: {', '.join(known)}"


# --- one source --------------------------------------------------------------------------------


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
    raise _file_error(origin, fault)


def environment_config(environ: Mapping[str, str]) -> tuple[Config | None, list[str]]:
    """Read the settings from the environment: one entry per key, named as its type.

    Returns:
        The config, or None when no key is set, and the warnings.

    Raises:
        ConfigError: A key cannot be one; the message names its variable.
    """
    found = {kind: SecretStr(environ[name].strip()) for name, kind in key_variables(environ)}
    limit, warnings = _max_results(environ.get(MAX_RESULTS_VARIABLE, ""))
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


def key_variables(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pair the variable that holds a key, the first that is not blank, with its type."""
    pairs: list[tuple[str, str]] = []
    for kind, services in PROVIDERS.items():
        names = (n for n in services.about.KEY_VARIABLES if environ.get(n, "").strip())
        pairs += [(name, kind) for name in list(names)[:1]]
    return pairs


def find_config() -> Path | None:
    """Find the config file: the first of `config_paths` that exists.

    Raises:
        ConfigError: Whether it exists cannot be told, or it is a link to nowhere.
    """
    return next((path for path in config_paths() if _status(path)), None)


def _parse(text: str) -> dict[str, Any]:
    data = json.loads(
        text.removeprefix("\ufeff"), object_pairs_hook=_object, parse_constant=_refuse_constant
    )
    if not isinstance(data, dict):
        _fail("must be a JSON object")
    return cast("dict[str, Any]", data)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            _fail(f"holds the key {quote(key)} twice in one object")
        if key in _PYTHON_SPELLINGS:
            _fail(f"holds the unknown key {quote(key)} (did you mean {quote(to_camel(key))}?)")
        values[key] = value
    return values


def _refuse_constant(name: str) -> NoReturn:
    _fail(f"is not JSON: it holds {name}")


def _max_results(text: str) -> tuple[int | None, list[str]]:
    if not text.strip():
        return None, []
    try:
        number = int(text)
    except ValueError:
        return None, [f"{MAX_RESULTS_VARIABLE} is not a whole number, so it is ignored."]
    bounded = min(max(number, 1), MOST_RESULTS)
    if bounded == number:
        return number, []
    return bounded, [f"{MAX_RESULTS_VARIABLE} must be from 1 to {MOST_RESULTS}; {bounded} is used."]


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if not path.is_symlink():
            return None
        fault = "is a link to a file that does not exist"
    except (OSError, ValueError) as error:
        fault = f"cannot be read: {_reason(error)}"
    raise _file_error(str(path), fault)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        fault = f"is not UTF-8: byte {error.start + 1} is wrong; save it as UTF-8"
    except OSError as error:
        fault = f"cannot be read: {_reason(error)}"
    raise _file_error(str(path), fault)


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def _file_error(origin: str, fault: str) -> ConfigError:
    return ConfigError(f"{origin}: {fault}. A minimal valid example:\n{EXAMPLE}")


# --- the edge ----------------------------------------------------------------------------------


class Settings:
    """The settings in force, from one source; a change of it shows at the next call.

    Args:
        config: A config, or the path of a file, or None to look for a file and, if there is
            none, read the environment. Nothing is read yet.
        environ: Stands in for `os.environ`.
    """

    def __init__(
        self,
        config: Config | str | os.PathLike[str] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._config = config if isinstance(config, Config) else None
        self._path = None if config is None or self._config else _absolute(config)
        self._environ = environ
        self._lock = threading.Lock()
        self._signature: Signature | None = None
        self._accounts: Accounts | None = None
        self._pacers: dict[Signature, Pacer] = {}

    def accounts(self) -> Accounts:
        """Give the providers; reads only what has changed since the last call.

        Raises:
            ConfigError: The source is not valid, or the file that was named does not exist.
        """
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

    def _sign(self, path: Path | None) -> Signature:
        if self._config:
            return ()
        if path:
            status = _status(path)
            if status is None:
                raise _file_error(str(path), "does not exist")
            # The time of a status change tells a chmod, and a copy that kept its old time.
            times = (status.st_mtime_ns, status.st_ctime_ns)
            return (str(path), *times, status.st_size, status.st_ino)
        names = [name for each in PROVIDERS.values() for name in each.about.KEY_VARIABLES]
        values = (self.environ.get(name) for name in [*names, MAX_RESULTS_VARIABLE])
        return tuple(value and SecretStr(value) for value in values)

    def _read(self, path: Path | None) -> Accounts:
        if self._config:
            return self._build(self._config, CODE)
        if path:
            return self._build(load(_text(path), str(path)), str(path))
        config, warnings = environment_config(self.environ)
        if config is None:
            return Accounts((), None, None, ENVIRONMENT, tuple(warnings))
        return self._build(config, ENVIRONMENT, warnings)

    def _build(self, config: Config, origin: str, warnings: Sequence[str] = ()) -> Accounts:
        accounts = tuple(self._account(entry, origin) for entry in config.providers)
        default, limit = config.default_provider, config.max_results
        return Accounts(accounts, default, limit, origin, tuple(warnings))

    def _account(self, entry: ProviderConfig, origin: str) -> Account:
        _refuse_placeholder(entry, origin)
        about = PROVIDERS[entry.type].about
        rate = entry.max_requests_per_second
        return Account(
            name=entry.name,
            type=entry.type,
            base_url=entry.base_url or about.ORIGIN,
            api_key=entry.api_key,
            options=entry.options,
            timeout=entry.timeout_ms / 1000 if entry.timeout_ms else None,
            pacer=self._pacer(entry, rate) if rate else None,
            proxy=entry.proxy,
        )

    def _pacer(self, entry: ProviderConfig, rate: float) -> Pacer:
        # Kept when the source is read again, or an edit would let through a burst of calls.
        key = (entry.name, entry.type, rate)
        return self._pacers.setdefault(key, Pacer(rate))

    def __repr__(self) -> str:
        """Tell the source, not what it holds."""
        return f"Settings({CODE if self._config else self._path})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle as the source alone, so that the other side reads it itself."""
        return Settings, (self._config or (self._path and str(self._path)),)


def check(settings: Settings) -> list[str]:
    """Describe the settings in force in lines of text, without keys.

    Raises:
        ConfigError: They are not valid.
    """
    names = [name for name, _ in key_variables(settings.environ)]
    return describe(settings.accounts(), names)


def _refuse_placeholder(entry: ProviderConfig, origin: str) -> None:
    if entry.api_key and is_placeholder(entry.api_key.get_secret_value()):
        title = PROVIDERS[entry.type].about.TITLE
        message = (
            f"{origin}: the apiKey of {quote(entry.name)} is the placeholder of the example; "
            f"put your {title} API key there."
        )
        raise ConfigError(message)


def _absolute(path: str | os.PathLike[str]) -> Path:
    # Unlike Path.expanduser(), this does not fail for a user without a home folder.
    return Path(os.path.expanduser(path)).absolute()  # noqa: PTH111
