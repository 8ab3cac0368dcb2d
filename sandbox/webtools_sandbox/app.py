"""The request handler: it counts requests, finds the API or page, and applies faults."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, cast

from aiohttp import web

from webtools_sandbox.apis import APIS
from webtools_sandbox.delivery import deliver, response
from webtools_sandbox.faults import FaultBoard, fault_from_json, faulty_reply
from webtools_sandbox.library import Library
from webtools_sandbox.models import VENDORS
from webtools_sandbox.pages import PagesSite
from webtools_sandbox.stats import Stats
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from webtools_sandbox.corpus import Collection, Corpus
    from webtools_sandbox.keys import KeyRing
    from webtools_sandbox.wire import Site

_MAX_LATENCY = 3600.0


class SandboxApp:
    """The simulated APIs, the pages and the control API behind one request handler."""

    def __init__(
        self,
        corpus: Corpus,
        bases: Mapping[Collection, str],
        keys: KeyRing,
        *,
        port: int,
        today: date | None,
        latency: float,
    ) -> None:
        """Serve a corpus. Without `today`, the news are dated by the clock."""
        self.port = port
        self._corpus, self._bases, self._keys = corpus, bases, keys
        self._fixed_day = today
        self._set_day(self._current_day())
        self.faults = FaultBoard()
        self.stats = Stats()
        self.latency = self._usual_latency = latency

    def _current_day(self) -> date:
        return self._fixed_day or datetime.now(UTC).date()

    def _set_day(self, day: date) -> None:
        """Make the APIs and the pages over the news as they are dated on a day."""
        self._day = day
        self.library = Library(self._corpus.as_of(day), self._bases)
        self.apis = {api.name: api(self.library, self._keys) for api in APIS}
        self.models = {vendor.name: vendor(self.library) for vendor in VENDORS}
        self.pages = PagesSite(self.library)

    def reset(self) -> None:
        """Remove faults, reset the statistics and restore the latency."""
        self.faults.clear()
        self.stats.reset()
        self.latency = self._usual_latency

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        path, _, query_string = request.raw_path.partition("?")
        provider, inside = _split(path)
        body = await request.read()
        call = Call(request.method, inside, query_string, request.headers, body)
        if provider == "_sandbox":
            return response(self._control(call))
        self.stats.count_request(path, call)
        if (day := self._current_day()) != self._day:
            self._set_day(day)
        if vendor := self.models.get(provider):
            return await self._answer(request, provider, vendor, call)
        api = self.apis.get(provider)
        if api is None:
            return await self._answer(request, "pages", self.pages, replace(call, path=path))
        if self.latency:
            await asyncio.sleep(self.latency)
        return await self._answer(request, provider, api.at(inside), call)

    async def _answer(
        self, request: web.BaseRequest, provider: str, site: Site, call: Call
    ) -> web.StreamResponse:
        fault = self.faults.take(provider, call)
        if fault is None:
            return response(site.answer(call))
        if fault.delay:
            await asyncio.sleep(fault.delay)
        return await deliver(request, faulty_reply(fault, site, call), fault)

    def _control(self, call: Call) -> Reply:
        """Answer the control API, with which other processes configure the sandbox."""
        actions: dict[tuple[str, str], Callable[[Call], Any]] = {
            ("POST", "/faults"): self._add_fault,
            ("DELETE", "/faults"): lambda _: self.faults.clear(),
            ("GET", "/stats"): lambda _: self.stats.snapshot(),
            ("POST", "/latency"): self._set_latency,
        }
        action = actions.get((call.method, call.path))
        if action is None:
            return json_reply({"error": f"Unknown control {call.method} {call.path}."}, status=404)
        try:
            return json_reply(action(call) or {"ok": True})
        except (ValueError, TypeError, AttributeError) as error:
            return json_reply({"error": str(error)}, status=400)

    def _add_fault(self, call: Call) -> None:
        self.faults.add(fault_from_json(_object(call)))

    def _set_latency(self, call: Call) -> None:
        seconds = float(_object(call).get("seconds", -1))
        if not 0 <= seconds <= _MAX_LATENCY:
            raise ValueError(f"Pass `seconds` from 0 to {_MAX_LATENCY:.0f}.")
        self.latency = seconds


def _object(call: Call) -> dict[str, Any]:
    try:
        data = call.json()
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise TypeError('Send a JSON object, such as {"status": 401}.')
    return cast("dict[str, Any]", data)


def _split(path: str) -> tuple[str, str]:
    """Split `/exa/search` into `exa` and `/search`."""
    provider, slash, inside = path.lstrip("/").partition("/")
    return provider, slash + inside
