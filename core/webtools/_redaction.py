"""Takes keys out of everything that leaves the package: the one gate every result passes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar, cast
from urllib.parse import quote, quote_plus

from pydantic import BaseModel

from webtools._flow import Flow
from webtools.errors import WebToolsError

T = TypeVar("T")
MARK = "[redacted]"


class Redactor:
    """Replaces every known key, also percent-encoded, by `[redacted]`."""

    def __init__(self, secrets: Iterable[str]) -> None:
        """Take the keys; the longest are replaced first, for one may begin another."""
        forms = {form for s in secrets if s for form in (s, quote(s, safe=""), quote_plus(s))}
        self._secrets = sorted(forms, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Clean a text."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MARK)
        return text

    def clean(self, value: T) -> T:
        """Clean a value and all that is in it; what holds no key is returned as it is."""
        return cast("T", self._clean(value))

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, BaseModel):
            return self._clean_model(value)
        if isinstance(value, list):
            items = cast("list[Any]", value)
            cleaned = [self._clean(item) for item in items]
            return items if _same(items, cleaned) else cleaned
        if isinstance(value, dict):
            pairs = cast("dict[str, Any]", value)
            copy = {self.text(key): self._clean(item) for key, item in pairs.items()}
            return pairs if _same(pairs.items(), copy.items()) else copy
        return value

    def _clean_model(self, model: BaseModel) -> BaseModel:
        fields = vars(model)
        changed = {
            name: cleaned
            for name, value in fields.items()
            if (cleaned := self._clean(value)) is not value
        }
        return model.model_copy(update=changed) if changed else model

    def error(self, error: WebToolsError) -> WebToolsError:
        """Clean an error; one whose text held a key loses its cause, which may hold it too."""
        message = self.text(str(error))
        cause = error.__cause__
        if message == str(error) and self.text(repr(cause)) == repr(cause):
            return error
        return error.with_message(message)


def _same(before: Iterable[Any], after: Iterable[Any]) -> bool:
    # Equality would do, but would compare megabytes of page text letter by letter.
    return all(a is b or a == b for a, b in zip(before, after, strict=True))


def redacted(flow: Flow[T], redactor: Redactor) -> Flow[T]:
    """Run a flow whose result or error passes the gate."""
    try:
        result = yield from flow
    except WebToolsError as error:
        failed = redactor.error(error)
        if failed is error:
            raise
    else:
        return redactor.clean(result)
    raise failed
