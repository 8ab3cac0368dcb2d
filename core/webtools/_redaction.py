"""Takes keys out of everything that leaves the package: the one gate every result passes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from json import dumps
from typing import Any, TypeVar, cast
from urllib.parse import quote, quote_plus

from pydantic import BaseModel

from webtools._flow import Flow
from webtools._narrowing import is_list, is_object
from webtools.errors import WebToolsError

T = TypeVar("T")
MARK = "[redacted]"


class Redactor:
    """Replaces every known key by `[redacted]`, also percent-encoded or as JSON writes it."""

    def __init__(self, secrets: Iterable[str]) -> None:
        """Take the keys; the longest are replaced first, for one may begin another."""
        forms = {form for secret in secrets if secret for form in _forms(secret)}
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
        if is_list(value):
            items = [self._clean(item) for item in value]
            return value if _same(value, items) else items
        if is_object(value):
            pairs = {self.text(key): self._clean(item) for key, item in value.items()}
            return value if _same(value.items(), pairs.items()) else pairs
        return value

    def _clean_model(self, model: BaseModel) -> BaseModel:
        written = model.model_dump_json()  # one search in the whole beats one per field
        if not any(secret in written for secret in self._secrets):
            return model
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


def _forms(secret: str) -> set[str]:
    return {secret, quote(secret, safe=""), quote_plus(secret), dumps(secret)[1:-1]}


@lru_cache(maxsize=32)
def redactor_for(secrets: frozenset[str]) -> Redactor:
    """Give the redactor of a set of keys; calls in turn share it."""
    return Redactor(secrets)


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
