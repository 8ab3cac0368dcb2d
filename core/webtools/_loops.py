"""Whether the program used asyncio before webtools, whose httpx imports it, was loaded."""

import sys

PROGRAM_USES_ASYNCIO = "asyncio" in sys.modules
