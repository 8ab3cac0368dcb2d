"""What a value of the config may be; each check gives the value back or says why not."""

from __future__ import annotations

import os
import re
from ipaddress import ip_address
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr, ValidationError
from pydantic.alias_generators import to_camel

from webtools._wording import SHORTEST_KEY, explain, fail, hint, listed, quote
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS
from webtools.providers._base import Options

_HOST = r"(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?"
_BASE_URL = re.compile(rf"https?://{_HOST}(?:/[!\"$->@-~]*)?", re.ASCII | re.IGNORECASE)
_PROXY_URL = re.compile(rf"https?://(?:[!\"$-.0->A-~]*@)?{_HOST}/?", re.ASCII | re.IGNORECASE)
NO_PROXY = "none"  # as the `proxy` of an entry
_REFERENCE = re.compile(r"\$\{.*\}|\$[A-Z_][A-Z0-9_]*", re.DOTALL)


def key_fault(key: str) -> str:
    """Tell why a text cannot be a key, without showing it; empty when it can."""
    if not key.strip():
        return "is empty: write the key itself"
    if _REFERENCE.fullmatch(key.strip()):
        return "is taken literally, no variable is expanded: write the key itself"
    if not all("!" <= char <= "~" for char in key):
        return "holds a blank, a control or a non-ASCII character, which no key has"
    if len(key) < SHORTEST_KEY and not key.endswith("..."):  # that is told to be a placeholder
        return f"is too short for a key, which has {SHORTEST_KEY} characters or more"
    return ""


def checked_name(name: str) -> str:
    """Refuse a name that is blank or would not print."""
    if not name or name != name.strip() or not name.isprintable():
        fail("must be a printable name, not blank and without blanks around it")
    return name


def checked_type(kind: str) -> str:
    """Refuse a type that is not in the table."""
    if kind not in PROVIDERS:
        told = f"{quote(kind)} is unknown" if len(kind) < SHORTEST_KEY else "is unknown"
        fail(f"{told}{hint(kind, PROVIDERS)}; known types are: {listed(PROVIDERS)}")
    return kind


def checked_key(key: SecretStr) -> SecretStr:
    """Refuse a text that cannot be a key."""
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
        fail(f"must be an absolute http(s) URL without user, query and fragment, {example}")
    return url.rstrip("/")


def checked_proxy(url: SecretStr) -> SecretStr:
    """Refuse what is no HTTP proxy's URL; it may hold user and password."""
    clear = url.get_secret_value()
    if clear != NO_PROXY and not (
        _PROXY_URL.fullmatch(clear) and _has_valid_port(clear) and _has_valid_host(clear)
    ):
        fail("must be the URL of an HTTP proxy, such as http://127.0.0.1:3128")
    return url


def _has_valid_host(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if not re.fullmatch(r"[0-9.]+", host) and ":" not in host:
        return True
    try:
        return bool(ip_address(host))
    except ValueError:
        return False


def _has_valid_port(url: str) -> bool:
    try:
        return urlsplit(url).port != 0
    except ValueError:
        return False


def read_options(kind: str, value: Any) -> Options:
    """Read the options of an entry, where `kind` is its type.

    Raises:
        ConfigError: They are wrong; the text begins with the path.
    """
    model = PROVIDERS[kind].about.CONFIG_OPTIONS
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
    search = PROVIDERS[kind].search
    for name, value in vars(options).items():
        path = to_camel(name)
        most = search.MAX_SEARCH_LIMIT if search and name == "default_search_limit" else None
        if isinstance(value, SecretStr) and (fault := key_fault(value.get_secret_value())):
            return f"{path} {fault}"
        if type(value) is int and not 1 <= value <= (most or value):
            return f"{path} must be at least 1{f' and at most {most}' if most else ''}, not {value}"
    return ""
