"""What every result and error goes through on its way out of the package.

Invisible characters go first, for they may stand in the midst of a key; then the keys go.
"""

from __future__ import annotations

from functools import partial
from typing import TypeVar

from pydantic import BaseModel

from webtools.errors import WebToolsError
from webtools.flows.drivers import Flow, Offload
from webtools.text.invisible import may_hide, visible_error, visible_model
from webtools.text.redaction import Redactor, written

Model = TypeVar("Model", bound=BaseModel)
_LONGEST_AT_ONCE = 128 * 1024  # bytes of a result that is cleaned on an event loop


def sanitize(flow: Flow[Model], redactor: Redactor) -> Flow[Model]:
    """Sanitize the result or the error of a flow.

    A warning of the result says how many invisible characters it has lost.
    """
    try:
        result = yield from flow
    except WebToolsError as error:
        failed = redactor.error(visible_error(error))
        if failed is error:
            raise
    else:
        text = written(result)  # one look at the whole beats one at every field
        if len(text) <= _LONGEST_AT_ONCE:
            return _clean(result, text, redactor)
        # Megabytes of invisible characters or of what looks like keys would hold up an event loop.
        clean: Model = yield Offload(partial(_clean, result, text, redactor), alone=True)
        return clean
    raise failed


def _clean(result: Model, text: bytes, redactor: Redactor) -> Model:
    if may_hide(text):
        result = visible_model(result)
        text = written(result)
    return redactor.clean(result) if redactor.may_be_in(text) else result
