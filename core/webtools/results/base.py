"""What all models of results are: frozen, brief in logs; some show themselves to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from webtools._internal.display.hook import Bounded, Pictured, Shown

if TYPE_CHECKING:
    from inspect import Signature


class _Unbuilt:
    """The signature of a model before it is built: asking for it, as `help` does, builds it."""

    def __get__(self, instance: object, owner: type[BaseModel]) -> Signature:
        if instance is not None:
            raise AttributeError("__signature__")
        owner.model_rebuild()  # pydantic puts its own in the place of this
        return owner.__signature__


class Model(Bounded, BaseModel):
    """A frozen model; its schema is built at the first use: most programs use few of them."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    def __init_subclass__(cls, **settings: Any) -> None:
        """Leave the signature of each model to be read when it is asked for."""
        super().__init_subclass__(**settings)
        cls.__signature__ = _Unbuilt()  # type: ignore[assignment]


class ItemModel(Pictured, Model):
    """One of many in a response: alone in a cell it shows itself as the response would."""


class ShownModel(Shown, Model):
    """What a call returns: it also shows itself in a notebook and as a data frame."""
