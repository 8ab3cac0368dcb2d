"""Base classes of result models: frozen, with a short repr; some have notebook views."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from webtools._internal.representation import Bounded, Pictured, Shown


class Model(Bounded, BaseModel):
    """A frozen model whose repr has bounded length."""

    model_config = ConfigDict(frozen=True)


class ItemModel(Pictured, Model):
    """An item of a response, with a notebook view."""


class ShownModel(Shown, Model):
    """A response, with a notebook view and a data frame."""
