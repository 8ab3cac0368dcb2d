from __future__ import annotations

import time
from typing import Any

import pytest
from llama_index.core.base.llms.types import CompletionResponse
from llama_index.core.llms import LLM, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from offline import IO, arun, run
from pydantic import Field

from llamaindex_webtools import WebToolsSpec
from llamaindex_webtools.synthesis import LLMSynthesizer, LLMVerifier
from webtools import InputError, Page, WebTools
from webtools._internal.operations.research.checked_synthesis import Outcome, synthesize
from webtools.providers.protocols import Source, SynthesisQuery

POOL = "https://news.example/pool"
QUERY = SynthesisQuery(
    "How deep is the basin?", (Source(1, "Pool", POOL, "The basin is 9 metres deep."),)
)
TRUE = "The basin is 9 metres deep. [1]"
NOTHING: Any = None  # no step goes to the network


class Completing(CustomLLM):
    answer: str
    prompts: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        self.prompts.append(prompt)
        if not self.answer:
            raise ValueError("no quota")
        return CompletionResponse(text=self.answer)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        raise NotImplementedError


async def flow(llm: LLM) -> Outcome:
    return await synthesize(LLMSynthesizer(llm), QUERY, time.monotonic() + 5, IO)


async def test_an_llm_answers_from_the_sources() -> None:
    llm = Completing(answer=TRUE)
    for outcome in (run(flow(llm), NOTHING), await arun(flow(llm), NOTHING)):
        assert outcome.synthesizer == "llm"
        assert outcome.synthesis is not None
        assert (outcome.synthesis.summary, outcome.synthesis.citations) == (TRUE, [POOL])
    assert len(llm.prompts) == 2
    assert all("The basin is 9 metres deep." in prompt for prompt in llm.prompts)


@pytest.mark.parametrize("take", [LLMSynthesizer, LLMVerifier, lambda llm: WebToolsSpec(llm=llm)])
def test_what_is_no_llm_is_refused_at_once(take: Any) -> None:
    with pytest.raises(InputError, match="^llm .*not str"):
        take("gpt-5")


async def test_an_llm_judges_what_words_leave_open() -> None:
    said = '{"claim": 1, "supported": true, "quotation": "The pool opened on Saturday morning."}'
    judge = LLMVerifier(Completing(answer=said))
    page = Page(url="https://a.example/1", text="The pool opened on Saturday morning.")
    answer = "It was Saturday when they could use their pool. [1]"
    with WebTools() as web:
        blocking = web.verify(answer, [page], verifier=judge)
        awaited = await web.averify(answer, [page], verifier=judge)
    assert blocking == awaited
    assert [claim.status for claim in blocking.claims] == ["supported"]
