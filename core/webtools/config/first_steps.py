"""Every way on for somebody without a key, listed alike wherever one is missing."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import NamedTuple

from webtools.config.paths import config_paths
from webtools.providers import PROVIDERS, About, Capability
from webtools.text.reader import Place, place

KEYLESS_VARIABLE = "WEB_SEARCH_KEYLESS"


class _Words(NamedTuple):
    """How things are done where the message is read."""

    keyless: str
    trial: str
    extra: str  # what brings the trial


_TRIAL = "`webtools demo` and the offline sandbox, `webtools sandbox`"
_SHELL = "the offline sandbox: `%load_ext webtools`, then `%web_sandbox`"
_WORDS: dict[Place, _Words] = {
    "keyless command": _Words(f"{KEYLESS_VARIABLE}=1, or --keyless", _TRIAL, "cli"),
    "command": _Words(f"{KEYLESS_VARIABLE}=1", _TRIAL, "cli"),
    "notebook": _Words(f"%env {KEYLESS_VARIABLE}=1", _SHELL, "notebook"),
    "python": _Words(f"{KEYLESS_VARIABLE}=1, or WebTools(keyless=True)", _TRIAL, "cli"),
}


def first_steps(types: Iterable[str], keyless: str) -> str:
    """List all that would do, one a line: keys, a file, keyless providers, a trial.

    Args:
        types: The types of provider whose key or address would do.
        keyless: Those who would serve without one, named.
    """
    words = _WORDS[place()]
    abouts = [PROVIDERS[kind].about for kind in types]
    keys = [_one_of(*each.key_variables) for each in abouts if each.key_variables]
    instances = [
        f"{_one_of(*each.url_variables)}: the address of your own {each.title}"
        for each in abouts
        if each.url_variables and not each.key_variables
    ]
    install = "" if find_spec("aiohttp") else f" (pip install 'agent-webtools[{words.extra}]')"
    ways = [
        f"a key: {', '.join(keys)}" if keys else "",
        *instances,
        f"a config file, {config_paths()[0]}; `webtools config init` begins one",
        f"{words.keyless}: asks {keyless}, without a key" if keyless else "",
        f"for a trial without a key, {words.trial}{install}",
    ]
    return "\n- ".join(["Any of these would do:", *filter(None, ways)])


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
