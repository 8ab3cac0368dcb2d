"""What a model may send to web_read."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field

from webtools._internal.output.stored import is_handle
from webtools._internal.text.cleaning import without_controls
from webtools._internal.text.invisible import without_invisible
from webtools.inputs.argument_values import UnfitError, as_one, bounded_number
from webtools.inputs.tool_inputs import ToolInput

MAX_OFFSET = 1_000_000_000
MAX_FIND_CHARACTERS = 1000


def _handle(text: str) -> str:
    text = text.strip()
    if not is_handle(text):
        raise UnfitError(text, "a handle; give the read_handle of a result as it is")
    return text


def _passage(text: str) -> str:
    text = " ".join(without_invisible(without_controls(text)).split())
    if len(text) > MAX_FIND_CHARACTERS:
        message = f"find has {len(text)} characters; give at most {MAX_FIND_CHARACTERS}"
        raise ValueError(message)
    return text


Handle = Annotated[str, AfterValidator(_handle)]
Passage = Annotated[str, AfterValidator(_passage)]


class ReadInput(ToolInput):
    """Input of web_read."""

    spellings: ClassVar[dict[str, str]] = {"read_handle": "handle"}

    handle: Annotated[Handle, BeforeValidator(as_one)] = Field(
        description="The read_handle of a result."
    )
    offset: Annotated[int, bounded_number(MAX_OFFSET, minimum=0)] = Field(
        default=0,
        description="Character to begin at: the note that sent you says which.",
    )
    find: Passage = Field(
        default="",
        description="Words to look for from the offset on, in any case. "
        "Leave out, or empty, to read at the offset.",
    )
