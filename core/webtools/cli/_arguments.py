"""The arguments: what every command takes, described for `--help`.

Options bear the names of the tools' arguments and go to them unread: what a value may be is
said in one place, `webtools.tools`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from webtools._version import __version__

_DESCRIPTION = "Web search, page fetching and summaries, over the providers you have keys for."
_EPILOG = """\
examples:
  webtools demo                            see it work: offline, no key needed
  webtools search "python 3.13 release"    the first results, numbered
  webtools search --json rust | jq         the same as data
  webtools fetch https://example.com       a page as Markdown
  webtools config path                     where the config file belongs
  webtools help search                     the options of a command

exit codes: 0 fine; 1 a provider or the network failed; 2 wrong usage or
settings; 130 Ctrl-C; 141 the reader of the output left
"""


class UsageError(Exception):
    """The arguments cannot be read."""

    def __init__(self, message: str, prog: str) -> None:
        super().__init__(message)
        self.prog = prog


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Leaves the examples as they are, and room for the longest option."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26)


class Parser(argparse.ArgumentParser):
    """A parser that raises instead of leaving the process."""

    color = False  # Python 3.14 would colour the help
    required_text = ""  # what to call the text that must be there

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong."""
        raise UsageError(message, self.prog)


def read(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of the process.

    Returns:
        The options, with the command's name in `command`.

    Raises:
        UsageError: They make no sense.
        SystemExit: Help or the version was asked for and printed.
    """
    arguments = _help_as_option(arguments)
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name not in _PARSERS:
        _read_without_command(arguments)
    parser = _PARSERS[name][1](name)
    options = _parse(parser, rest) if name in _TAKE_TEXTS else parser.parse_args(rest)
    options.command = name
    return options


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Tell whether unreadable arguments asked for JSON."""
    return "--json" in _split(arguments)[0]


def _help_as_option(arguments: Sequence[str]) -> list[str]:
    if arguments[:1] == ["help"]:
        return [*arguments[1:2], "--help"]
    return list(arguments)


def _read_without_command(arguments: Sequence[str]) -> NoReturn:
    parser = _top_parser()
    if not arguments:
        parser.print_help(sys.stderr)
        parser.exit(2)
    parser.parse_args(arguments)
    parser.error("the command comes first: webtools COMMAND ...")


def _parse(parser: Parser, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse options and texts in any order; what follows `--` is text whatever it looks like."""
    before, after = _split(arguments)
    options = parser.parse_intermixed_args(before)
    options.texts = [*_with_stdin(options.texts or ()), *after]
    if not options.texts and parser.required_text:
        parser.error(f"{parser.required_text} is missing")
    return options


def _split(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    if "--" not in arguments:
        return arguments, ()
    cut = arguments.index("--")
    return arguments[:cut], arguments[cut + 1 :]


def _with_stdin(texts: Sequence[str]) -> Iterator[str]:
    """Put the lines of stdin in the place of `-`."""
    for text in texts:
        if text != "-":
            yield text
        elif sys.stdin is not None:  # pyright: ignore[reportUnnecessaryComparison]  `<&-`
            yield from (line.strip() for line in sys.stdin if line.strip())


# --- the parsers -------------------------------------------------------------------------------


def _top_parser() -> Parser:
    commands = "\n".join(f"  {name:<11}{summary}" for name, (summary, _) in _PARSERS.items())
    parser = Parser(
        "webtools",
        usage="webtools [--help] [--version] COMMAND ...",
        description=f"{_DESCRIPTION}\n\ncommands:\n{commands}",
        epilog=_EPILOG,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"webtools {__version__}")
    parser.add_argument(
        "command", metavar="COMMAND", choices=tuple(_PARSERS), help=argparse.SUPPRESS
    )
    return parser


def _parser(name: str, description: str, epilog: str, usage: str | None = None) -> Parser:
    return Parser(
        f"webtools {name}",
        usage=usage,
        description=description,
        epilog=epilog,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )


def _search_parser(name: str) -> Parser:
    parser = _parser(
        name,
        "Search the web. Several queries run at the same time; quote each of them.",
        """\
examples:
  webtools search "asyncio task group" "structured concurrency"
  webtools search "python release" --limit 3 --include-domain python.org
  webtools search "supply chain attack" --category news --start 2026-01-01
  webtools search --json "lock files" | jq -r '.results[].url'
  webtools search -- -Wunused              a query that begins with a dash
  webtools search - < queries.txt          a query per line
""",
        "webtools search [OPTION ...] QUERY [QUERY ...]",
    )
    _add_texts(parser, "QUERY", "what to search for; - reads lines from stdin")
    parser.add_argument("--limit", metavar="N", help="most results per query, 1 to 100")
    _add_filters(parser)
    _add_common(parser)
    return parser


def _add_filters(parser: Parser) -> None:
    for verb, text in (("include", "only results from"), ("exclude", "no results from")):
        parser.add_argument(
            f"--{verb}-domain",
            dest=f"{verb}_domains",
            metavar="D",
            action="append",
            help=f"{text} this domain; may be repeated",
        )
    for name, when in (("start", "on or after"), ("end", "on or before")):
        parser.add_argument(
            f"--{name}",
            dest=f"{name}_published_date",
            metavar="DATE",
            help=f"only what was published {when} it, YYYY-MM-DD",
        )
    parser.add_argument(
        "--category",
        metavar="C",
        help="kind of page: company, people, publication, news, personal site, financial report",
    )


def _fetch_parser(name: str) -> Parser:
    parser = _parser(
        name,
        "Read web pages. Without a choice, the text of each page is printed as Markdown.",
        """\
examples:
  webtools fetch https://example.com
  webtools fetch https://a.example https://b.example --max-characters 2000
  webtools fetch https://example.com --summary --highlights
  webtools search --json rust | jq -r '.results[].url' | webtools fetch -
""",
        "webtools fetch [OPTION ...] URL [URL ...]",
    )
    _add_texts(parser, "URL", "http(s) URL; - reads lines from stdin")
    _add_flag(parser, "--text", "print the text of the page, also beside other choices")
    _add_flag(parser, "--highlights", "print the most relevant extracts")
    _add_flag(parser, "--summary", "print a summary of each page")
    parser.add_argument(
        "--max-characters",
        dest="text_max_characters",
        metavar="N",
        help="most characters of text per page",
    )
    _add_common(parser)
    return parser


def _summarize_parser(name: str) -> Parser:
    parser = _parser(
        name,
        "Summarize the document behind a URL: a page, PDF, video or podcast.",
        """\
examples:
  webtools summarize https://example.com/paper.pdf
  webtools summarize https://example.com --type takeaway --language DE
  webtools summarize https://example.com/spec --engine agnes
""",
        "webtools summarize [OPTION ...] URL",
    )
    _add_texts(parser, "URL", "http(s) URL; - reads it from stdin")
    option = parser.add_argument
    option(
        "--type",
        dest="summary_type",
        metavar="TYPE",
        help="summary for prose (the default), takeaway for a list of key points",
    )
    option(
        "--engine",
        metavar="NAME",
        help="cecil for general purposes (the default), agnes for technical texts",
    )
    option(
        "--language",
        dest="target_language",
        metavar="CODE",
        help="language of the summary, such as EN or DE; without, the document's own",
    )
    _add_common(parser)
    return parser


def _sandbox_parser(name: str) -> Parser:
    parser = _parser(
        name,
        "Serve an offline stand-in for the providers' APIs on this machine, until\n"
        "Ctrl-C. Nothing leaves the machine, and no real key is needed.",
        """\
examples:
  webtools sandbox --write-config sandbox.json
  webtools sandbox --port 0 --latency 0.5         a free port, slow answers
  webtools search --config sandbox.json "heap"    in another terminal
""",
    )
    option = parser.add_argument
    option(
        "--port",
        type=_port,
        default=8765,
        metavar="N",
        help="port, 0 for a free one (default %(default)s)",
    )
    option(
        "--latency",
        type=_seconds,
        default=0.0,
        metavar="SECONDS",
        help="delay every answer by so much (default none)",
    )
    option(
        "--write-config",
        metavar="PATH",
        help="write a config file that leads to the sandbox; never replaces another file",
    )
    return parser


def _demo_parser(name: str) -> Parser:
    parser = _parser(
        name,
        "Answer one question three times: with this command, with a LangChain agent and\n"
        "with a LlamaIndex agent. The agents' model is a script, the rest is real.",
        """\
examples:
  webtools demo
  webtools demo "How do I read a zip file in Python?"
  webtools demo --live "What is new in Python 3.13?"
""",
        "webtools demo [--live] [QUESTION]",
    )
    parser.add_argument("texts", metavar="QUESTION", nargs="*", help="what to ask")
    parser.add_argument(
        "--live",
        action="store_true",
        help="use your own config, and the web, in place of the offline sandbox",
    )
    return parser


def _config_parser(name: str) -> Parser:
    parser = _parser(
        name,
        "Find, check or begin the config file.",
        """\
actions:
  path       print where the file belongs and which one is in use
  check      read the settings in force and describe them; no key is printed
  example    print a minimal config file

examples:
  webtools config example > web-search.json
  webtools config check --config web-search.json
""",
    )
    parser.add_argument(
        "action", metavar="ACTION", choices=("path", "check", "example"), help="see below"
    )
    parser.add_argument("--config", metavar="PATH", help="check this file, not the usual one")
    return parser


def _add_texts(parser: Parser, name: str, text: str) -> None:
    parser.add_argument("texts", metavar=name, nargs="*", help=text)
    parser.required_text = name


def _add_common(parser: Parser) -> None:
    parser.add_argument("--provider", metavar="NAME", help="use this configured provider")
    parser.add_argument("--config", metavar="PATH", help="read this config file, not the usual one")
    parser.add_argument(
        "--json", action="store_true", help="print all details as one JSON document"
    )


def _add_flag(parser: Parser, name: str, text: str) -> None:
    # None where it is not given, so that it is left to the tool what that means.
    parser.add_argument(name, action="store_true", default=None, help=text)


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) <= 65535:  # noqa: PLR2004
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a port; use 0 to 65535")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if 0 <= seconds <= 3600:  # noqa: PLR2004
        return seconds
    raise argparse.ArgumentTypeError(f"{text!r} is no delay; use seconds from 0 to 3600")


_PARSERS: dict[str, tuple[str, Callable[[str], Parser]]] = {
    "search": ("search the web", _search_parser),
    "fetch": ("read web pages", _fetch_parser),
    "summarize": ("summarize the document behind a URL", _summarize_parser),
    "sandbox": ("serve the providers' APIs offline, for tests and trials", _sandbox_parser),
    "demo": ("answer a question with this command and with two agents", _demo_parser),
    "config": ("find, check or begin the config file", _config_parser),
}
_TAKE_TEXTS = {"search", "fetch", "summarize", "demo"}


def given(options: argparse.Namespace) -> dict[str, Any]:
    """Pick the options that are arguments of a tool, and were given."""
    others = {"command", "texts", "config", "json"}
    return {k: v for k, v in vars(options).items() if v is not None and k not in others}
