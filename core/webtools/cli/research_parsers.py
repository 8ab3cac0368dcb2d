"""The arguments of the research commands, and of the plan for one of them."""

from __future__ import annotations

import argparse

from webtools.cli.parsing import (
    Parser,
    add_call_options,
    add_config,
    add_json,
    add_texts,
    parser_for,
)

SUMMARIES = {
    "web": "find the top links for a question",
    "web-deep": "read the best pages and answer with citations",
    "web-news": "find recent news",
    "web-docs": "look into the documentation of software libraries",
}
_DESCRIPTIONS = {
    "web": "Find the top links for a question, with the next provider where one fails.",
    "web-deep": "Read the best pages for a question, and answer it: every claim cites the page\n"
    "that bears it out.",
    "web-news": "Find recent news; the answer says how many of them are recent indeed.",
    "web-docs": "Look into the documentation of software libraries first.",
}
_EXAMPLES = {
    "web": """\
  webtools web best sqlite gui
  webtools web --limit 3 "type checkers for python"
  webtools web --json rust editions | jq .meta.confidence
""",
    "web-deep": """\
  webtools web-deep "How do I generate secure random tokens in Python?"
  webtools web-deep --synthesis perplexity "what is a lease in DHCP"
  webtools web-deep --json "zip bombs" | jq -r '.synthesis.citations[]'
  webtools web-deep --refresh "python release schedule"
""",
    "web-news": """\
  webtools web-news python steering council
  webtools web-news --recency-days 2 "supply chain attack"
""",
    "web-docs": """\
  webtools web-docs "fastapi dependency injection"
  webtools web-docs --limit 3 -- argparse --help option
""",
}
_SYNTHESES = ("extractive", "perplexity", "none")  # a model cannot be handed in here
_QUERY = "the question, in one or more words; - reads it from stdin"


def research_parser(name: str) -> Parser:
    """Describe one of the four research commands."""
    parser = parser_for(
        name,
        _DESCRIPTIONS[name],
        f"examples:\n{_EXAMPLES[name]}",
        f"webtools {name} [OPTION ...] QUERY ...",
    )
    add_texts(parser, "QUERY", _QUERY)
    _add_question_options(parser)
    add_call_options(parser, "results, meta and synthesis")
    return parser


def _add_question_options(parser: Parser) -> None:
    parser.add_argument("--limit", metavar="N", help="most sources, 1 to 10")
    parser.add_argument(
        "--recency-days",
        metavar="N",
        help="age up to which a source counts as recent; without, the question decides",
    )
    parser.add_argument(
        "--synthesis",
        metavar="HOW",
        type=_synthesis,
        help="who writes the answer: extractive (sentences of the pages), perplexity, or none; "
        "without, as configured for web-deep, and none elsewhere",
    )


def plan_parser(name: str) -> Parser:
    """Describe `plan`."""
    parser = parser_for(
        name,
        "Tell what a research command would do and cost at most. Nothing is sent.",
        """\
examples:
  webtools plan "zip bombs" --command web-deep
  webtools plan --json "zip bombs" | jq .worst_cost_usd
""",
        "webtools plan [OPTION ...] QUERY ...",
    )
    add_texts(parser, "QUERY", _QUERY)
    parser.add_argument(
        "--command",
        dest="planned",
        metavar="NAME",
        type=_command,
        default="web",
        help="web (the default), web-deep, web-news or web-docs",
    )
    _add_question_options(parser)
    add_config(parser)
    add_json(parser, "print the plan as one JSON document")
    return parser


def _synthesis(text: str) -> str:
    if text.strip().lower() in {*_SYNTHESES, ""}:
        return text
    raise argparse.ArgumentTypeError(
        f'synthesis "{text}" is unknown; use one of {", ".join(_SYNTHESES)}'
    )


def _command(text: str) -> str:
    if text in SUMMARIES:
        return text
    raise argparse.ArgumentTypeError(f"command must be one of: {', '.join(SUMMARIES)}")
