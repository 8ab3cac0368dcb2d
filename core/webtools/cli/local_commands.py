"""The commands that are not tools."""

from __future__ import annotations

import argparse

from webtools.cli.argument_parser import CONFIG, Command, as_json, choice, flag, number, value


def _assignment(text: str) -> tuple[str, str]:
    name, equals, argument = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not an argument; use NAME=VALUE")
    return name.strip(), argument


BULK = Command(
    "many searches, pages or questions, a row each",
    "bulk:run",
    "Search, fetch or research many items, and write one row for each: what was\n"
    "found, or why nothing was, with price and time. If a run was interrupted,\n"
    "run the same command again to resume it. Finished rows stay.",
    """\
INPUT holds a query or URL per line, or a JSON object per line with the arguments
of its call, or is a .csv file whose columns are those; - is stdin. FILE holds JSON
lines (.jsonl, .ndjson).

examples:
  webtools bulk search queries.txt -o rows.jsonl --set limit=5
  webtools bulk fetch urls.csv --column link -o pages.jsonl
  webtools bulk research questions.jsonl -o answers.jsonl --set command=web-deep
  webtools bulk fetch urls.txt -o pages.jsonl --retry-failed

exit codes: 0 all is done; 1 all is done, and rows have failed; 2 wrong usage or
settings; 4 stopped, as the budget is spent or a provider refuses; 130 Ctrl-C
""",
    (
        choice("operation OPERATION", "search fetch research", "search, fetch, research"),
        value("input INPUT", "file with the items, or - for stdin"),
        value("-o --output FILE", "Write the rows to this file.", required=True),
        value(
            "--set NAME=VALUE",
            "Argument of every call, such as limit=5 or provider=exa-main; repeatable.",
            dest="arguments",
            action="append",
            type=_assignment,
            default=[],
        ),
        value("--workers N", "Calls at the same time (default 16).", type=int),
        value("--attempts N", "Tries of an item at most (default 3).", type=int),
        value(
            "--interval SECONDS", "From one search or question to the next (default 0).", type=float
        ),
        value(
            "--host-interval SECONDS",
            "From one page of a host to its next, where pages are read directly (default 1).",
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
            "What to do with cached answers: use (default), refresh or bypass.",
        ),
        value("--column NAME", "Column or key with the query or URL; leave others alone."),
        flag("--retry-failed", "Retry failed rows.", default=None),
        flag("--retry-skipped", "Retry skipped rows.", default=None),
        choice(
            "--in-flight HOW",
            "resend skip",
            "Calls under way when an earlier run was killed: resend them (default), which may "
            "pay twice, or skip them with a row that says so.",
        ),
        flag("--quiet", "Say nothing unless something is wrong."),
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
  webtools verify answer.md                       against the URLs that it cites
  webtools verify answer.md --source https://docs.python.org/3/library/json.html
  webtools web-deep "zip bombs" | webtools verify - --strict
  webtools verify --json answer.md | jq '.claims[] | select(.status == "unsupported")'
""",
    (
        value("file FILE", "the answer, as Markdown or plain text; - is stdin"),
        value(
            "--source URL",
            "a page to check against; [1] means the first. Without any, the URLs in the answer",
            dest="sources",
            action="append",
            default=[],
        ),
        flag("--strict", "exit with 1 for uncertain claims too"),
        CONFIG,
        as_json("print the whole report as one JSON document"),
    ),
)
EXPLAIN = Command(
    "the events of one call",
    "logs:explain",
    "List what the log has of a call: the time, event, provider and fields of each line.",
    """\
examples:
  webtools explain 6ahay9sgb2f7
  webtools explain 6ahay9                     the beginning of an id is enough
  webtools log tail                           shows the ids of recent calls
""",
    (
        value("call CALL-ID", "id of the call, or its beginning"),
        CONFIG,
        as_json("print the events as one JSON document"),
    ),
)
LOG = Command(
    "the log of the calls",
    "logs:tail",
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
    (
        choice("action ACTION", "tail", "see below"),
        value(
            "-n --lines N",
            "print so many lines, 20 without; with --call, all",
            type=number(int, 0, 10**9, "is not a number of lines; use 0 or more"),
        ),
        flag("--follow", "also print new lines, until Ctrl-C"),
        value("--call ID", "only the call of this id; its beginning is enough"),
        CONFIG,
        as_json("print the lines as they are in the file, a JSON object each"),
    ),
)
CACHE = Command(
    "show what the cache holds, or empty it",
    "cache:run",
    "Tell what the cache holds, or empty it.",
    """\
actions:
  stats      where it is, how many answers it holds, how large and how old, and
             what outputs were saved for web_read
  clear      delete these answers and outputs; those of other configs stay, and so
             does what was spent and which circuits are open

examples:
  webtools cache stats
  webtools cache clear --config web-search.json
""",
    (
        choice("action ACTION", "stats clear", "see below"),
        CONFIG,
        as_json("print the same as one JSON document"),
    ),
)
CONFIGURE = Command(
    "find, check or write the config file",
    "config:run",
    "Find, check, create or change the config file. Type the key when the command asks\n"
    "for it, or pipe it to standard input. A key is never an argument, which others could see.",
    """\
actions:
  path       print where the file belongs and which one is in use
  check      read the settings in force and describe them; no key is printed
  example    print a minimal config file
  init       write a config file with one provider, which only you may read
  add        add a provider of type TYPE to the file
  set-key    change the key of the provider NAME

examples:
  webtools config init --type exa
  webtools config add tavily
  webtools config set-key exa < key.txt
  webtools config check --live                     is each key good?
""",
    (
        choice("action ACTION", "path check example init add set-key", "see below"),
        value("name NAME", "init, set-key: name of the provider; add: its type", nargs="?"),
        value("--config PATH", "use this file, not the usual one"),
        flag("--live", "check: also call each provider once, at the price of its smallest call"),
        value("--type TYPE", "init: type of the provider, such as exa"),
        value("--name NAME", "add: name of the provider, if not its type", dest="entry_name"),
        flag("--force", "init: replace a file that is there"),
    ),
)
MCP = Command(
    "serve the tools over the Model Context Protocol",
    "mcp:run",
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
    (
        value("--http HOST:PORT", "Serve streamable HTTP there, at /mcp."),
        value(
            "--token-file FILE", "Ask clients for the token in this file (- stdin); needs --http."
        ),
        value(
            "--allow-host HOST",
            "Answer to this name in the Host and Origin headers too; repeatable.",
            action="append",
        ),
        CONFIG,
    ),
)
SANDBOX = Command(
    "serve the providers' APIs offline, for tests and trials",
    "sandbox:run",
    "Serve an offline stand-in for the providers' APIs on this machine, until\n"
    "Ctrl-C. Nothing leaves the machine, and no real key is needed.",
    """\
examples:
  webtools sandbox --write-config sandbox.json
  webtools sandbox --port 0 --latency 0.5         a free port, slow answers
  webtools search --config sandbox.json "heap"    in another terminal
""",
    (
        value(
            "--port N",
            "port, 0 for a free one (default %(default)s)",
            type=number(int, 0, 65_535, "is not a port; use 0 to 65535"),
            default=8765,
        ),
        value(
            "--latency SECONDS",
            "delay every answer by so much (default none)",
            type=number(float, 0, 3600, "is no delay; use seconds from 0 to 3600"),
            default=0.0,
        ),
        value(
            "--write-config PATH",
            "write a config file that leads to the sandbox, with a cache and a log beside it; "
            "never replaces another file",
        ),
    ),
)
COMPLETION = Command(
    "make a shell complete this command",
    "completion:script",
    "Print what makes a shell complete this command: options, their values and the\n"
    "names of your providers.",
    """\
examples:
  webtools completion fish | source       in ~/.config/fish/config.fish
  eval "$(webtools completion bash)"      in ~/.bashrc; zsh likewise
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
    "Run the commands search, fetch and web-deep for one question, over the offline\n"
    "sandbox. You need no key.",
    """\
examples:
  webtools demo
  webtools demo "How do I read a zip file in Python?"
  webtools demo --live "What is new in Python 3.13?"
""",
    (
        value("texts QUESTION", "What to ask.", nargs="*"),
        flag("--live", "use your own config, and the web, instead of the offline sandbox"),
    ),
    "[QUESTION]",
)
