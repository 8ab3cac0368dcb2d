"""The commands that call a tool; their options are the arguments of its input model."""
# ruff: noqa: PLC0415  # the models cost what the list of commands does not need

from __future__ import annotations

from dataclasses import dataclass

from webtools.cli.parsing import Parser, add_call_options, add_config, add_json, parser_for


@dataclass(frozen=True, slots=True)
class ToolCommand:
    """A command over a tool.

    Attributes:
        tool: The tool's name.
        summary: What the list of commands says of it.
        description: What its own help says of it.
        examples: Calls, a line each.
        subject: What it is about, as the help names it; "..." where there may be several.
        data: What `--json` prints.
    """

    tool: str
    summary: str
    description: str
    examples: str
    subject: str
    data: str = "all details"

    @property
    def subject_name(self) -> str:
        """The name of one subject."""
        return self.subject.partition(" ")[0]


def _research(summary: str, description: str, examples: str) -> ToolCommand:
    data = "results, meta and synthesis"
    return ToolCommand("web_research", summary, description, examples, "QUERY ...", data)


RESEARCH = {
    "web": _research(
        "find the top links for a question",
        "Find the top links for a question, with the next provider where one fails.",
        """\
  webtools web best sqlite gui
  webtools web --limit 3 "type checkers for python"
  webtools web --json rust editions | jq .meta.confidence
""",
    ),
    "web-deep": _research(
        "read the best pages and answer with citations",
        "Read the best pages for a question, and answer it: every claim cites the page\n"
        "that bears it out.",
        """\
  webtools web-deep "How do I generate secure random tokens in Python?"
  webtools web-deep --model openai:gpt-5-mini "what is a lease in DHCP"
  webtools web-deep --json "zip bombs" | jq -r '.synthesis.citations[]'
  webtools web-deep --cache refresh "python release schedule"
""",
    ),
    "web-news": _research(
        "find recent news",
        "Find recent news; the answer says how many of them really are recent.",
        """\
  webtools web-news python steering council
  webtools web-news --recency-days 2 "supply chain attack"
""",
    ),
    "web-docs": _research(
        "look into the documentation of software libraries",
        "Look into the documentation of software libraries first.",
        """\
  webtools web-docs "fastapi dependency injection"
  webtools web-docs --limit 3 -- argparse --help option
""",
    ),
}
CALLS = {
    "search": ToolCommand(
        "web_search",
        "search the web",
        "Search the web. Several queries run at the same time; quote each of them.",
        """\
  webtools search "asyncio task group" "structured concurrency"
  webtools search "python release" -n 3 --include-domain python.org
  webtools search "supply chain attack" --start-published-date 2026-01-01
  webtools search --json "lock files" | jq -r '.results[].url'
  webtools search -- -Wunused              a query that begins with a dash
  webtools search - < queries.txt          a query per line
""",
        "QUERY [QUERY ...]",
    ),
    "fetch": ToolCommand(
        "web_fetch",
        "read web pages",
        "Read web pages. Without a choice, the text of each page is printed as Markdown.",
        """\
  webtools fetch https://example.com
  webtools fetch https://example.com -o page.md
  webtools fetch https://example.com --question "Who runs this site?"
  webtools fetch https://example.com --summary --highlights
  webtools search --json rust | jq -r '.results[].url' | webtools fetch -
""",
        "URL [URL ...]",
    ),
    "summarize": ToolCommand(
        "summarize",
        "summarize the document behind a URL",
        "Summarize the document behind a URL: a page, PDF, video or podcast.",
        """\
  webtools summarize https://example.com/paper.pdf
  webtools summarize https://example.com --target-language DE
  webtools summarize https://example.com/spec --engine agnes
""",
        "URL",
    ),
    "read": ToolCommand(
        "web_read",
        "read the rest of an output that was cut",
        "Read the rest of an output that was cut: the handle stands at its end.\n"
        "Outputs are kept for a day.",
        """\
  webtools read 0b2d4c8f6e1a4f0c9d3b5a7e8c6f1d20 --offset 51200
  webtools read 0b2d4c8f6e1a4f0c9d3b5a7e8c6f1d20 --find "task group"
""",
        "HANDLE",
    ),
}
PLAN = ToolCommand(
    "web_research",
    "what a research command would do and cost; nothing is sent",
    "Tell what a research command would do and cost at most. Nothing is sent.",
    """\
  webtools plan "zip bombs" --command web-deep
  webtools plan --json "zip bombs" | jq .worst_cost_usd
""",
    "QUERY ...",
    "the plan",
)
_SEARCHING = {"web_search", "web_research"}
TOOL_COMMANDS = {**RESEARCH, **CALLS, "plan": PLAN}


def tool_parser(name: str) -> Parser:
    """Describe a command that calls a tool, or plans such a call."""
    from webtools.config.models import synthesis_names
    from webtools.inputs.options import options_of
    from webtools.tools import TOOLS

    told = TOOL_COMMANDS[name]
    model = TOOLS[told.tool].input_model
    usage = f"webtools {name} [OPTION ...] {told.subject}"
    parser = parser_for(name, told.description, f"examples:\n{told.examples}", usage)
    first, about = next(iter(model.model_fields.items()))
    parser.take_texts(told.subject_name, f"{about.description} Use - to read stdin.")
    parser.set_defaults(tool=told.tool, subject=first)
    # What the command's own name says is no option of it.
    fixed = {"command": name} if name in RESEARCH else {}
    parser.set_defaults(**fixed)
    choices = {"synthesis": synthesis_names()} if told.tool == "web_research" else {}
    options = options_of(model, choices)
    parser.take_options(each for each in options if each.target not in fixed)
    if told.tool == "web_research":
        _add_model(parser)
    if told.tool in _SEARCHING:
        _add_keyless(parser)
    if name == "plan":
        add_config(parser)
        add_json(parser, f"Print {told.data} as one JSON document.")
    else:
        add_call_options(parser, told.data)
    return parser


def _add_keyless(parser: Parser) -> None:
    parser.add_argument(
        "--keyless",
        action="store_true",
        default=None,
        help="Ask providers that need no key where no configured one can search.",
    )


def _add_model(parser: Parser) -> None:
    parser.add_argument(
        "--model",
        metavar="PROVIDER:NAME",
        help="Let this model write the answer, such as openai:gpt-5-mini. Takes LangChain or "
        "LlamaIndex, and their package for the provider.",
    )
