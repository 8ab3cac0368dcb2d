"""What a model may send to web_read."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field

from webtools._internal.text.cleaning import without_controls
from webtools._internal.text.invisible import without_invisible
from webtools._internal.text.reader import handle_source
from webtools.inputs.argument_values import UnfitError, as_one, bounded_number
from webtools.inputs.tool_inputs import ToolInput
from webtools.outputs import is_handle

MAX_OFFSET = 1_000_000_000
MAX_FIND_CHARACTERS = 1000


def _handle(text: str) -> str:
    text = text.strip()
    if not is_handle(text):
        raise UnfitError(text, handle_source())
    return text


def _passage(text: str) -> str:
    text = " ".join(without_invisible(without_controls(text)).split())
    if len(text) > MAX_FIND_CHARACTERS:
        message = f"find has {len(text)} characters; use at most {MAX_FIND_CHARACTERS}"
        raise ValueError(message)
    return text


Handle = Annotated[str, AfterValidator(_handle)]
Passage = Annotated[str, AfterValidator(_passage)]


class ReadInput(ToolInput):
    """Input of web_read."""

    tool_name: ClassVar[str] = "web_read"
    spellings: ClassVar[dict[str, str]] = {"read_handle": "handle"}
    free_texts: ClassVar[frozenset[str]] = frozenset({"find"})

    handle: Annotated[Handle, BeforeValidator(as_one)] = Field(
        description="The read_handle of an earlier result."
    )
    offset: Annotated[int, bounded_number(MAX_OFFSET, minimum=0)] = Field(
        default=0,
        description="Character to start at, as shown at the end of the output.",
    )
    find: Passage = Field(
        default="",
        description="Words to find, from the offset on. Case is ignored. "
        "Default: read at the offset.",
    )
