"""Compares what two calls returned, apart from the time at which each was made."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from typing import Any

from pydantic import BaseModel

_OF_CALL = {"retrieved_at", "call_id"}


def timeless(value: Any) -> Any:
    """Return a result or its details without the time and the id of the call."""
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in _OF_CALL}
    if isinstance(value, (list, tuple)):
        return [timeless(item) for item in value]
    if isinstance(value, BaseModel):
        return timeless(value.model_dump())
    if is_dataclass(value) and not isinstance(value, type) and hasattr(value, "details"):
        return replace(value, details=timeless(value.details))
    return value
