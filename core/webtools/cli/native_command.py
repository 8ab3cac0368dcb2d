"""`webtools native`: what the search of each model vendor serves."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from webtools.cli import printing
from webtools.native import FACTS, MAX_AGE_DAYS, Facts, is_old


def run(options: Namespace) -> int:
    """Print the table, and a note if its facts are old."""
    today = datetime.now(UTC).date()
    lines = [line for facts in FACTS for line in _lines(facts)]
    rows = [_row(facts) | {"is_old": is_old(facts.read_on, today)} for facts in FACTS]
    printing.report(options, "\n".join(lines).rstrip(), {"facts": rows})
    if old := sorted({facts.vendor for facts in FACTS if is_old(facts.read_on, today)}):
        printing.complain(
            f"Facts about {', '.join(old)} are older than {MAX_AGE_DAYS} days. "
            "Install a newer version of webtools, or check them."
        )
    return printing.SUCCESS


def cells(facts: Facts) -> dict[str, str]:
    """Describe a row in words, by the title of its column."""
    most = f" (at most {facts.max_domains} domains)" if facts.max_domains else ""
    filters = ", ".join(sorted(facts.filters))
    limit = "max_uses" if facts.has_cap else "none"
    return {
        "vendor": facts.vendor,
        "API": f"{facts.base_urls[0]}, {facts.api}",
        "models": ", ".join(facts.models),
        "filters": f"{filters}{most}" if facts.tool else "responses are read, not requested",
        "limit of searches": limit if facts.tool else "-",
        "USD": f"{facts.usd_per_search:g} per {facts.charges_by}",
        "read on": facts.read_on.isoformat(),
        "source": facts.source,
        "unconfirmed": facts.unconfirmed,
    }


def _lines(facts: Facts) -> list[str]:
    vendor, *rest = cells(facts).items()
    return [vendor[1], *(f"  {title:<18} {text}" for title, text in rest if text), ""]


def _row(facts: Facts) -> dict[str, Any]:
    row = asdict(facts)
    return row | {"filters": sorted(facts.filters), "read_on": facts.read_on.isoformat()}
