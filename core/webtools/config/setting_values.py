"""Checks of single values of the config. Each returns the value or raises an error."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from ipaddress import ip_address
from pathlib import PurePath
from typing import Any, cast
from urllib.parse import urlsplit

from pydantic import SecretStr, ValidationError
from pydantic.alias_generators import to_camel

from webtools._internal.text.quoting import SHORTEST_KEY, hint, listed, quote
from webtools.config.config_messages import explain, fail
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS
from webtools.providers.about import Options

_HOST = r"(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?"
_BASE_URL = re.compile(rf"(?ai)https?://{_HOST}(?:/[!\"$->@-~]*)?")
_PROXY_URL = rf"(?ai)https?://(?:[!\"$-.0->A-~]*@)?{_HOST}/?"
_STORAGE_URL = rf"(?ai)rediss?://(?:[!\"$-.0->A-~]*@)?{_HOST}(?:/\d{{0,5}})?"
_HTTP, _REDIS = ("http", "https"), ("redis", "rediss")
NO_PROXY = "none"  # as the `proxy` of an entry
_REFERENCE = re.compile(r"(?s)\$\{.*\}|\$[A-Z_][A-Z0-9_]*")


def key_fault(key: str) -> str:
    """Explain why a text is not a key, without showing it, or return ""."""
    if not key.strip():
        return "is empty. Enter the key itself"
    if _REFERENCE.fullmatch(key.strip()):
        return "looks like a variable, and variables are not expanded. Enter the key itself"
    if not all("!" <= char <= "~" for char in key):
        return "contains white space, a control character or a non-ASCII character"
    if len(key) < SHORTEST_KEY and not key.endswith("..."):  # reported as a placeholder elsewhere
        return f"is too short. API keys have at least {SHORTEST_KEY} characters"
    return ""


def checked_name(name: str) -> str:
    """Refuse a name that is blank or not printable."""
    if not name or name != name.strip() or not name.isprintable():
        fail("must be a printable name that does not begin or end with white space")
    return name


def checked_type(kind: str) -> str:
    """Refuse a type that is neither built in, registered nor announced by a package.

    Raises:
        ConfigError: The package that announces the type is broken.
    """
    if kind not in PROVIDERS:
        fault, types = "is unknown", PROVIDERS.types()
        if len(kind) < SHORTEST_KEY:
            fault = f"{quote(kind)} {fault}"
        fail(f"{fault}{hint(kind, types)}. Known types: {listed(types)}")
    return kind


class KeySource(SecretStr):
    """A key that a function returns, for example from a secret manager.

    The function is called at the first use. A pickle contains only the name of the function.
    """

    def __init__(self, function: Callable[[], str]) -> None:
        self._function = function
        self._has_failed = False
        super().__init__("")

    @property
    def name(self) -> str:
        """Module and name of the function, as `module:function`."""
        module = getattr(self._function, "__module__", "")
        return f"{module}:{getattr(self._function, '__qualname__', '')}"

    def get_secret_value(self) -> str:
        """Return the key. The function is called once per process.

        Raises:
            ConfigError: The function failed, or did not return a key.
        """
        if not self._secret_value:
            try:
                self._secret_value = _call_key_function(self._function, self.name)
            except ConfigError:
                self._has_failed = True
                raise
        return self._secret_value

    def known(self) -> str:
        """Return the key to redact, or "" if the function fails. It is then not called again."""
        if self._has_failed and not self._secret_value:
            return ""
        with suppress(ConfigError):
            return self.get_secret_value()
        return ""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the function's name."""
        if _imported(self.name) is not self._function:
            raise TypeError(
                f"The apiKey function {self.name} cannot be pickled, because it cannot be "
                "imported by its name. Define it at the top level of a module that both processes "
                "can import."
            )
        return KeySource.from_name, (self.name,)

    @classmethod
    def from_name(cls, name: str) -> KeySource:
        """Return the source for a function, `module:function`."""
        return cls(_imported(name))

    def __copy__(self) -> KeySource:
        """Share the source."""
        return self

    def __deepcopy__(self, memo: object) -> KeySource:
        """Share the source."""
        return self

    def _display(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        """Compare the functions."""
        return isinstance(other, KeySource) and other._function == self._function

    def __hash__(self) -> int:
        """Hash the function."""
        return hash(self._function)

    def __len__(self) -> int:
        """Return the length of the key."""
        return len(self.get_secret_value())


def _imported(name: str) -> Any:
    """Import a function, or return None if another process could not import the same one."""
    module, _, path = name.partition(":")
    if not module or module == "__main__" or not path.isidentifier():
        return None
    return getattr(import_module(module), path, None)


def _call_key_function(function: Callable[[], str], name: str) -> str:
    key: Any = None
    try:
        key = function()
        fault = key_fault(key) if isinstance(key, str) else f"returns a {type(key).__name__}"
    except Exception as error:  # noqa: BLE001  whatever a secret manager's client raises
        fault = f"raises {type(error).__name__}"
    if not fault:
        return str(key)
    del key  # a traceback that shows local variables would show it
    # Outside the handler: the original error may hold the key.
    raise ConfigError(f"The apiKey function {name} {fault}. It must return the key as a string.")


def as_key(value: Any) -> Any:
    """Replace a function that returns a key by a `KeySource`."""
    return KeySource(cast("Callable[[], str]", value)) if callable(value) else value


def checked_key(key: SecretStr) -> SecretStr:
    """Refuse a text that is not a key. The key of a function is checked at the first use."""
    if isinstance(key, KeySource):
        return key
    if fault := key_fault(key.get_secret_value()):
        fail(fault)
    return key


def checked_path(path: str) -> str:
    """Refuse a text that is not the path of a file."""
    if not path.strip():
        fail("is empty. Set a path, or remove it")
    if not path.isprintable():
        fail(f"{quote(path)} contains a character that is not printable. Choose another path")
    if path.endswith(("/", os.sep)) or PurePath(path).name in {"", "..", "~"}:
        fail(f"{quote(path)} is a folder. Choose a file in it")
    return path


def checked_base_url(url: str) -> str:
    """Refuse a text that is not a base URL; remove a final slash."""
    if not (_BASE_URL.fullmatch(url) and _has_valid_port(url)):
        example = "such as http://127.0.0.1:8080/exa"
        kind = "an absolute http(s) URL without a login, query or fragment"
        fail(f"must be {kind}, {example}{_url_fault(url, _HTTP)}")
    return url.rstrip("/")


def checked_proxy(url: SecretStr) -> SecretStr:
    """Refuse a text that is not the URL of an HTTP proxy, which may have a login."""
    clear = url.get_secret_value()
    if clear != NO_PROXY and not _is_server(clear, _PROXY_URL):
        kind = "the URL of an HTTP proxy, such as http://127.0.0.1:3128"
        fail(f"must be {kind}{_url_fault(clear, _HTTP)}")
    return url


def checked_storage_url(url: SecretStr) -> SecretStr:
    """Refuse a text that is not the URL of a Redis server, which may have a login."""
    clear = url.get_secret_value()
    if not _is_server(clear, _STORAGE_URL):
        kind = "the URL of a Redis server, such as redis://127.0.0.1:6379/0"
        fail(f"must be {kind}{_url_fault(clear, _REDIS)}")
    return url


def _is_server(url: str, pattern: str) -> bool:
    return bool(
        re.compile(pattern).fullmatch(url) and _has_valid_port(url) and _has_valid_host(url)
    )


def _url_fault(url: str, schemes: tuple[str, ...]) -> str:
    """Explain what is wrong with a URL, without showing what may be a password."""
    scheme, mark, rest = url.partition("://")
    place, _, path = rest.rpartition("@")[2].partition("/")
    faults = {
        "it is empty": not url,
        "it contains white space or a non-ASCII character": not re.compile("[!-~]*").fullmatch(url),
        f"it does not begin with {' or '.join(f'{name}://' for name in schemes)}": (
            not mark or scheme.lower() not in schemes
        ),
        "it has a query or a fragment": "?" in rest or "#" in rest,
        "it has no host": not place or place.startswith(":"),
        "its host is not a valid address": not _has_valid_host(url),
        "its port is not from 1 to 65535": not _has_valid_port(url),
        "its path is not a database number": path and schemes == _REDIS,
    }
    fault = next((fault for fault, is_present in faults.items() if is_present), "")
    return f"; {fault}" if fault else ""


def _has_valid_host(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
        is_number = re.fullmatch(r"[0-9.]+", host) or ":" in host
        return not is_number or bool(ip_address(host))
    except ValueError:
        return False


def _has_valid_port(url: str) -> bool:
    try:
        return urlsplit(url).port != 0
    except ValueError:
        return False


def usual_options(kind: str) -> dict[str, Any]:
    """Return the options of an entry that has only a key, in the spelling of a config file.

    Exa's highlights are free, and its results have no other snippets.
    """
    has_highlights = "search_highlights" in PROVIDERS[kind].about.options.model_fields
    return {"searchHighlights": True} if has_highlights else {}


def read_options(kind: str, value: Any) -> Options:
    """Read the options of an entry of a type.

    Raises:
        ConfigError: They are invalid. The message begins with the path.
    """
    model = PROVIDERS[kind].about.options
    if not isinstance(value, (dict, Options, type(None))):
        raise ConfigError("options must be an object")
    message, options = "", Options()
    try:
        options = model.model_validate({} if value is None else value)
    except ValidationError as error:
        message = explain(error, model)
    if message := message or _options_fault(kind, options):
        raise ConfigError("options." + message)
    return options


def _options_fault(kind: str, options: Options) -> str:
    max_results = PROVIDERS[kind].about.max_results
    for name, value in vars(options).items():
        path = to_camel(name)
        maximum = max_results if name == "default_search_limit" else None
        if isinstance(value, SecretStr) and (fault := key_fault(value.get_secret_value())):
            return f"{path} {fault}"
        if type(value) is int and not 1 <= value <= (maximum or value):
            upper = f" and at most {maximum}" if maximum else ""
            return f"{path} must be at least 1{upper}, not {value}"
    return ""
