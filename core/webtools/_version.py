"""The version: the only place that has it, apart from `server.json`."""

__version__ = "0.4.0"
