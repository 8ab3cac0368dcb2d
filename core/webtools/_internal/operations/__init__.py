"""The operations of the tools: search, fetch, summarize, read, research and verify."""
