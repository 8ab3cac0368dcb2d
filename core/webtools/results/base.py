"""What all models of results are: frozen, brief in logs; some show themselves to people."""

from pydantic import BaseModel, ConfigDict

from webtools.display.hook import Bounded, Pictured, Shown


class Model(Bounded, BaseModel):
    """A frozen model; its schema is built at the first use: most programs use few of them."""

    model_config = ConfigDict(frozen=True, defer_build=True)


class ItemModel(Pictured, Model):
    """One of many in a response: alone in a cell it shows itself as the response would."""


class ShownModel(Shown, Model):
    """What a call returns: it also shows itself in a notebook and as a data frame."""
