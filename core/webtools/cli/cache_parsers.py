"""The arguments of the commands about what is kept: the cache, the log, and one call of it."""

from __future__ import annotations

import argparse

from webtools.cli.parsing import Parser, add_config, add_json, parser_for


def cache_parser(name: str) -> Parser:
    """Describe `cache`."""
    parser = parser_for(
        name,
        "Tell what the cache holds, or empty it.",
        """\
actions:
  stats      where it is, how many answers it holds, how large and how old, and
             what outputs were saved for web_read
  clear      delete the answers, and those outputs of all your configs, as they
             have one folder; what was spent and who is parked stays known

examples:
  webtools cache stats
  webtools cache clear --config web-search.json
""",
    )
    _add_action(parser, "stats", "clear")
    add_config(parser)
    add_json(parser, "print the same as one JSON document")
    return parser


def log_parser(name: str) -> Parser:
    """Describe `log`."""
    parser = parser_for(
        name,
        "Show the log of the calls: one line per event, the newest last.",
        """\
actions:
  tail       print the last lines

examples:
  webtools log tail
  webtools log tail -n 100 --follow           and what is written from now on
  webtools log tail --call 6ahay9sgb2f7       one call alone; see also: explain
  webtools log tail --json | jq 'select(.event == "provider_error")'
""",
    )
    _add_action(parser, "tail")
    option = parser.add_argument
    option(
        "-n",
        "--lines",
        type=_count,
        metavar="N",
        help="print so many lines, 20 without; with --call, all",
    )
    option("--follow", action="store_true", help="go on with new lines, until Ctrl-C")
    option("--call", metavar="ID", help="only the call of this id; its beginning is enough")
    add_config(parser)
    add_json(parser, "print the lines as they are in the file, a JSON object each")
    return parser


def explain_parser(name: str) -> Parser:
    """Describe `explain`."""
    parser = parser_for(
        name,
        "Tell from the log alone what happened in a call, and why it went as it did.",
        """\
examples:
  webtools explain 6ahay9sgb2f7
  webtools explain 6ahay9                     the beginning of an id is enough
  webtools log tail                           shows the ids of recent calls
""",
    )
    parser.add_argument("call", metavar="CALL-ID", help="id of the call, or its beginning")
    add_config(parser)
    add_json(parser, "print the explanation and the events as one JSON document")
    return parser


def _add_action(parser: Parser, *names: str) -> None:
    parser.add_argument("action", metavar="ACTION", choices=names, help="see below")


def _count(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 10:  # noqa: PLR2004
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no number of lines; use 0 or more")
