"""What a value of the config may be; each check gives the value back or says why not."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
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
    """Explain why a text cannot be a key, without showing it; empty when it can."""
    if not key.strip():
        return "is empty: write the key itself"
    if _REFERENCE.fullmatch(key.strip()):
        return "is taken literally, no variable is expanded: write the key itself"
    if not all("!" <= char <= "~" for char in key):
        return "holds a blank, a control or a non-ASCII character, which no key has"
    if len(key) < SHORTEST_KEY and not key.endswith("..."):  # that is told to be a placeholder
        return f"is too short: an API key has {SHORTEST_KEY} characters or more"
    return ""


def checked_name(name: str) -> str:
    """Refuse a name that is blank or would not print."""
    if not name or name != name.strip() or not name.isprintable():
        fail("must be a printable name, not blank and without blanks around it")
    return name


def checked_type(kind: str) -> str:
    """Refuse a type that neither is one of ours nor is registered or announced by a package.

    Raises:
        ConfigError: The package that announces the type is broken.
    """
    if kind not in PROVIDERS:
        told, known = "is unknown", PROVIDERS.types()
        if len(kind) < SHORTEST_KEY:
            told = f"{quote(kind)} {told}"
        fail(f"{told}{hint(kind, known)}; known types are: {listed(known)}")
    return kind


class KeySource(SecretStr):
    """A key that a function gives at the first use, such as one that asks a secret manager.

    A pickle holds the function's name alone, so the key itself never leaves the process.
    """

    def __init__(self, function: Callable[[], str]) -> None:
        self._function = function
        super().__init__("")

    @property
    def name(self) -> str:
        """The function's module and name."""
        module = getattr(self._function, "__module__", "")
        return f"{module}:{getattr(self._function, '__qualname__', '')}"

    def get_secret_value(self) -> str:
        """Return the key; the function is asked once per process.

        Raises:
            ConfigError: The function failed, or gave what cannot be a key.
        """
        if not self._secret_value:
            self._secret_value = _key_of(self._function, self.name)
        return self._secret_value

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the function's name."""
        if _imported(self.name) is not self._function:
            raise TypeError(
                f"the apiKey function {self.name} cannot be imported by its name, so it cannot "
                "be pickled; define it at the top of a module that both processes have"
            )
        return KeySource.named, (self.name,)

    @classmethod
    def named(cls, name: str) -> KeySource:
        """Return the source over the function of that name, `module:function`."""
        return cls(_imported(name))

    def __copy__(self) -> KeySource:
        """Share the source."""
        return self

    def __deepcopy__(self, memo: object) -> KeySource:
        """Share the source, likewise."""
        return self

    def _display(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        """Compare the functions that give the keys."""
        return isinstance(other, KeySource) and other._function == self._function

    def __hash__(self) -> int:
        """Hash the function."""
        return hash(self._function)

    def __len__(self) -> int:
        """Return the length of the key."""
        return len(self.get_secret_value())


def _imported(name: str) -> Any:
    """Import a function; None where the other process would find none, or another one."""
    module, _, path = name.partition(":")
    if not module or module == "__main__" or not path.isidentifier():
        return None
    return getattr(import_module(module), path, None)


def _key_of(function: Callable[[], str], name: str) -> str:
    key: Any = None
    try:
        key = function()
        fault = key_fault(key) if isinstance(key, str) else f"gives a {type(key).__name__}"
    except Exception as error:  # noqa: BLE001  whatever a secret manager's client raises
        fault = f"raises {type(error).__name__}"
    if not fault:
        return str(key)
    del key  # a traceback that shows local variables would show it
    # Outside the handler: the original error may hold the key.
    raise ConfigError(f"the apiKey function {name} {fault}; it must return the key as a text.")


def as_key(value: Any) -> Any:
    """Take a function for the key that it will give."""
    return KeySource(cast("Callable[[], str]", value)) if callable(value) else value


def checked_key(key: SecretStr) -> SecretStr:
    """Refuse a text that cannot be a key; what a function gives is checked at the first use."""
    if isinstance(key, KeySource):
        return key
    if fault := key_fault(key.get_secret_value()):
        fail(fault)
    return key


def checked_path(path: str) -> str:
    """Refuse what cannot be the path of a file."""
    if not path.strip():
        fail("is empty: name a file, or leave it out")
    if not path.isprintable():
        fail(f"{quote(path)} holds a character that does not print: name a file without it")
    if path.endswith(("/", os.sep)) or PurePath(path).name in {"", "..", "~"}:
        fail(f"{quote(path)} is a folder: name a file in it")
    return path


def checked_base_url(url: str) -> str:
    """Refuse what is no base of URLs; a slash at the end is dropped."""
    if not (_BASE_URL.fullmatch(url) and _has_valid_port(url)):
        example = "such as http://127.0.0.1:8080/exa"
        kind = "an absolute http(s) URL without a login, query or fragment"
        fail(f"must be {kind}, {example}{_odd(url, _HTTP)}")
    return url.rstrip("/")


def checked_proxy(url: SecretStr) -> SecretStr:
    """Refuse what is no HTTP proxy's URL; it may hold user and password."""
    clear = url.get_secret_value()
    if clear != NO_PROXY and not _is_server(clear, _PROXY_URL):
        kind = "the URL of an HTTP proxy, such as http://127.0.0.1:3128"
        fail(f"must be {kind}{_odd(clear, _HTTP)}")
    return url


def checked_storage_url(url: SecretStr) -> SecretStr:
    """Refuse what is no server of ours; it may hold user and password."""
    clear = url.get_secret_value()
    if not _is_server(clear, _STORAGE_URL):
        kind = "the URL of a Redis server, such as redis://127.0.0.1:6379/0"
        fail(f"must be {kind}{_odd(clear, _REDIS)}")
    return url


def _is_server(url: str, pattern: str) -> bool:
    return bool(
        re.compile(pattern).fullmatch(url) and _has_valid_port(url) and _has_valid_host(url)
    )


def _odd(url: str, schemes: tuple[str, ...]) -> str:
    """Explain what is odd about a URL that was refused, without showing what may be a password."""
    scheme, mark, rest = url.partition("://")
    place, _, path = rest.rpartition("@")[2].partition("/")
    faults = {
        "it is empty": not url,
        "it holds a blank or a character that is not ASCII": not re.compile("[!-~]*").fullmatch(
            url
        ),
        f"it does not begin with {' or '.join(f'{each}://' for each in schemes)}": (
            not mark or scheme.lower() not in schemes
        ),
        "it has a query or a fragment": "?" in rest or "#" in rest,
        "it names no host": not place or place.startswith(":"),
        "its host is no valid address": not _has_valid_host(url),
        "its port is not one of 1 to 65535": not _has_valid_port(url),
        "its path is not the number of a database": path and schemes == _REDIS,
    }
    told = next((fault for fault, is_so in faults.items() if is_so), "")
    return f"; {told}" if told else ""


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
    """Return the options of an entry that is made from a key alone, as a config file has them.

    Highlights are the snippets of Exa's results. They cost nothing.
    """
    has_highlights = "search_highlights" in PROVIDERS[kind].about.options.model_fields
    return {"searchHighlights": True} if has_highlights else {}


def read_options(kind: str, value: Any) -> Options:
    """Read the options of an entry, where `kind` is its type.

    Raises:
        ConfigError: They are wrong; the text begins with the path.
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
    bound = PROVIDERS[kind].about.max_results
    for name, value in vars(options).items():
        path = to_camel(name)
        most = bound if name == "default_search_limit" else None
        if isinstance(value, SecretStr) and (fault := key_fault(value.get_secret_value())):
            return f"{path} {fault}"
        if type(value) is int and not 1 <= value <= (most or value):
            return f"{path} must be at least 1{f' and at most {most}' if most else ''}, not {value}"
    return ""
