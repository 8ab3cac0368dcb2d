"""The commands that call a tool. Their options are the arguments of its input model."""
# ruff: noqa: PLC0415  # slow imports that the list of commands does not need

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from webtools.cli.argument_parser import (
    CONFIG,
    TAPE,
    Argument,
    Command,
    as_json,
    flag,
    number,
    value,
)

if TYPE_CHECKING:
    from webtools.inputs.options import Option

_MODEL = (
    "Let this model write the answer, such as openai:gpt-5-mini. Needs LangChain or LlamaIndex, "
    "and the framework's package for that model provider."
)
_time = number(float, 1e-9, 86_400, "is not a time-out; use more than 0 and at most 86400 seconds")
_CALL = (
    value("--timeout SECONDS", "Time limit of the call.", type=_time),
    CONFIG,
    value("-o --output FILE", "Write the full output to this file."),
    flag("--force", "Replace FILE if it exists."),
    flag("--plain", "Print plain text, even on a terminal."),
    *TAPE,
)


def _tool(
    tool: str,
    texts: str,
    summary: str,
    description: str,
    examples: str,
    *,
    data: str = "all details",
    more: tuple[Argument, ...] = (),
) -> Command:
    arguments = (*_CALL, *more, as_json(f"Print {data} as one JSON document."))
    epilog = f"examples:\n{examples}"
    return Command(summary, "calls:call", description, epilog, arguments, texts, tool)


_research = partial(_tool, "web_research", "QUERY ...", data="results, meta and synthesis")


RESEARCH = {
    "web": _research(
        "find the best sources for a question",
        "Find the best sources for a question.",
        """\
  webtools web best sqlite gui
  webtools web --limit 3 "type checkers for python"
  webtools web --json rust editions | jq .meta.confidence
""",
    ),
    "web-deep": _research(
        "read the best pages and answer with citations",
        "Read the best pages for a question and answer it. Every claim cites a page.\n"
        "Claims marked (uncertain) are not quoted from it.",
        """\
  webtools web-deep "How do I generate secure random tokens in Python?"
  webtools web-deep --model openai:gpt-5-mini "what is a lease in DHCP"
  webtools web-deep "zip bombs" -o answer.md              answer and sources
  webtools web-deep "zip bombs" --passages -o answer.md   passages too
  webtools web-deep --json "zip bombs" | jq -r '.synthesis.citations[]'
  webtools web-deep --cache refresh "python release schedule"
""",
        more=(flag("--passages", "Include the passages even when the output is a file or pipe."),),
    ),
    "web-news": _research(
        "find recent news",
        "Find recent news. The output says how many results are recent.",
        """\
  webtools web-news python steering council
  webtools web-news --recency-days 2 "supply chain attack"
""",
    ),
    "web-docs": _research(
        "search the documentation of software libraries",
        "Search the documentation of software libraries first.",
        """\
  webtools web-docs "fastapi dependency injection"
  webtools web-docs --limit 3 -- argparse --help option
""",
    ),
}
CALLS = {
    "search": _tool(
        "web_search",
        "QUERY [QUERY ...]",
        "search the web",
        "Search the web. Several queries run at the same time. Quote each query.",
        """\
  webtools search "asyncio task group" "structured concurrency"
  webtools search "python release" -n 3 --include-domain python.org
  webtools search "supply chain attack" --start-published-date 2026-01-01
  webtools search --json "lock files" | jq -r '.results[].url'
  webtools search -- -Wunused              a query that begins with a dash
  webtools search - < queries.txt          a query per line
""",
    ),
    "fetch": _tool(
        "web_fetch",
        "URL [URL ...]",
        "read web pages",
        "Read web pages and print them as Markdown.",
        """\
  webtools fetch https://example.com
  webtools fetch https://example.com -o page.md
  webtools fetch https://example.com --question "Who runs this site?"
  webtools fetch https://example.com --summary --highlights
  webtools search --json rust | jq -r '.results[].url' | webtools fetch -
""",
    ),
    "map": _tool(
        "web_map",
        "URL",
        "list the pages of a site",
        "List the pages of a site, from its llms.txt, its sitemaps and the links of its\n"
        "start page.",
        """\
  webtools map https://example.com
  webtools map https://example.com/docs/ --find "rate limits" --limit 10
  webtools map --json https://example.com | jq -r '.results[].url' | webtools fetch -
""",
    ),
    "summarize": _tool(
        "summarize",
        "URL",
        "summarize the document behind a URL",
        "Summarize the document behind a URL: a page, PDF, video or podcast.",
        """\
  webtools summarize https://example.com/paper.pdf
  webtools summarize https://example.com --target-language DE
  webtools summarize https://example.com/spec --engine agnes
""",
    ),
    "read": _tool(
        "web_read",
        "HANDLE",
        "read the rest of a long output",
        "Read the rest of a truncated output. The handle is at the end of the output.\n"
        "Outputs are kept for a day.",
        """\
  webtools read 0b2d4c8f6e1a4f0c9d3b5a7e8c6f1d20 --offset 51200
  webtools read 0b2d4c8f6e1a4f0c9d3b5a7e8c6f1d20 --find "task group"
""",
    ),
}
PLAN = Command(
    "show what a research command would do and cost",
    "plan_command:plan",
    "Show what a research command would do and its maximum cost. Nothing is sent.",
    """\
examples:
  webtools plan "zip bombs" --command web-deep
  webtools plan --json "zip bombs" | jq .worst_cost_usd
""",
    (CONFIG, as_json("Print the plan as one JSON document.")),
    "QUERY ...",
    "web_research",
)


def tool_options(name: str, command: Command) -> tuple[str, str, list[Option]]:
    """Return the subject of a tool, its help text, and the options of a command."""
    from webtools.config.config_models import synthesis_names
    from webtools.inputs.options import CACHE, KEYLESS, Option, options_of
    from webtools.tools import ALL_TOOLS

    model = ALL_TOOLS[command.tool].input_model
    is_research = command.tool == "web_research"
    options = [*options_of(model, {"synthesis": synthesis_names()} if is_research else {})]
    if name in RESEARCH:  # the name of the command sets this argument
        options = [option for option in options if option.target != "command"]
    if is_research:
        options.append(Option(("--model",), "model", _MODEL, metavar="PROVIDER:NAME"))
    if command.tool in {"web_search", "web_research"}:
        options.append(KEYLESS)
    if command is not PLAN:
        options.append(CACHE)
    subject, field = next(iter(model.model_fields.items()))
    return subject, f"{field.description} Use - to read stdin.", options
