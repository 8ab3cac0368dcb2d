"""What to do where no provider is configured, for every message that says so."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import NamedTuple

from webtools._internal.text.reader import Place, place
from webtools.config.config_file import EXAMPLE_LINE
from webtools.config.paths import config_paths
from webtools.providers import PROVIDERS, About, Capability

KEYLESS_VARIABLE = "WEB_SEARCH_KEYLESS"


class _Words(NamedTuple):
    """How things are done where the message is read."""

    keyless: str
    trial: str
    extra: str  # what the trial needs


_DEMO = "`webtools demo`"
_WORDS: dict[Place, _Words] = {
    "keyless command": _Words("--keyless", _DEMO, "cli"),
    "command": _Words(f"{KEYLESS_VARIABLE}=1", _DEMO, "cli"),
    "notebook": _Words(
        f"`%env {KEYLESS_VARIABLE}=1`",
        f"`%load_ext webtools` and `%web_sandbox`, or {_DEMO} in a terminal",
        "notebook",
    ),
    "python": _Words(f"WebTools(keyless=True) or {KEYLESS_VARIABLE}=1", _DEMO, "cli"),
    "mcp": _Words(f'"{KEYLESS_VARIABLE}": "1" in "env"', f"{_DEMO} in a terminal", "cli"),
}
_WHERE = {
    "python": ', in the environment or as WebTools(api_keys={"TYPE": "..."})',
    "notebook": ', with `%env NAME=...` or WebTools(api_keys={"TYPE": "..."})',
    "mcp": ', in "env" of this server in your client\'s settings',
}


def first_steps(types: Iterable[str], keyless: str) -> str:
    """List what is enough to begin: a key, a config file, or a way without a key.

    Plugins that cannot be loaded are named at the end, as their keys are not listed.

    Args:
        types: The provider types that could serve.
        keyless: Titles of the providers that could serve without a key; may be empty.
    """
    words = _WORDS[place()]
    abouts = [PROVIDERS[kind].about for kind in types]
    keys = [_one_of(*about.key_variables) for about in abouts if about.key_variables]
    addresses = [
        f"{_one_of(*about.url_variables)}, the address of your own {about.title}"
        for about in abouts
        if about.url_variables and not about.key_variables
    ]
    install = "" if find_spec("aiohttp") else f" (pip install 'agent-webtools[{words.extra}]')"
    trial = f"{words.trial}{install} needs no key"
    without_key = f"Without a key: {words.keyless} asks {keyless}; {trial}."
    lines = [
        f"Any one of these keys is enough{_WHERE.get(place(), '')}: {', '.join(keys)}"
        + "".join(f"; or {address}" for address in addresses),
        f"Or write the config file {config_paths()[0]} with `webtools config init`: {EXAMPLE_LINE}",
        without_key if keyless else f"{trial[0].upper()}{trial[1:]}.",
        *PROVIDERS.load_announced(),
    ]
    return "\n".join(lines)


def _one_of(name: str = "", *others: str) -> str:
    """Name a variable and in brackets those that may stand in its place."""
    return f"{name} (or {' or '.join(others)})" if others else name


def keyless_titles(capability: Capability) -> str:
    """Name those who serve anybody without a key, where the settings ask for that, in order."""
    titles = [about.title for about in keyless_abouts() if capability in about.keyless]
    return " and ".join(filter(None, (", ".join(titles[:-1]), *titles[-1:])))


def keyless_abouts() -> list[About]:
    """List who needs no key, the last resorts at the end."""
    abouts = [each.about for each in PROVIDERS.values() if each.about.keyless]
    return sorted(abouts, key=lambda about: about.research == "last")
