"""Responses in the documented form of each vendor, written for these tests."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

# "é" has two bytes in UTF-8: offsets in bytes and in characters differ.
SENTENCE = "Le café Zénith ouvre à huit heures."
URL = "https://zenith.example/horaires"
OTHER = "https://guide.example/cafes?ville=lyon"


def openai(**fields: Any) -> Json:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_790_000_000,
        "model": "gpt-5.2",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "output": [
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {
                    "type": "search",
                    "query": "café zénith horaires",
                    "queries": ["café zénith horaires"],
                    "sources": [{"type": "url", "url": URL}, {"type": "url", "url": OTHER}],
                },
            },
            {
                "type": "web_search_call",
                "id": "ws_2",
                "status": "completed",
                "action": {"type": "open_page", "url": URL},
            },
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [
                    {
                        "type": "output_text",
                        "text": SENTENCE,
                        "annotations": [
                            {
                                "type": "url_citation",
                                "url": f"{URL}?utm_source=openai",
                                "title": "Zénith",
                                "start_index": 3,
                                "end_index": 14,
                            }
                        ],
                    }
                ],
            },
        ],
        "tool_usage": {"web_search": {"num_requests": 1}},
        "usage": {
            "input_tokens": 5,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 9,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 14,
        },
        **fields,
    }


def anthropic_blocks() -> list[Json]:
    return [
        {"type": "text", "text": "Je cherche. "},
        {
            "type": "server_tool_use",
            "id": "srvtoolu_1",
            "name": "web_search",
            "input": {"query": "café zénith horaires"},
            "caller": {"type": "direct"},
        },
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "caller": {"type": "direct"},
            "content": [
                {
                    "type": "web_search_result",
                    "url": URL,
                    "title": "Zénith",
                    "encrypted_content": "abc",
                    "page_age": "3 May 2026",
                },
                {
                    "type": "web_search_result",
                    "url": OTHER,
                    "title": "Guide",
                    "encrypted_content": "def",
                    "page_age": None,
                },
            ],
        },
        {
            "type": "text",
            "text": SENTENCE,
            "citations": [
                {
                    "type": "web_search_result_location",
                    "url": URL,
                    "title": "Zénith",
                    "encrypted_index": "e1",
                    "cited_text": "Ouvert dès 8 h",
                }
            ],
        },
    ]


def anthropic(**fields: Any) -> Json:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": anthropic_blocks(),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 5,
            "output_tokens": 9,
            "server_tool_use": {"web_search_requests": 1, "web_fetch_requests": 0},
        },
        **fields,
    }


def google(**fields: Any) -> Json:
    start = len(b"Le ")
    end = len("Le café Zénith".encode())
    return {
        "modelVersion": "gemini-3.5-flash",
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": SENTENCE}]},
                "finishReason": "STOP",
                "groundingMetadata": {
                    "webSearchQueries": ["café zénith horaires", "zénith lyon"],
                    "groundingChunks": [
                        {"web": {"uri": URL, "title": "zenith.example"}},
                        {"web": {"uri": OTHER, "title": "guide.example"}},
                    ],
                    "groundingSupports": [
                        {
                            "segment": {
                                "startIndex": start,
                                "endIndex": end,
                                "text": "café Zénith",
                            },
                            "groundingChunkIndices": [0],
                        }
                    ],
                    "searchEntryPoint": {"renderedContent": "<div>zénith</div>"},
                },
            }
        ],
        **fields,
    }


def xai(**fields: Any) -> Json:
    response = openai(model="grok-4-fast", citations=[URL, OTHER])
    del response["tool_usage"]
    response["output"][0]["action"].pop("sources")
    response["usage"] |= {
        "num_sources_used": 2,
        "server_side_tool_usage_details": {"web_search_calls": 2},
        "cost_in_usd_ticks": 292_331_500,
    }
    return {**response, **fields}


def groq(**fields: Any) -> Json:
    results = [
        {"title": "Zénith", "url": URL, "content": "Ouvert dès 8 h", "score": 0.9},
        {"title": "Guide", "url": OTHER, "content": "", "score": 0.4},
    ]
    message = {
        "role": "assistant",
        "content": SENTENCE,
        "executed_tools": [
            {
                "index": 0,
                "type": "search",
                "arguments": '{"query": "café zénith horaires"}',
                "output": "",
                "search_results": {"results": results},
            }
        ],
    }
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"model": "groq/compound", "choices": [choice], **fields}


def perplexity(**fields: Any) -> Json:
    results = [
        {"id": 1, "title": "Zénith", "url": URL, "snippet": "Ouvert dès 8 h", "date": "2026-05-03"},
        {"id": 2, "title": "Guide", "url": OTHER, "snippet": ""},
    ]
    return {
        "object": "response",
        "model": "openai/gpt-5.2",
        "status": "completed",
        "error": None,
        "output": [
            {
                "type": "search_results",
                "queries": ["café zénith horaires"],
                "results": results,
            },
            {
                "type": "message",
                "content": [{"type": "output_text", "text": SENTENCE, "annotations": []}],
            },
        ],
        "usage": {
            "tool_calls_details": {"search_web": {"invocation": 1, "cost_usd": 0.0025}},
            "cost": {"currency": "USD", "total_cost": 0.004},
        },
        **fields,
    }


MAKERS = {
    "openai": openai,
    "anthropic": anthropic,
    "google": google,
    "xai": xai,
    "groq": groq,
    "perplexity": perplexity,
}
