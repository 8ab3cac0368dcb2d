"""Describe where a provider's code failed, without quoting the response."""

from __future__ import annotations

from pathlib import Path
from traceback import walk_tb


def describe_failure(error: Exception, module: str) -> str:
    """Return the type and place of an error: `KeyError in heron.py line 41, in read_search`.

    Args:
        error: The exception. Its text is left out because it may quote the response.
        module: Name of the provider's module. The innermost frame in it, or in its package, is
            named, else the innermost frame of all.
    """
    frames = list(walk_tb(error.__traceback__))
    package = module.partition(".")[0]
    prefixes = (module,) if package == "webtools" else (module, f"{package}.")
    in_module = [
        pair for pair in frames if pair[0].f_globals.get("__name__", "").startswith(prefixes)
    ]
    frame, line = (in_module or frames)[-1]
    file = Path(frame.f_code.co_filename)
    name = f"{file.parent.name}/{file.name}" if file.stem == "__init__" else file.name
    return f"{type(error).__name__} in {name} line {line}, in {frame.f_code.co_name}"
