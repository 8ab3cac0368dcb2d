"""The simulated vendors refuse what they cannot serve, and faults that would do nothing."""

from __future__ import annotations

from itertools import product
from typing import Any, get_args

import httpx
import pytest

from webtools_sandbox import SandboxServer
from webtools_sandbox.models.turn import SearchFault

VENDORS = ("openai", "anthropic", "google")
EFFECTIVE = {
    *product(VENDORS, ("error", "outside")),
    *product(("openai", "anthropic"), ("uncounted",)),
    *product(("anthropic",), ("pause", "later")),
}
QUESTION = "How do I read a zip file?"
SEARCH: dict[str, Any] = {
    "openai": {"type": "web_search"},
    "anthropic": {"type": "web_search_20250305", "name": "web_search"},
    "google": {"googleSearch": {}},
}


def body_of(vendor: str, question: Any, tool: Any = None) -> dict[str, Any]:
    tools = [SEARCH[vendor] if tool is None else tool]
    if vendor == "google":
        return {"contents": [{"role": "user", "parts": [{"text": question}]}], "tools": tools}
    message = {"role": "user", "content": question}
    name = "input" if vendor == "openai" else "messages"
    return {"model": "m", name: [message], "tools": tools}


def post(server: SandboxServer, vendor: str, body: Any) -> httpx.Response:
    path = {"openai": "/responses", "anthropic": "/v1/messages"}.get(vendor)
    path = path or "/v1beta/models/gemini-3.5-flash:generateContent"
    key = f"test-key-{vendor}"
    headers = {"x-api-key": key, "x-goog-api-key": key, "authorization": f"Bearer {key}"}
    return httpx.post(f"{server.model_url(vendor)}{path}", json=body, headers=headers)


@pytest.mark.parametrize("vendor", [*VENDORS, None, "exa"])
@pytest.mark.parametrize("search", get_args(SearchFault))
def test_a_fault_of_the_search_has_an_effect_or_is_refused(
    vendor: str | None, search: Any, webtools_sandbox: SandboxServer
) -> None:
    if (vendor, search) not in EFFECTIVE:
        with pytest.raises(ValueError, match=search):
            webtools_sandbox.fault(provider=vendor, search=search)
        return
    assert vendor is not None
    body = body_of(vendor, QUESTION)
    if search == "later":
        body["tools"].append({"name": "web_fetch", "input_schema": {"type": "object"}})
    usual = post(webtools_sandbox, vendor, body).json()
    webtools_sandbox.fault(provider=vendor, search=search)
    faulty = post(webtools_sandbox, vendor, body).json()
    assert shape_of(faulty) != shape_of(usual)


def shape_of(value: Any) -> Any:
    """Leave out what differs between any two responses: ids and times."""
    if isinstance(value, dict):
        return {
            name: shape_of(part)
            for name, part in value.items()
            if not name.lower().endswith("id") and name != "created_at"
        }
    return [shape_of(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("part", [None, 7, "x", "", [], {}, [7], [[]], {"role": "assistant"}])
def test_no_request_makes_a_vendor_fail(
    vendor: str, part: Any, webtools_sandbox: SandboxServer
) -> None:
    search = SEARCH[vendor]
    bodies: list[Any] = [part, body_of(vendor, part)]
    bodies += [{**body_of(vendor, QUESTION), name: part} for name in body_of(vendor, QUESTION)]
    fields = ("filters", "allowed_domains", "max_uses", "googleSearch", "timeRangeFilter")
    bodies += [body_of(vendor, QUESTION, {**search, name: part}) for name in fields]
    bodies += [{**body_of(vendor, QUESTION), name: part} for name in ("include", "toolConfig")]
    for body in bodies:
        assert post(webtools_sandbox, vendor, body).status_code in {200, 400}, body
    assert post(webtools_sandbox, vendor, body_of(vendor, QUESTION)).status_code == 200


@pytest.mark.parametrize(
    ("vendor", "tool"),
    [
        ("openai", {"type": "web_search", "filters": {"blocked_domains": ["a.example"]}}),
        ("anthropic", {**SEARCH["anthropic"], "max_uses": 0}),
        (
            "anthropic",
            {
                **SEARCH["anthropic"],
                "allowed_domains": ["a.example"],
                "blocked_domains": ["b.example"],
            },
        ),
    ],
    ids=str,
)
def test_what_the_api_does_not_document_is_refused(
    vendor: str, tool: Any, webtools_sandbox: SandboxServer
) -> None:
    assert post(webtools_sandbox, vendor, body_of(vendor, QUESTION, tool)).status_code == 400
