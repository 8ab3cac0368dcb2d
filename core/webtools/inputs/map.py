"""What a model may send to web_map."""

from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from webtools.inputs.argument_values import Url, as_one, bounded_number
from webtools.inputs.read import Passage
from webtools.inputs.tool_inputs import ToolInput

MAX_MAP_LIMIT, DEFAULT_MAP_LIMIT = 500, 50


class MapInput(ToolInput):
    """Input of web_map."""

    tool_name: ClassVar[str] = "web_map"
    spellings: ClassVar[dict[str, str]] = {"urls": "url", "query": "find"}
    free_texts: ClassVar[frozenset[str]] = frozenset({"find"})

    url: Annotated[Url, BeforeValidator(as_one)] = Field(
        description="URL of the site, or of a page or folder of it."
    )
    find: Passage = Field(
        default="", description="Words to rank the pages by. Default: the site's own order."
    )
    limit: Annotated[int, bounded_number(MAX_MAP_LIMIT)] = Field(
        default=0,
        description=f"Maximum number of pages, 1 to {MAX_MAP_LIMIT}. "
        f"Default, or 0: {DEFAULT_MAP_LIMIT}.",
    )
