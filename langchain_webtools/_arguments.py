"""Arguments at construction that there are not, told with those that there are."""

from __future__ import annotations

from typing import Any, cast

from pydantic import BaseModel
from pydantic_core import PydanticCustomError

from webtools._internal.text.narrowing import is_mapping
from webtools._internal.text.quoting import nearest

_KEY = (
    '{kind} takes no argument "{name}". Pass api_keys={"exa": "..."}, or set a variable such as '
    "EXA_API_KEY."
)


def known_arguments(cls: type[BaseModel], values: Any) -> Any:
    """Return the arguments of a constructor as they are, all of them known.

    Raises:
        PydanticCustomError: One is not; pydantic makes its own error of that.
    """
    if not is_mapping(values):
        return values
    known = {*cls.model_fields, *(each.alias for each in cls.model_fields.values())}
    unknown = next((name for name in values if name not in known), None)
    if unknown is None:
        return values
    if str(unknown).endswith("api_key"):
        facts = {"kind": cls.__name__, "name": ascii(unknown)[1:-1]}
        raise PydanticCustomError("unknown_argument", _KEY, facts)
    base = next(each for each in cls.__mro__ if each.__module__.startswith("langchain_core."))
    inherited = cast("type[BaseModel]", base).model_fields
    own = [name for name in cls.model_fields if name not in inherited]
    near = nearest(str(unknown), [*cls.model_fields, *getattr(cls, "passed_on", ())])
    facts = {
        "kind": cls.__name__,
        "name": ascii(unknown)[1:-1],
        "near": f'; did you mean "{near}"?' if near else ".",
        "own": ", ".join(own),
    }
    message = '{kind} takes no argument "{name}"{near} Its own are: {own}.'
    raise PydanticCustomError("unknown_argument", message, facts)
