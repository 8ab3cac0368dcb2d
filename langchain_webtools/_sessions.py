"""The sessions of an agent: one per conversation, kept in the state of the graph."""

import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypeAlias

from langchain.agents.middleware.types import AgentState, OmitFromInput, PrivateStateAttr
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from pydantic_core import to_jsonable_python

from webtools import Session
from webtools.adapters import merge_states

_NO_MARKUP = str.maketrans("`~<", "'- ")
_MAX_OPEN = 1000  # runs that have not ended, or that failed

Stored: TypeAlias = dict[str, Any]
"""A session in the state of a graph: the `run` that it belongs to, and its `state`."""


def join_stored(old: Stored, new: Stored) -> Stored:
    """Join what two steps, or two machines, have written."""
    if not (old and new):
        return new or old
    return {**new, "state": merge_states(old["state"], new["state"])}


class WebState(AgentState[Any]):
    """What `WebMiddleware` keeps in the state of the graph.

    Attributes:
        web_session: The session, for the next turn and for other machines.
        web_report: `Session.report("json")` of the finished run, with `check`; None before its end.
    """

    web_session: NotRequired[Annotated[Stored, PrivateStateAttr, join_stored]]
    web_report: NotRequired[Annotated[dict[str, Any] | None, OmitFromInput]]


class OpenSessions:
    """The sessions of the runs of this process.

    A run is known by a word in its state and by its user, since another one may resume it. A run
    that began elsewhere gets a session from its state.

    Args:
        make: Makes a session from a state, or a new one from None.
        user: Returns the user of the run.
    """

    def __init__(
        self, make: Callable[[Mapping[str, Any] | None], Session], user: Callable[[], str]
    ) -> None:
        self._make, self._user = make, user
        self._sessions: OrderedDict[tuple[str, str], Session] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, stored: Stored | None) -> tuple[str, Session]:
        """Open the session of a new run."""
        session = self._make(stored["state"] if stored else None)
        run = secrets.token_hex(8)
        self._keep(run, session)
        return run, session

    def known(self, stored: Stored | None) -> Session | None:
        """Return the session of a run of this process, or None."""
        if not stored:
            return None
        key = stored["run"], self._user()
        with self._lock:
            return self._sessions.get(key)

    def find(self, stored: Stored | None) -> Session:
        """Return the session of a run. May read the store of the settings."""
        session = self.known(stored)
        if session is None:
            session = self._make(stored["state"] if stored else None)
            if stored:
                session = self._keep(stored["run"], session)
        return session

    def end(self, stored: Stored | None) -> None:
        """Forget the session of a run that has ended."""
        key = stored["run"] if stored else "", self._user()
        with self._lock:
            self._sessions.pop(key, None)

    def _keep(self, run: str, session: Session) -> Session:
        key = run, self._user()
        with self._lock:
            session = self._sessions.setdefault(key, session)
            while len(self._sessions) > _MAX_OPEN:
                self._sessions.popitem(last=False)
        return session


def texts_of_user(messages: Sequence[AnyMessage], *, is_first: bool) -> list[str]:
    """Return what the user wrote: of the first turn all, later what follows the last answer.

    Summaries that LangChain marks are left out. Others come before the last answer.
    """
    chosen = messages if is_first else [*_since_answer(messages)]
    return [
        str(message.text)
        for message in chosen
        if isinstance(message, HumanMessage) and "lc_source" not in message.additional_kwargs
    ]


def _since_answer(messages: Sequence[AnyMessage]) -> Iterator[AnyMessage]:
    for message in reversed(messages):
        if isinstance(message, (AIMessage, ToolMessage)):
            return
        yield message


def answer_of(state: Mapping[str, Any]) -> str:
    """Return the text of the final answer, and a structured one as JSON.

    In the JSON, nothing begins code or HTML, which would hide the links of other fields.
    """
    last = state["messages"][-1] if state["messages"] else None
    text = str(last.text) if isinstance(last, AIMessage) else ""
    structured = state.get("structured_response")
    if structured is None:
        return text
    data = json.dumps(to_jsonable_python(structured, fallback=str), ensure_ascii=False)
    return f"{text}\n\n{data.translate(_NO_MARKUP)}"
