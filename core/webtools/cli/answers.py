"""The answer of `web-deep` for a file or a pipe, with its sources but without passages."""

from __future__ import annotations

from dataclasses import replace

from webtools.formatting import research_text
from webtools.results.research_models import ResearchEnvelope
from webtools.tools import ToolResult

_FOOTER = "\n\nConfidence: "


def without_passages(result: ToolResult) -> ToolResult:
    """Return a result of `web-deep` whose text has the answer and its sources only."""
    fields = {name: result.details[name] for name in ("results", "meta", "synthesis")}
    text = research_text(ResearchEnvelope.model_validate(fields))
    _, start, footer = result.text.rpartition(_FOOTER)
    uncut = {"truncation": None, "read_handle": None, "full_output_path": None}
    return replace(result, text=f"{text}{start}{footer}", details={**result.details, **uncut})
