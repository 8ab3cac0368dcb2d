"""The base of the simulated vendors: keys, errors, and streams of server-sent events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from webtools_sandbox.models.turn import Json, RefusedError, SearchFault, Turn, decide
from webtools_sandbox.wire import Reply, json_reply

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from webtools_sandbox.library import Library
    from webtools_sandbox.models.turn import Step
    from webtools_sandbox.wire import Call

_UNAUTHORIZED = 401


class ModelVendor:
    """A vendor whose model searches the sandbox's library.

    The model asks nothing back: it searches for the last text of the user, with the vendor's search
    if the request has it, else with a function named `web_search`, and cites the first result.
    """

    name: ClassVar[str] = ""
    has_event_names: ClassVar[bool] = True
    search_faults: ClassVar[frozenset[SearchFault]] = frozenset({"error", "outside"})

    def __init__(self, library: Library) -> None:
        """Search a library."""
        self.library = library

    def answer(self, call: Call) -> Reply:
        """Answer a request."""
        return self.answer_with(None, call)

    def answer_with(self, fault: SearchFault | None, call: Call) -> Reply:
        """Answer a request with a fault of the search."""
        try:
            self._check_key(call)
            body = _json(call)
            response = self._respond(fault, body, call)
        except RefusedError as refused:
            error = self.error(refused.status, refused.message, refused.param)
            return json_reply(error, status=refused.status)
        if not self.streams(body, call):
            return json_reply(response)
        data = "".join(self._event(event) for event in self.events(response))
        return Reply(200, data.encode(), "text/event-stream; charset=utf-8")

    def _respond(self, fault: SearchFault | None, body: Json, call: Call) -> Json:
        try:
            turn = self.read(body, call)
            if not turn.question:
                raise RefusedError("The request has no text of the user.")
            step = decide(turn, self.library, fault)
            return self.write(step, turn, fault, body, call)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise RefusedError("A field has another type than expected.") from None

    def _check_key(self, call: Call) -> None:
        if self.sent_key(call) != f"test-key-{self.name}":
            raise RefusedError("The API key is not valid.", status=_UNAUTHORIZED)

    def _event(self, event: Json) -> str:
        name = f"event: {event['type']}\n" if self.has_event_names else ""
        return f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n"

    def failure(self, call: Call, status: int, message: str | None = None) -> Reply:
        """Return the vendor's error for a status."""
        text = message or f"The request failed with status {status}."
        return json_reply(self.error(status, text, ""), status=status)

    def sent_key(self, call: Call) -> str:
        """Return the key of a request."""
        header = call.headers.get("authorization", "")
        return call.headers.get("x-api-key") or header.removeprefix("Bearer ")

    def streams(self, body: Json, call: Call) -> bool:
        """Return whether the response is a stream."""
        return body.get("stream") is True

    def read(self, body: Json, call: Call) -> Turn:
        """Read a request.

        Raises:
            RefusedError: It breaks a rule of the vendor.
        """
        raise NotImplementedError

    def write(
        self, step: Step, turn: Turn, fault: SearchFault | None, body: Json, call: Call
    ) -> Json:
        """Write the response."""
        raise NotImplementedError

    def events(self, response: Json) -> Iterator[Json]:
        """Yield the events of a stream."""
        raise NotImplementedError

    def error(self, status: int, message: str, param: str) -> Json:
        """Return the body of an error."""
        raise NotImplementedError


def texts(content: Any) -> str:
    """Return the texts of a message, whose content is a text or a list of parts."""
    if isinstance(content, str):
        return content
    parts: Iterable[Any] = content if isinstance(content, list) else ()
    return " ".join(str(part.get("text") or "") for part in parts if isinstance(part, dict)).strip()


def objects(value: Any) -> list[Json]:
    """Return the objects of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _json(call: Call) -> Json:
    try:
        body = call.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise RefusedError("The body is not a JSON object.")
    return body
