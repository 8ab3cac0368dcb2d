"""What an account may be, which one serves a call, and the sentences said about it."""

from __future__ import annotations

import difflib
import os
import re
import shlex
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from pydantic.alias_generators import to_camel

from webtools.errors import ConfigError
from webtools.providers import PROVIDERS, Account, Capability

PLACEHOLDER = "YOUR_EXA_API_KEY"
EXAMPLE = f"""\
{{"defaultProvider": "exa-main",
 "providers": [{{"name": "exa-main", "type": "exa", "apiKey": "{PLACEHOLDER}",
                "options": {{"defaultSearchLimit": 5, "defaultFetchTextMaxCharacters": 12000}}}}]}}"""
"""A minimal valid config file, for messages and `webtools config example`."""

CODE = "the code"
ENVIRONMENT = "the environment"

_HOST = r"(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?"
_BASE_URL = re.compile(rf"https?://{_HOST}(?:/[!\"$->@-~]*)?", re.ASCII | re.IGNORECASE)
_PROXY_URL = re.compile(rf"https?://(?:[!-.0->A-~]*@)?{_HOST}/?", re.ASCII | re.IGNORECASE)
_REFERENCE = re.compile(r"\$\{.*\}|\$[A-Z_][A-Z0-9_]*", re.DOTALL)

_FILE_NAME = "web-search.json"
_FIRST_CHOICE: dict[Capability, str] = {"search": "kagi", "fetch": "exa", "summarize": "kagi"}
_USES: dict[Capability, str] = {
    "search": "web search",
    "fetch": "web fetch",
    "summarize": "summarize",
    "docs": "documentation search",
    "synthesize": "synthesis",
}


def config_paths() -> tuple[Path, Path]:
    """List where a config file is looked for: our own folder, then the pi agent's."""
    from platformdirs import user_config_dir  # noqa: PLC0415 - 15 ms that few imports need

    ours = user_config_dir("webtools", appauthor=False)
    # Unlike Path.home(), this does not fail for a user without a home folder.
    theirs = os.path.expanduser("~/.pi/agent")  # noqa: PTH111
    return Path(ours, _FILE_NAME), Path(theirs, _FILE_NAME)


def quote(text: str) -> str:
    """Quote foreign text for a message: ASCII, no control character, at most 60 characters."""
    shown = text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004
    plain = shown.encode("ascii", "backslashreplace").decode()
    return '"' + "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in plain) + '"'


def listed(texts: Iterable[str]) -> str:
    """Quote and join for a message."""
    return ", ".join(quote(text) for text in texts)


def hint(wrong: str, known: Iterable[str]) -> str:
    """Name the known word that a wrong one is nearest to, or nothing."""
    by_lower = {to_camel(word).lower(): word for word in known}
    near = difflib.get_close_matches(to_camel(wrong).lower(), by_lower, n=1)
    return f" (did you mean {quote(by_lower[near[0]])}?)" if near else ""


def key_fault(key: str) -> str:
    """Tell why a text cannot be a key, without showing it; empty when it can."""
    if not key.strip():
        return "is empty: write the key itself"
    if _REFERENCE.fullmatch(key.strip()):
        return "is taken literally, no variable is expanded: write the key itself"
    if not all("!" <= char <= "~" for char in key):
        return "holds a blank, a control or a non-ASCII character, which no key has"
    return ""


def is_placeholder(key: str) -> bool:
    """Tell whether a key was pasted from an example."""
    return key == PLACEHOLDER or key.endswith("...")


def is_base_url(url: str) -> bool:
    """Tell whether a URL is absolute http(s), without user, query and fragment."""
    return bool(_BASE_URL.fullmatch(url)) and _has_valid_port(url)


def is_proxy_url(url: str) -> bool:
    """Tell whether a URL names an HTTP proxy; it may hold user and password."""
    return bool(_PROXY_URL.fullmatch(url)) and _has_valid_port(url)


def _has_valid_port(url: str) -> bool:
    try:
        return urlsplit(url).port != 0
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Accounts:
    """The providers that the settings in force name.

    Attributes:
        accounts: The providers, in the order of the settings.
        default: Name of the default provider, or None.
        max_results: The configured number of search results, or None.
        origin: Where the settings are from: a file's path, "the code" or "the environment".
        warnings: What is odd about the settings, a sentence each.
    """

    accounts: tuple[Account, ...]
    default: str | None
    max_results: int | None
    origin: str
    warnings: tuple[str, ...] = ()

    def select(self, capability: Capability, name: str | None = None) -> Account:
        """Choose the provider for a call.

        Args:
            capability: What the call needs.
            name: The entry asked for; without, the default if it can, else the first that can.

        Raises:
            ConfigError: No entry has that name, or the one that has it cannot do the job, or
                no entry can.
        """
        if not self.accounts:
            raise ConfigError(_key_not_set(capability))
        if name is not None:
            return self._named(name, capability)
        able = self._able(capability)
        if not able:
            self._refuse(capability)
        return next((account for account in able if account.name == self.default), able[0])

    def secrets(self) -> frozenset[str]:
        """Give all keys in clear: what may never appear in a text."""
        return frozenset(secret for account in self.accounts for secret in account.secrets())

    def _able(self, capability: Capability) -> list[Account]:
        return [a for a in self.accounts if capability in capabilities(a.type)]

    def _named(self, name: str, capability: Capability) -> Account:
        chosen = next((account for account in self.accounts if account.name == name), None)
        if chosen is None:
            known = listed(account.name for account in self.accounts)
            message = f"There is no provider {quote(name)} in {self.origin}; known are: {known}."
            raise ConfigError(message)
        able = self._able(capability)
        if chosen not in able:
            remedy = self._remedy(capability, able)
            message = f"Provider {quote(name)} (type {chosen.type}) cannot {capability}; {remedy}"
            raise ConfigError(message, provider=name)
        return chosen

    def _remedy(self, capability: Capability, able: list[Account]) -> str:
        if able:
            return f"these can: {listed(account.name for account in able)}."
        return f"none in {self.origin} can, {_add(capability)}"

    def _refuse(self, capability: Capability) -> NoReturn:
        if self.origin == ENVIRONMENT:
            raise ConfigError(_key_not_set(capability))
        message = f"No provider in {self.origin} can {capability}; {_add(capability)}"
        raise ConfigError(message)

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse: a pickle would hold the keys in clear."""
        raise not_picklable(type(self))


def capabilities(kind: str) -> tuple[Capability, ...]:
    """Name what a type of provider can do."""
    return PROVIDERS[kind].capabilities()


def describe(accounts: Accounts, variables: Iterable[str]) -> list[str]:
    """Describe the settings in lines of text, without keys.

    Args:
        accounts: The settings in force.
        variables: The environment's variables that hold a key.
    """
    return [
        _source_line(accounts.origin, variables),
        *map(_account_line, accounts.accounts),
        f"Default provider: {accounts.default or 'none; the first that can serves'}",
        f"maxResults: {accounts.max_results or 'not set'}",
        *(f"Warning: {text}" for text in (*accounts.warnings, *_exposure(accounts.origin))),
    ]


def _source_line(origin: str, variables: Iterable[str]) -> str:
    if origin != ENVIRONMENT:
        return f"Source: {origin}"
    looked = " or ".join(str(path) for path in config_paths())
    return f"Source: the environment ({', '.join(variables) or 'no key'}), as there is no {looked}"


def _account_line(account: Account) -> str:
    able = ", ".join(capabilities(account.type))
    key = "present" if account.api_key else "none"
    name = quote(account.name)
    return f"Provider {name}: type {account.type}; {able}; {account.base_url}; key: {key}"


def _exposure(origin: str) -> list[str]:
    if origin in {CODE, ENVIRONMENT} or os.name != "posix":
        return []
    if not Path(origin).stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return []
    return [f"{origin} holds keys and is open to others; run: chmod 600 {shlex.quote(origin)}"]


def not_picklable(kind: type) -> TypeError:
    """Make the error for whatever holds keys and is being pickled."""
    return TypeError(
        f"{kind.__name__} holds API keys, so it cannot be pickled; "
        "give the other process the config file's path and build it there"
    )


def _types_for(capability: Capability) -> list[str]:
    return [kind for kind in PROVIDERS if capability in capabilities(kind)]


def _add(capability: Capability) -> str:
    types = listed(_types_for(capability))
    return f"add one of type {types}." if types else "and no type can yet."


def _key_not_set(capability: Capability) -> str:
    kind = _FIRST_CHOICE.get(capability) or next(iter(_types_for(capability)), "exa")
    about = PROVIDERS[kind].about
    variable = about.KEY_VARIABLES[0]
    return (
        f"{variable} environment variable is not set. "
        f"Set it to your {about.TITLE} API key to use {_USES[capability]}. "
        f"Or write a config file, {config_paths()[0]}; a minimal valid example:\n{EXAMPLE}"
    )
