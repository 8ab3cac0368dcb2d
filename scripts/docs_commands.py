"""The reference of the command line: options that calls share, then every command."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Iterator, Mapping

from docs_tables import listed

from webtools.cli.argument_parser import Parser
from webtools.cli.arguments import COMMANDS, command_parser
from webtools.cli.tool_commands import CALLS, RESEARCH

Options = Mapping[str, argparse.Action]
_JSON = "--json"  # its help differs from command to command


def reference() -> str:
    """Describe every command with its options."""
    parsers = {name: command_parser(name) for name in COMMANDS}
    options = {name: options_of(parser) for name, parser in parsers.items()}
    shared = _shared(options[name] for name in (*RESEARCH, *CALLS))
    research = _shared(options[name] for name in RESEARCH)
    known = {**shared, **research}
    sections = [
        f"## Options of all calls\n\n{_list(shared.values())}",
        _research(options, shared, research),
    ]
    for name in COMMANDS:
        if name not in RESEARCH:
            implied = shared if name in CALLS else {}
            sections.append(_command(name, parsers[name], known, implied))
            known = {**options[name], **known}
    return "\n\n".join(sections)


def options_of(parser: Parser) -> dict[str, argparse.Action]:
    """Return the options of a command by their long names, except --help."""
    actions = (action for action in parser.arguments if action.option_strings)
    return {action.option_strings[-1]: action for action in actions if action.dest != "help"}


def _shared(commands: Iterable[Options]) -> dict[str, argparse.Action]:
    """Return the options that several commands have in common."""
    first, *others = commands
    return {
        name: action
        for name, action in first.items()
        if all(_has(options, name, action) for options in others)
    }


def _has(options: Options, name: str, action: argparse.Action) -> bool:
    return name in options and (name == _JSON or options[name].help == action.help)


def _research(options: Mapping[str, Options], shared: Options, research: Options) -> str:
    lines = [f"- `{name}`: {_description(name)}" for name in RESEARCH]
    title = f"## webtools {listed(RESEARCH, 'and')}"
    items = _list(action for name, action in research.items() if name not in shared)
    for name in RESEARCH:
        own = [action for long, action in options[name].items() if long not in research]
        items += "".join(f"\n{_item(action)} Only for `{name}`." for action in own)
    return "\n\n".join([title, "\n".join(lines), "Options:", items])


def _command(name: str, parser: Parser, known: Options, implied: Collection[str]) -> str:
    own: list[argparse.Action] = []
    repeated: list[str] = []
    for long, action in options_of(parser).items():
        if not _has(known, long, action):
            own.append(action)
        elif long not in implied:
            repeated.append(f"`{long}`")
    parts = [f"## webtools {name}", _usage(name, parser), _description(name), *_notes(name)]
    if own:
        parts += ["Options:", _list(own)]
    if repeated:
        parts.append(f"{'Also' if own else 'Options:'} {', '.join(repeated)}.")
    return "\n\n".join(parts)


def _usage(name: str, parser: Parser) -> str:
    positional = [action for action in parser.arguments if not action.option_strings]
    words = COMMANDS[name].texts or " ".join(map(_argument, positional))
    return f"`{f'webtools {name} {words}'.strip()}`"


def _argument(action: argparse.Action) -> str:
    if action.choices and len([*action.choices]) == 1:
        return str(next(iter(action.choices)))
    return f"[{action.metavar}]" if action.nargs in {"?", "*"} else str(action.metavar)


def _description(name: str) -> str:
    return " ".join(COMMANDS[name].description.split())


def _notes(name: str) -> Iterator[str]:
    """Yield what the help says below the options, except the examples."""
    for paragraph in COMMANDS[name].epilog.strip().split("\n\n"):
        title, _, lines = paragraph.partition("\n")
        if title == "actions:":
            yield "Actions:"
            yield "\n".join(_actions(lines))
        elif title != "examples:":
            yield _sentence(" ".join(paragraph.split()))


def _actions(lines: str) -> Iterator[str]:
    """Yield an item for each action; deeper lines continue it."""
    items: list[str] = []
    for line in lines.splitlines():
        if line.startswith("   "):
            items[-1] += f" {line.strip()}"
        else:
            action, _, text = line.strip().partition(" ")
            items.append(f"- `{action}`: {text.strip()}")
    yield from (f"{item.removesuffix('.')}." for item in items)


def _list(actions: Iterable[argparse.Action]) -> str:
    return "\n".join(map(_item, actions))


def _item(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else f" {action.metavar}"
    names = ", ".join(action.option_strings)
    text = _sentence((action.help or "") % {"default": action.default})
    return f"- `{names}{value}`: {text}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."
