"""Settings, from one source: what the code passes in, else the file, else the environment.

`load` is pure; `Settings` is the edge that reads, and reads again when the source has changed.
No error here shows a key, neither in its text nor in a chained exception.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

from pydantic import SecretStr
from pydantic.alias_generators import to_camel

from webtools._internal.http.proxies import NO_PROXIES, Proxies, environment_proxies
from webtools._internal.http.proxies import signature as proxy_signature
from webtools._internal.io.locks import Lock
from webtools._internal.text.quoting import quote
from webtools.config.accounts import Accounts, build, stand_ins
from webtools.config.check import describe
from webtools.config.config_file import (
    CONFIG_VARIABLE,
    absolute,
    file_error,
    missing_file,
    read_text,
    status,
)
from webtools.config.config_messages import fail
from webtools.config.config_models import PYTHON_SPELLINGS, Config, ProviderConfig
from webtools.config.environment import read_environment, variables
from webtools.config.overrides import Overrides
from webtools.config.parts import has_text_keys
from webtools.config.paths import (
    CODE,
    ENVIRONMENT,
    clash,
    config_paths,
    settled,
)
from webtools.errors import ConfigError
from webtools.providers.about import Pacer


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


def find_config() -> Path | None:
    """Find the config file: the first of `config_paths` that exists.

    Raises:
        ConfigError: Whether it exists cannot be told, or it is a link to nowhere.
    """
    # Without a home folder there is `~` in them: that would be a folder of the project's.
    found = (path for path in config_paths() if path.is_absolute() and status(path))
    return next(found, None)


def config_in_use(environ: Mapping[str, str]) -> Path | None:
    """Return the config file: the one that `WEBTOOLS_CONFIG` names, else what `find_config` finds.

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
        if key in PYTHON_SPELLINGS:
            fail(f"holds the unknown key {quote(key)} (did you mean {quote(to_camel(key))}?)")
        values[key] = value
    return values


def _from_mapping(values: Mapping[str, Any]) -> Config:
    fault = "must be a mapping with texts as keys"
    try:
        if has_text_keys(dict(values)):
            return Config.model_validate(dict(values))
    except ConfigError as error:
        fault = str(error)
    raise file_error(CODE, fault)


class Settings:
    """The settings in force, from one source; a change of it shows at the next call.

    Args:
        config: A config, or the path of a file, or None to look for a file and, if there is
            none, read the environment. Nothing is read yet.
        environ: Stands in for `os.environ`.
        overrides: Settings that apply on top of the source.
        own_transport: Whether the caller's own transport connects: then no proxy is ours to choose.
    """

    def __init__(
        self,
        config: Config | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        overrides: Overrides | None = None,
        own_transport: bool = False,
    ) -> None:
        self._config: Config | None = None  # first: a failure's traceback may show the repr
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
        self._lock = Lock()
        self._pid = os.getpid()
        self._signature: tuple[object, ...] | None = None
        self._accounts: Accounts | None = None
        self._pacers: dict[tuple[object, ...], Pacer] = {}

    def accounts(self) -> Accounts:
        """Return the providers; reads only what has changed since the last call.

        Raises:
            ConfigError: The source is not valid, or the file that was named does not exist.
        """
        if self._pid != os.getpid():  # a fork may have happened while another thread held the lock
            self._lock, self._pid = Lock(), os.getpid()
        with self._lock:
            path = None if self._config else self._path or config_in_use(self.environ)
            own = () if self._config else self._sign(path)
            signature = (*proxy_signature(), *own)
            if self._accounts is None or signature != self._signature:
                self._accounts = self._read(path)
                self._signature = signature
            return self._accounts

    def latest(self) -> Accounts:
        """Return what `accounts` gives; what it gave last where one may not look at the file.

        Raises:
            ConfigError: The source is not valid, or the file that was named does not exist.
        """
        try:
            return self.accounts()
        except ConfigError:
            raise
        except Exception:  # of a detector of blocking calls
            if self._accounts is None:
                raise
            return self._accounts

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment that is read when there is no file."""
        return os.environ if self._environ is None else self._environ

    def _sign(self, path: Path | None) -> tuple[object, ...]:
        if path:
            if (found := status(path)) is None:
                raise missing_file(path)
            # The time of a status change tells a chmod, and a copy that kept its old time.
            times = (found.st_mtime_ns, found.st_ctime_ns)
            return (str(path), *times, found.st_size, found.st_ino)
        values = map(self.environ.get, variables())
        return tuple(value and SecretStr(value) for value in values)

    def _read(self, path: Path | None) -> Accounts:
        if self._config:
            return self._build(self._config, CODE)
        if path:
            return self._build(load(read_text(path), str(path)), str(path))
        config, warnings = read_environment(self.environ)
        return self._build(config, ENVIRONMENT, *warnings)

    def _build(self, config: Config, origin: str, *warnings: str) -> Accounts:
        if self._overrides:
            config = self._overrides.apply(config)
        cache, log = settled(config.cache, origin), settled(config.log, origin)
        if fault := clash(cache, log, origin):
            raise file_error(origin, fault)
        proxies, domains = self._proxies(), config.fetch.domains
        if self._own_transport and (fault := _proxy_fault(config)):
            raise file_error(origin, fault)
        return Accounts(
            accounts=tuple(
                build(each, self._pacer(each), origin, proxies, domains)
                for each in config.providers
            ),
            origin=origin,
            config=config.model_copy(update={"cache": cache, "log": log}),
            warnings=warnings,
            proxies=proxies,
            environ=self.environ,
            stand_ins=stand_ins(proxies, domains) if config.keyless else (),
        )

    def _proxies(self) -> Proxies:
        return NO_PROXIES if self._own_transport else environment_proxies()

    def _pacer(self, entry: ProviderConfig) -> Pacer | None:
        rate = entry.max_requests_per_second
        if rate is None:
            return None
        # Kept when the source is read again, or an edit would let through a burst of calls.
        return self._pacers.setdefault((entry.name, entry.type, rate), Pacer(rate))

    def __repr__(self) -> str:
        """Name the source, not what it holds."""
        return f"Settings({CODE if self._config else self._path})"

    @property
    def source(self) -> tuple[Config | str | None, Overrides | None]:
        """The config or the path of a file, and what applies on top of it."""
        return self._config or (str(self._path) if self._path else None), self._overrides

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle as the source alone, so that the other side reads it itself."""
        config, overrides = self.source
        return partial(Settings, overrides=overrides), (config,)


def _proxy_fault(config: Config) -> str:
    """Find an entry whose proxy would be passed over; empty where there is none."""
    for i, entry in enumerate(config.providers):
        if entry.proxy is not None and not entry.goes_direct:
            return f"providers[{i}].proxy: give the proxy to the transport that the code passes in"
    return ""


def check(settings: Settings) -> list[str]:
    """Describe the settings in force in lines of text, without keys.

    Raises:
        ConfigError: They are not valid, or there is no provider.
    """
    if not settings.accounts().accounts:
        settings.accounts().select("search")  # says that no key is set, and what to do
    accounts = settings.accounts()
    # A key may also be set where a name belongs.
    return accounts.redactor.clean(describe(accounts, settings.environ))
