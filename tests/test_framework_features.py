"""The table of features at the top of each framework's page: every row is shown to be true.

The rows of both pages are the same, but for the last, which only one framework has.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

import pytest
from docs_models import chat_model, language_model
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import StateGraph
from llama_index.core import MockEmbedding
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import CompletionResponse, MockLLM

import langchain_webtools as lc
import llamaindex_webtools as li
from webtools import Config, Page, WebTools
from webtools.tools import TOOLS
from webtools_sandbox import SandboxServer

DOCS = Path(__file__).parents[1] / "docs"
QUERY = {"queries": ["json decoder"], "limit": 2}
POOL = Page(url="https://a.example/1", text="The pool opened on Saturday morning.")
JUDGED = '{"claim": 1, "supported": true, "quotation": "The pool opened on Saturday morning."}'


@dataclass(frozen=True)
class Place:
    """Where the features are shown: the sandbox, and a `WebTools` over it."""

    web: WebTools
    page: str


Proof: TypeAlias = Callable[[Place], Awaitable[None]]
PAGES = ("langchain", "llamaindex")
PROOFS: dict[str, dict[str, Proof]] = {page: {} for page in PAGES}


def shows(framework: str, feature: str) -> Callable[[Proof], Proof]:
    def kept(proof: Proof) -> Proof:
        PROOFS[framework][feature] = proof
        return proof

    return kept


def rows(framework: str) -> dict[str, str]:
    """Read the first table of a page: what each feature is, and how it is had."""
    page = (DOCS / f"{framework}.md").read_text(encoding="utf-8")
    table = re.search(r"\A# \w+\n\n((?:\|.*\n)+)", page)
    assert table, "no table stands at the top"
    _, _, *lines = (line.strip("|").split("|") for line in table[1].splitlines())
    return {feature.strip(): how.strip() for feature, how in lines}


@pytest.fixture
def place(webtools_sandbox: SandboxServer) -> Any:
    with WebTools(Config.model_validate(webtools_sandbox.config())) as web:
        yield Place(web, f"{webtools_sandbox.docs_url}/library/json.html")


@pytest.mark.parametrize("framework", PAGES)
def test_every_row_has_its_proof(framework: str) -> None:
    assert list(rows(framework)) == list(PROOFS[framework])


def test_the_frameworks_share_all_rows_but_the_last() -> None:
    shared = [list(rows(framework))[:-1] for framework in PAGES]
    assert shared[0] == shared[1]


@pytest.mark.parametrize("framework", PAGES)
def test_what_a_row_names_is_there_and_takes_what_it_is_given(framework: str) -> None:
    package = importlib.import_module(f"{framework}_webtools")
    for how in rows(framework).values():
        code = ast.parse(how.strip("`"), mode="eval")
        for call in (node for node in ast.walk(code) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Name) and call.func.id != "stream":  # an agent's
                made = inspect.signature(getattr(package, call.func.id))
                made.bind(*call.args, **{str(each.arg): each.value for each in call.keywords})


@pytest.mark.parametrize(
    ("framework", "feature"),
    [
        (framework, feature)
        for framework in ("langchain", "llamaindex")
        for feature in rows(framework)
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning:(inspect|llama_index|workflows)")
async def test_a_row_is_true(framework: str, feature: str, place: Place) -> None:
    await PROOFS[framework][feature](place)


# --- tools -------------------------------------------------------------------------------------

FIVE = "Five tools, or those that the settings can serve"
EXA = {"name": "exa", "type": "exa", "apiKey": "test-key-one"}


@shows("langchain", FIVE)
async def _lc_tools(place: Place) -> None:
    assert [tool.name for tool in lc.WebToolkit(place.web).get_tools()] == [*TOOLS]
    with WebTools(Config.model_validate({"providers": [EXA]})) as web:
        served = [tool.name for tool in lc.WebToolkit(web).get_tools()]
    assert served == [name for name in TOOLS if name != "summarize"]


@shows("llamaindex", FIVE)
async def _li_tools(place: Place) -> None:
    assert [tool.metadata.name for tool in li.WebToolsSpec(place.web).to_tool_list()] == [*TOOLS]
    with WebTools(Config.model_validate({"providers": [EXA]})) as web:
        served = [tool.metadata.name for tool in li.WebToolsSpec(web).to_tool_list()]
    assert served == [name for name in TOOLS if name != "summarize"]


ASYNC = "Async without threads"


@shows("langchain", ASYNC)
async def _lc_async(place: Place) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place.web, "call_tool", pytest.fail)
        patch.setattr("langchain_core.tools.base.run_in_executor", pytest.fail)
        assert "json.decoder" in await lc.WebSearchTool(web=place.web).ainvoke(QUERY)


@shows("llamaindex", ASYNC)
async def _li_async(place: Place) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place.web, "call_tool", pytest.fail)
        assert "json.decoder" in (await li.web_search_tool(place.web).acall(**QUERY)).content


FIXED = "Arguments that the model does not decide"


@shows("langchain", FIXED)
async def _lc_fixed(place: Place) -> None:
    tool = lc.WebSearchTool(web=place.web, limit=1)
    assert "limit" not in tool.args
    assert "\n2. " not in tool.invoke("json")


@shows("llamaindex", FIXED)
async def _li_fixed(place: Place) -> None:
    tool = li.web_search_tool(place.web, limit=1)
    assert "limit" not in tool.metadata.get_parameters_dict()["properties"]
    assert "\n2. " not in tool.call(queries=["json"]).content


def _message(place: Place, arguments: dict[str, Any]) -> Any:
    call = {"name": "web_search", "args": arguments, "id": "1", "type": "tool_call"}
    return lc.WebSearchTool(web=place.web).invoke(call)


DATA = "Data beside the text"


@shows("langchain", DATA)
async def _lc_data(place: Place) -> None:
    assert _message(place, QUERY).artifact["result_count"] == 2


@shows("llamaindex", DATA)
async def _li_data(place: Place) -> None:
    assert li.web_search_tool(place.web).call(**QUERY).raw_output["result_count"] == 2


FAILURES = "Failures as answers, with the remedy"
REMEDY = 'limit "500" is not possible; use 1 to 100.'


@shows("langchain", FAILURES)
async def _lc_failures(place: Place) -> None:
    message = _message(place, {"queries": ["json"], "limit": 500})
    assert (message.status, message.content) == ("error", REMEDY)


@shows("llamaindex", FAILURES)
async def _li_failures(place: Place) -> None:
    output = li.web_search_tool(place.web).call(queries=["json"], limit=500)
    assert (output.is_error, output.content) == (True, REMEDY)


# --- watching ----------------------------------------------------------------------------------

TWO = ["json decoder", "zip file"]
PROGRESS = "Progress in the stream of an agent"


@shows("langchain", PROGRESS)
async def _lc_progress(place: Place) -> None:
    async def node(_: Any) -> dict[str, str]:
        return {"text": await lc.WebSearchTool(web=place.web).ainvoke({"queries": TWO})}

    graph: Any = StateGraph(cast("Any", dict))
    graph.add_node("search", node)
    graph.set_entry_point("search")
    steps = [each async for each in graph.compile().astream({}, stream_mode="custom")]
    assert [(each["done"], each["total"]) for each in steps] == [(0, 2), (1, 2), (2, 2)]


@shows("llamaindex", PROGRESS)
async def _li_progress(place: Place) -> None:
    tools = li.WebToolsSpec(place.web).to_tool_list()
    run = FunctionAgent(tools=[*tools], llm=language_model()).run("How do I read a zip file?")
    steps = [each async for each in run.stream_events() if isinstance(each, li.WebProgressEvent)]
    await run
    searches = [(each.done, each.total) for each in steps if each.tool == "web_search"]
    assert searches == [(0, 1), (1, 1)]


DRAWN = "Calls drawn on a terminal"


@shows("langchain", DRAWN)
async def _lc_drawn(place: Place) -> None:
    file = io.StringIO()
    handler = lc.WebToolsCallbackHandler(file)
    lc.WebSearchTool(web=place.web).invoke(QUERY, {"callbacks": [handler]})
    assert "json.decoder" in file.getvalue()


@shows("llamaindex", DRAWN)
async def _li_drawn(place: Place) -> None:
    file = io.StringIO()
    with li.WebToolsEventHandler(file):
        li.web_search_tool(place.web).call(**QUERY)
    assert 'web_search "json decoder"' in file.getvalue()


# --- retrieval ---------------------------------------------------------------------------------


@shows("langchain", "Retriever")
async def _lc_retriever(place: Place) -> None:
    found = lc.WebSearchRetriever(web=place.web, k=3).invoke("json decoder")
    assert len(found) == 3


@shows("llamaindex", "Retriever")
async def _li_retriever(place: Place) -> None:
    found = li.WebRetriever(place.web, similarity_top_k=3).retrieve("json decoder")
    assert len(found) == 3


@shows("langchain", "Page loader")
async def _lc_loader(place: Place) -> None:
    [document] = lc.WebPageLoader([place.page], web=place.web).load()
    assert "JSON" in document.page_content


@shows("llamaindex", "Page loader")
async def _li_loader(place: Place) -> None:
    [document] = li.WebPageReader(place.web).load_data([place.page])
    assert "JSON" in document.text


PASSAGES = "Passages in place of whole pages"
EMBEDDINGS = "Embeddings of your own"


def _lc_passages_with(place: Place, **more: Any) -> list[Any]:
    compressor = lc.WebPassageCompressor(max_characters=600, **more)
    retriever = lc.WebSearchRetriever(web=place.web, k=1, fetch=True, compressor=compressor)
    found = retriever.invoke("json decoder")
    assert 0 < sum(len(each.page_content) for each in found) <= 600
    return found


def _li_passages_with(place: Place, **more: Any) -> list[Any]:
    postprocessor = li.FetchPagePostprocessor(place.web, max_characters=600, **more)
    found = li.WebRetriever(place.web, similarity_top_k=1).retrieve("json decoder")
    kept = postprocessor.postprocess_nodes(found, query_str="json decoder")
    assert 0 < sum(len(each.text) for each in kept) <= 600
    return kept


@shows("langchain", PASSAGES)
async def _lc_passages(place: Place) -> None:
    _lc_passages_with(place)


@shows("llamaindex", PASSAGES)
async def _li_passages(place: Place) -> None:
    _li_passages_with(place)


@shows("langchain", EMBEDDINGS)
async def _lc_embeddings(place: Place) -> None:
    asked: list[str] = []

    class Embeddings(DeterministicFakeEmbedding):
        def embed_query(self, text: str) -> list[float]:
            asked.append(text)
            return super().embed_query(text)

    _lc_passages_with(place, embeddings=Embeddings(size=8))
    assert "json decoder" in asked


@shows("llamaindex", EMBEDDINGS)
async def _li_embeddings(place: Place) -> None:
    asked: list[str] = []

    class Embedding(MockEmbedding):
        def _get_query_embedding(self, query: str) -> list[float]:
            asked.append(query)
            return super()._get_query_embedding(query)

    _li_passages_with(place, embed_model=Embedding(embed_dim=8))
    assert "json decoder" in asked


# --- models ------------------------------------------------------------------------------------

LIE = "The basin is 8 metres deep. [1]"


class Saying(MockLLM):
    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text=self._text)


ANSWERS = "Answers by your own model, every citation checked"
QUESTION = "How do I read a zip file in Python?"


async def _answer(place: Place, honest: Any, lying: Any) -> None:
    found = await place.web.aresearch(QUESTION, command="web-deep", synthesis=honest)
    assert found.synthesis is not None
    assert all(claim.citations for claim in found.synthesis.claims)
    found = await place.web.aresearch(QUESTION, command="web-deep", synthesis=lying)
    assert found.synthesis is not None
    assert found.synthesis.summary == f"{LIE} (uncertain)"


@shows("langchain", ANSWERS)
async def _lc_answers(place: Place) -> None:
    liar = FakeMessagesListChatModel(responses=[AIMessage(LIE)])
    await _answer(place, *(lc.ChatModelSynthesizer(each) for each in (chat_model(), liar)))


@shows("llamaindex", ANSWERS)
async def _li_answers(place: Place) -> None:
    await _answer(place, *(li.LLMSynthesizer(each) for each in (language_model(), Saying(LIE))))


JUDGES = "Claims judged by your own model"


def _judge(place: Place, verifier: Any) -> None:
    said = "It was Saturday when they could use their pool. [1]"
    statuses = [
        place.web.verify(said, [POOL], verifier=each).claims[0].status for each in (None, verifier)
    ]
    assert statuses == ["uncertain", "supported"]


@shows("langchain", JUDGES)
async def _lc_judges(place: Place) -> None:
    model = FakeMessagesListChatModel(responses=[AIMessage(JUDGED)])
    _judge(place, lc.ChatModelVerifier(model))


@shows("llamaindex", JUDGES)
async def _li_judges(place: Place) -> None:
    _judge(place, li.LLMVerifier(Saying(JUDGED)))


# --- what only one has -------------------------------------------------------------------------


@shows("langchain", "Native citations of Claude")
async def _lc_citations(place: Place) -> None:
    blocks = lc.as_search_results(_message(place, QUERY).artifact)
    assert [each["type"] for each in blocks].count("search_result") == 2


@shows("llamaindex", "Workflow that searches, reads and answers")
async def _li_workflow(place: Place) -> None:
    flow = li.SearchFetchSynthesizeWorkflow(place.web, llm=language_model())
    answer = await flow.run(query="zipfile")
    assert answer.citations
