"""The one gate that every result and error passes on its way out of the package.

Hidden characters go first, for they may stand in the midst of a key; then the keys go.
"""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel

from webtools._flow import Flow
from webtools._hidden import may_hide, visible_error, visible_model
from webtools._redaction import Redactor, written
from webtools.errors import WebToolsError

Model = TypeVar("Model", bound=BaseModel)


def passed(flow: Flow[Model], redactor: Redactor) -> Flow[Model]:
    """Run a flow whose result or error passes the gate.

    A warning of the result says how many hidden characters it has lost.
    """
    try:
        result = yield from flow
    except WebToolsError as error:
        failed = redactor.error(visible_error(error))
        if failed is error:
            raise
    else:
        return _clean(result, redactor)
    raise failed


def _clean(result: Model, redactor: Redactor) -> Model:
    text = written(result)  # one look at the whole beats one at every field
    if may_hide(text):
        result = visible_model(result)
        text = written(result)
    return redactor.clean(result) if redactor.may_be_in(text) else result
