"""Measures webtools beside plain httpx, on the sandbox, in one run: `make bench`."""
