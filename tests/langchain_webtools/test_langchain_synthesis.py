from __future__ import annotations

import json
import time
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableLambda
from offline import IO, arun, run

from langchain_webtools import WebResearchTool, WebToolkit
from langchain_webtools.synthesis import ChatModelSynthesizer, ChatModelVerifier
from webtools import InputError, Page, WebTools
from webtools._internal.operations.research.checked_synthesis import Outcome, synthesize
from webtools.providers.protocols import Source, SynthesisQuery

POOL = "https://news.example/pool"
QUERY = SynthesisQuery(
    "How deep is the basin?", (Source(1, "Pool", POOL, "The basin is 9 metres deep."),)
)
TRUE = "The basin is 9 metres deep. [1]"


async def flow(writer: ChatModelSynthesizer) -> Outcome:
    return await synthesize(writer, QUERY, time.monotonic() + 5, IO)


def writer(*answers: BaseMessage) -> ChatModelSynthesizer:
    return ChatModelSynthesizer(FakeMessagesListChatModel(responses=list(answers)))


NOTHING: Any = None  # no step goes to the network


@pytest.mark.parametrize(
    "content",
    [
        TRUE,
        [{"type": "text", "text": "The basin is 9 metres "}, {"type": "text", "text": "deep. [1]"}],
        [{"type": "reasoning", "reasoning": "Hm. [1]"}, {"type": "text", "text": TRUE}],
    ],
)
async def test_a_chat_model_answers_in_text_or_in_blocks(content: Any) -> None:
    given = writer(AIMessage(content))
    for outcome in (run(flow(given), NOTHING), await arun(flow(given), NOTHING)):
        assert outcome.synthesizer == "llm"
        assert outcome.synthesis is not None
        assert (outcome.synthesis.summary, outcome.synthesis.citations) == (TRUE, [POOL])


@pytest.mark.parametrize(
    "take",
    [
        ChatModelSynthesizer,
        ChatModelVerifier,
        lambda model: WebResearchTool(llm=model),
        lambda model: WebToolkit(llm=model),
    ],
)
def test_the_name_of_a_model_is_refused_at_once(take: Any) -> None:
    with pytest.raises(InputError, match="^llm .*init_chat_model.*not str"):
        take("openai:gpt-5")


async def test_a_model_with_fallbacks_writes_answers(web: WebTools) -> None:
    failing = FakeMessagesListChatModel(responses=[])
    model = failing.with_fallbacks([FakeMessagesListChatModel(responses=[AIMessage("No. [1]")])])
    [tool] = WebToolkit(web, llm=model).get_tools(["web_research"])
    call = {"name": "web_research", "args": {"query": "read json", "command": "web-deep"}}
    message = await tool.ainvoke({**call, "id": "1", "type": "tool_call"})
    assert message.artifact["meta"]["provider_used"] == "exa"
    assert "llm" in json.dumps(message.artifact)
    assert "wrote no synthesis" not in message.text


class Seen(BaseCallbackHandler):
    def __init__(self) -> None:
        self.parents: list[Any] = []
        self.prompts: list[str] = []

    def on_chat_model_start(self, _: Any, messages: Any, *, parent_run_id: Any, **__: Any) -> None:
        self.parents.append(parent_run_id)
        self.prompts.append(messages[0][0].content)


async def test_the_models_run_is_a_child_of_the_run_that_started_it() -> None:
    given, seen = writer(AIMessage(TRUE)), Seen()

    async def awaited(_: Any) -> Outcome:
        return await arun(flow(given), NOTHING)

    chain = RunnableLambda(lambda _: run(flow(given), NOTHING), awaited)
    chain.invoke(1, {"callbacks": [seen]})
    await chain.ainvoke(1, {"callbacks": [seen]})
    assert len(seen.parents) == 2
    assert None not in seen.parents
    assert all("Question: How deep is the basin?" in prompt for prompt in seen.prompts)


async def test_a_chat_model_judges_what_words_leave_open() -> None:
    said = '{"claim": 1, "supported": true, "quotation": "The pool opened on Saturday morning."}'
    judge = ChatModelVerifier(FakeMessagesListChatModel(responses=[AIMessage(said)] * 2))
    page = Page(url="https://a.example/1", text="The pool opened on Saturday morning.")
    answer = "It was Saturday when they could use their pool. [1]"
    with WebTools() as web:
        blocking = web.verify(answer, [page], verifier=judge)
        awaited = await web.averify(answer, [page], verifier=judge)
    assert blocking == awaited
    assert [claim.status for claim in blocking.claims] == ["supported"]


async def test_the_model_of_the_research_tool_writes_its_answer(web: WebTools) -> None:
    seen = Seen()
    model = FakeMessagesListChatModel(responses=[AIMessage("It lies. [1]")], callbacks=[seen])
    tool = WebResearchTool(web=web, llm=model)
    asked = {"query": "How is a task cancelled?", "command": "web-deep"}
    for text in (tool.invoke(asked), await tool.ainvoke(asked)):
        assert "It lies." not in text  # checked like every answer
    assert len(seen.prompts) == 2
    assert all("Question: How is a task cancelled?" in prompt for prompt in seen.prompts)
