"""Read responses of the Responses API: OpenAI, xAI, and the Agent API of Perplexity."""

from __future__ import annotations

from webtools.native.blocks import Block, web_url
from webtools.native.findings import Findings

_FREE_ACTIONS = {"open_page", "find_in_page"}
_TICKS_PER_USD = 10**10
_MAX_TICKS = 10**16
_UNFINISHED = {"in_progress", "searching", "incomplete"}


def read_responses(response: Block, findings: Findings) -> None:
    """Read a response, or an object whose `content` is the list of blocks."""
    for item in response.blocks("output") or response.blocks("content"):
        _read_item(item, findings)
    for citation in response.values("citations"):  # xAI lists all URLs as texts
        findings.add_source(Block({"url": citation} if isinstance(citation, str) else citation))
    for result in response.blocks("search_results"):
        findings.add_result(result)
    tools = response.block("tool_usage")  # of OpenAI
    findings.stated_searches = tools.block("web_search").count("num_requests")
    _read_usage(response.block("usage"), findings)
    status = response.line("status")
    if status and status != "completed":
        findings.stop = response.block("incomplete_details").line("reason") or status


def _read_item(item: Block, findings: Findings) -> None:
    kind = item.line("type")
    if kind == "message" or (not kind and "content" in item):
        for part in item.blocks("content"):
            _read_text(part, findings)
        if text := item.text("content"):
            findings.add_text(text)
    elif kind.endswith("search_call"):
        _read_call(item, findings)
    elif kind.startswith("fetch_url"):
        for page in item.blocks("contents"):
            findings.add_opened(page.url("url"))
    elif kind == "search_results":  # of Perplexity
        findings.queries += item.lines("queries")
        findings.counted += 1
        for result in item.blocks("results"):
            findings.add_result(result)
    else:
        _read_text(item, findings)


def _read_text(part: Block, findings: Findings) -> None:
    start = findings.add_text(part.text("text"))
    for note in part.blocks("annotations"):
        if "url" not in note:  # cites a file
            continue
        first, last = note.index("start_index"), note.index("end_index")
        if first is None or last is None:
            findings.add_citation(note, (None, None))
        else:
            findings.add_citation(note, (start + first, start + last))


def _read_call(call: Block, findings: Findings) -> None:
    action, status = call.block("action"), call.line("status")
    if status == "failed":
        findings.add_error(Block({"code": "search_failed"}))
    queries = action.lines("queries") + action.lines("query")
    if action.line("type") in _FREE_ACTIONS or ("url" in action and not queries):
        findings.add_opened(action.url("url"))
        return
    findings.queries += queries
    if status in _UNFINISHED:
        findings.pending += 1
    elif status != "failed":
        findings.counted += 1
    for source in action.values("sources"):
        block = Block({"url": source} if isinstance(source, str) else source)
        if web_url(block.get("url")) or "url" in block:
            findings.add_result(block)
        elif name := block.line("name", "type"):  # a feed, such as `oai-weather`
            findings.warnings.append(f'The vendor used a feed without a URL: "{name}".')


def _read_usage(usage: Block, findings: Findings) -> None:
    details = usage.block("server_side_tool_usage_details")  # of xAI
    if findings.stated_searches is None:
        findings.stated_searches = details.count("web_search_calls")
    if (ticks := usage.number("cost_in_usd_ticks", _MAX_TICKS)) is not None:
        findings.stated_usd, findings.cost_has_tokens = ticks / _TICKS_PER_USD, True
    _read_perplexity_usage(usage, findings)


def _read_perplexity_usage(usage: Block, findings: Findings) -> None:
    tools, cost = usage.block("tool_calls_details"), usage.block("cost")
    searches = [tools.block(name) for name in ("search_web", "web_search") if name in tools]
    counts = [n for tool in searches if (n := tool.count("invocation")) is not None]
    if counts and findings.stated_searches is None:
        findings.stated_searches = sum(counts)
    prices = [usd for tool in searches if (usd := tool.number("cost_usd")) is not None]
    if prices:
        findings.stated_usd = sum(prices)
    elif (usd := cost.number("tool_calls_cost")) is not None:
        findings.stated_usd = usd
    elif (usd := cost.number("total_cost")) is not None:
        findings.stated_usd, findings.cost_has_tokens = usd, True
