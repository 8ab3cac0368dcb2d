"""Pages from their own sites: what may be fetched (`ssrf`), how (`fetching`), how it is read."""

INSTALL = "pip install 'agent-webtools[fetch]'"
