"""The commands that are not tools."""

from __future__ import annotations

import argparse
from typing import get_args

from webtools.choices import FetchGate
from webtools.cli.argument_parser import CONFIG, TAPE, Command, as_json, choice, flag, number, value


def _assignment(text: str) -> tuple[str, str]:
    name, equals, argument = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} has no name or no value; use NAME=VALUE")
    return name.strip(), argument


BULK = Command(
    "process many searches, pages or questions",
    "bulk_command:run",
    "Search, fetch or research many items. Each item becomes a row with its results or\n"
    "its error, its price and its duration. If a run was interrupted,\n"
    "run the same command again to resume it. Finished rows are kept.",
    """\
INPUT has one query or URL per line, or one JSON object with arguments per line. It can
also be a .csv file with arguments as columns, or - for stdin. FILE has JSON lines
(.jsonl, .ndjson).

examples:
  webtools bulk search queries.txt -o rows.jsonl --set limit=5
  webtools bulk fetch urls.csv --column link -o pages.jsonl
  webtools bulk research questions.jsonl -o answers.jsonl --set command=web-deep
  webtools bulk fetch urls.txt -o pages.jsonl --retry-failed

exit codes: 0 all rows succeeded; 1 some rows failed; 2 invalid usage or settings;
4 stopped early (budget spent, requests rejected or disk full); 130 Ctrl-C
""",
    (
        choice("operation OPERATION", "search fetch research", "search, fetch or research"),
        value("input INPUT", "file with the items, or - for stdin"),
        value("-o --output FILE", "Write the rows to this file.", required=True),
        value(
            "--set NAME=VALUE",
            "Argument for every call, such as limit=5 or provider=exa-main. Repeatable.",
            dest="arguments",
            action="append",
            type=_assignment,
            default=[],
        ),
        value("--workers N", "Number of concurrent calls (default 16).", type=int),
        value("--attempts N", "Maximum attempts per item (default 3).", type=int),
        value("--interval SECONDS", "Time between searches or questions (default 0).", type=float),
        value(
            "--host-interval SECONDS",
            "Time between pages of the same host, when pages are read directly (default 1).",
            type=float,
        ),
        flag(
            "--no-robots",
            "Ignore robots.txt.",
            dest="robots",
            action="store_false",
            default=None,
        ),
        choice(
            "--cache MODE",
            "use refresh bypass",
            "Cached responses: use (default), refresh or bypass.",
        ),
        value("--column NAME", "Column or key with the query or URL. Others are ignored."),
        flag("--retry-failed", "Retry failed rows.", default=None),
        flag("--retry-skipped", "Retry skipped rows.", default=None),
        choice(
            "--in-flight HOW",
            "resend skip",
            "What to do with calls that were running when an earlier run was killed: resend "
            "(default; can cost twice) or skip.",
        ),
        flag("--quiet", "Print only errors."),
        *TAPE,
        CONFIG,
        as_json("Print the counts as one JSON document."),
    ),
)
VERIFY = Command(
    "check an answer against its sources, claim by claim",
    "verify:verify",
    "Check an answer against the sources it cites. Each claim is shown as quoted,\n"
    "uncertain or unsupported. Exits with 1 if a claim is unsupported.",
    """\
examples:
  webtools verify answer.md --fetch               against the URLs that it cites
  webtools verify answer.md --source https://docs.python.org/3/library/json.html
  webtools web-deep "zip bombs" | webtools verify - --fetch --strict
  webtools verify --json --fetch answer.md | jq '.claims[] | select(.status == "unsupported")'
""",
    (
        value("file FILE", "the answer, as Markdown or plain text; - is stdin"),
        value(
            "--source URL",
            "Page to check against. [1] is the first.",
            dest="sources",
            action="append",
            default=[],
        ),
        flag("--fetch", "Also read the URLs in the answer. Only then are they requested."),
        flag("--strict", "Also exit with 1 for uncertain claims."),
        *TAPE,
        CONFIG,
        as_json("Print the report as one JSON document."),
    ),
)
REPORT = Command(
    "show what was done while a tape was recorded",
    "tape_commands:report_tape",
    "Show what was done while a tape was recorded: calls, cost by provider, queries and\nsources.",
    """\
examples:
  webtools report run.jsonl
  webtools report --json run.jsonl | jq .cost_usd
""",
    (value("file FILE", "the tape"), as_json("Print the report as one JSON document.")),
)
COMPARE = Command(
    "show what changed between two runs",
    "tape_commands:compare",
    "Show what changed between two runs: the settings first, then sources and claims.\n"
    "A run is a tape, or what a command printed with --json. Nothing is sent.",
    """\
examples:
  webtools web-deep --record monday.jsonl "python release schedule"
  webtools compare monday.jsonl friday.jsonl
  webtools compare --json old.json new.json | jq '.sources[] | select(.status == "changed")'
""",
    (
        value("old OLD", "the first run"),
        value("new NEW", "the second run"),
        as_json("Print the comparison as one JSON document."),
    ),
)
EXPLAIN = Command(
    "list the events of a call",
    "log_commands:explain",
    "List the events of a call from the log: time, event, provider and fields.",
    """\
examples:
  webtools explain 6ahay9sgb2f7
  webtools explain 6ahay9                     the start of an ID is enough
  webtools log tail                           shows the IDs of recent calls
""",
    (
        value("call CALL-ID", "ID of the call, or its start"),
        CONFIG,
        as_json("Print the events as one JSON document."),
    ),
)
LOG = Command(
    "show the log of calls",
    "log_commands:tail",
    "Show the log of calls: one line per event, newest last.",
    """\
examples:
  webtools log tail
  webtools log tail -n 100 --follow           and new lines
  webtools log tail --call 6ahay9sgb2f7       only one call; see also: explain
  webtools log tail --json | jq 'select(.event == "provider_error")'
""",
    (
        choice("action ACTION", "tail", "tail: print the last lines"),
        value(
            "-n --lines N",
            "Number of lines (default 20; with --call, all).",
            type=number(int, 0, 10**9, "is not a number of lines; use 0 or more"),
        ),
        flag("--follow", "Also print new lines, until Ctrl-C."),
        value("--call ID", "Only the call with this ID. The start of the ID is enough."),
        CONFIG,
        as_json("Print each line as a JSON object."),
    ),
)
NATIVE = Command(
    "show what the search of model vendors serves",
    "native_command:run",
    "Show which filters and limits the own search of each model vendor serves, by API and model,\n"
    "with prices, dates and sources.",
    """\
examples:
  webtools native
  webtools native --json | jq '.facts[] | select(.has_cap) | .models'
""",
    (as_json("Print the table as one JSON document."),),
)
CACHE = Command(
    "show or empty the cache",
    "cache:run",
    "Show the contents of the cache, or empty it.",
    """\
actions:
  stats      show the place, size and age of the cache, and the saved outputs
  clear      delete the cached responses and saved outputs of this config, but
             not the budget count and the circuit breaker states

examples:
  webtools cache stats
  webtools cache clear --config web-search.json
  webtools cache clear --user customer-7      the cache and the days of one user
  webtools cache clear --user customer-7 --file run.jsonl --file state.json
""",
    (
        choice("action ACTION", "stats clear", "stats or clear, as described below"),
        value("--user NAME", "Only what is kept of the sessions of this user."),
        value(
            "--file FILE",
            "Also delete this tape or state of the user. Needs --user. Repeatable.",
            action="append",
            default=[],
        ),
        CONFIG,
        as_json("Print the result as one JSON document."),
    ),
)
CONFIGURE = Command(
    "find, check or write the config file",
    "config_command:run",
    "Find, check, create or change the config file. Type the key at the prompt,\n"
    "or pipe it to standard input. Never put it into the command, where other users can see it.",
    """\
actions:
  path       print where the file belongs, and which file is in use
  check      describe the settings in use, without keys
  example    print a minimal config file
  init       write a config file with one provider; only you can read it
  add        add a provider of type TYPE to the file
  set-key    change the key of the provider NAME

examples:
  webtools config init --type exa
  webtools config add tavily
  webtools config set-key exa < key.txt
  webtools config check --live                     test each key
""",
    (
        choice(
            "action ACTION",
            "path check example init add set-key",
            "one of the actions listed below",
        ),
        value(
            "name NAME", "For init and set-key: name of the provider. For add: its type.", nargs="?"
        ),
        value("--config PATH", "Use this config file."),
        flag("--live", "For check: also send one small, paid call to each provider."),
        value("--type TYPE", "For init: type of the provider, such as exa."),
        value("--name NAME", "For add: name of the provider, if not its type.", dest="entry_name"),
        flag("--force", "For init: replace an existing file."),
    ),
)
MCP = Command(
    "serve the tools over the Model Context Protocol",
    "mcp_command:run",
    "Serve the tools over the Model Context Protocol: on stdin and stdout to the client\n"
    "that started this command, or over HTTP to many clients. All calls share one cache\n"
    "and one budget.",
    """\
The bearer token is read from --token-file or WEBTOOLS_MCP_TOKEN. It is required
unless the address is a loopback address.

examples:
  webtools mcp                                    for a client that starts it
  webtools mcp --http 127.0.0.1:8766              for clients that connect
  webtools mcp --http 10.0.0.5:8766 --token-file token.txt
  webtools mcp --replay run.jsonl                 answers without keys and network
  webtools mcp --fetch seen --usd 1               a session for each client, with limits
""",
    (
        value("--http HOST:PORT", "Serve streamable HTTP at this address, with the path /mcp."),
        value("--token-file FILE", "Require the token in this file (- for stdin). Needs --http."),
        value(
            "--allow-host HOST",
            "Also accept this name in the Host and Origin headers. Repeatable.",
            action="append",
        ),
        value(
            "--tool NAME",
            "Also offer this optional tool: web_map.",
            action="append",
            choices=("web_map",),
        ),
        value(
            "--fetch MODE",
            "Which URLs a client may open: any (default), seen, or strict.",
            choices=get_args(FetchGate),
        ),
        value(
            "--usd AMOUNT",
            "Maximum cost of each client in USD.",
            type=number(float, 0, 10**6, "is not an amount; use 0 or more"),
        ),
        value(
            "--calls N",
            "Maximum number of calls of each client.",
            type=number(int, 1, 10**9, "is not a number of calls; use 1 or more"),
        ),
        value(
            "--seconds N",
            "Time of each client from its first call.",
            type=number(float, 0.001, 10**9, "is not a time; use a number above 0"),
        ),
        *TAPE,
        CONFIG,
    ),
)
SANDBOX = Command(
    "simulate the providers offline, for tests",
    "sandbox:run",
    "Simulate the providers' APIs offline on this machine, until Ctrl-C. Only the provider\n"
    "direct can reach other sites. You need no key.",
    """\
examples:
  webtools sandbox --write-config sandbox.json
  webtools sandbox --port 0 --latency 0.5         free port, slow responses
  webtools search --config sandbox.json "heap"    in another terminal
""",
    (
        value(
            "--port N",
            "Port, 0 for a free one (default %(default)s).",
            type=number(int, 0, 65_535, "is not a port; use 0 to 65535"),
            default=8765,
        ),
        value(
            "--latency SECONDS",
            "Delay of every response (default 0).",
            type=number(float, 0, 3600, "is not a delay; use 0 to 3600 seconds"),
            default=0.0,
        ),
        value(
            "--write-config PATH",
            "Write a config file for the sandbox, with its own cache and log. Does not replace "
            "an existing file.",
        ),
    ),
)
COMPLETION = Command(
    "print the script for shell completion",
    "completion:script",
    "Print a script that lets your shell complete commands, options, values and the\n"
    "names of your providers.",
    """\
examples:
  webtools completion fish | source       in ~/.config/fish/config.fish
  eval "$(webtools completion bash)"      in ~/.bashrc
  eval "$(webtools completion zsh)"       in ~/.zshrc
""",
    (
        choice(
            "shell SHELL", "bash zsh fish tcsh powershell", "bash, zsh, fish, tcsh or powershell"
        ),
    ),
)
DEMO = Command(
    "see a search, a page and an answer with citations",
    "demo:run",
    "Run search, fetch and web-deep for one question, with the offline sandbox. You\nneed no key.",
    """\
examples:
  webtools demo
  webtools demo "How do I read a zip file in Python?"
  webtools demo --live "What is new in Python 3.13?"
""",
    (
        value("texts QUESTION", "The question.", nargs="*"),
        flag("--live", "Use your own config and the web instead of the sandbox."),
    ),
    "[QUESTION]",
)
