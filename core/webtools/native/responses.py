"""Read responses of the Responses API: OpenAI, xAI, and the Agent API of Perplexity."""

from __future__ import annotations

from webtools.native.blocks import Block, web_url
from webtools.native.findings import Findings

_FREE_ACTIONS = {"open_page", "find_in_page"}
_TICKS_PER_USD = 10**10
_MAX_TICKS = 10**16
_UNFINISHED = {"in_progress", "searching", "incomplete"}


def read_responses(response: Block, found: Findings) -> None:
    """Read a response, or an object whose `content` is the list of blocks."""
    for item in response.blocks("output") or response.blocks("content"):
        _read_item(item, found)
    for citation in response.values("citations"):  # xAI lists all URLs as texts
        found.add_source(Block({"url": citation} if isinstance(citation, str) else citation))
    for result in response.blocks("search_results"):
        found.add_source(result)
    tools = response.block("tool_usage")  # of OpenAI
    found.stated_searches = tools.block("web_search").count("num_requests")
    _read_usage(response.block("usage"), found)
    status = response.line("status")
    if status and status != "completed":
        found.stop = response.block("incomplete_details").line("reason") or status


def _read_item(item: Block, found: Findings) -> None:
    kind = item.line("type")
    if kind == "message" or (not kind and "content" in item):
        for part in item.blocks("content"):
            _read_text(part, found)
        if text := item.text("content"):
            found.add_text(text)
    elif kind.endswith("search_call"):
        _read_call(item, found)
    elif kind.startswith("fetch_url"):
        for page in item.blocks("contents"):
            found.add_opened(page.url("url"))
    elif "results" in item:
        found.queries += item.lines("queries")
        found.counted += 1
        for result in item.blocks("results"):
            found.add_source(result)
    else:
        _read_text(item, found)


def _read_text(part: Block, found: Findings) -> None:
    start = found.add_text(part.text("text"))
    for note in part.blocks("annotations"):
        if "url" not in note:  # cites a file
            continue
        first, last = note.index("start_index"), note.index("end_index")
        if first is None or last is None:
            found.add_citation(note, (None, None))
        else:
            found.add_citation(note, (start + first, start + last))


def _read_call(call: Block, found: Findings) -> None:
    action, status = call.block("action"), call.line("status")
    if status == "failed":
        found.add_error(Block({"code": "search_failed"}))
    if action.line("type") in _FREE_ACTIONS:
        found.add_opened(action.url("url"))
        return
    found.queries += action.lines("queries") or action.lines("query")
    if status in _UNFINISHED:
        found.pending += 1
    elif status != "failed":
        found.counted += 1
    for source in action.values("sources"):
        block = Block({"url": source} if isinstance(source, str) else source)
        if web_url(block.get("url")) or "url" in block:
            found.add_source(block)
        elif name := block.line("name", "type"):  # a feed, such as `oai-weather`
            found.warnings.append(f'The vendor used a feed without a URL: "{name}".')


def _read_usage(usage: Block, found: Findings) -> None:
    details = usage.block("server_side_tool_usage_details")  # of xAI
    if found.stated_searches is None:
        found.stated_searches = details.count("web_search_calls")
    if (ticks := usage.number("cost_in_usd_ticks", _MAX_TICKS)) is not None:
        found.stated_usd, found.cost_has_tokens = ticks / _TICKS_PER_USD, True
    _read_perplexity_usage(usage, found)


def _read_perplexity_usage(usage: Block, found: Findings) -> None:
    tools, cost = usage.block("tool_calls_details"), usage.block("cost")
    searches = [tools.block(name) for name in ("search_web", "web_search") if name in tools]
    counts = [n for tool in searches if (n := tool.count("invocation")) is not None]
    if counts and found.stated_searches is None:
        found.stated_searches = sum(counts)
    prices = [usd for tool in searches if (usd := tool.number("cost_usd")) is not None]
    if prices:
        found.stated_usd = sum(prices)
    elif (usd := cost.number("tool_calls_cost")) is not None:
        found.stated_usd = usd
    elif (usd := cost.number("total_cost")) is not None:
        found.stated_usd, found.cost_has_tokens = usd, True
