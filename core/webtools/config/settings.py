"""Settings from one source: the code, else the file, else the environment.

Errors contain no keys, neither in their messages nor in chained exceptions.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

from pydantic import SecretStr
from pydantic.alias_generators import to_camel

from webtools._internal.faults import Fault
from webtools._internal.http.proxies import (
    NO_PROXIES,
    Proxies,
    environment_proxies,
    proxy_variables,
)
from webtools._internal.io.pacing import Pacer
from webtools._internal.late_imports import resolve
from webtools._internal.text.narrowing import is_object
from webtools._internal.text.quoting import nearest, quote
from webtools._internal.text.redaction import Redactor, redactor_for
from webtools.config.accounts import Accounts, build, secrets_of, stand_ins
from webtools.config.config_file import (
    CONFIG_VARIABLE,
    absolute,
    missing_file,
    read_text,
    settings_error,
    status,
)
from webtools.config.config_messages import REMOVED, fail
from webtools.config.config_models import PYTHON_SPELLINGS, Config, ProviderConfig, TopLevel
from webtools.config.environment import keys_beside, keys_in, read_environment, variables
from webtools.config.overrides import Overrides, read_overrides
from webtools.config.parts import has_text_keys
from webtools.config.paths import (
    CODE,
    ENVIRONMENT,
    TAPE,
    clash,
    config_paths,
    surroundings,
    with_absolute_path,
)
from webtools.errors import ConfigError


def load(text: str, origin: str) -> Config:
    """Parse the text of a config file.

    Args:
        text: The JSON text. A byte order mark is ignored.
        origin: The file's path, for messages.

    Raises:
        ConfigError: The text is not a valid config. The message has no keys.
    """
    fault = Fault.NONE
    try:
        return Config.model_validate(_parse(text))
    except json.JSONDecodeError as error:
        reason = error.msg.partition(":")[0]
        message = f"is not JSON: {reason} at line {error.lineno}, column {error.colno}"
    except RecursionError:
        message = "is nested too deeply"
    except ConfigError as error:
        message, fault = str(error), error.fault
    except ValueError as error:
        message = str(error)
    del text  # a traceback that shows local variables would show the keys
    raise settings_error(origin, message, fault)


def find_config() -> Path | None:
    """Find the config file: the first of `config_paths` that exists.

    Raises:
        ConfigError: The status of a file cannot be read, or it is a broken link.
    """
    # Without a home folder the paths begin with `~`, which would be a folder in the working folder.
    paths = (path for path in config_paths() if path.is_absolute() and status(path))
    return next(paths, None)


def config_in_use(environ: Mapping[str, str]) -> Path | None:
    """Return the config file that `WEBTOOLS_CONFIG` names, else that of `find_config`.

    Raises:
        ConfigError: The file that the variable names does not exist, or as `find_config`.
    """
    name = environ.get(CONFIG_VARIABLE, "").strip()
    if not name:
        return find_config()
    path = absolute(name)
    if status(path) is None:
        raise missing_file(path, CONFIG_VARIABLE)
    return path


def _parse(text: str) -> dict[str, Any]:
    data = json.loads(
        text.removeprefix("\ufeff"),
        object_pairs_hook=_object,
        parse_constant=lambda name: fail(f"is not JSON: it contains {name}"),
    )
    if not isinstance(data, dict):
        fail("must be a JSON object")
    _refuse_python_spellings(data)
    return cast("dict[str, Any]", data)


def _refuse_python_spellings(value: Any) -> None:
    """Refuse them outside of `options`: pi, which shares the file, accepts only camel case."""
    if isinstance(value, list):
        for child in cast("list[object]", value):
            _refuse_python_spellings(child)
    elif is_object(value):
        for key, child in value.items():
            if "_" in key and key not in REMOVED and (name := nearest(key, PYTHON_SPELLINGS)):
                fail(f"has the unknown key {quote(key)} (did you mean {quote(to_camel(name))}?)")
            if key != "options":
                _refuse_python_spellings(child)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            fail(f"has the key {quote(key)} twice in one object")
        values[key] = value
    return values


def _from_mapping(values: Mapping[str, Any]) -> Config:
    message = "must be a mapping with strings as keys"
    try:
        if has_text_keys(dict(values)):
            return Config.model_validate(dict(values))
    except ConfigError as error:
        message = str(error)
    raise settings_error(CODE, message)


class Settings:
    """The settings of a `WebTools`, from one source. Changes apply to the next call.

    Args:
        config: A config, or the path of a file. None: find a file, else use the environment.
            Nothing is read yet.
        environ: Replaces `os.environ`.
        overrides: Settings that apply on top of the source.
        own_transport: Whether the caller passed a transport, so that webtools uses no proxies.
    """

    def __init__(
        self,
        config: Config | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        overrides: Overrides | None = None,
        own_transport: bool = False,
    ) -> None:
        self._config: Config | None = None  # first, because a traceback may show the repr
        self._path: Path | None = None
        if isinstance(config, Mapping):
            config = _from_mapping(config)
        if isinstance(config, Config):
            self._config = config
        elif config is not None:
            self._path = absolute(config)
        self._environ = environ
        self._overrides = overrides
        self._own_transport = own_transport
        self._last_read: tuple[tuple[object, ...], Accounts | None] = ((), None)  # and of what
        self._substitute: Accounts | None = None
        self._keys_read: set[str] = set()
        self._pacers: dict[tuple[object, ...], Pacer] = {}
        self._keys_of_source: set[str] = set()  # also those that sessions have read
        self._base: Settings | None = None  # whose keys these replace

    def with_keys(self, keys: Mapping[str, SecretStr | Callable[[], str]]) -> Settings:
        """Return settings from the same source with other API keys, by provider type.

        Raises:
            ConfigError: A key is invalid.
        """
        overrides = read_overrides(keys, {})
        if overrides is not None and self._overrides is not None:
            entries = [each for each in self._overrides.entries if each.type not in keys]
            overrides = self._overrides._replace(entries=(*entries, *overrides.entries))
        settings = Settings(
            self._config or self._path,
            environ=self._environ,
            overrides=overrides or self._overrides,
            own_transport=self._own_transport,
        )
        settings._base = self
        settings._keys_of_source = self._keys_of_source
        return settings

    def accounts(self) -> Accounts:
        """Return the providers. Read the source again only if it has changed.

        Raises:
            ConfigError: The source is invalid, or the named file does not exist.
        """
        beside = self._keys_beside()  # first: they are redacted also if the source is invalid
        path = None if self._config else self._path or config_in_use(self.environ)
        source = () if self._config else self._sign(path)
        key_count = len(self._base.known_keys()) if self._base else 0  # it only grows
        signature = (proxy_variables(), surroundings(), source, beside, key_count)
        read_signature, accounts = self._last_read
        if accounts is None or signature != read_signature:  # two threads may both read it
            accounts = self._read(path)
            self._last_read = signature, accounts
            self._keys_read.update(accounts.secrets)
        return accounts

    def latest(self) -> Accounts:
        """Return `accounts()`, or its last result if the file may not be read here.

        Raises:
            ConfigError: The source is invalid, or the named file does not exist.
        """
        try:
            return self.accounts()
        except ConfigError:
            raise
        except Exception:  # raised by a detector of blocking calls
            _, accounts = self._last_read
            if accounts is None:
                raise
            return accounts

    def _keys_beside(self) -> SecretStr:
        """Note the keys in the environment, and return them as one text."""
        keys = sorted(keys_beside(self.environ))
        self._keys_of_source.update(keys)
        return SecretStr("\n".join(keys))

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment that is read when there is no file."""
        return os.environ if self._environ is None else self._environ

    def _sign(self, path: Path | None) -> tuple[object, ...]:
        if path:
            if (file := status(path)) is None:
                raise missing_file(path)
            # ctime changes with a chmod, and with a copy that keeps its mtime.
            return (str(path), file.st_mtime_ns, file.st_ctime_ns, file.st_size, file.st_ino)
        values = map(self.environ.get, variables())
        return tuple(value and SecretStr(value) for value in values)

    def _read(self, path: Path | None) -> Accounts:
        config, origin, warnings = self._config, CODE, list[str]()
        if config is None and path:
            config, origin = load(read_text(path), str(path)), str(path)
        if config is None:
            self._keys_of_source.update(keys_in(self.environ))
            origin = ENVIRONMENT
            config, warnings = read_environment(self.environ)
        return self._build(config, origin, *warnings)

    def _build(self, config: Config, origin: str, *warnings: str) -> Accounts:
        self._keys_of_source.update(secrets_of(config))  # also if it is replaced or found invalid
        if self._overrides:
            config = self._overrides.apply(config)
        cache = with_absolute_path(config.cache, origin)
        if self._own_transport and not self._asks_for_cache(config):
            cache = cache.model_copy(update={"enabled": False})
        log = with_absolute_path(config.log, origin)
        if fault := clash(cache, log, origin):
            raise settings_error(origin, fault)
        proxies, domains = self._proxies(), config.fetch.domains
        if self._own_transport and (fault := _proxy_fault(config)):
            raise settings_error(origin, fault)
        return Accounts(
            accounts=tuple(
                build(entry, self._pacer(entry), origin, proxies, domains)
                for entry in config.providers
            ),
            origin=origin,
            config=config.model_copy(update={"cache": cache, "log": log}),
            warnings=warnings,
            proxies=proxies,
            environ=self.environ,
            stand_ins=stand_ins(proxies, domains) if config.keyless else (),
            hidden=self.known_keys(),
        )

    def known_keys(self) -> frozenset[str]:
        """Return all keys that are or were in use, or are replaced, without reading the source.

        They may be in what a session keeps.
        """
        keys = frozenset(self._keys_read | self._keys_of_source)
        if self._config:
            keys |= secrets_of(self._config)
        if self._overrides:
            keys |= secrets_of(*self._overrides)
        return keys if self._base is None else keys | self._base.known_keys()

    def redactor(self) -> Redactor:
        """Return what redacts the keys; if the settings are invalid, those that are known."""
        with suppress(ConfigError):
            return redactor_for(self.latest().secrets | self.known_keys())
        return self.substitute().redactor

    def substitute(self) -> Accounts:
        """Return no providers, with the known keys, in place of settings that cannot be read."""
        accounts = Accounts((), TAPE, proxies=self._proxies(), hidden=self.known_keys())
        if self._substitute is None or self._substitute.secrets != accounts.secrets:
            self._substitute = accounts  # else the same, for which services have been made
        return self._substitute

    def _asks_for_cache(self, config: Config) -> bool:
        """Return whether the code has settings of the cache, or the file turns it on.

        With a transport of the caller, such as the mock of a test, nothing is cached otherwise: a
        test must not get the response of another one.
        """
        in_code = [self._overrides.settings] if self._overrides else list[TopLevel]()
        in_code += [self._config] if self._config else []
        is_set = any(settings.cache.model_fields_set for settings in in_code)
        return is_set or "enabled" in config.cache.model_fields_set

    def _proxies(self) -> Proxies:
        return NO_PROXIES if self._own_transport else environment_proxies()

    def _pacer(self, entry: ProviderConfig) -> Pacer | None:
        rate = entry.max_requests_per_second
        if rate is None:
            return None
        # Keep it when the source is read again, or an edit would allow a burst of calls.
        return self._pacers.setdefault((entry.name, entry.type, rate), Pacer(rate))

    def in_short(self) -> str:
        """Name the providers and their source, or the remedy."""
        try:
            path = None if self._config else self._path or config_in_use(self.environ)
            accounts = self._last_read[1] or self._read(path)
        except Exception:  # noqa: BLE001  # a repr must not fail; each call explains the fault
            return "settings that cannot be read; a call says why"
        names = ", ".join(account.name for account in accounts.accounts)
        remedy = ""
        if not names and accounts.stand_ins:
            names = "keyless search"
        elif not names:
            names, remedy = "no provider", "; pass api_keys={...}, or run `webtools config init`"
        return accounts.redactor.text(f"{names}, from {accounts.origin}{remedy}")

    def __repr__(self) -> str:
        """Name the source without its content."""
        return f"Settings({CODE if self._config else self._path})"

    @property
    def source(self) -> tuple[Config | str | None, Overrides | None]:
        """The config or the path of the file, and the overrides."""
        return self._config or (str(self._path) if self._path else None), self._overrides

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the source, which the other process reads itself."""
        config, overrides = self.source
        return partial(Settings, overrides=overrides), (config,)


def _proxy_fault(config: Config) -> str:
    """Return the fault of an entry whose proxy would be ignored, or ""."""
    for i, entry in enumerate(config.providers):
        if entry.proxy is not None and not entry.goes_direct:
            fault = f"providers[{i}].proxy has no effect on a transport of your own"
            return f"{fault}. Set the proxy on the transport"
    return ""


def check(settings: Settings) -> list[str]:
    """Describe the current settings in lines of text, without keys.

    Raises:
        ConfigError: They are not valid, or there is no provider.
    """
    if not settings.accounts().accounts:
        settings.accounts().select("search")  # raises, with what to do
    accounts = settings.accounts()
    lines = resolve("config.description:describe")(accounts, settings.environ)
    # A user may have set a key in place of a name.
    return accounts.redactor.clean(lines)
