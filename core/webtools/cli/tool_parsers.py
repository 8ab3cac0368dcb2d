"""The arguments of the commands that call one tool: search, fetch, summarize and read."""

from __future__ import annotations

from webtools.cli.parsing import (
    Parser,
    add_call_options,
    add_config,
    add_flag,
    add_json,
    add_plain,
    add_provider,
    add_texts,
    parser_for,
)


def search_parser(name: str) -> Parser:
    """Describe `search`."""
    parser = parser_for(
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
    add_texts(parser, "QUERY", "what to search for; - reads lines from stdin")
    parser.add_argument("--limit", metavar="N", help="most results per query, 1 to 100")
    _add_filters(parser)
    add_provider(parser)
    add_call_options(parser)
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


def fetch_parser(name: str) -> Parser:
    """Describe `fetch`."""
    parser = parser_for(
        name,
        "Read web pages. Without a choice, the text of each page is printed as Markdown.",
        """\
examples:
  webtools fetch https://example.com
  webtools fetch https://a.example https://b.example --max-characters 2000
  webtools fetch https://example.com --question "Who runs this site?"
  webtools fetch https://example.com --summary --highlights
  webtools search --json rust | jq -r '.results[].url' | webtools fetch -
""",
        "webtools fetch [OPTION ...] URL [URL ...]",
    )
    add_texts(parser, "URL", "http(s) URL; - reads lines from stdin")
    parser.add_argument(
        "--question",
        metavar="WORDS",
        help="print the passages of each page that bear on this question, not the whole text",
    )
    add_flag(parser, "--text", "print the text of the page, also beside other choices")
    add_flag(parser, "--highlights", "print the most relevant extracts")
    add_flag(parser, "--summary", "print a summary of each page")
    parser.add_argument(
        "--max-characters",
        dest="text_max_characters",
        metavar="N",
        help="most characters of text per page",
    )
    add_provider(parser)
    add_call_options(parser)
    return parser


def summarize_parser(name: str) -> Parser:
    """Describe `summarize`."""
    parser = parser_for(
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
    add_texts(parser, "URL", "http(s) URL; - reads it from stdin")
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
    add_provider(parser)
    add_call_options(parser)
    return parser


def read_parser(name: str) -> Parser:
    """Describe `read`."""
    parser = parser_for(
        name,
        "Read the rest of an output that was cut: the handle stands at its end.\n"
        "Outputs are kept for a day.",
        """\
examples:
  webtools read 0b2d4c8f6e1a4f0c9d3b5a7e8c6f1d20 --offset 51200
  webtools read 0b2d4c8f6e1a4f0c9d3b5a7e8c6f1d20 --find "task group"
""",
        "webtools read [OPTION ...] HANDLE",
    )
    parser.add_argument("handle", metavar="HANDLE", help="handle of the output")
    parser.add_argument("--offset", metavar="N", help="character to begin at; without, the first")
    parser.add_argument(
        "--find",
        metavar="WORDS",
        help="go to these words, whatever their case; looked for from the offset on",
    )
    add_config(parser)
    add_plain(parser)
    add_json(parser, "print all details as one JSON document")
    parser.set_defaults(refresh=False, no_cache=False)  # nothing is asked that could be kept
    return parser
