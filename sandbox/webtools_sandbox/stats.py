"""Statistics of the requests to the sandbox."""

from __future__ import annotations

import json
import threading
from collections import Counter, deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webtools_sandbox.wire import Call

_MAX_CALLS = 100
_MAX_REMEMBERED_BYTES = 100_000
_SECRET_HEADERS = frozenset({"authorization", "x-api-key", "x-subscription-token", "cookie"})


class Stats:
    """Counts requests and connections, and keeps the last requests."""

    def __init__(self) -> None:
        """Start from zero."""
        self._lock = threading.Lock()
        self._requests: Counter[str] = Counter()
        self._connections = 0
        self._last: deque[tuple[str, Call]] = deque(maxlen=_MAX_CALLS)

    def count_connection(self) -> None:
        """Count a TCP connection."""
        with self._lock:
            self._connections += 1

    def count_request(self, path: str, call: Call) -> None:
        """Count a request for the full `path`, and keep it."""
        if len(call.body) > _MAX_REMEMBERED_BYTES:
            call = replace(call, body=call.body[:_MAX_REMEMBERED_BYTES])
        with self._lock:
            self._requests[path] += 1
            self._last.append((path, call))

    def reset(self) -> None:
        """Reset to zero. Open connections are no longer counted."""
        with self._lock:
            self._requests.clear()
            self._last.clear()
            self._connections = 0

    def snapshot(self) -> dict[str, Any]:
        """Return `requests` per path, `connections` opened and the `last` requests, in order."""
        with self._lock:
            counted, connections = dict(self._requests), self._connections
            last = list(self._last)
        descriptions = [_describe(path, call) for path, call in last]
        return {"requests": counted, "connections": connections, "last": descriptions}


def _describe(path: str, call: Call) -> dict[str, Any]:
    headers = {
        name.lower(): _masked(value) if name.lower() in _SECRET_HEADERS else value
        for name, value in call.headers.items()
    }
    descriptions = {"method": call.method, "path": path, "query": call.query}
    return {**descriptions, "headers": headers, "body": _readable(call.body)}


def _masked(value: str) -> str:
    """Hide a credential except for its scheme."""
    scheme, space, _ = value.partition(" ")
    return f"{scheme} ***" if space else "***"


def _readable(body: bytes) -> Any:
    """Return a body decoded from JSON, else as text; None if it is empty."""
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")
