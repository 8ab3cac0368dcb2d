"""What LangChain sends to the APIs of language models: `python strict_requests.py` prints it.

The agents are made with a response format, which some versions of LangChain take as a reason to
ask for strict tool calls, and the models are also bound with `strict=True`.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import langchain
from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from pydantic import BaseModel

from langchain_webtools import WebToolkit

KEY: Any = "test-key-canary-1"
_REFUSED = b'{"error": {"message": "seen", "type": "invalid_request_error"}}'


class Answer(BaseModel):
    """An answer."""

    text: str


def _openai(url: str) -> BaseChatModel:
    return ChatOpenAI(model="gpt-5", api_key=KEY, base_url=url, max_retries=0)


def _azure(url: str) -> BaseChatModel:
    return AzureChatOpenAI(
        azure_deployment="gpt-5",
        model="gpt-5",
        api_version="2025-03-01-preview",
        azure_endpoint=url,
        api_key=KEY,
        max_retries=0,
    )


def _claude(url: str) -> BaseChatModel:
    return ChatAnthropic(
        model_name="claude-sonnet-4-5",
        api_key=KEY,
        base_url=url,
        max_retries=0,
        timeout=10,
        stop=None,
    )


MODELS: dict[str, Callable[[str], BaseChatModel]] = {
    "openai": _openai,
    "azure": _azure,
    "claude": _claude,
}


@contextmanager
def _server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve an API that refuses everything and remembers it."""
    bodies: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(_REFUSED)))
            self.end_headers()
            self.wfile.write(_REFUSED)

        def log_message(self, format: str, *_: Any) -> None:  # noqa: A002  the base's name
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", bodies
    finally:
        server.shutdown()
        server.server_close()


def sent(name: str, how: str) -> dict[str, Any]:
    """Give the request that an agent, or a model that is bound strictly, sends."""
    tools = WebToolkit().get_tools()
    with _server() as (url, bodies):
        model = MODELS[name](url)
        with suppress(Exception):  # each package has its own for a status of 400
            if how == "agent":
                agent = create_agent(model, tools, response_format=ProviderStrategy(Answer))
                agent.invoke({"messages": [("user", "x")]})
            else:
                model.bind_tools(tools, strict=True).invoke("x")
    return bodies[0]


def every_request() -> dict[str, Any]:
    """Give the requests by model and how, and the version of LangChain that made them."""
    found = {f"{name} {how}": sent(name, how) for name in MODELS for how in ("agent", "bound")}
    return {**found, "version": langchain.__version__}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(every_request()))
