"""Imports what many modules below need, before they do: imports would nest deeply.

CPython 3.11 and 3.12 map new memory at each call that crosses the end of a chunk of the stack. Deep
imports do so thousands of times, which is a tenth of the time that a process with one search takes.
"""

import httpcore  # noqa: F401

import webtools.providers  # noqa: F401
