"""The calls that `compare_trees.py` makes, as data."""

# ruff: noqa: D102, D103 - most functions say it by their names

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

USUAL = ("exa", "kagi", "brave", "perplexity")
OTHERS = (
    "context7",
    "tavily",
    "serper",
    "you",
    "firecrawl",
    "linkup",
    "parallel",
    "jina",
)


@dataclass(frozen=True)
class Step:
    """A call of a tool or method. `$docs` and `$news` stand for the sandbox's sites."""

    tool: str
    arguments: dict[str, Any]
    faults: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Scenario:
    """Calls of one instance, one after the other.

    Attributes:
        name: Unique.
        steps: The calls.
        providers: Names of the sandbox's providers, the default one first.
        settings: Further settings.
        entry: Further settings of the default provider.
    """

    name: str
    steps: tuple[Step, ...]
    providers: tuple[str, ...] = USUAL
    settings: dict[str, Any] = field(default_factory=dict)
    entry: dict[str, Any] = field(default_factory=dict)

    @property
    def is_for_methods(self) -> bool:
        """Whether this is about methods that no tool has."""
        return any(step.tool in {"verify", "plan"} for step in self.steps)

    def config(self, sandbox: Any, folder: Path) -> dict[str, Any]:
        known = {entry["name"]: entry for entry in sandbox.config(*OTHERS)["providers"]}
        host = sandbox.docs_url.split("/")[2]
        hosts = {"options": {"allowPrivateHosts": [host, host.replace("127.0.0.1", "localhost")]}}
        known["direct"] = {"name": "direct", "type": "direct", **hosts}
        entries = [known[name] for name in self.providers]
        entries[0] = {**entries[0], **self.entry}
        defaults = {"cache": {"enabled": False}, "log": {"enabled": False}}
        settings = {**defaults, **self.settings}
        settings["cache"] = {"path": str(folder / "store.sqlite3"), **settings["cache"]}
        return {"providers": entries, "defaultProvider": self.providers[0], **settings}


def call(tool: str, **arguments: Any) -> Step:
    return Step(tool, arguments)


def search(queries: Any = "heap queue", **options: Any) -> Step:
    return Step("web_search", {"queries": queries, **options})


def fetch(*names: str, **options: Any) -> Step:
    urls = [f"$docs/library/{name}.html" for name in names or ("json",)]
    return Step("web_fetch", {"urls": urls, **options})


def research(query: str = "How do I read a zip file?", **options: Any) -> Step:
    return Step("web_research", {"query": query, **options})


def summarize(**options: Any) -> Step:
    return Step("summarize", {"url": "$docs/library/json.html", **options})


def failing(step: Step, *faults: dict[str, Any]) -> Step:
    return Step(step.tool, step.arguments, faults)


# Without a Retry-After of 0 a retry would wait for a random time.
FAULTS: dict[str, dict[str, Any]] = {
    **{f"HTTP {status}": {"status": status} for status in (400, 401, 402, 403, 404, 408, 422, 500)},
    **{
        f"HTTP {status} at once": {"status": status, "retry_after": 0}
        for status in (429, 502, 503, 504)
    },
    "HTTP 429 for long": {"status": 429, "retry_after": 120},
    "HTTP 429 until a date": {"status": 429, "retry_after": 3000, "retry_after_as_date": True},
    "HTTP 302": {"status": 302, "headers": {"Location": "http://127.0.0.1:9/elsewhere"}},
    "HTML": {"body": "html"},
    "HTML and HTTP 500": {"body": "html", "status": 500},
    "no body": {"body": "empty"},
    "gzip": {"body": "gzip"},
    "key in the error": {"body": "echo"},
    "half a JSON document": {"body": b'{"results": ['},
    "an empty object": {"body": {}},
    "a list": {"body": []},
    "odd results": {"body": {"results": [None, 1, {"title": 2, "url": "ftp://x"}, {}]}},
    "results of text": {"body": {"results": "none", "data": "none"}},
    "control characters": {
        "body": b'{"error": "bad\\u001b[31m \\u202e\\u0007 request"}',
        "status": 400,
    },
}
ONCE: dict[str, dict[str, Any]] = {
    "one response cut": {"body": "cut", "times": 1},
    "one reset": {"reset": True, "times": 1},
    "one hangup": {"body": "hangup", "times": 1},
    "one HTTP 503": {"status": 503, "retry_after": 0, "times": 1},
}
SLOW: dict[str, dict[str, Any]] = {"no response in time": {"delay": 20.0}}
LARGE: dict[str, dict[str, Any]] = {"a bomb": {"body": "bomb"}}


def with_faults() -> Iterator[Scenario]:
    """Make each fault of the first provider happen to each kind of call."""
    calls = {
        "search": (search(), {"provider": "exa"}),
        "named search": (search(provider="exa"), {"provider": "exa"}),
        "fetch": (fetch(), {"path": "/contents"}),
        "summary": (summarize(), {"provider": "kagi"}),
        "direct fetch": (fetch(), {"provider": "pages"}),
    }
    for name, (step, where) in calls.items():
        faults = FAULTS if name in {"named search", "summary"} else {**FAULTS, **SLOW}
        if name in {"named search", "fetch"}:  # they wait for a random time, so not for all
            faults = {**faults, **ONCE, **LARGE}
        providers = ("direct",) if name == "direct fetch" else USUAL
        for fault, rule in faults.items():
            entry = {"timeoutMs": 800} if fault in SLOW else {}
            failed = failing(step, {"times": None, **where, **rule})
            yield Scenario(f"{name}: {fault}", (failed,), providers, entry=entry)
    for fault in ("HTTP 401", "HTTP 402", "HTTP 500", "HTML", "odd results"):
        for command in ("web", "web-deep"):
            failed = failing(
                research(command=command), {"provider": "exa", "times": None, **FAULTS[fault]}
            )
            yield Scenario(f"research {command}: {fault}", (failed,))
    down = [{"provider": name, "status": 500, "times": None} for name in USUAL]
    yield Scenario("all providers down", (failing(search(), *down),))
    yield Scenario("all providers down, research", (failing(research(), *down),))


def searches() -> Iterator[tuple[str, Step]]:
    yield from {
        "plain": search(),
        "several queries": search(["heap queue", "json decoder", "zip file"]),
        "equal queries": search(["heap queue", "Heap  Queue"]),
        "no results": search("qqqqzzzz"),
        "some without results": search(["heap queue", "qqqqzzzz"]),
        "limit": search(limit=2),
        "limit 0": search(limit=0),
        "many": search(limit=30),
        "include_domains": search(include_domains=["127.0.0.1"]),
        "exclude_domains": search("agency cache", exclude_domains=["localhost"]),
        "dates": search(
            "agency", start_published_date="2020-01-01", end_published_date="2030-01-01"
        ),
        "category": search("agency", category="news"),
        "country and language": search(country="DE", language="de"),
        "safe_search": search(safe_search="strict"),
        "page": search(page=2),
        "content": search(content=True, limit=2),
        "similar": search("$docs/library/heapq.html", similar=True),
        "markup": search("<b>json</b> \\ `code` | \x1b[31mred"),
        "not ASCII": search("größe Ünïcode 日本語 🐍"),
        "long": search("heap queue " * 40),
    }.items()


def invalid() -> Iterator[tuple[str, Step]]:
    yield from {
        "no arguments": call("web_search"),
        "empty query": search(""),
        "blank queries": search(["", " "]),
        "query is a number": search(5),
        "query and queries": call("web_search", query="a", queries=["b"]),
        "limit too high": search(limit=101),
        "limit negative": search(limit=-1),
        "limit is a text": search(limit="many"),
        "bad date": search(start_published_date="yesterday"),
        "dates the wrong way": search(
            start_published_date="2025-01-01", end_published_date="2024-01-01"
        ),
        "unknown category": search(category="cats"),
        "unknown provider": search(provider="exaa"),
        "unable provider": fetch(provider="brave"),
        "max_results": search(max_results=3),
        "num_results": search(num_results=3),
        "camelCase": call("web_search", query="heap queue", includeDomains="127.0.0.1"),
        "unknown argument": search(colour="red"),
        "safe_search unknown": search(safe_search="maybe"),
        "page 0": search(page=-1),
        "country unknown": search(country="Atlantis"),
        "no URL": call("web_fetch", urls=[]),
        "URL without scheme": call("web_fetch", urls=["example.com/page"]),
        "ftp URL": call("web_fetch", urls=["ftp://example.com/"]),
        "private host": call("web_fetch", urls=["http://10.0.0.1/"], provider="direct"),
        "text_max_characters": fetch(text_max_characters=0),
        "text_max_characters negative": fetch(text_max_characters=-5),
        "summary_type unknown": summarize(summary_type="poem"),
        "engine unknown": summarize(engine="steam"),
        "summary of no URL": call("summarize", url="not a url"),
        "research command": research(command="web-wide"),
        "research limit": research(limit=99),
        "recency_days": research(recency_days=-1),
        "synthesis unknown": research(synthesis="oracle"),
        "unknown handle": call("web_read", handle="f" * 32),
        "bad handle": call("web_read", handle="../etc/passwd"),
    }.items()


LONG = fetch("typing", "doctest", "inspect", "difflib")


def fetches() -> Iterator[tuple[str, Step]]:
    yield from {
        "one": fetch(),
        "two": fetch("json", "heapq"),
        "one is missing": fetch("json", "nowhere"),
        "all are missing": fetch("nowhere", "nothing"),
        "equal": fetch("json", "json"),
        "question": fetch("zipfile", question="How do I read a zip file?"),
        "question off topic": fetch("zipfile", question="glacier penguins"),
        "highlights": fetch(highlights=True),
        "summary": fetch(summary=True),
        "short": fetch(text_max_characters=300),
        "long": LONG,
        "news": call("web_fetch", url="$news"),
        "site": call("web_fetch", url="$docs"),
    }.items()


def several_steps() -> Iterator[Scenario]:
    """Make calls whose outcome depends on those before."""
    cached = {"cache": {"enabled": True}}
    refused = failing(search(), {"provider": "exa", "status": 402})
    down = failing(search(), {"provider": "exa", "status": 500})
    other = search("json decoder")
    refresh, bypass = (search(cache=mode) for mode in ("refresh", "bypass"))
    read = call("web_read", handle="$handle", offset=51_000)
    find = call("web_read", handle="$handle", find="SequenceMatcher")
    far = call("web_read", handle="$handle", offset=10**9)
    yield Scenario(
        "cached", (search(), search(["heap queue", "json decoder"]), other), settings=cached
    )
    yield Scenario("cached pages", (fetch(), fetch("json", "heapq")), settings=cached)
    yield Scenario("cached summary", (summarize(), summarize()), settings=cached)
    yield Scenario("cached research", (research(), research(command="web-deep")), settings=cached)
    yield Scenario("failure not cached", (down, search()), settings=cached)
    yield Scenario("circuit opened at once", (refused, other, search(provider="exa")))
    yield Scenario("circuit opened by three", (down, down, down, search()))
    yield Scenario("circuit of the only provider", (refused, search()), ("exa",))
    yield Scenario("reading on", (LONG, read, find, far))
    yield Scenario("cache modes", (search(), refresh, bypass, search()), settings=cached)


def with_settings() -> Iterator[Scenario]:
    twice = (search(), search("json decoder"))
    for name, budget in {
        "callsPerDay": {"callsPerDay": 1},
        "usdPerDay": {"usdPerDay": 0.008},
        "callsPerProcess": {"callsPerProcess": 1},
        "usdPerDay too low": {"usdPerDay": 0.001},
    }.items():
        yield Scenario(f"budget: {name}", twice, settings={"budget": budget})
    refused = failing(search(), {"provider": "exa", "status": 402})
    yield Scenario("no failover", (refused,), settings={"failover": False})
    yield Scenario("maxResults", (search(),), settings={"maxResults": 2})
    for fence in ("off", "all", "pages"):
        yield Scenario(f"fence: {fence}", (fetch(), search()), settings={"fence": fence})
    domains = {"fetch": {"denyDomains": ["127.0.0.1"]}}
    yield Scenario("denied domain", (fetch(), search(limit=2)), settings=domains)
    yield Scenario(
        "no synthesis",
        (research(command="web-deep"),),
        settings={"research": {"synthesis": "none"}},
    )
    fallback = {"fetchFallback": "direct"}
    failed = failing(fetch(), {"path": "/contents", "status": 402})
    yield Scenario("fetchFallback", (failed,), ("exa", "direct"), entry=fallback)


def methods() -> Iterator[Scenario]:
    for command in ("web", "web-deep", "web-news", "web-docs"):
        yield Scenario(f"plan {command}", (call("plan", query="zip file", command=command),))
    source = "$docs/library/zipfile.html"
    answer = f"The ZIP file format is a common archive. Zip files fly [1].\n\n[1]: {source}"
    yield Scenario("verify", (call("verify", answer=answer),), ("direct", "exa"))
    yield Scenario("verify a text", (call("verify", answer="A is B [1].", sources=["A is B."]),))


def scenarios() -> list[Scenario]:
    made = [Scenario(f"search {name}", (step,)) for name, step in searches()]
    made += [Scenario(f"invalid: {name}", (step,), (*USUAL, "direct")) for name, step in invalid()]
    for provider in ("exa", "direct"):
        made += [
            Scenario(f"fetch by {provider}: {name}", (step,), (provider,))
            for name, step in fetches()
        ]
    for provider in (*USUAL[1:], *OTHERS):
        made.append(Scenario(f"{provider}: search", (search(limit=3),), (provider,)))
        made.append(Scenario(f"{provider}: fetch", (fetch("heapq"),), (provider,)))
    for command in ("web", "web-deep", "web-news", "web-docs"):
        for query in ("How do I read a zip file?", "agency news this week", "qqqqzzzz"):
            step = research(query, command=command)
            made.append(Scenario(f"research {command}: {query}", (step,), (*USUAL, "context7")))
    for options in (
        {},
        {"summary_type": "takeaway"},
        {"engine": "agnes"},
        {"target_language": "DE"},
    ):
        made.append(Scenario(f"summarize {options}", (summarize(**options),)))
    return [*made, *several_steps(), *with_settings(), *methods(), *with_faults()]
