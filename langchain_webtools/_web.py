"""The `WebTools` behind a tool, a retriever or a loader: the given one, or one of its own."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator

if TYPE_CHECKING:
    from webtools import WebTools
else:
    WebTools = Any  # importing it takes a fifth of the time of importing BaseTool


def given_or_new(web: Any) -> WebTools:
    """Return `web`, or a new `WebTools` for None.

    Raises:
        ValueError: It is something else.
    """
    from webtools import WebTools  # noqa: PLC0415  see above

    if web is None:
        return WebTools()
    if not isinstance(web, WebTools):
        message = (
            f'web must be a webtools.WebTools, not {type(web).__name__}: write WebTools("...")'
        )
        raise ValueError(message)  # noqa: TRY004  pydantic reports no TypeError
    return web


Web = Annotated[WebTools, BeforeValidator(given_or_new)]
"""The type of a field `web`. Its default stands at the field, or type checkers would miss it."""
