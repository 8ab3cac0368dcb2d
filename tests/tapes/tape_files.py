"""Tapes that tests write by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

AT = "2026-11-01T00:00:00Z"
HEADER = {"tape": 1, "webtools": "0.5.0", "created": AT}


def write_tape(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in (HEADER, *lines)))
    return path


def search_line(query: str, *urls: str, **arguments: Any) -> dict[str, Any]:
    results = [
        {"title": "A", "url": url, "source_provider": "exa", "query": query}
        for url in urls or ("https://a.example/",)
    ]
    response = {"provider": "exa", "queries": [query], "results": results, "cost_usd": 0.005}
    return {
        "tool": "web_search",
        "arguments": {"queries": [query], **arguments},
        "at": AT,
        "settings": {"providers": ["exa"], "max_results": 5, "fence": "pages"},
        "response": response,
    }


def page_line(*pages: dict[str, Any], **facts: Any) -> dict[str, Any]:
    known = [{"url": "https://a.example/", "source_provider": "direct", **page} for page in pages]
    return {
        "tool": "web_fetch",
        "arguments": {"urls": [page["url"] for page in known]},
        "at": AT,
        "response": {"provider": "direct", "pages": known, "retrieved_at": AT, **facts},
    }
