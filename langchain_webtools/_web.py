"""The `WebTools` behind a tool, a retriever or a loader: the given one, or one of its own."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, model_validator

from webtools._internal.text.narrowing import is_mapping
from webtools.tools import Tool

if TYPE_CHECKING:
    from webtools import WebTools
else:
    WebTools = Any  # importing it takes a fifth of the time of importing BaseTool


def given_or_new(web: Any, **settings: Any) -> WebTools:
    """Return `web`, or for None a new `WebTools` with these arguments.

    Raises:
        ValueError: `web` is not a `WebTools`, or comes with further arguments.
    """
    from webtools import WebTools  # noqa: PLC0415  see above

    if web is None:
        return WebTools(**settings)
    if not isinstance(web, WebTools):
        message = (
            f'web must be a webtools.WebTools, not {type(web).__name__}: write WebTools("...")'
        )
        raise ValueError(message)  # noqa: TRY004  pydantic reports no TypeError
    if names := [name for name, value in settings.items() if value is not None]:
        raise ValueError(f"pass web or {', '.join(names)}, not both: WebTools takes them too")
    return web


def warn_if_unconfigured(web: WebTools, tool: Tool | None = None) -> None:
    """Issue a `UserWarning` if nothing is configured that could serve a tool, or a search."""
    from webtools._internal.call import instance  # noqa: PLC0415  see above

    instance.warn_if_unconfigured(web, tool)


def with_own_keys(values: Any) -> Any:
    """Replace the argument `api_keys` of a constructor by a `WebTools` that has the keys."""
    if not is_mapping(values) or values.get("api_keys") is None:
        return values
    kept = {name: value for name, value in values.items() if name not in {"api_keys", "web"}}
    return {**kept, "web": given_or_new(values.get("web"), api_keys=values["api_keys"])}


Web = Annotated[WebTools, BeforeValidator(given_or_new)]
"""The type of a field `web`. Its default stands at the field, or type checkers would miss it."""

OWN_KEYS = model_validator(mode="before")(with_own_keys)
"""The validator of a class that takes `api_keys` in place of `web`."""
