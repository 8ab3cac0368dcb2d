"""Results as tools give them, with what pages may put into them."""

from __future__ import annotations

from typing import Any

from webtools.tools import ToolResult

CSI = "\x1b[31;1m\x1b[2J\x1b[H"
OSC_LINK = "\x1b]8;;https://evil.example/\x1b\\safe\x1b]8;;\x1b\\"
OSC_TITLE = "\x1b]0;owned\x07"
OVERRIDE = "\u202egpj.exe"
ZERO_WIDTH = "pay\u200bpal\u2060\ufeff.com\u00ad\U000e0041"
TOWER = "Z" + "".join(map(chr, range(0x310, 0x340)))
CYRILLIC_HOST = "https://\u0430pple.example/"

COMMON: dict[str, Any] = {
    "provider": "exa",
    "warnings": [],
    "cost_usd": 0.005,
    "cost_is_estimate": True,
    "cache_hit": False,
    "retrieved_at": None,
    "truncation": None,
    "full_output_path": None,
    "error": None,
}


def hit(title: str, url: str, snippet: str = "") -> dict[str, Any]:
    return {
        "title": title,
        "url": url,
        "snippet": snippet,
        "published_at": None,
        "author": None,
        "score": 1.0,
        "source_provider": "exa",
        "query": "q",
    }


def search(*hits: dict[str, Any], **more: Any) -> ToolResult:
    details = {"queries": ["q"], "results": [*hits], "errors": [], "filters": {}} | COMMON
    return ToolResult("text", details | {"result_count": len(hits)} | more)


PLAIN = hit(
    "Structural Pattern Matching",
    "https://docs.python.org/3/whatsnew/3.10.html#pep-634-structural-pattern-matching",
    "Structural pattern matching has been added in the form of a match statement and case "
    "statements of patterns with associated actions.",
)
WIDE = hit(
    "構造的パターンマッチングの仕様とチュートリアル: パイソンの新しい構文を例とともに説明する文書",
    "https://ja.example/構造的/パターン?q=一致",
    "マッチ文は式の値を一つ以上のケースブロックと比べます。한국어도 있습니다. 中文也可以。",
)
EMOJI = hit(
    "🐍 Python 👩‍💻 tips ❤️ 🇩🇪 🏳️‍🌈 :smile: [bold red]not markup[/] [link=https://evil.example]x[/link]",
    "https://emoji.example/🐍",
    "Thumbs 👍🏽 up, 1️⃣ first, [/nonsense] [@click=app.quit]",
)
RTL = hit(
    "מדריך לשפת פייתון — دليل بايثون",
    "https://he.example/מדריך",
    "התאמת תבניות: مطابقة الأنماط 123",
)
HOSTILE = hit(
    f"{CSI}Free {OSC_LINK} {OSC_TITLE}money {OVERRIDE} <script>alert(1)</script>\r\n3 results",
    "javascript:alert(document.cookie)",
    f"{ZERO_WIDTH} \x9b31mred\x07\x08\x08 \u2066isolated\u2069 {TOWER}algo",
)
HUGE = hit("A" * 1_000_000, "https://huge.example/" + "b" * 1_000_000, "\x1b[5m" * 250_000)
SPOOFED = hit("Log in", "https://bank.example@evil.example/", CYRILLIC_HOST)

TRICKY = [PLAIN, WIDE, EMOJI, RTL, HOSTILE, HUGE, SPOOFED]
TRICKY_TEXTS = [one["title"] for one in TRICKY]
FAILED_QUERY = {"query": f"{CSI}zebra", "message": f"exa answered 500: <b>{OSC_LINK}</b>"}


def many(count: int) -> ToolResult:
    hits = [hit(f"Title {n}", f"https://example.com/{n}", f"Snippet {n}") for n in range(count)]
    saved = {"truncation": {"total_lines": 1}, "full_output_path": "/tmp/webtools/output.txt"}
    return search(*hits, **saved)


QUERIES = search(
    PLAIN | {"query": "pattern matching"},
    WIDE | {"query": "一致"},
    queries=["pattern matching", "一致", "zxqj", f"{CSI}zebra"],
    errors=[FAILED_QUERY],
)


def page(url: str, **facts: Any) -> dict[str, Any]:
    empty = {"title": None, "text": None, "highlights": [], "summary": None}
    return {"url": url} | empty | {"published_at": None, "author": None, "error": None} | facts


FETCHED = ToolResult(
    "text",
    {
        "results": [
            page("https://docs.example/json", title="json — JSON encoder", text="…"),
            page("https://ja.example/構造", title="構造的パターンマッチング " * 5, text="…"),
            page("https://gone.example/x", error=f"HTTP 404 {CSI}Not\nFound"),
            page("https://bare.example/", text="…"),
        ],
        "result_count": 3,
        "fetched_count": 3,
        "failed_count": 1,
    }
    | COMMON
    | {"truncation": {"total_lines": 9000}, "full_output_path": "/tmp/webtools-x/output.txt"}
    | {"warnings": [f"The page was cut {OVERRIDE}"]},
)

SUMMARY_TEXT = "\n".join(f"- Point {n}: {'words ' * (n % 4 + 1) * 5}" for n in range(30))
SUMMARY = ToolResult(
    f"{SUMMARY_TEXT}\n\nWarning: target_language was not applied.",
    {
        "url": "https://a.example",
        "summary_type": "takeaway",
        "engine": "agnes",
        "tokens": 1234,
        "results": [],
        "result_count": 0,
    }
    | COMMON
    | {"warnings": ["target_language was not applied."]},
)

RESEARCH = ToolResult(
    "text",
    {
        "results": [PLAIN, WIDE, HOSTILE, RTL, EMOJI],
        "result_count": 5,
        "meta": {
            "query": "q",
            "normalized_query": "q",
            "retrieved_at": "2026-11-22T10:02:00Z",
            "cost_usd": 0.012,
            "command": "web-deep",
            "provider_chain": ["brave", "exa"],
            "provider_used": "exa",
            "cache_hit": True,
            "confidence": "medium",
            "uncertainty": "Limited source count.",
            "degraded": ["brave", "synthesis"],
        },
        "synthesis": {
            "summary": f"Python 3.10 added match [1]. マッチ文です [2].{CSI}\n\nIt is soft [1].",
            "citations": [PLAIN["url"], WIDE["url"], "javascript:alert(1)"],
        },
    }
    | COMMON,
)

READ = ToolResult(
    "\n".join(f"line {n}" for n in range(25)),
    {
        "handle": "page-7f3a",
        "content": "\n".join(f"line {n}" for n in range(25)),
        "offset": 12_000,
        "next_offset": 12_199,
        "total_characters": 90_000,
    }
    | {"results": [], "result_count": 0}
    | COMMON,
)


def failure(message: str) -> ToolResult:
    error = {"type": "QuotaError", "message": message, "provider": "exa", "status": 402}
    details = {"provider": "exa", "results": [], "warnings": [], "result_count": 0}
    return ToolResult(message, details | COMMON | {"error": error}, is_error=True)
