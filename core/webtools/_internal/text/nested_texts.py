"""Finds texts and secrets in a value, at any depth of models, lists and objects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar, cast

from pydantic import BaseModel, SecretStr

from webtools._internal.text.narrowing import is_array, is_object

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)
NAME = "(name)"
# Takes a text and the name of its field, at any depth of lists; `NAME` if it is the name of one.
Change: TypeAlias = Callable[[str, str], str]


def texts_in(value: object) -> list[str]:
    """Return every text in a value, keys too.

    Raises:
        RecursionError: The value is nested too deep, or contains itself.
    """
    texts: list[str] = []
    _collect(value, texts)
    return texts


def _collect(value: object, texts: list[str]) -> None:
    if not value:
        return
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, BaseModel):
        for field in vars(value).values():
            _collect(field, texts)
    elif is_array(value):
        for item in value:
            _collect(item, texts)
    elif is_object(value):
        for key, item in value.items():
            _collect(key, texts)
            _collect(item, texts)


def secrets_in(value: object) -> Iterator[SecretStr]:
    """Yield every secret in a value."""
    if isinstance(value, SecretStr):
        yield value
    elif isinstance(value, BaseModel):
        for _, field in value:
            yield from secrets_in(field)
    elif is_array(value) or isinstance(value, (set, frozenset)):
        for item in value:
            yield from secrets_in(item)
    elif is_object(value):
        for item in value.values():
            yield from secrets_in(item)


def with_texts(value: T, change: Change) -> T:
    """Change every text in a value, keys too; what needs no change is returned as it is."""
    return cast("T", _changed(value, change, ""))


def _changed(value: Any, change: Change, name: str) -> Any:
    if isinstance(value, str):
        return change(value, name)
    if isinstance(value, BaseModel):
        fields = ((key, old, _changed(old, change, key)) for key, old in vars(value).items())
        update = {key: new for key, old, new in fields if new is not old and new != old}
        return value.model_copy(update=update) if update else value
    if is_array(value):
        items = [_changed(item, change, name) for item in value]
        return value if _same(value, items) else _like(value, items)
    if is_object(value):
        pairs = {
            _changed(key, change, NAME): _changed(item, change, key) for key, item in value.items()
        }
        return value if _same(value.items(), pairs.items()) else pairs
    return value


def _like(value: Sequence[Any], items: list[Any]) -> Sequence[Any]:
    if not isinstance(value, tuple):
        return items
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)


def _same(before: Collection[Any], after: Collection[Any]) -> bool:
    if len(before) != len(after):  # two keys became equal
        return False
    # Equality would do, but would compare megabytes of page text letter by letter.
    return all(a is b or a == b for a, b in zip(before, after, strict=True))


def add_warning(response: Model, warning: str) -> Model:
    """Return a response with another warning, if it has a place for warnings."""
    meta = getattr(response, "meta", None)  # an envelope has its warnings there
    if isinstance(meta, BaseModel):
        return response.model_copy(update={"meta": add_warning(meta, warning)})
    if "warnings" not in type(response).model_fields:  # a plan, which has no text from the web
        return response
    warnings: list[str] = getattr(response, "warnings", [])
    return response.model_copy(update={"warnings": [*warnings, warning]})
