"""The arguments of the commands that call no tool: mcp, sandbox, demo, completion, config."""

from __future__ import annotations

import argparse

from webtools.cli.parsing import Parser, add_config, parser_for


def mcp_parser(name: str) -> Parser:
    """Describe `mcp`."""
    parser = parser_for(
        name,
        "Serve the tools that your settings can serve over the Model Context Protocol:\n"
        "to the client that started this command, over stdin and stdout, or to any\n"
        "number of clients over HTTP. All calls share one cache and one budget.",
        """\
A bearer token is read from --token-file or WEBTOOLS_MCP_TOKEN; it is never an
argument, which others could see. Off loopback there must be one.

examples:
  webtools mcp                                    what a client starts
  webtools mcp --http 127.0.0.1:8766              what clients connect to
  webtools mcp --http 10.0.0.5:8766 --token-file token.txt
""",
    )
    option = parser.add_argument
    option("--http", metavar="HOST:PORT", help="Serve streamable HTTP there, at /mcp.")
    option("--token-file", metavar="FILE", help="Ask clients for the token in this file (- stdin).")
    option(
        "--allow-host",
        metavar="HOST",
        action="append",
        help="Answer to this name in the Host and Origin headers too; repeatable.",
    )
    add_config(parser)
    return parser


def sandbox_parser(name: str) -> Parser:
    """Describe `sandbox`."""
    parser = parser_for(
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
        help="write a config file that leads to the sandbox, with a cache and a log beside it; "
        "never replaces another file",
    )
    return parser


def demo_parser(name: str) -> Parser:
    """Describe `demo`."""
    parser = parser_for(
        name,
        "Answer one question four times: with this command's tools, with its research,\n"
        "with a LangChain agent and with a LlamaIndex agent. The agents' model is a\n"
        "script, the rest is real.",
        """\
examples:
  webtools demo
  webtools demo "How do I read a zip file in Python?"
  webtools demo --live "What is new in Python 3.13?"
""",
        "webtools demo [--live] [QUESTION]",
    )
    parser.take_texts("QUESTION", "What to ask.")
    parser.missing_text = ""  # without, the demo has its own
    parser.add_argument(
        "--live",
        action="store_true",
        help="use your own config, and the web, in place of the offline sandbox",
    )
    return parser


def completion_parser(name: str) -> Parser:
    """Describe `completion`."""
    parser = parser_for(
        name,
        "Print what makes a shell complete this command: options, their values and the\n"
        "names of your providers.",
        """\
examples:
  webtools completion fish | source       in ~/.config/fish/config.fish
  eval "$(webtools completion bash)"      in ~/.bashrc; zsh likewise
""",
    )
    parser.add_argument(
        "shell",
        metavar="SHELL",
        choices=("bash", "zsh", "fish", "tcsh", "powershell"),
        help="bash, zsh, fish, tcsh or powershell",
    )
    return parser


def config_parser(name: str) -> Parser:
    """Describe `config`."""
    parser = parser_for(
        name,
        "Find, check, begin or change the config file. A key is asked for, or read from\n"
        "standard input; it is never an argument, which others could see.",
        """\
actions:
  path       print where the file belongs and which one is in use
  check      read the settings in force and describe them; no key is printed
  example    print a minimal config file
  init       write a config file with one provider, which only you may read
  set-key    change the key of the provider NAME

examples:
  webtools config init --type exa
  webtools config set-key exa < key.txt
  webtools config check --live                     is each key good?
""",
    )
    parser.add_argument(
        "action",
        metavar="ACTION",
        choices=("path", "check", "example", "init", "set-key"),
        help="see below",
    )
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="init, set-key: name of the provider"
    )
    parser.add_argument("--config", metavar="PATH", help="use this file, not the usual one")
    parser.add_argument(
        "--live",
        action="store_true",
        help="check: also call each provider once, at the price of its smallest call",
    )
    parser.add_argument("--type", metavar="TYPE", help="init: type of the provider, such as exa")
    parser.add_argument("--force", action="store_true", help="init: replace a file that is there")
    return parser


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
