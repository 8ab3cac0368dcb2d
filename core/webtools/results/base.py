"""What all models of results are: frozen, brief in logs; some show themselves to people."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from webtools._internal.display.hook import Bounded, Pictured, Shown


class Model(Bounded, BaseModel):
    """A frozen model whose repr has bounded length."""

    model_config = ConfigDict(frozen=True)


class ItemModel(Pictured, Model):
    """One of many in a response: alone in a cell it shows itself as the response would."""


class ShownModel(Shown, Model):
    """What a call returns: it also shows itself in a notebook and as a data frame."""
