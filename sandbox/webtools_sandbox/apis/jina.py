"""Stand-in for Jina's Reader: pages, with a key and without one.

https://jina.ai/reader (facts of 2026-11-22).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import Api, HttpUrl, Json, JsonRequest, RefusedError, Route
from webtools_sandbox.keys import JINA_KEY
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from collections.abc import Mapping

# Options are headers; in a body they have these names.
_HEADERS: Mapping[str, str] = {
    "x-return-format": "respondWith",
    "x-timeout": "timeout",
    "x-token-budget": "tokenBudget",
}
_Format = Literal["markdown", "html", "text", "content"]


class ReadRequest(JsonRequest):
    """The body of a request for a page, with what its headers say."""

    url: HttpUrl
    respondWith: _Format = "content"  # noqa: N815  the API's own name
    timeout: Annotated[int, Field(ge=1, le=180, strict=False)] | None = None
    tokenBudget: Annotated[int, Field(ge=1, strict=False)] | None = None  # noqa: N815


class JinaApi(Api):
    """Jina's Reader over the sandbox's library."""

    name = "jina"
    key = JINA_KEY
    usual = False
    errors = data_files.errors("jina")

    def routes(self) -> dict[str, Route]:
        """Return what the Reader serves here."""
        return {"POST /": Route(ReadRequest, self._read)}

    def check_key(self, call: Call) -> None:
        """Accept who sends no key at all."""
        if "authorization" in call.headers:
            super().check_key(call)

    def fields(self, call: Call) -> Any:
        """Return the fields of the body, with what the headers say."""
        told = {name: call.headers.get(header) for header, name in _HEADERS.items()}
        given = {name: value for name, value in told.items() if value is not None}
        return {**super().fields(call), **given}

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:  # noqa: ARG002
        """Return Jina's error body."""
        name, words = refused.code, refused.message
        body = {"data": None, "code": refused.status, "name": name, "status": refused.status * 100}
        body |= {"message": words, "readableMessage": f"{name}: {words}"}
        return json_reply(body, status=refused.status)

    def _read(self, request: ReadRequest) -> Json:
        """Return a page; one that its site does not have comes with a warning of that."""
        if self.library.special(request.url) == "timeout":
            message = f"Failed to goto {request.url}: {self.errors[422][1]}"
            raise RefusedError(422, message, self.errors[422][0])
        page = self.library.find(request.url)
        data: Json = {"title": "Not Found", "description": "", "url": request.url}
        if page is None:
            data |= {
                "content": "# Not Found",
                "warning": "Target URL returned error 404: Not Found",
            }
        else:
            data |= {"title": page.title, "content": page.markdown}
            if page.published:
                data["publishedTime"] = page.published
        tokens = digest.token_count(data["content"])
        if request.tokenBudget is not None and tokens > request.tokenBudget:
            raise self.refusal(409)
        usage = {"usage": {"tokens": tokens}}
        return {"code": 200, "status": 20000, "data": data | usage, "meta": usage}
