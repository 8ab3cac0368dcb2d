"""What all models of results are: frozen, brief in logs; some show themselves to people."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from webtools.display.hook import Bounded, Shown


class Model(Bounded, BaseModel):
    """A frozen model."""

    model_config = ConfigDict(frozen=True)


class ShownModel(Shown, Model):
    """What a call returns: it also shows itself in a notebook and as a data frame."""
