"""What an account may be, which one serves a call, and the sentences said about it."""

from __future__ import annotations

import difflib
import os
import re
import shlex
import stat
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic.alias_generators import to_camel

from webtools.errors import ConfigError
from webtools.providers import PROVIDERS, Account, Capability, direct
from webtools.providers._base import Options, Pacer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from webtools.config import ProviderConfig

PLACEHOLDER = "YOUR_EXA_API_KEY"
EXAMPLE = """\
{"defaultProvider": "exa-main",
 "providers": [{"name": "exa-main", "type": "exa", "apiKey": "%s",
                "options": {"defaultSearchLimit": 5, "defaultFetchTextMaxCharacters": 12000}}]}\
""".replace("%s", PLACEHOLDER)
"""A minimal valid config file, for messages and `webtools config example`."""

CODE = "the code"
ENVIRONMENT = "the environment"

MAX_RESULTS_VARIABLE = "WEB_SEARCH_MAX_RESULTS"
MOST_RESULTS = 100
SHORTEST_KEY = 8  # a shorter one would be found, and cut out, in any text

_OUT_OF_RANGE = {"greater_than", "greater_than_equal", "less_than", "less_than_equal"}

_HOST = r"(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?"
_BASE_URL = re.compile(rf"https?://{_HOST}(?:/[!\"$->@-~]*)?", re.ASCII | re.IGNORECASE)
_PROXY_URL = re.compile(rf"https?://(?:[!\"$-.0->A-~]*@)?{_HOST}/?", re.ASCII | re.IGNORECASE)
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


def _hint(wrong: str, known: Iterable[str]) -> str:
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
        fail(f"is unknown{_hint(kind, PROVIDERS)}; known types are: {listed(PROVIDERS)}")
    return kind


def checked_key(key: SecretStr) -> SecretStr:
    """Refuse a text that cannot be a key."""
    if fault := key_fault(key.get_secret_value()):
        fail(fault)
    return key


def checked_base_url(url: str) -> str:
    """Refuse what is no base of URLs; a slash at the end is dropped."""
    if not (_BASE_URL.fullmatch(url) and _has_valid_port(url)):
        example = "such as http://127.0.0.1:8080/exa"
        fail(f"must be an absolute http(s) URL without user, query and fragment, {example}")
    return url.rstrip("/")


def checked_proxy(url: SecretStr) -> SecretStr:
    """Refuse what is no HTTP proxy's URL; it may hold user and password."""
    clear = url.get_secret_value()
    if not (_PROXY_URL.fullmatch(clear) and _has_valid_port(clear) and _has_valid_host(clear)):
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


def fail(what: str) -> NoReturn:
    """Raise what pydantic, and `load`, turn into our error."""
    raise ValueError(what)


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


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """Tell the first fault that pydantic found: its path, then what is wrong; never a string."""
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
    return key if re.fullmatch(r"\w{1,60}", key, re.ASCII) else quote(key)


def _unknown_key(path: str, key: str, known: Sequence[str]) -> str:
    return f"{path} is an unknown key{_hint(key, known)}; known are: {', '.join(known)}"


def read_max_results(text: str) -> tuple[int | None, list[str]]:
    """Read the variable; out of bounds is clamped, no number is ignored, both with a warning."""
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


def build(entry: ProviderConfig, pacer: Pacer | None, origin: str) -> Account:
    """Make the account of an entry.

    Raises:
        ConfigError: The key is the example's.
    """
    about = PROVIDERS[entry.type].about
    key = entry.api_key.get_secret_value() if entry.api_key else ""
    if key == PLACEHOLDER or key.endswith("..."):
        message = (
            f"{origin}: the apiKey of {quote(entry.name)} is the placeholder of an example; "
            f"put your {about.TITLE} API key there."
        )
        raise ConfigError(message)
    return Account(
        name=entry.name,
        type=entry.type,
        base_url=entry.base_url or about.ORIGIN,
        api_key=entry.api_key,
        options=entry.options,
        timeout=entry.timeout_ms / 1000 if entry.timeout_ms else None,
        pacer=pacer,
        proxy=entry.proxy,
        fetch_fallback=entry.fetch_fallback,
    )


def key_variables(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pair the variable that holds a key, the first that is not blank, with its type."""
    pairs: list[tuple[str, str]] = []
    for kind, services in PROVIDERS.items():
        names = (n for n in services.about.KEY_VARIABLES if environ.get(n, "").strip())
        pairs += [(name, kind) for name in list(names)[:1]]
    return pairs


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
    secrets: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Collect all keys: what may never appear in a text."""
        every = frozenset[str]().union(*(account.secrets for account in self.accounts))
        object.__setattr__(self, "secrets", every)

    def select_fetcher(self, name: str | None = None) -> Account:
        """Choose the provider that fetches pages: where none is configured, the keyless one.

        Raises:
            ConfigError: As `select`; also when the extra that the keyless one needs is missing.
        """
        if name == direct.NAME and self._find(direct.NAME) is None:
            return direct.IMPLICIT
        if name or any("fetch" in capabilities(account.type) for account in self.accounts):
            return self.select("fetch", name)
        missing = direct.missing_libraries()
        if missing is None:
            return direct.IMPLICIT
        try:
            return self.select("fetch")
        except ConfigError as error:
            raise ConfigError(f"{error}\nOr fetch pages without a provider. {missing}") from None

    def fallback(self, account: Account) -> Account | None:
        """Give the provider that tries the pages which `account` could not fetch."""
        name = account.fetch_fallback
        return self._find(name) or direct.IMPLICIT if name else None

    def _find(self, name: str) -> Account | None:
        return next((account for account in self.accounts if account.name == name), None)

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
        able = [each for each in self.accounts if PROVIDERS[each.type].can(capability)]
        if name is not None:
            return self._named(name, capability, able)
        if not able and self.origin == ENVIRONMENT:
            raise ConfigError(_key_not_set(capability))
        if not able:
            remedy = _remedy(capability)
            raise ConfigError(f"No provider in {self.origin} can {capability}; {remedy}")
        return next((account for account in able if account.name == self.default), able[0])

    def _named(self, name: str, capability: Capability, able: list[Account]) -> Account:
        chosen = self._find(name)
        if chosen is None:
            known = listed(account.name for account in self.accounts)
            fault = f"No provider {quote(name)} in {self.origin}; known are: {known}."
            raise ConfigError(f"{fault} A minimal valid example:\n{EXAMPLE}")
        if chosen not in able:
            names = listed(account.name for account in able)
            remedy = f"these can: {names}." if able else _remedy(capability)
            message = f"Provider {quote(name)} (type {chosen.type}) cannot {capability}; {remedy}"
            raise ConfigError(message, provider=name)
        return chosen

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse: a pickle would hold the keys in clear."""
        raise not_picklable(type(self))


def capabilities(kind: str) -> tuple[Capability, ...]:
    """Name what a type of provider can do."""
    return PROVIDERS[kind].capabilities()


def describe(accounts: Accounts, environ: Mapping[str, str]) -> list[str]:
    """Describe the settings in lines of text, without keys; see `config.check`."""
    origin = accounts.origin
    if origin == ENVIRONMENT:
        names = ", ".join(name for name, _ in key_variables(environ)) or "no key"
        looked = " or ".join(str(path) for path in config_paths())
        origin = f"{origin} ({names}), as there is no {looked}"
    return [
        f"Source: {origin}",
        *map(_account_line, accounts.accounts),
        f"Default provider: {accounts.default or 'none; the first that can serves'}",
        f"maxResults: {accounts.max_results or 'not set'}",
        *(f"Warning: {text}" for text in (*accounts.warnings, *_exposure(accounts.origin))),
    ]


def _account_line(account: Account) -> str:
    able = ", ".join(capabilities(account.type))
    key = "present" if account.api_key else "none"
    name = quote(account.name)
    where = account.base_url or "no API"
    return f"Provider {name}: type {account.type}; {able}; {where}; key: {key}"


def _exposure(origin: str) -> list[str]:
    is_file = origin not in {CODE, ENVIRONMENT} and os.name == "posix"
    if not is_file or not Path(origin).stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return []
    return [f"other users may open {origin}, which holds keys: chmod 600 {shlex.quote(origin)}"]


def not_picklable(kind: type) -> TypeError:
    """Make the error for whatever holds keys and is being pickled."""
    return TypeError(
        f"{kind.__name__} holds API keys, so it cannot be pickled; "
        "give the other process the config file's path and build it there"
    )


def _types_for(capability: Capability) -> list[str]:
    # Not the keyless one: it serves without an entry, wherever its extra is installed.
    return [k for k in PROVIDERS if capability in capabilities(k) and k != direct.NAME]


def _remedy(capability: Capability) -> str:
    types = listed(_types_for(capability))
    return f"add a provider of type {types}." if types else "no type can yet."


def _key_not_set(capability: Capability) -> str:
    kind = _FIRST_CHOICE.get(capability) or next(iter(_types_for(capability)), "exa")
    about = PROVIDERS[kind].about
    variable = about.KEY_VARIABLES[0]
    return (
        f"{variable} environment variable is not set. "
        f"Set it to your {about.TITLE} API key to use {_USES[capability]}. "
        f"Or write a config file, {config_paths()[0]}; a minimal valid example:\n{EXAMPLE}"
    )
