"""The search that model vendors run on their side: what it serves, and what it did.

`native_search` decides whether a vendor's search can replace `web_search` for a model, and returns
the tool to send. `read_response` and `read_stream` read what a vendor searched: queries, sources,
citations, the number of searches and their cost. `FACTS` is the table behind both.

Nothing here does I/O.
"""

from webtools.native.choosing import NativeTool, NotNative, native_search
from webtools.native.facts import FACTS, MAX_AGE_DAYS, Facts, Route, is_old, stand_in
from webtools.native.reading import VENDORS, read_response
from webtools.native.records import NativeCitation, NativeError, NativeSearches, NativeSource
from webtools.native.resending import without_sources
from webtools.native.streams import read_stream

__all__ = [
    "FACTS",
    "MAX_AGE_DAYS",
    "VENDORS",
    "Facts",
    "NativeCitation",
    "NativeError",
    "NativeSearches",
    "NativeSource",
    "NativeTool",
    "NotNative",
    "Route",
    "is_old",
    "native_search",
    "read_response",
    "read_stream",
    "stand_in",
    "without_sources",
]
