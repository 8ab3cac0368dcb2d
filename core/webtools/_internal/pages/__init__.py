"""Fetch pages from their own sites (`ssrf`, `fetching`) and read them (`reading`)."""

INSTALL = "pip install 'agent-webtools[fetch]'"
