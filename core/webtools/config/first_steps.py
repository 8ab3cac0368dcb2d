"""What to do if no provider is configured, for messages."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import NamedTuple

from webtools._internal.text.reader import Place, place
from webtools.config.config_file import example_line
from webtools.config.config_models import KEYLESS_VARIABLE
from webtools.config.paths import config_paths
from webtools.providers import PROVIDERS, About, Capability


class _Words(NamedTuple):
    """Ways to run without a key, in the place where the user reads the message."""

    keyless: str
    trial: str
    extra: str  # that the trial needs


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
    """List ways to begin: in short, then a key, a config file, or a way without a key.

    Broken plug-ins are named at the end.

    Args:
        types: The provider types that could serve.
        keyless: Titles of the providers that could serve without a key, or "".
    """
    words = _WORDS[place()]
    abouts = [PROVIDERS[kind].about for kind in types]
    example = example_line(about.name for about in abouts if about.key_variables)
    keys = [_names(*about.key_variables) for about in abouts if about.key_variables]
    addresses = [
        f"{_names(*about.url_variables)}, the address of your own {about.title}"
        for about in abouts
        if about.url_variables and not about.key_variables
    ]
    install = "" if find_spec("aiohttp") else f" (pip install 'agent-webtools[{words.extra}]')"
    trial = f"{words.trial}{install}."
    without_key = f"Without a key: {words.keyless} uses {keyless}. To try it offline: {trial}"
    variables = [*(about.variables[0] for about in abouts if about.variables)]
    head = f"{variables[0]} is enough." if variables else "No key is needed."
    if len(variables) > 1:
        head = f"Any one of the keys below is enough, such as {variables[0]}."
    lines = [
        f"{head} Without a key: {words.keyless}." if keyless else head,
        f"Keys{_WHERE.get(place(), '')}: {', '.join(keys)}"
        + "".join(f"; or {address}" for address in addresses),
        f"Or write the config file {config_paths()[0]} with `webtools config init`: {example}",
        without_key if keyless else f"To try it offline, without a key: {trial}",
        *PROVIDERS.load_announced(),
    ]
    return "\n".join(lines)


def _names(name: str = "", *alternatives: str) -> str:
    return f"{name} (or {' or '.join(alternatives)})" if alternatives else name


def keyless_titles(capability: Capability) -> str:
    """Return the titles of the providers that have a capability without a key."""
    titles = [about.title for about in keyless_abouts() if capability in about.keyless]
    return " and ".join(filter(None, (", ".join(titles[:-1]), *titles[-1:])))


def keyless_abouts() -> list[About]:
    """Return the providers that work without a key, the last resorts at the end."""
    abouts = [services.about for services in PROVIDERS.values() if services.about.keyless]
    return sorted(abouts, key=lambda about: about.research == "last")
