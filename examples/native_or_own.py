"""Let the vendor of a model search where its search serves your filters, else use your own.

    python examples/native_or_own.py

The sandbox simulates OpenAI and Anthropic, offline. Your own search uses your settings: a config
file, or a provider's key in the environment. Without them, the sandbox simulates it, too.
Needs: pip install 'agent-webtools[langchain,sandbox]' langchain-openai langchain-anthropic
"""

from contextlib import ExitStack
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from langchain_webtools import WebMiddleware
from webtools import WebTools
from webtools.config import Settings
from webtools.native import stand_in
from webtools_sandbox import SandboxServer

QUESTION = "How do I decode JSON with a custom decoder?"


def chat_models(server: SandboxServer) -> list[BaseChatModel]:
    """Return models of two vendors, whose requests go to the sandbox."""
    openai = ChatOpenAI(
        model="gpt-5.2",
        base_url=server.model_url("openai"),
        api_key=SecretStr("test-key-openai"),
        output_version="responses/v1",
    )
    anthropic = init_chat_model(
        "anthropic:claude-sonnet-4-6",
        base_url=server.model_url("anthropic"),
        api_key=SecretStr("test-key-anthropic"),
    )
    return [openai, anthropic]


def show(model: BaseChatModel, web: WebTools, filters: dict[str, Any]) -> None:
    """Ask the question, and print which side has searched, and why."""
    agent: Any = create_agent(model, middleware=[WebMiddleware(web, native="auto", **filters)])
    report = agent.invoke({"messages": [("user", QUESTION)]})["web_report"]
    print(f"{type(model).__name__}, filters: {filters or 'none'}")
    for name, use in report["providers"].items():
        print(f"  {name} searched {use['requests']} time(s) for {use['cost_usd']} USD")
    print(f"  {len(report['sources'])} sources, cited but not seen: {report['check']['not_seen']}")
    for note in report["notes"]:
        print(f"  {note}")


def main() -> None:
    """Ask models of two vendors with three sets of filters."""
    with ExitStack() as stack:
        server = stack.enter_context(SandboxServer())
        for vendor in ("openai", "anthropic"):
            stack.enter_context(stand_in(vendor, server.model_url(vendor)))
        has_settings = bool(Settings().accounts().accounts)
        web = stack.enter_context(WebTools(None if has_settings else server.config()))
        for filters in ({}, {"exclude_domains": ["example.com"]}, {"language": "en"}):
            for model in chat_models(server):
                show(model, web, filters)


if __name__ == "__main__":
    main()
